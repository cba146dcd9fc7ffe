"""A Plant-Tracker host as one writes it with paho-mqtt.

    plant_host.py host PORT           the host on the broker at 127.0.0.1:PORT until its input ends; then the outcomes as JSON
    plant_host.py parse FILE COUNT    parses the file's lines, COUNT messages in all; the time and the errors as JSON

The rules are ours, those of the requirement: the same checks in the same order, the same replies, no limit of messages. Plants are
kept in memory, where the original opens a file for each request, and its one probe always reads the same.
"""
import json
import sys
import time

HOST = "Host-RPI3B+"
KEYS = {"ID", "sender", "receiver", "payload", "operation"}


class Refused(Exception):
    pass


def parse(text):
    values = {}
    for part in text.split(";"):
        pair = part.split(":")
        if len(pair) > 2:
            raise Refused("ERR_missingKeys")
        if len(pair) < 2:
            raise Refused("ERR_missingVals")
        values[pair[0]] = pair[1]
    if len(values) != 5 or values.keys() != KEYS:
        raise Refused("ERR_hashLength")
    values["payload"] = unescape(values["payload"])
    return values


def escape(text):
    return text.replace(":", "--").replace(";", "||")


def unescape(text):
    return text.replace("--", ":").replace("||", ";")


class Host:
    def __init__(self):
        self.users = {}
        self.outcomes = {}

    def count(self, name):
        self.outcomes[name] = self.outcomes.get(name, 0) + 1

    def answer(self, payload):
        """The replies to one message."""
        text = payload.decode("utf-8", "replace")
        try:
            message = parse(text)
        except Refused as refused:
            self.count(str(refused))
            return []
        if message["sender"] == HOST or message["receiver"] not in (HOST, "all"):
            self.count("not-for-us")
            return []
        operation = message["operation"]
        try:
            serve = getattr(self, operation, None) if operation.startswith("REQ_") else None
            if serve is None:
                raise Refused("ERR_invalidOpTag")
            replies = [(operation.replace("REQ_", "RES_", 1), one) for one in serve(message["sender"], message["payload"])]
            self.count("answered")
        except Refused as refused:
            self.count(str(refused))
            replies = [(str(refused), text)]
        return [
            f"ID:{message['ID']};sender:{HOST};receiver:{message['sender']};payload:{escape(one)};operation:{tag}"
            for tag, one in replies
        ]

    def REQ_numPlants(self, user, _):
        return [str(len(self.users.get(user, [])))]

    def REQ_addNewPlant(self, user, payload):
        name, sensors = payload.split(":", 1)
        plants = self.users.setdefault(user, [])
        if len(plants) >= 7:
            raise Refused("ERR_tooManyPlants")
        if any(plant["Name"] == name for plant in plants):
            raise Refused("ERR_plantNameTaken")
        if len(name) > 15:
            raise Refused("ERR_plantNameTooLong")
        plants.append({"Name": name, "Sensors": sensors})
        return [name]

    def REQ_plantSensorData(self, user, payload):
        replies = []
        for plant in self.users.get(user, []):
            if payload not in ("all", plant["Name"]):
                continue
            for sensor in json.loads(plant["Sensors"]):
                replies.append(str({"moisture": 5, "temperature": 72, "plant": plant["Name"], "sensor": sensor}))
        if not replies:
            raise Refused("ERR_noPlantDataToRequest")
        return replies


def run_host(port):
    import paho.mqtt.client as mqtt

    host = Host()

    def received(client, _, message):
        for reply in host.answer(message.payload):
            client.publish("rpi/fromrpi", reply)

    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, "plant-host")
    client.on_connect = lambda client, *_: client.subscribe("rpi/torpi")
    client.on_message = received
    client.connect("127.0.0.1", port)
    client.loop_start()
    sys.stdin.readline()
    client.disconnect()
    client.loop_stop()
    print(json.dumps(host.outcomes))


def measure_parser(path, count):
    with open(path, encoding="utf-8") as file:
        lines = [line for line in file.read().split("\n") if line]
    errors = size = 0
    began = time.monotonic_ns()
    for number in range(count):
        try:
            size += len(parse(lines[number % len(lines)])["payload"])
        except Refused:
            errors += 1
    print(json.dumps({"ns": time.monotonic_ns() - began, "messages": count, "errors": errors, "payload_bytes": size}))


if sys.argv[1] == "host":
    run_host(int(sys.argv[2]))
else:
    measure_parser(sys.argv[2], int(sys.argv[3]))
