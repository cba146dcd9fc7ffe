"""Plants: the unmodified app's messages over a real broker (paho-mqtt, mosquitto_pub and mosquitto_sub), topics, water."""
import json
import os
import re
import subprocess
import time
from xml.etree import ElementTree

import paho.mqtt.client as mqtt
import pytest

import broker
from broker import PATIENCE_SECONDS, Broker, eventually
from daemon import PROGRAM, ROOT, Daemon, let_others_in

HOST = "Host-RPI3B+"

pytestmark = broker.needed


def pictured(folder, line, more, camera="camera: {source: test, resolution: [320, 240]}\n"):
    """A daemon whose plants have a camera, with more keys of theirs after a line of the file."""
    daemon = Daemon(folder, more=camera)
    daemon.config.write_text(daemon.config.read_text().replace(line, line + "\n" + more))
    return daemon


class Garden:
    """A daemon on a broker."""

    def __init__(self, folder, broker=Broker, more=""):
        self.broker = broker(folder)
        self.broker.start()
        self.daemon = Daemon(
            folder, more=f"mqtt: {{broker: 127.0.0.1, port: {self.broker.port}, device: sill, commands: true{more}}}\n")
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
    """The iOS app, as its ViewController.swift speaks: without a user, and what it does not know it sends back."""

    known = {"RES_plantSensorData", "RES_numPlants", "RES_plantInfoOnStartup", "ERR_hashLength", "ERR_missingVals",
             "ERR_missingKeys", "ERR_invalidOpTag", "ERR_noPlantDataToRequest", "ERR_tooManyPlants", "ERR_cannotDeletePlant",
             "ERR_addPlantSensorNumIssue", "ERR_invalidPlantSensorID", "ERR_plantNameTaken", "ERR_plantNameTooLong",
             "ERR_kickedForSpam"}

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
            if parts["operation"] not in self.known:
                self.send("ERR_invalidOpTag", text.replace(";", "||").replace(":", "--"))
            self.heard.append((parts["operation"], parts["payload"]))

    def send(self, operation, payload="", receiver=HOST):
        self.client.publish(
            "rpi/torpi", f"ID:0;sender:{self.name};receiver:{receiver};payload:{payload};operation:{operation}")

    def ask(self, operation, payload="", replies=1):
        self.heard.clear()
        self.send(operation, payload)
        eventually(lambda: len(self.heard) >= replies)
        return self.heard[:]

    def refresh(self):
        """refreshPlantsDisplayed: what it does when it connects and after every change. The plants that it then shows."""
        self.heard.clear()
        self.send("REQ_numPlants")
        heard = lambda operation: [payload for other, payload in self.heard if other == operation]
        count = int(eventually(lambda: heard("RES_numPlants"))[0])
        for index in range(count):
            self.send("REQ_plantInfoOnStartup", str(index))
        eventually(lambda: len(heard("RES_plantInfoOnStartup")) == count or heard("ERR_kickedForSpam"))
        assert not heard("ERR_kickedForSpam"), self.heard
        return [as_json(payload)["Name"] for payload in heard("RES_plantInfoOnStartup")]

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


@pytest.mark.protocol
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
        ("REQ_water", "", "ERR_invalidOpTag"), ("REQ_addNewPlant", 'A|B--["0x36"]', "ERR_plantNameTaken"),
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


@pytest.mark.protocol
def test_mosquitto_pub_and_sub_are_an_app_too(garden):
    port = str(garden.broker.port)
    listener = subprocess.Popen(
        ["mosquitto_sub", "-p", port, "-C", "1", "-W", str(PATIENCE_SECONDS), "-t", "rpi/fromrpi"], stdout=subprocess.PIPE, text=True)
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
    assert len(configs) == (5 if plant["watering"] is None else 7)
    moisture = next(one for one in configs.values() if one.get("device_class") == "moisture")
    assert moisture["state_topic"] == topic and moisture["availability_topic"] == "tactus/sill/status"
    button = next(one for one in configs.values() if one.get("payload_press") == "watered")
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


def test_a_label_opens_the_plants_card(own_daemon):
    daemon = own_daemon()
    assert daemon.post("/api/plants", {"name": "Mint & Co <1>", "sensors": ["0x36"]}).status_code == 201
    label = daemon.get("/api/plants/1/label.svg?page=http://pi.local:8000/")
    assert label.status_code == 200 and label.headers["Content-Type"] == "image/svg+xml" and 'filename="plant-1.svg"' in label.headers["Content-Disposition"]
    drawing = ElementTree.fromstring(label.content)
    assert drawing.attrib["width"] == "60mm" and drawing.find(".//{*}text").text == "Mint & Co <1>"
    for page in ["", "?page=", "?page=ftp://pi.local/", "?page=http://pi.local", "?page=http://", "?page=http://a%22/", "?page=http://a/%23/", "?page=http://" + 150 * "a" + "/", "?size=1"]:
        refused = daemon.get("/api/plants/1/label.svg" + page)
        assert refused.status_code == 422 and refused.json()["code"] == "VALIDATION", page
    assert daemon.get("/api/plants/2/label.svg?page=http://a/").status_code == 404


def test_a_picture_a_day(tmp_path):
    let_others_in(tmp_path)
    # Due from midnight on: at once.
    hour = "  watering: [{plant: 1, zone: 2, seconds: 30}]"
    with pictured(tmp_path, hour, "  pictures: {hour: 0, days: 2}") as daemon:
        found = eventually(lambda: daemon.get("/api/plants/pictures").json()["pictures"])
        assert len(found) == 1 and found[0]["bytes"] > 1000
        picture = daemon.get("/api/plants/pictures/" + found[0]["day"])
        assert picture.headers["Content-Type"] == "image/jpeg" and picture.content[:2] == b"\xff\xd8" and len(picture.content) == found[0]["bytes"]
        # Another one of the day takes its place.
        taken = daemon.post("/api/plants/pictures")
        assert taken.status_code == 201 and taken.json() == {"ok": True, "day": found[0]["day"]}
        now = daemon.get("/api/plants/pictures").json()
        assert len(now["pictures"]) == 1 and now["isTaken"] is True and now["failure"] is None
        for day in ["2000-01-01", "yesterday", "1"]:
            assert daemon.get("/api/plants/pictures/" + day).status_code == 404, day
        assert daemon.post("/api/plants", {"name": "Basil", "sensors": ["0x36"]}).status_code == 201
        area = {"left": 0, "top": 25, "width": 50, "height": 75}
        assert daemon.request("PUT", "/api/plants/1", json={"pictureArea": area}).json()["plant"]["pictureArea"] == area
        refused = daemon.request("PUT", "/api/plants/1", json={"pictureArea": {**area, "height": 76}})
        assert refused.status_code == 422 and refused.json()["field"] == "pictureArea.height"
        daemon.stop()
        daemon.start()
        # It has the day's picture.
        assert daemon.get("/api/plants/pictures").json()["pictures"] == now["pictures"]
        assert daemon.get("/api/plants/1").json()["plant"]["pictureArea"] == area
        assert daemon.request("PUT", "/api/plants/1", json={"pictureArea": None}).json()["plant"]["pictureArea"] is None
        log = daemon.log
        assert log.count("a picture of the plants") == 2


def test_no_picture_without_a_camera(own_daemon, tmp_path):
    daemon = own_daemon()
    assert daemon.get("/api/plants/pictures").json() == {"ok": True, "isTaken": False, "failure": None, "pictures": []}
    refused = daemon.post("/api/plants/pictures")
    assert refused.status_code == 409 and refused.json()["code"] == "NO_PICTURES" and "plants.pictures.hour" in refused.json()["message"]
    (tmp_path / "other").mkdir()
    daemon = pictured(tmp_path / "other", "  watering: [{plant: 1, zone: 2, seconds: 30}]", "  pictures: {hour: 0}", camera="")
    check = subprocess.run([PROGRAM, "check", daemon.config], capture_output=True, text=True, check=False)
    assert check.returncode == 78 and "plants.pictures.hour: expected a section video, whose camera takes the pictures, got none" in check.stdout + check.stderr


def test_dry_alert_water_and_what_is_kept(tmp_path):
    garden = Garden(tmp_path)
    daemon = garden.daemon
    try:
        app = garden.app("6F2A")
        app.ask("REQ_addNewPlant", 'Fern--["spi-0"]')
        app.stop()
        # Its probe has read it not dry: it may be watered without anybody's word.
        eventually(lambda: not daemon.get("/api/plants/1").json()["plant"]["watering"]["needsConfirmation"])
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


def test_a_probe_calibrated_twice_in_one_soil_opens_no_valve(tmp_path):
    """As somebody does it who is in a hurry: "dry" and "wet" of one and the same soil, at the console."""
    garden = Garden(tmp_path)
    daemon = garden.daemon
    try:
        assert daemon.post("/api/plants", {"name": "Fern", "sensors": ["spi-0"]}).status_code == 201
        eventually(lambda: not daemon.get("/api/plants/1").json()["plant"]["watering"]["needsConfirmation"])
        calibrate = "/api/plants/sensors/spi-0/calibrate"
        assert daemon.post(calibrate, {"point": "dry"}).status_code == 200
        refused = daemon.post(calibrate, {"point": "wet"})
        assert refused.status_code == 422 and re.search(r"at least 31 counts away from dry, got dry [\d.]+ and wet [\d.]+", refused.json()["message"])
        plant = eventually(lambda: (plant := daemon.get("/api/plants/1").json()["plant"])["watering"]["waitsFor"] and plant)
        assert plant["alerts"] == ["dry"] and "confirm-watering" in plant["watering"]["waitsFor"]
        state = "tactus/sill/plants/1/state"
        eventually(lambda: "waits for a confirmation" in garden.retained(state).get(state, ""))
        assert not daemon.get("/api/zones").json()["zones"][1]["isOn"]
        daemon.wait_for_line("a dry plant is not watered yet")
        (line,) = [line for line in daemon.log.splitlines() if "a dry plant is not watered yet" in line]
        assert "confirm-watering" in json.loads(line)["to_confirm"]
        garden.broker.publish("tactus/sill/plants/1/command", "confirm-watering")
        eventually(lambda: daemon.get("/api/zones").json()["zones"][1]["isOn"])
    finally:
        garden.stop()


class ShippedBroker(Broker):
    """config/mosquitto.conf and config/mosquitto.acl as they are, in a folder and at a port of the test's own."""

    def __init__(self, folder):
        super().__init__(folder)
        for name in ("conf", "acl"):
            text = (ROOT / "config" / f"mosquitto.{name}").read_text()
            target = self.config if name == "conf" else folder / "tactus.acl"
            target.write_text(text.replace("listener 1883", f"listener {self.port} 127.0.0.1").replace("/etc/mosquitto", str(folder)))
        subprocess.run(["mosquitto_passwd", "-b", "-c", folder / "tactus.passwords", "tactus", "s3cret"], check=True)
        if os.geteuid() == 0:
            # Debian's user mosquitto may not look into the test's folder.
            with open(self.config, "a") as config:
                config.write("user root\n")


@pytest.fixture(scope="module")
def shipped(tmp_path_factory):
    garden = Garden(tmp_path_factory.mktemp("shipped"), ShippedBroker, ", user: tactus, password: s3cret")
    yield garden
    garden.stop()


@pytest.mark.parametrize("count", [6, 7])
def test_the_app_connects_and_renames_on_the_shipped_broker(shipped, count):
    app = shipped.app(f"phone-{count}")
    names = [f"Plant {number}" for number in range(count)]
    for name in names:
        # Another phone that calls itself the same has made them some time ago.
        assert shipped.daemon.post("/api/plants", {"user": app.name, "name": name, "sensors": ["0x36"]}).status_code == 201
    assert app.refresh() == names
    for place, name in enumerate(["Basil", "Mint", "Rose, red", "O'Brien"]):
        app.send("REQ_editPlant", f"{names[0]},{name}")
        names[0] = name.replace("'", "’")
        assert app.refresh() == names
    # The first acknowledgement was bounced; no other has come.
    messages = shipped.daemon.get("/api/plants").json()["app"]["messages"]
    assert not messages.get("spam") and not messages.get("kickedForSpam")
    assert app.ask("REQ_plantSensorData", names[0])[0][0] == "RES_plantSensorData"
    app.stop()


def test_a_broker_that_is_gone_is_said_wherever_somebody_looks_until_it_is_back(tmp_path):
    garden = Garden(tmp_path)

    def health():
        return garden.daemon.get("/api/health").json()

    def status():
        return garden.daemon.command(
            "status", "127.0.0.1", "--port", garden.daemon.port, environment={"TACTUS_TOKEN": garden.daemon.admin})

    try:
        eventually(lambda: "warnings" not in health())
        garden.broker.stop()
        warning, = eventually(lambda: health().get("warnings"))
        assert warning["code"] == "BROKER_GONE" and health()["status"] == "ok", health()
        assert warning["message"].startswith(f"no connection to the MQTT broker 127.0.0.1:{garden.broker.port}: "), warning
        told = status()
        assert told.returncode == 1 and "no connection to the MQTT broker" in told.stdout.splitlines()[0], told.stdout
        garden.broker.start()
        eventually(lambda: "warnings" not in health())
        assert "MQTT" not in status().stdout
    finally:
        garden.stop()


def test_an_acknowledgement_that_the_app_bounced_does_not_come_again(shipped):
    app = shipped.app("phone-acks")
    assert app.ask("REQ_addNewPlant", 'Basil--["36"]') == [("RES_addNewPlant", "Basil")]
    # Behind the bounce.
    assert app.ask("REQ_numPlants") == [("RES_numPlants", "1")]
    app.heard.clear()
    app.send("REQ_addNewPlant", 'Mint--["0x36"]')
    app.send("REQ_numPlants")
    eventually(lambda: app.heard)
    assert app.heard == [("RES_numPlants", "2")]
    app.stop()


def test_without_a_name_nothing_else_is_published_or_read_on_the_shipped_broker(shipped):
    app, other = shipped.app("phone-victim"), shipped.app("phone-other")
    read = []
    stranger = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, "stranger")
    subscribed = []
    stranger.on_connect = lambda client, *_: client.subscribe([("#", 1), ("$SYS/#", 1), ("tactus/#", 1), ("rpi/torpi", 1)])
    stranger.on_subscribe = lambda *_: subscribed.append(True)
    stranger.on_message = lambda _, __, message: read.append(message.topic)
    stranger.connect("127.0.0.1", shipped.broker.port)
    stranger.loop_start()
    eventually(lambda: subscribed)
    forged = f"ID:0;sender:{HOST};receiver:phone-victim;payload:99;operation:RES_numPlants"
    for topic, text in [
        ("tactus/sill/command", "e-stop"), ("tactus/sill/robot/command", "e-stop"), ("tactus/sill/plants/1/command", "watered"),
        ("tactus/sill/status", "offline"), ("homeassistant/sensor/x/config", "{}"), ("rpi/fromrpi", forged), ("rpi/torpi/x", "x"),
        ("anything", "x"), ("$SYS/x", "x"),
    ]:
        # Acknowledged, and thrown away: the app's protocol has no other answer.
        stranger.publish(topic, text, qos=1, retain=True).wait_for_publish(PATIENCE_SECONDS)
    # The last word of its own is taken, so all before it have been dealt with.
    stranger.publish("rpi/torpi", f"ID:0;sender:stranger;receiver:{HOST};payload:;operation:REQ_numPlants", qos=1)
    eventually(lambda: "rpi/fromrpi" in read)
    assert set(read) == {"rpi/fromrpi"}
    assert app.ask("REQ_numPlants") == [("RES_numPlants", "0")] and not other.heard
    assert shipped.daemon.get("/api/robot").json()["state"] != "emergencyStopped"
    assert not shipped.daemon.get("/api/mqtt").json()["commands"]
    for client in (app, other):
        client.stop()
    stranger.loop_stop()
    stranger.disconnect()
    wrong = subprocess.run(
        ["mosquitto_pub", "-p", str(shipped.broker.port), "-u", "tactus", "-P", "wrong", "-t", "rpi/torpi", "-m", "x"],
        capture_output=True)
    assert wrong.returncode != 0


def test_of_two_limits_that_contradict_each_other_the_one_that_was_sent_is_blamed(own_daemon):
    daemon = own_daemon()
    plant = daemon.post("/api/plants", {"name": "Basil", "sensors": ["0x36"], "wetPercent": 60}).json()["plant"]["id"]
    refused = daemon.request("PUT", f"/api/plants/{plant}", json={"dryPercent": 70})
    assert refused.status_code == 422 and refused.json()["field"] == "dryPercent", refused.text
    assert "expected less than wetPercent, 60" in refused.json()["message"]
