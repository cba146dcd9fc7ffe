"""The Plant-Tracker app as a paho-mqtt client: sends each request of its arguments, prints the replies to it.

    app.py PORT NAME REPLIES REQUEST…     (REQUEST: OPERATION|PAYLOAD)
"""
import sys
import paho.mqtt.client as mqtt

port, name, expected, requests = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4:]
seen = 0


def connected(client, *_):
    client.subscribe("rpi/fromrpi")


def subscribed(client, *_):
    for request in requests:
        operation, payload = request.split("|", 1)
        client.publish(
            "rpi/torpi", f"ID:0;sender:{name};receiver:Host-RPI3B+;payload:{payload};operation:{operation}")


def received(client, _, message):
    global seen
    parts = dict(part.split(":") for part in message.payload.decode().split(";") if part)
    if parts["receiver"] == name:
        print(parts["operation"], parts["payload"], flush=True)
        seen += 1
        if seen == expected:
            client.disconnect()


try:
    app = mqtt.Client(mqtt.CallbackAPIVersion.VERSION1, name)
except AttributeError:
    app = mqtt.Client(name)
app.on_connect, app.on_subscribe, app.on_message = connected, subscribed, received
app.connect("127.0.0.1", port)
app.loop_forever()
