"""What Home Assistant would find on the broker: every document by the documented options of its component, every template
rendered over the state that is really there, every command sent as Home Assistant sends it.

The options are those of https://www.home-assistant.io/integrations/ {sensor,binary_sensor,button,valve,fan}.mqtt and
mqtt/#mqtt-discovery, restated.
"""
import collections
import datetime
import json
import re
import subprocess
import time

import jinja2
import pytest

import broker
from broker import Broker, eventually
from daemon import Daemon

pytestmark = broker.needed

TOPIC = re.compile(r"homeassistant/(\w+)/([a-zA-Z0-9_-]+)/([a-zA-Z0-9_-]+)/config")
# Of every component.
COMMON = {
    "availability_topic": "subscribe", "device": "device", "json_attributes_topic": "subscribe", "json_attributes_template": "template",
    "name": "text",
    "unique_id": "text", "icon": "text", "entity_category": "text", "object_id": "text", "enabled_by_default": "flag",
    "qos": "number", "encoding": "text", "payload_available": "text", "payload_not_available": "text",
}
# (required, optional)
COMPONENTS = {
    "sensor": (
        {"state_topic": "subscribe"},
        {"value_template": "template", "unit_of_measurement": "text", "device_class": "text", "state_class": "text",
         "expire_after": "number", "force_update": "flag", "suggested_display_precision": "number"}),
    "binary_sensor": (
        {"state_topic": "subscribe"},
        {"value_template": "template", "device_class": "text", "payload_on": "text", "payload_off": "text",
         "expire_after": "number", "off_delay": "number", "force_update": "flag"}),
    "button": (
        {"command_topic": "publish"},
        {"command_template": "template", "payload_press": "text", "device_class": "text", "retain": "flag"}),
    "valve": (
        {},
        {"command_topic": "publish", "command_template": "template", "state_topic": "subscribe",
         "value_template": "template", "device_class": "text", "payload_open": "text", "payload_close": "text",
         "payload_stop": "text", "state_open": "text", "state_closed": "text", "state_opening": "text",
         "state_closing": "text", "optimistic": "flag", "retain": "flag", "reports_position": "flag"}),
    "fan": (
        {"command_topic": "publish"},
        {"command_template": "template", "state_topic": "subscribe", "state_value_template": "template",
         "payload_on": "text", "payload_off": "text", "percentage_state_topic": "subscribe",
         "percentage_value_template": "template", "percentage_command_topic": "publish",
         "percentage_command_template": "template", "speed_range_min": "number", "speed_range_max": "number",
         "optimistic": "flag", "retain": "flag"}),
}
DEVICE = {"identifiers", "connections", "name", "manufacturer", "model", "model_id", "sw_version", "hw_version",
          "serial_number", "configuration_url", "suggested_area", "via_device"}
# Device classes that are used here, with the units that Home Assistant takes for them; None: no unit.
SENSOR_UNITS = {"temperature": {"°C", "°F", "K"}, "moisture": {"%"}, "timestamp": {None}}
STATE_CLASSES = {"measurement", "measurement_angle", "total", "total_increasing"}
CLASSES = {"binary_sensor": {"problem", "opening"}, "valve": {"water", "gas"}, "button": set()}

jinja = jinja2.Environment(undefined=jinja2.StrictUndefined)


def is_topic(text, may_filter):
    return 0 < len(text.encode()) < 65536 and "\0" not in text and (may_filter or not set(text) & set("+#"))


def check(value, kind):
    if kind in ("subscribe", "publish"):
        assert isinstance(value, str) and is_topic(value, kind == "subscribe")
    elif kind == "template":
        assert jinja.from_string(value)
    elif kind == "device":
        assert set(value) <= DEVICE and value["identifiers"] and all(isinstance(one, str) for one in value["identifiers"])
    else:
        assert isinstance(value, {"text": str, "flag": bool, "number": int}[kind]) and value != ""


def render(template, payload):
    """As Home Assistant does: the text as `value`, and as `value_json` when it is JSON."""
    return jinja.from_string(template).render(value=payload, value_json=json.loads(payload))


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """A daemon with every system on a broker, with a plant, and what it has announced."""
    folder = tmp_path_factory.mktemp("house")
    server = Broker(folder)
    server.start()
    daemon = Daemon(
        folder,
        more=f"pump: {{}}\nmqtt: {{broker: 127.0.0.1, port: {server.port}, device: my.house, commands: true, state_interval_s: 1}}\n")
    daemon.start()
    plant = daemon.post("/api/plants", {"name": "Basil", "sensors": ["0x36"]}).json()["plant"]["id"]
    eventually(lambda: any(f"plant-{plant}-" in topic for topic in server.retained("homeassistant/#")))
    yield House(server, daemon)
    daemon.stop()
    server.stop()


class House:
    def __init__(self, server, daemon):
        self.broker, self.daemon = server, daemon

    @property
    def documents(self):
        return {TOPIC.fullmatch(topic).groups(): json.loads(text) for topic, text in self.broker.retained("homeassistant/#").items()}

    def find(self, component, object_id):
        return next(document for (one, _, other), document in self.documents.items() if (one, other) == (component, object_id))

    def shown(self, document, template="value_template", topic="state_topic"):
        return render(document[template], self.broker.retained(document[topic])[document[topic]])


def test_every_document_has_what_its_component_requires_and_nothing_it_does_not_know(house):
    documents = house.documents
    assert {component for component, _, _ in documents} == set(COMPONENTS)
    assert {node for _, node, _ in documents} == {"tactus-my_house"}
    ids = [document["unique_id"] for document in documents.values()]
    assert len(set(ids)) == len(ids)
    for (component, _, object_id), document in documents.items():
        required, optional = COMPONENTS[component]
        known = {**COMMON, **required, **optional}
        assert set(required) <= set(document) <= set(known), object_id
        assert {"name", "unique_id", "availability_topic", "device"} <= set(document), object_id
        for key, value in document.items():
            check(value, known[key])
        assert document["device"]["identifiers"] == ["tactus-my.house"]


def test_classes_and_units_are_home_assistants(house):
    for (component, _, object_id), document in house.documents.items():
        kind, unit = document.get("device_class"), document.get("unit_of_measurement")
        if component == "sensor":
            if kind:
                assert unit in SENSOR_UNITS[kind], object_id
            # A sensor of texts has neither, and an instant is no measurement.
            if "state_class" in document:
                assert document["state_class"] in STATE_CLASSES and unit and kind != "timestamp", object_id
        elif component in CLASSES:
            assert kind is None or kind in CLASSES[component], object_id
        assert component == "sensor" or unit is None


def test_every_template_makes_of_the_real_state_what_its_component_takes(house):
    documents = house.documents
    eventually(lambda: house.broker.retained("tactus/my.house/status") == {"tactus/my.house/status": "online"})
    for (component, _, object_id), document in documents.items():
        assert document["availability_topic"] == "tactus/my.house/status"
        if "json_attributes_topic" in document:
            topic = document["json_attributes_topic"]
            shown = json.loads(house.shown(document, "json_attributes_template", "json_attributes_topic"))
            assert isinstance(shown, dict) and shown, object_id
        if component == "button":
            continue
        shown = house.shown(document, "state_value_template" if component == "fan" else "value_template")
        if component == "binary_sensor":
            assert shown in (document.get("payload_on", "ON"), document.get("payload_off", "OFF")), object_id
        elif component == "valve":
            assert shown in (document.get("state_open", "open"), document.get("state_closed", "closed")), object_id
        elif component == "fan":
            assert shown in (document["payload_on"], document["payload_off"]), object_id
            percent = house.shown(document, "percentage_value_template", "percentage_state_topic")
            assert percent == "None" or 0 <= int(percent) <= 100
        elif document.get("device_class") == "timestamp":
            assert shown == "None" or datetime.datetime.fromisoformat(shown).tzinfo
        elif "unit_of_measurement" in document:
            assert shown == "None" or isinstance(float(shown), float), object_id
        else:
            assert 0 < len(shown) < 256, object_id


def test_a_valve_a_fan_and_buttons_obey(house):
    valve = house.find("valve", "zone-1")
    house.broker.publish(valve["command_topic"], valve["payload_open"])
    eventually(lambda: house.shown(valve) == "open")
    house.broker.publish(valve["command_topic"], valve["payload_close"])
    eventually(lambda: house.shown(valve) == "closed")
    fan = house.find("fan", "pump")

    def speed(percent):
        return jinja.from_string(fan["percentage_command_template"]).render(value=percent)

    def shown():
        return (house.shown(fan, "state_value_template"), house.shown(fan, "percentage_value_template", "percentage_state_topic"))

    # "Turn on at 40 %" is both, one after the other.
    house.broker.publish(fan["command_topic"], fan["payload_on"])
    house.broker.publish(fan["percentage_command_topic"], speed(40))
    eventually(lambda: shown() == (fan["payload_on"], "40"))
    house.broker.publish(fan["percentage_command_topic"], speed(0))
    eventually(lambda: shown() == (fan["payload_off"], "None"))
    for name, word in (("e-stop", "emergencyStopped"), ("reset", "off")):
        button = house.find("button", name)
        house.broker.publish(button["command_topic"], button["payload_press"])
        eventually(lambda: house.daemon.get("/api/pump").json()["state"] == word)


def heard(server, seconds, topic="tactus/#"):
    """What is published within so many seconds, in its order; what the broker has kept is not."""
    done = subprocess.run(
        ["mosquitto_sub", "-p", str(server.port), "-v", "-R", "-W", str(seconds), "-t", topic], capture_output=True, text=True)
    return [tuple(line.split(" ", 1)) for line in done.stdout.splitlines()]


def test_attributes_hold_nothing_that_moves_by_itself(house):
    documents = {name: document for (_, _, name), document in house.documents.items() if "json_attributes_topic" in document}
    assert {"robot", "leg-0", "sprinkler", "zone-1", "pump-state"} <= set(documents)
    # What moves is told every second here.
    messages = heard(house.broker, 8)
    assert sum(topic == "tactus/my.house/robot/state" for topic, _ in messages) >= 4
    for name, document in documents.items():
        texts = [text for topic, text in messages if topic == document["json_attributes_topic"]]
        shown = {render(document["json_attributes_template"], text) for text in texts}
        assert len(shown) <= 1, (name, shown)
        assert not {"monotonicNs", "counters", "ageMs"} & set(json.loads(house.shown(document, "json_attributes_template", "json_attributes_topic")))


@pytest.mark.real_time
def test_at_rest_a_state_is_told_once_a_minute_at_most(tmp_path):
    server = Broker(tmp_path)
    server.start()
    try:
        with Daemon(tmp_path, more=f"pump: {{}}\nvideo: {{}}\nmqtt: {{port: {server.port}, device: quiet, commands: true}}\n") as daemon:
            daemon.post("/api/plants", {"name": "Basil", "sensors": ["0x36"]})
            eventually(lambda: "tactus/quiet/plants/1/state" in server.retained("#"))

            def kept(system):
                return json.loads(server.retained(f"tactus/quiet/{system}/state")[f"tactus/quiet/{system}/state"])

            # At rest when each probe has been read and the video's process is there.
            eventually(lambda: all(sensor["isFresh"] for sensor in kept("plants")["sensors"]))
            eventually(lambda: kept("plants")["plants"][0]["moisturePercent"] is not None and kept("video")["rtsp"]["listening"])
            counted = collections.Counter(topic for topic, _ in heard(server, 31, "#"))
            assert not {topic: count for topic, count in counted.items() if count > 1}, counted
            # What happens is told at once, all the same.
            with subprocess.Popen(
                    ["mosquitto_sub", "-p", str(server.port), "-R", "-C", "1", "-W", "60", "-t", "tactus/quiet/sprinkler/zone/1/state"],
                    stdout=subprocess.PIPE, text=True) as ear:
                time.sleep(0.5)
                daemon.post("/api/zone/1/on", {"minutes": 1})
                assert json.loads(ear.communicate(timeout=60)[0])["isOn"] is True
    finally:
        server.stop()
