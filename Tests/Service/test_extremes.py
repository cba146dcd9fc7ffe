"""Numbers that no field has room for, at every door: the daemon lives, answers 2xx or 4xx, and a refusal names the field."""
import http.client
import json
import os
import re
import socket
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import paho.mqtt.client as mqtt

import broker
from broker import Broker, eventually
from daemon import PROGRAM, ROOT
from extremes import BEYOND, NINES, NO_NUMBERS, NUMBERS, TEXTS, Schema
from live import Live
from test_drive import Sender
from test_pump import pump
from test_pump_acknowledgement import HeldPump, RealDaemon, until

MORE = "pump: {backend: sim}\nvideo: {}\nmqtt: {device: test, port: 1}\n"


class Door:
    """One connection for all requests: thousands of them are made."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=60)
        self.count = 0

    def call(self, method, path, body=None):
        """(status, answer) — of a daemon that is still there."""
        headers = {"Authorization": f"Bearer {self.daemon.admin}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        self.count += 1
        try:
            self.connection.request(method, path, body if body is None else body.encode(), headers)
            answer = self.connection.getresponse()
            text = answer.read().decode()
        except (http.client.HTTPException, OSError) as error:
            self.connection.close()
            ended = self.daemon.process.poll()
            raise AssertionError(
                f"{method} {path[:200]} {str(body)[:300]}: {error!r}; the daemon "
                + ("lives" if ended is None else f"ended with {ended}:\n{self.daemon.log[-3000:]}")) from None
        assert answer.status < 500 or may_be_late(answer.status, text), f"{method} {path[:200]} {str(body)[:300]}: {answer.status} {text}"
        return answer.status, text


def may_be_late(status, text):
    """A shared machine may keep a loop from answering in time; what is asked then was not done, and is no matter of numbers."""
    return status == 503 and json.loads(text)["code"] in ("NOT_TAKEN", "TIMED_OUT", "BUSY")


def names(text, field):
    return re.search(rf"\b{re.escape(field)}\b", json.loads(text)["message"]) is not None


def operations(document):
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if method != "parameters" and "x-stream" not in operation:
                yield method.upper(), path, operation, [*operation.get("parameters", []), *methods.get("parameters", [])]


def test_every_field_of_the_document(own_daemon):
    daemon = own_daemon(more=MORE)
    document = daemon.get("/api/openapi.json").json()
    known = {"sensors": ["0x36"], "startTimes": ["06:00"], "zones": [{"zoneId": 1, "minutes": 1}]}
    schema, door, silent = Schema(document, known), Door(daemon), []
    # What the fields belong to.
    daemon.post("/api/plants", {"name": "Basil", "sensors": ["0x36"]})
    daemon.post("/api/schedules", {"name": "Lawn", "days": ["Mon"], "startTimes": ["06:00"], "zones": [{"zoneId": 1, "minutes": 1}]})
    there = {"bcm": "12", "day": "2026-01-01", "n": "1", "id": "1", "index": "0", "sensor": "0x36", "run": "1", "number": "1", "name": daemon.motor_bus, "session": "0123456789abcdef"}
    for method, path, operation, parameters in operations(document):
        places = {one["name"]: there[one["name"]] for one in parameters if one["in"] == "path"}
        for one in parameters:
            isNumber = schema.plain(one["schema"]).get("type") == "integer"
            for value in NUMBERS if isNumber else TEXTS:
                filled = {**places, one["name"]: value} if one["in"] == "path" else places
                target = re.sub(r"\{(\w+)\}", lambda found: quote(filled[found[1]], safe=""), path)
                if one["in"] == "query":
                    target += f"?{one['name']}={quote(value)}"
                status, text = door.call(method, target, "{}" if "requestBody" in operation else None)
                if status == 422 and one["in"] == "query" and "requestBody" not in operation and not names(text, one["name"]):
                    silent.append(f"{method} {path}?{one['name']}={value[:60]}: {text}")
        body = operation.get("requestBody", {}).get("content", {}).get("application/json")
        if body is None:
            continue
        target = re.sub(r"\{(\w+)\}", lambda found: places[found[1]], path)
        for place, what in schema.leaves(body["schema"]):
            field = next(str(one) for one in reversed(place) if one != 0) if any(place) else "body"
            texts = [json.dumps(text) for text in TEXTS]
            for value in NUMBERS + NO_NUMBERS + texts[:5] if what == "number" else texts + NUMBERS[:3]:
                status, text = door.call(method, target, schema.body(body["schema"], place, value))
                if value in NO_NUMBERS:
                    assert status == 400 and '"BAD_JSON"' in text, f"{method} {path} {place} {value}: {status} {text}"
                elif status == 422 and not (names(text, field) if value in BEYOND else json.loads(text)["field"]):
                    silent.append(f"{method} {path} {place} {value[:60]}: {text}")
            if path.startswith("/api/sim/"):
                door.call("POST", "/api/sim/fault", '{"fault": "clear"}')
    assert not silent, f"{len(silent)} refusals do not name the field:\n" + "\n".join(silent[::12])
    assert door.count > 3000
    assert daemon.post("/api/stop").status_code == 200


def test_what_a_websocket_says(own_daemon):
    daemon = own_daemon()
    values = [*NUMBERS, *NO_NUMBERS, *map(json.dumps, TEXTS)]
    with Live(daemon) as live:
        for value in values:
            # Answers come in the order of the questions.
            for kind, field in (("subscribe", "rateHz"), ("ping", "id")):
                live.socket.send(f'{{"type": "{kind}", "{field}": {value}}}')
                told = live.wait_for(lambda event: event["type"] in ("ack", "pong", "error"))
                if told["type"] == "error" and value not in NO_NUMBERS:
                    assert told.get("field") == field, f"{field} {value[:60]}: {told}"
        for value in values:
            for field in ("left", "right", "timestamp", "echo"):
                live.socket.send(drive(field, value).encode())
        # Of legs: 0x80 and the leg's number, then a frame.
        for prefix in (0x00, 0x80, 0x8F, 0xFF):
            for frame in leg_frames():
                live.socket.send(bytes([prefix]) + frame)
        live.socket.send('{"type": "ping", "id": "last"}')
        live.wait_for(lambda event: event.get("id") == "last", limit=30)
    assert daemon.get("/api/status").status_code == 200


def drive(field, value):
    members = {"left": "10", "right": "10", "timestamp": str(time.time()), "echo": "1", field: value}
    return "{" + ", ".join(f'"{name}": {one}' for name, one in members.items()) + "}"


def leg_frames():
    """Every type, with lengths and pulses at both ends of their ranges; and frames that are cut or longer than they say."""
    for kind in (0x00, 0x01, 0x02, 0x03, 0x04, 0x7F, 0x80, 0xFF):
        for length in (0, 1, 2, 3, 0x7F, 0xFF):
            for byte in (0x00, 0x01, 0x7F, 0x80, 0xFF):
                yield bytes([0x01, kind, length, byte]) + bytes([byte]) * min(length, 4)


def test_datagrams_of_robot_and_leg(own_daemon):
    daemon = own_daemon()
    with Sender(daemon) as sender:
        for value in [*NUMBERS, *NO_NUMBERS, *map(json.dumps, TEXTS)]:
            for field in ("left", "right", "timestamp", "echo"):
                sender.socket.send(drive(field, value).encode())
    leg = daemon.get("/api/leg").json()["legs"][0]["settings"]["udpPort"]
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.connect(("127.0.0.1", leg))
        for frame in leg_frames():
            try:
                sender.send(frame)
            except ConnectionRefusedError:
                raise AssertionError(f"nobody takes datagrams of the leg any more:\n{daemon.log[-3000:]}") from None
    # What moved stops by itself, and what they left is read.
    for system in ("robot", "leg"):
        assert daemon.get(f"/api/{system}").status_code == 200
    assert daemon.post("/api/stop").status_code == 200


@broker.needed
def test_commands_by_mqtt(own_daemon, tmp_path):
    server = Broker(tmp_path)
    server.start()
    try:
        answers, client = {}, mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)

        def take(_, __, message):
            answer = json.loads(message.payload)
            answers[answer.get("id")] = answer

        client.on_message = take
        eventually(lambda: can_connect(client, server.port))
        daemon = own_daemon(more="pump: {backend: sim}\n"
                            f"mqtt: {{broker: 127.0.0.1, port: {server.port}, device: test, commands: true}}\n")
        client.subscribe("tactus/test/+/reply")
        client.subscribe("tactus/test/+/+/reply")
        client.subscribe("tactus/test/+/+/+/reply")
        client.loop_start()
        eventually(lambda: daemon.get("/api/mqtt").json()["connected"])
        asked = {}
        for topic, word, place, body in remote_commands(daemon.get("/api/openapi.json").json()):
            number = len(asked) + 1
            client.publish(topic, f'{{"command": "{word}", "id": {number}, {body[1:-1]}}}')
            asked[number] = f"{topic} {word} {place} {body[:80]}"
            # More than a hundred a second are refused.
            time.sleep(0.015)
        assert len(asked) > 20
        eventually(lambda: asked.keys() <= answers.keys() or daemon.process.poll() is not None)
        client.loop_stop()
        assert daemon.process.poll() is None, f"ended with {daemon.process.returncode}:\n{daemon.log[-3000:]}"
        # A stamp of any size is one.
        others = {asked[number]: answers[number] for number in asked
                  if answers[number].get("code") != "VALIDATION" and "timestamp" not in asked[number]}
        assert not others, others
    finally:
        server.stop()


def can_connect(client, port):
    try:
        return client.connect("127.0.0.1", port) == mqtt.MQTT_ERR_SUCCESS
    except OSError:
        return False


def remote_commands(document):
    """Every number of every command, at its ends."""
    schema = Schema(document)
    for path, methods in document["paths"].items():
        body = methods.get("post", {}).get("requestBody", {}).get("content", {}).get("application/json")
        if body is None or not re.match(r"/api/(robot|leg|pump|zone|pause|queue|run-once|rain-delay)\b", path):
            continue
        *scope, word = path.removeprefix("/api/").replace("{index}", "0").replace("{id}", "1").split("/")
        own = (scope or [word])[0] in ("robot", "leg", "pump")
        topic = "/".join(["tactus/test", *([] if own else ["sprinkler"]), *scope, "command"])
        for place, what in schema.leaves(body["schema"]):
            for value in ("-1e300", "1e300", "-9223372036854775809", "9223372036854775807", "-" + NINES) if what == "number" else ():
                yield topic, word, place, schema.body(body["schema"], place, value)


LINES = [line for value in ["65536", "4294967296", "9223372036854775808", "-9223372036854775809", "1e300", "-0", "NaN", NINES[:50]]
         for line in (
             f"SPEED:{value}", f"OK {value}", f"STATUS:{{State:ON,Speed:{value}%,Runtime:{value}m,Remaining:{value}m,"
             f"WaterTemp:{value}C,SkinTemp:{value}C}}", f"TEMP:{{Water:{value}C,Skin:{value}C}}", f"TEMP:{value}")]


def test_lines_of_the_pump_to_its_operator(tmp_path):
    device = HeldPump()
    with RealDaemon(tmp_path, device.path) as daemon:
        until(device.commands.qsize, lambda count: count > 0)
        device.say(*LINES)
        device.say("STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.0C}")
        until(lambda: daemon.get("/api/pump").json()["waterCelsius"], lambda celsius: celsius == 12)
    device.close()


def test_lines_to_a_simulated_pump(pump):
    for line in LINES:
        pump.write(line[:63] + "\n")
    pump.write("OFF\n")
    while pump.line() != "PUMP:OFF":
        pass


def run(*words, environment=None):
    return subprocess.run(
        [PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL,
        env={**os.environ, **(environment or {})})


def keys(schema, definitions, path=()):
    """(path, whether it is a number) of every key of the file."""
    if "properties" in schema:
        for name, one in schema["properties"].items():
            yield from keys(one, definitions, (*path, name))
    elif "items" in schema:
        yield from keys(schema["items"], definitions, (*path, 0))
    else:
        yield path, schema.get("$ref") in ("#/$defs/integer", "#/$defs/number")


def file_with(paths, value):
    """A file in which every key has the same value, as flow-style YAML."""
    tree = {}
    for path in paths:
        here = tree
        for step in path[:-1]:
            here = here.setdefault(step, {})
        here[path[-1]] = None

    def text(node):
        if node is None:
            return value
        if 0 in node:
            return f"[{text(node[0])}]"
        return "{" + ", ".join(f"{name}: {text(one)}" for name, one in node.items()) + "}"

    return "\n".join(f"{name}: {text(one)}" for name, one in tree.items()) + "\n"


def test_every_key_of_the_file(tmp_path):
    schema = json.loads((ROOT / "config/tactus.schema.json").read_text())
    found = list(keys(schema, schema["$defs"]))
    numbers = [path for path, is_number in found if is_number]
    assert len(numbers) > 100
    file = tmp_path / "tactus.yaml"
    # Beyond the range of every key, in each way that YAML writes numbers.
    beyond = [*BEYOND, "2147483648", "-2147483649",
        ".inf", "-.inf", ".nan", "0x8000000000000000", "-0x8000000000000001", "0o7777777777777777777777", "0b" + "1" * 64,
        "9_223_372_036_854_775_808", "1e+400", "190:20:30:" + NINES]
    for value in dict.fromkeys([*NUMBERS, *beyond, *NO_NUMBERS]):
        file.write_text(file_with(numbers, value))
        checked = run("check", file)
        assert checked.returncode in (0, 78), f"{value[:60]}: {checked.returncode} {checked.stderr[-2000:]}"
        if value in beyond:
            silent = [path for path in numbers if not re.search(rf"\b{[one for one in path if one][-1]}\b", checked.stderr)]
            assert not silent, f"{value[:60]}: nothing is said of {silent}"
    for value in TEXTS:
        if value.isprintable():
            file.write_text(file_with([path for path, _ in found], json.dumps(value)))
            checked = run("check", file)
            assert checked.returncode in (0, 78), f"{value[:60]}: {checked.returncode} {checked.stderr[-2000:]}"


def test_every_number_of_a_scenario(tmp_path):
    files = sorted([*ROOT.glob("config/scenarios/*.yaml"), *ROOT.glob("Tests/Faults/scenarios/*.yaml")])
    assert len(files) > 15

    def play(case):
        number, (scenario, value) = case
        file = tmp_path / f"{number}.yaml"
        file.write_text(re.sub(r"(?<=[:\[,] )-?\d+(\.\d+)?(?=[,\]}\s])", value, scenario.read_text()))
        played = run("sim", file)
        return None if played.returncode in (0, 1, 78) else f"{scenario.name} {value[:60]}: {played.returncode} {played.stderr[-1000:]}"

    values = ["-1e300", "1e300", "1e-300", "9223372036854775807", "-9223372036854775808", "9223372036854775808", ".nan", ".inf", NINES]
    with ThreadPoolExecutor(2) as pool:
        failed = [one for one in pool.map(play, enumerate((file, value) for file in files for value in values)) if one]
    assert not failed, "\n".join(failed)


def test_every_argument_of_a_command():
    def walk(command, words):
        for argument in command.get("arguments", []):
            if argument["kind"] == "option":
                yield [*words, "--" + argument["preferredName"]["name"]]
        for one in command.get("subcommands", []):
            if one["commandName"] != "help":
                yield from walk(one, [*words, one["commandName"]])

    options = list(walk(json.loads(run("--experimental-dump-help").stdout)["command"], []))
    assert len(options) > 50
    values = ["-9223372036854775809", "1e300s", "9223372036854775807h", "nan"]

    def tried(case):
        # What is unknown ends it before anything is done.
        done = run(*case[0][:-1], f"{case[0][-1]}={case[1]}", "--no-such-option")
        return None if done.returncode == 64 else f"{case}: {done.returncode} {done.stderr[-500:]}"

    with ThreadPoolExecutor(2) as pool:
        failed = [one for one in pool.map(tried, ((option, value) for option in options for value in values)) if one]
    assert not failed, "\n".join(failed)


def test_what_systemd_says(own_daemon):
    for value in ("9223372036854775807", "1", "-1", NINES):
        daemon = own_daemon(environment={"WATCHDOG_USEC": value})
        assert daemon.get("/api/health").status_code == 200
