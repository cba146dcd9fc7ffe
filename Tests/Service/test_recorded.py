"""Everything that the program shows outside, beside how it was recorded: documents, answers, refusals, topics, metrics, messages, keys, tables.

Who changes something of it on purpose records it anew, and the change is in the commit for everybody to see:

    pytest Tests/Service/test_recorded.py --record
"""
import json
import os
import re
import socket
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest
import requests

import broker
from broker import Broker, eventually
from daemon import PROGRAM, ROOT, Daemon, free_port
from live import Live
from recording import FOLDER, MOVING_METRICS, NUMBER, Recording, kind, masked, pretty

CONFIGURATIONS = sorted(path.stem for path in FOLDER.glob("*.yaml"))
PATIENCE_SECONDS = 60
LIMIT_SECONDS = 120

# What stands in a path for what is meant by it.
PARAMETERS = {"session": "0123456789abcdef", "index": "0", "id": "1", "bcm": "12", "n": "1", "number": "1", "run": "1", "sensor": "0x36", "name": "no-such-name", "day": "2026-01-01"}
STREAMS = {"/api/video/stream.mjpeg", "/api/video/stream.mp4", "/api/video/snapshot.jpg", "/api/sprinkler/backup", "/api/backup"}

# What is done before the second look, so that lists and logs are not empty. A robot that drives, a pump that pumps and a zone that is open
# are stopped again: at rest little moves.
COMMANDS = {
    "robot": [("POST", "/api/robot/drive", {"left": 12, "right": 13}), ("POST", "/api/robot/stop", None)],
    "leg": [
        ("POST", "/api/leg/0/arm", None), ("POST", "/api/leg/0/set", {"pulseUs": 1500}), ("POST", "/api/leg/0/ping", None),
        ("POST", "/api/leg/0/disarm", None)],
    "sprinkler": [
        ("PUT", "/api/seasonal", {"percent": 80}),
        ("POST", "/api/schedules", {
            "name": "Morning", "days": ["mon", "wed"], "startTimes": ["06:00"], "zones": [{"zoneId": 1, "minutes": 5}]}),
        ("POST", "/api/schedules/1/duplicate", None),
        ("POST", "/api/run-once", {"zones": [{"zoneId": 1, "minutes": 3}, {"zoneId": 2, "minutes": 4}]}),
        ("POST", "/api/stop", None),
        ("POST", "/api/rain-delay", {"hours": 2}), ("DELETE", "/api/rain-delay", None)],
    "pump": [("POST", "/api/pump/on", {"speedPercent": 70}), ("POST", "/api/pump/speed", {"speedPercent": 50}), ("POST", "/api/pump/off", None)],
    "plants": [
        ("POST", "/api/plants", {"name": "Basil", "sensors": ["0x36"]}), ("POST", "/api/plants/1/watered", None),
        ("POST", "/api/plants/sensors/0x36/calibrate", {"dry": 300, "wet": 1900})],
    "video": [("POST", "/api/video/record", {})],
}


@pytest.fixture
def writes(request):
    return request.config.getoption("--record")


class RecordedDaemon(Daemon):
    """A daemon with one of the recorded files."""

    def __init__(self, folder, name, mosquitto):
        super().__init__(folder)
        # The second leg has the port behind it.
        leg = free_port(2)
        self.words = {
            self.port: "@HTTP@", free_port(): "@UDP@", leg: "@LEG@", leg + 1: "@LEG+1@", free_port(): "@RTSP@", mosquitto.port: "@BROKER@",
            folder: "@FOLDER@", PROGRAM.resolve(): "@PROGRAM@", socket.gethostname(): "@HOST@", version(): "@VERSION@"}
        text = (FOLDER / f"{name}.yaml").read_text()
        for value, sign in self.words.items():
            text = text.replace(sign, str(value))
        self.config.write_text(text)
        self.name = name

    def files(self, writes):
        """Makes recordings of this daemon."""
        return lambda file: Recording(f"{self.name}/{file}", writes, self.words)


def version():
    return subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout.strip()


def complain(differences):
    found = "\n".join(differences.values())
    assert not found, f"what is shown outside is not what is recorded; if that is meant: pytest {__file__} --record\n{found}"


# ---- one configuration


def fill(path):
    return re.sub(r"{(\w+)}", lambda match: PARAMETERS[match[1]], path)


def shown(answer):
    """Status, type and body, or of a body that is no text its type alone."""
    head = f"{answer.status_code} {answer.headers.get('Content-Type', '')}".rstrip()
    if answer.status_code == 200 and "json" not in head:
        # A table's columns; what a picture or a database is, its own tests say.
        return head + ("\n" + answer.text.splitlines()[0] if "csv" in head else "")
    return head


def body(answer, root):
    if "json" not in answer.headers.get("Content-Type", "") or "ndjson" in answer.headers["Content-Type"]:
        return shown(answer)
    return shown(answer) + "\n" + pretty(masked(answer.json(), root))


def look(daemon, paths):
    return {f"GET {path}": body(daemon.get(fill(path)), path.removeprefix("/api/")) for path in paths if path not in STREAMS}


def streams(recording, daemon, paths):
    """What is sent as long as somebody looks, or is a file: its type."""
    for path in paths:
        if path in STREAMS:
            with daemon.get(path, stream=True) as answer:
                recording.add(f"GET {path}", f"{answer.status_code} {answer.headers.get('Content-Type', '')}")


def at_rest(daemon, paths):
    """The answers once two looks, half a second apart, show the same."""
    limit = time.monotonic() + PATIENCE_SECONDS
    before = look(daemon, paths)
    while True:
        time.sleep(0.5)
        now = look(daemon, paths)
        if now == before:
            return now
        if time.monotonic() > limit:
            moved = next(name for name in now if now[name] != before[name])
            raise AssertionError(f"{moved} does not come to rest:\n{before[moved]}\n{now[moved]}")
        before = now


def topics_at_rest(mosquitto):
    """What the broker keeps once that is the same for three seconds, but for what moves."""
    limit = time.monotonic() + PATIENCE_SECONDS
    while True:
        before = mosquitto.retained("#")
        time.sleep(3)
        now = mosquitto.retained("#")
        if before and {topic: message(topic, text) for topic, text in before.items()} == {topic: message(topic, text) for topic, text in now.items()}:
            return now
        assert time.monotonic() < limit, "the broker's topics do not come to rest"


def is_ready(daemon):
    """Whether everything that comes by itself after a start has come."""
    if not daemon.get("/api/health").json()["ok"]:
        return False
    systems = daemon.get("/api/status").json()["systems"]
    pump, plants, video = (systems.get(name, {}) for name in ("pump", "plants", "video"))
    return (
        video.get("rtsp", {}).get("listening", True) and pump.get("contact", "answering") == "answering" and pump.get("offConfirmed", True) is True
        and all(sensor["isFresh"] and sensor["readings"] > 1 for sensor in plants.get("sensors", [])))


def openapi(recording, document, isWhole):
    if isWhole:
        return recording.add_json("OpenAPI", document)
    operations = sorted(f"{method.upper()} {path}" for path, methods in document["paths"].items() for method in methods if method != "parameters")
    recording.add("OpenAPI, operations", "\n".join(operations))
    for group, components in sorted(document["components"].items()):
        recording.add(f"OpenAPI, {group}", "\n".join(sorted(components)))


def metrics(text):
    """HELP, TYPE, and each sample's name and labels without its value."""
    lines = (line if line.startswith("#") else line.rpartition(" ")[0] for line in text.splitlines())
    return "\n".join(dict.fromkeys(line for line in lines if not MOVING_METRICS & set(re.split(r"[ {]", line))))


def operations(document):
    for path, methods in sorted(document["paths"].items()):
        for method, operation in sorted(methods.items()):
            if method != "parameters":
                yield method.upper(), path, operation


def refusals(recording, daemon, document):
    """What each operation answers to who may not, and to what it does not understand. Operations with the same answer are named together."""
    reader = daemon.create_token("read", "reader")
    ways = {
        "without a token": lambda method, path, _: daemon.request(method, path, token=None),
        "with a token that may read": lambda method, path, _: method != "GET" and daemon.request(method, path, token=reader),
        "with a body that is no JSON": lambda method, path, operation:
            "requestBody" in operation and daemon.request(method, path, data="{", headers={"Content-Type": "application/json"}),
        "with a field that is not known": lambda method, path, operation:
            "requestBody" in operation and daemon.request(method, path, json={"unlikely": 1}),
        "with a query that is not known": lambda method, path, _: method == "GET" and path not in STREAMS and daemon.get(path + "?unlikely=1"),
        "with a method that it has not": lambda method, path, _: method == "GET" and daemon.request("PATCH", path),
    }
    for way, ask in ways.items():
        same = {}
        for method, path, operation in operations(document):
            answer = ask(method, fill(path), operation)
            # What it answers to everybody is in the answers.
            if answer is not False and answer.status_code >= 400:
                same.setdefault(body(answer, "refused"), []).append(f"{method} {path}")
        recording.add(way, "\n".join("\n  ".join([text, *names]) for text, names in sorted(same.items())))
    for title, answer in {
        "no such route": daemon.get("/api/no-such-route"),
        "a wrong token": daemon.get("/api/status", token="wrong"),
        "another host": daemon.get("/api/status", headers={"Host": "elsewhere.example"}),
        "another page's origin": daemon.request("POST", "/api/e-stop", headers={"Origin": "http://elsewhere.example"}),
        "a body that is too long": daemon.request("PUT", "/api/log-level", data=b" " * (2 << 20)),
        "a WebSocket without a token": daemon.get("/ws", token=None),
    }.items():
        recording.add(title, body(answer, "refused"))


def messages(recording, live, events):
    """The answers to what a client says, the last state and telemetry of each system, and the names in what is sent at a change."""
    for said in ({"type": "ping", "id": 1}, {"type": "nonsense", "id": "x"}, {"type": "subscribe", "systems": ["nonsense"]}):
        live.say(**said)
    live.socket.send("{")
    events += live.events(3)
    states = {event["system"]: set(event) for event in events if event["type"] == "state"}
    kinds = {}
    for event in events:
        more = event["code"] if event["type"] == "error" else "telemetry" if set(event) == states.get(event["system"]) else ""
        kinds[f"{event['type']} of {event['system']}" + (f", {more}" if more else "")] = event
    for name, event in sorted(kinds.items()):
        if event["system"] == "daemon" or event["type"] == "state":
            recording.add_json(name, event, event["system"])
        else:
            recording.add(name, " ".join(sorted(event)))


def message(topic, text):
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return text
    return pretty(uncounted(masked(value, topic.removeprefix("tactus/recorded/").removesuffix("/state").replace("/", "."))))


def uncounted(value, is_counter=False):
    """The value without its counts, which a broker has every ten seconds only: those after the commands, or those before."""
    if isinstance(value, dict):
        return {name: uncounted(member, is_counter or name == "counters") for name, member in value.items()}
    if isinstance(value, list):
        return [uncounted(item, is_counter) for item in value]
    return "‹number›" if is_counter and kind(value) == NUMBER else value


def topics(recording, kept):
    for topic, text in sorted(kept.items()):
        recording.add(topic, message(topic, text))


def tables(recording, folder):
    store = folder / "state" / "store.sqlite"
    if not store.exists():
        return recording.add("store", "none")
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as database:
        for name, text in database.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name"):
            recording.add(name, re.sub(r" +", " ", text))


def recorded(folder, name, writes):
    """The documents of a daemon that was started for it."""
    folder.mkdir()
    mosquitto = Broker(folder)
    mosquitto.start()
    daemon = RecordedDaemon(folder, name, mosquitto)
    file = daemon.files(writes)
    answers, commands, second, refused, told, kept, numbers, api, store = recordings = [
        file(f"{one}.txt") for one in ("answers", "commands", "answers-after-commands", "refusals", "websocket", "mqtt", "metrics", "openapi", "store")]
    try:
        with daemon:
            eventually(lambda: is_ready(daemon))
            document = daemon.get("/api/openapi.json", token=None).json()
            openapi(api, document, isWhole=name == "all")
            paths = [path for path, methods in sorted(document["paths"].items()) if "get" in methods and path != "/api/openapi.json"]
            first = at_rest(daemon, paths)
            for title, text in first.items():
                answers.add(title, text)
            with Live(daemon) as live:
                live.say(type="subscribe")
                events = [live.next()]
                for system in daemon.get("/api/status").json()["systems"]:
                    for method, path, given in COMMANDS[system]:
                        answer = daemon.request(method, path, json=given) if method != "POST" else daemon.post(path, given)
                        commands.add(f"{method} {path}" + (f" {json.dumps(given)}" if given else ""), body(answer, path.removeprefix("/api/")))
                        # Longer than a beat, so that each change is sent, and not only the last of several.
                        events += live.events(1)
                messages(told, live, events)
            for title, text in at_rest(daemon, paths).items():
                if text != first[title]:
                    second.add(title, text)
            numbers.add("GET /metrics", metrics(daemon.get("/metrics").text))
            topics(kept, topics_at_rest(mosquitto))
            refusals(refused, daemon, document)
            streams(answers, daemon, paths)
            commands.add("POST /api/e-stop", body(daemon.post("/api/e-stop"), "e-stop"))
            commands.add("POST /api/reset", body(daemon.post("/api/reset"), "reset"))
        tables(store, folder)
    finally:
        mosquitto.stop()
    return recordings


# How many daemons may show a document before it is another one than recorded.
TRIES = 3


@broker.needed
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_a_daemon_shows_what_is_recorded(tmp_path, name, writes):
    """What a busy machine moves is something else in each daemon, what was changed is the same in all: a document that one of them shows as it is
    recorded is as it was."""
    different = None
    for number in range(1 if writes else TRIES):
        found = {}
        for one in recorded(tmp_path / f"daemon{number}", name, writes):
            found |= one.finish()
        different = found if different is None else {title: found[title] for title in different if title in found}
        if not different:
            return
    complain(different)


# ---- the program


def run(*arguments):
    return subprocess.run(
        [PROGRAM, *arguments], capture_output=True, text=True, timeout=LIMIT_SECONDS, stdin=subprocess.DEVNULL,
        env={**os.environ, "COLUMNS": "80"})


def helps(recording, *command):
    text = run("help", *command).stdout
    recording.add(" ".join(["tactus help", *command]), text)
    _, _, below = text.partition("\nSUBCOMMANDS:\n")
    for name in re.findall(r"^  ([\w-]+)", below, re.MULTILINE):
        helps(recording, *command, name)


def test_the_help_of_each_command(writes):
    recording = Recording("program/help.txt", writes, {version(): "@VERSION@"})
    helps(recording)
    complain(recording.finish())


def wrong(schema, value):
    """A part of a file with this value at each of its keys."""
    if "properties" in schema:
        return {key: wrong(below, value) for key, below in schema["properties"].items()}
    if "items" in schema and "properties" in schema["items"]:
        return [wrong(schema["items"], value)]
    if isinstance(schema.get("additionalProperties"), dict):
        return {"one": wrong(schema["additionalProperties"], value)}
    return value


def test_the_messages_of_each_key(tmp_path, writes):
    schema = json.loads(run("schema").stdout)
    recording = Recording("program/keys.txt", writes, {tmp_path: "@FOLDER@"})
    file = tmp_path / "wrong.yaml"
    for section, below in sorted(schema["properties"].items()):
        for title, value in (("a mapping", {"unlikely": 1}), ("a number", -1e300), ("a text", "unlikely")):
            file.write_text(json.dumps({section: wrong(below, value)}))
            checked = run("check", str(file))
            # Without line and column: a key more would move all that follow.
            lines = sorted(set(re.sub(r"^.*wrong\.yaml:\d+:\d+: ", "", line) for line in checked.stderr.splitlines()))
            recording.add(f"{section}: each key is {title}", "\n".join([f"exit status {checked.returncode}", *lines]))
    complain(recording.finish())


@pytest.mark.parametrize("command, path", [
    (["schema"], "config/tactus.schema.json"), (["dashboard"], "config/grafana-dashboard.json"), (["check", "--reference"], "config/reference.yaml")])
def test_what_is_kept_beside_the_examples(command, path, writes):
    text, kept = run(*command).stdout, ROOT / path
    if writes:
        kept.write_text(text)
    assert text == kept.read_text(), f"tactus {' '.join(command)} is not {path}"


def test_what_is_announced(writes):
    recording = Recording("program/bonjour.txt", writes, {version(): "@VERSION@"})
    told = subprocess.run(
        [Path(__file__).with_name("bonjour.sh"), PROGRAM, "--records"], capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    if told.stdout.startswith("skipped: "):
        pytest.skip(told.stdout.splitlines()[0].removeprefix("skipped: "))
    assert told.returncode == 0, told.stdout + told.stderr
    recording.add("announced", told.stdout)
    complain(recording.finish())
