"""Plants: the unmodified app's messages over a real broker (paho-mqtt, mosquitto_pub and mosquitto_sub), topics, water."""
import json
import subprocess
import time

import paho.mqtt.client as mqtt
import pytest

import broker
from broker import PATIENCE_SECONDS, Broker, eventually
from daemon import Daemon

HOST = "Host-RPI3B+"

pytestmark = broker.needed


class Garden:
    """A daemon on a broker."""

    def __init__(self, folder):
        self.broker = Broker(folder)
        self.broker.start()
        self.daemon = Daemon(
            folder, more=f"mqtt: {{broker: 127.0.0.1, port: {self.broker.port}, device: sill, commands: true}}\n")
        self.daemon.start()
        eventually(lambda: self.daemon.get("/api/mqtt").json()["connected"])
        eventually(lambda: all(sensor["isFresh"] for sensor in self.sensors))

    @property
    def sensors(self):
        return self.daemon.get("/api/plants/sensors").json()["sensors"]

    def stop(self):
        self.daemon.stop()
        self.broker.stop()

    def retained(self, topic):
        return self.broker.retained(topic)

    def app(self, name):
        return App(self.broker.port, name)


class App:
    """The iOS app, as its ViewController.swift speaks."""

    def __init__(self, port, name):
        self.name = name
        self.heard = []
        self.subscribed = False
        self.client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, name)
        self.client.on_connect = lambda client, *_: client.subscribe("rpi/fromrpi")
        self.client.on_subscribe = lambda *_: setattr(self, "subscribed", True)
        self.client.on_message = lambda _, __, message: self.decode(message.payload.decode())
        self.client.connect("127.0.0.1", port)
        self.client.loop_start()
        eventually(lambda: self.subscribed)

    def decode(self, text):
        """decodeIncomingResponse: its splitter drops empty parts, so an empty payload would be an error."""
        parts = {}
        for part in text.split(";"):
            pieces = [piece for piece in part.split(":") if piece]
            assert len(pieces) == 2, text
            parts[pieces[0]] = pieces[1]
        assert set(parts) == {"ID", "sender", "receiver", "payload", "operation"}, text
        assert parts["sender"] == HOST
        if parts["receiver"] == self.name:
            self.heard.append((parts["operation"], parts["payload"]))

    def send(self, operation, payload="", receiver=HOST):
        self.client.publish(
            "rpi/torpi", f"ID:0;sender:{self.name};receiver:{receiver};payload:{payload};operation:{operation}")

    def ask(self, operation, payload="", replies=1):
        self.heard.clear()
        self.send(operation, payload)
        eventually(lambda: len(self.heard) >= replies)
        return self.heard[:]

    def stop(self):
        self.client.loop_stop()
        self.client.disconnect()


def as_json(payload):
    """convertStringToDictionary: two hyphens are a colon, apostrophes are quotes."""
    return json.loads(payload.replace("--", ":").replace("'", '"'))


@pytest.fixture(scope="module")
def garden(tmp_path_factory):
    garden = Garden(tmp_path_factory.mktemp("garden"))
    yield garden
    garden.stop()


@pytest.fixture
def app(garden, request):
    app = garden.app("app-" + request.node.name[5:50])
    yield app
    app.stop()


def test_the_app_from_start_to_end(app):
    assert app.ask("REQ_numPlants") == [("RES_numPlants", "0")]
    assert app.ask("REQ_addNewPlant", 'Basil--["0x36", "0x37"]') == [("RES_addNewPlant", "Basil")]
    assert app.ask("REQ_numPlants") == [("RES_numPlants", "1")]
    operation, payload = app.ask("REQ_plantInfoOnStartup", "0")[0]
    info = json.loads(payload.replace("--", ":"))
    assert operation == "RES_plantInfoOnStartup" and info["Name"] == "Basil"
    assert json.loads(info["Sensors"]) == ["0x36", "0x37"]
    data = app.ask("REQ_plantSensorData", "all", replies=2)
    assert [operation for operation, _ in data] == ["RES_plantSensorData"] * 2
    reading = as_json(data[0][1])
    assert reading["plant"] == "Basil" and reading["sensor"] == "0x36"
    assert 0 <= reading["moisture"] <= 10 and 60 <= reading["temperature"] <= 80
    assert app.ask("REQ_editPlant", "Basil,Mint") == [("RES_editPlant", "Mint")]
    assert app.ask("REQ_deletePlant", "Basil")[0][0] == "ERR_cannotDeletePlant"
    assert app.ask("REQ_deletePlant", "Mint") == [("RES_deletePlant", "Mint")]


def test_errors_and_what_is_not_answered(garden, app):
    for operation, payload, expected in [
        ("REQ_water", "", "ERR_invalidOpTag"), ("REQ_addNewPlant", 'A,B--["0x36"]', "ERR_invalidPlantName"),
        ("REQ_addNewPlant", 'Basil--["0x99"]', "ERR_invalidPlantSensorID"),
        ("REQ_addNewPlant", "Basil--[]", "ERR_addPlantSensorNumIssue"),
        ("REQ_addNewPlant", 'Sixteen letters!--["0x36"]', "ERR_plantNameTooLong"),
        ("REQ_plantInfoOnStartup", "7", "ERR_noPlantDataToRequest"),
        ("REQ_plantSensorData", "all", "ERR_noPlantDataToRequest"),
    ]:
        answer = app.ask(operation, payload)
        assert answer[0][0] == expected and answer[0][1].startswith("ID--0||sender--"), answer
    app.heard.clear()
    app.send("REQ_numPlants", receiver="another host")
    app.send("ERR_invalidOpTag", "x")
    app.client.publish("rpi/torpi", "no message at all")
    assert app.ask("REQ_numPlants") == [("RES_numPlants", "0")]
    # Counted, which shows within a second.
    for outcome in ("not-for-us", "peer-error", "missing-value"):
        eventually(lambda: garden.daemon.get("/api/plants").json()["app"]["messages"].get(outcome))


def test_the_sixteenth_message_is_told_once(app):
    for _ in range(20):
        app.send("REQ_numPlants")
    eventually(lambda: len(app.heard) >= 16)
    time.sleep(0.3)
    assert [operation for operation, _ in app.heard] == ["RES_numPlants"] * 15 + ["ERR_kickedForSpam"]
    assert app.heard[-1][1] == "none"


def test_mosquitto_pub_and_sub_are_an_app_too(garden):
    port = str(garden.broker.port)
    listener = subprocess.Popen(
        ["mosquitto_sub", "-p", port, "-C", "1", "-W", "15", "-t", "rpi/fromrpi"], stdout=subprocess.PIPE, text=True)
    name = "shell"
    limit = time.monotonic() + PATIENCE_SECONDS
    # Until it has subscribed.
    while listener.poll() is None and time.monotonic() < limit:
        garden.broker.publish("rpi/torpi", f"ID:4;sender:{name};receiver:all;payload:;operation:REQ_numPlants")
        time.sleep(0.2)
    assert listener.stdout.read().strip() == f"ID:4;sender:{HOST};receiver:{name};payload:0;operation:RES_numPlants"


def test_a_state_a_plant_and_home_assistant(garden):
    daemon = garden.daemon
    plant = daemon.post("/api/plants", {"name": "Thyme", "sensors": ["0x36"]}).json()["plant"]
    topic = f"tactus/sill/plants/{plant['id']}/state"
    document = json.loads(eventually(lambda: garden.retained(topic).get(topic)))
    assert document["name"] == "Thyme" and document["moisturePercent"] > 0 and document["alerts"] == []
    configs = eventually(lambda: {
        topic: json.loads(text) for topic, text in garden.retained("homeassistant/#").items()
        if f"plant-{plant['id']}-" in topic})
    assert len(configs) == 5
    moisture = next(one for one in configs.values() if one.get("device_class") == "moisture")
    assert moisture["state_topic"] == topic and moisture["availability_topic"] == "tactus/sill/status"
    button = next(one for one in configs.values() if "payload_press" in one)
    garden.broker.publish(button["command_topic"], button["payload_press"])
    eventually(lambda: daemon.get(f"/api/plants/{plant['id']}").json()["plant"]["lastWateredISO"])
    assert daemon.request("DELETE", f"/api/plants/{plant['id']}").status_code == 200
    eventually(lambda: topic not in garden.retained("tactus/sill/plants/+/state"))
    eventually(lambda: not any(f"plant-{plant['id']}-" in topic for topic in garden.retained("homeassistant/#")))


def test_a_broker_that_forgot_everything_is_told_again(garden, app):
    app.ask("REQ_addNewPlant", 'Sage--["0x37"]')
    number = garden.daemon.get(f"/api/plants?user={app.name}").json()["plants"][0]["id"]
    topic = f"tactus/sill/plants/{number}/state"
    eventually(lambda: topic in garden.retained(topic))
    garden.broker.stop()
    eventually(lambda: not garden.daemon.get("/api/mqtt").json()["connected"])
    assert garden.daemon.get("/api/plants").status_code == 200
    garden.broker.start()
    assert json.loads(eventually(lambda: garden.retained(topic).get(topic)))["name"] == "Sage"
    eventually(lambda: any(f"plant-{number}-" in topic for topic in garden.retained("homeassistant/#")))
    # The subscription is back, too.
    again = garden.app(app.name)
    assert again.ask("REQ_deletePlant", "Sage") == [("RES_deletePlant", "Sage")]
    again.stop()


def test_dry_alert_water_and_what_is_kept(tmp_path):
    garden = Garden(tmp_path)
    daemon = garden.daemon
    try:
        app = garden.app("6F2A")
        app.ask("REQ_addNewPlant", 'Fern--["spi-0"]')
        app.stop()
        assert daemon.post("/api/sim/plants/spi-0", {"moisturePercent": 10}).status_code == 200
        # Plant 1 is linked to zone 2.
        eventually(lambda: daemon.get("/api/zones").json()["zones"][1]["isOn"])
        plant = daemon.get("/api/plants/1").json()["plant"]
        assert plant["alerts"] == ["dry"] and plant["watering"]["askedThatDay"] == 1
        events = daemon.get("/api/plants/alerts?plant=1").json()["events"]
        assert {(event["kind"], event["detail"]) for event in events} == {("raised", "dry"), ("asked", "zone 2, 30 s")}
        runs = daemon.get("/api/queue").json()
        assert runs["ok"] is True
        transfers = daemon.get("/api/sim/bus/plants-spi?limit=5").json()["transactions"]
        assert transfers[0]["operation"] == "transfer" and transfers[0]["bytes"] == "018000" and len(transfers[0]["received"]) == 6
        assert daemon.post("/api/sim/fault", {"fault": "no-chip", "bus": "plants-spi"}).status_code == 200
        eventually(lambda: daemon.get("/api/plants/sensors").json()["sensors"][3]["lastFailure"])
        assert daemon.post("/api/sim/fault", {"fault": "clear"}).json()["faults"] == []
        eventually(lambda: daemon.get("/api/plants/sensors").json()["sensors"][3]["lastFailure"] is None)
        daemon.post("/api/sim/plants/spi-0", {"moisturePercent": 60})
        eventually(lambda: daemon.get("/api/plants/1").json()["plant"]["lastWateredISO"])
        daemon.stop()
        daemon.start()
        plant = daemon.get("/api/plants/1").json()["plant"]
        assert plant["name"] == "Fern" and plant["user"] == "6F2A" and plant["lastWateredISO"]
        history = daemon.get("/api/plants/1/history.csv").text.splitlines()
        assert len(history) >= 2 and history[1].split(",")[1] == "spi-0"
    finally:
        garden.stop()
