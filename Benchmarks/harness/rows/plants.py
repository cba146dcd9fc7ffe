"""The Plant-Tracker host through mosquitto beside one with paho-mqtt: latency, a flood, the parser."""
import json
import os
import random
import secrets
import socket
import subprocess
import time
import urllib.request
from contextlib import contextmanager

from ..context import PACKAGE
from ..processes import Failed
from ..report import Aim, Report, Table, microseconds, number
from ..samples import PERCENTILES, Distribution, median_ratio, pooled
from .service import await_document, free_port

TITLE = "The plants' host beside paho-mqtt"
METHOD = """
Debian's mosquitto on loopback, a broker of its own for each run, QoS 0, `set_tcp_nodelay`. A client over libmosquitto adds a plant and
asks for its sensor's data, one request at a time; *latency*: from just before the request is given to libmosquitto to the callback of
its reply, which is checked. Two passes through the broker are in it.

- Tactus: `tactus run`, release build, with one simulated probe, its store on disk, log level INFO; no limit of messages.
- paho-mqtt: the same rules and replies in Python on paho-mqtt 2.1, plants in memory (the original opens a file for each request).
- C, no rules: a C program over libmosquitto that sends the expected reply whatever was asked: what the broker and the library cost.

Flood: 10,000 requests a second for 10 s from 50 senders, paced; each reply is checked whole, and what has none 3 s after the last is counted
(*silent*). *Refused* are those of the silent that the host has counted by name. With the limit of 15 messages in 15 s nearly all are refused:
each sender is told once. Parser: the same 10,000 lines, of which one in ten is broken, by our parser and by Python's `split`; the best
of five runs in each round.
"""
ROOT = PACKAGE.parent
TACTUS = ROOT / ".build/release/tactus"
PARSER = ROOT / ".build/release/plants-bench"
CONFIG = """\
network: {{bind_address: 127.0.0.1, http_port: {http}}}
service: {{token_file: {folder}/tokens}}
plants: {{backend: sim, read_period_s: 1, app: {{spam_limit: {limit}}}, sensors: [{{chip: seesaw, i2c_address: 0x36}}]}}
mqtt: {{broker: 127.0.0.1, port: {port}, device: bench}}
"""
NAMES = ("Tactus", "paho-mqtt")
FLOOR = "C, no rules"
BROKER = """\
listener {port} 127.0.0.1
allow_anonymous true
persistence false
set_tcp_nodelay true
max_queued_messages 0
log_dest none
"""


def run(context):
    report = Report("plants", TITLE, METHOD)
    for product in ("tactus", "plants-bench"):
        context.processes.run(
            ["swift", "build", "-c", "release", "--static-swift-stdlib", "--package-path", ROOT, "--product", product], 3600)
    requirements = PACKAGE / "peers/requirements-plants.txt"
    python = context.processes.run([ROOT / "scripts/venv", requirements], 300).strip() + "/bin/python"
    latency(context, report, python)
    flood(context, report, python)
    parser(context, report, python)
    return report


@contextmanager
def broker(context):
    port = free_port()
    config = context.scratch / f"broker-{port}.conf"
    config.write_text(BROKER.format(port=port))
    process = context.processes.start(["/usr/sbin/mosquitto", "-c", config], stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.01)
        else:
            raise Failed("mosquitto does not listen")
        yield port
    finally:
        context.processes.stop(process)


class Daemon:
    """Our host on a broker; `end` gives the messages by what became of them."""

    def __init__(self, context, port, limit):
        self.context, self.http, self.token = context, free_port(), secrets.token_hex(32)
        folder = context.scratch / secrets.token_hex(4)
        folder.mkdir()
        config = folder / "plants.yaml"
        config.write_text(CONFIG.format(http=self.http, folder=folder, port=port, limit=limit))
        log = open(context.scratch / "service.log", "a")
        self.process = context.processes.start(
            [TACTUS, "run", "--config", config], stdout=log, stderr=log,
            env={**os.environ, "TACTUS_TOKEN": self.token, "XDG_STATE_HOME": str(folder)})
        await_document(context, self.process, self.http, self.token, None)
        # The probe's first reading.
        for _ in range(100):
            sensor = self.document()["sensors"][0]
            if sensor["isFresh"]:
                return
            time.sleep(0.1)
        raise Failed(f"the probe does not read: {sensor}")

    def document(self):
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.http}/api/plants", headers={"Authorization": f"Bearer {self.token}"})
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.load(response)

    def end(self):
        # What it shows is up to a second old.
        time.sleep(1.5)
        messages = self.document()["app"]["messages"]
        self.context.processes.stop(self.process)
        return {name: count for name, count in messages.items() if count}


class Script:
    """The peer on a broker."""

    def __init__(self, context, python, port):
        self.context = context
        self.process = context.processes.start(
            [python, context.peer("plant_host.py"), "host", port], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def end(self):
        try:
            output, _ = self.process.communicate("\n", timeout=60)
        except subprocess.TimeoutExpired:
            self.context.processes.stop(self.process)
            raise Failed("plant_host.py does not end") from None
        return json.loads(output.strip().splitlines()[-1])


class Echo:
    """The floor on a broker."""

    def __init__(self, context, port):
        self.context = context
        self.process = context.processes.start([context.peer("plant_prober"), "echo", port], stdin=subprocess.PIPE)

    def end(self):
        self.context.processes.stop(self.process)


def host(context, name, python, port, limit=0):
    if name == FLOOR:
        return Echo(context, port)
    return Daemon(context, port, limit) if name == "Tactus" else Script(context, python, port)


# MARK: latency


def latency(context, report, python):
    names = (*NAMES, FLOOR)
    results = {name: [] for name in names}
    requests = context.long_or_quick(5_000, 300)
    out = context.scratch / "plants"
    for _, name in context.turns(names):
        with broker(context) as port:
            running = host(context, name, python, port)
            said = context.processes.run_json([context.peer("plant_prober"), "latency", port, requests, out], 120)
            running.end()
        if said["lost"] or said["wrong"] or said["answered"] != requests:
            raise Failed(f"{name}: {said}")
        results[name].append(Distribution.from_file(out))
    report.raw["latency"] = {name: [one.summary() for one in results[name]] for name in names}
    lines = []
    for name in names:
        total = pooled(results[name])
        line = [name, *(microseconds(total.percentile(percent)) for percent in PERCENTILES), microseconds(total.maximum),
                f"{total.count:,}"]
        line += ["", ""] if name == "Tactus" else [number(ratio(results, percent, name)) for percent in (50.0, 99.0)]
        lines.append(line)
    report.tables.append(Table(
        "Request to reply, µs", ["", "p50", "p99", "p99.9", "max", "requests", "ours ÷ it, p50", "p99"], lines))
    for percent in (50.0, 99.0):
        report.aims.append(Aim(f"request to reply, p{percent:g}, to paho-mqtt's", ratio(results, percent, "paho-mqtt"), 0.3))


def ratio(results, percent, peer):
    return median_ratio(*([one.percentile(percent) for one in results[name]] for name in ("Tactus", peer)))


# MARK: flood


def flood(context, report, python):
    rate, seconds = 10_000, context.long_or_quick(10, 2)
    cases = [("Tactus", "Tactus", 0), ("Tactus, limit of 15", "Tactus", 15), ("paho-mqtt", "paho-mqtt", 0)]
    lines, report.raw["flood"] = [], {}
    for title, name, limit in cases:
        with broker(context) as port:
            running = host(context, name, python, port, limit)
            said = context.processes.run_json(
                [context.peer("plant_prober"), "flood", port, rate, seconds, int(limit > 0)], seconds + 120)
            outcomes = running.end()
        refused = sum(count for outcome, count in outcomes.items() if outcome not in ("answered", "kickedForSpam", "ERR_kickedForSpam"))
        report.raw["flood"][title] = {**said, "outcomes": outcomes}
        lines.append([
            title, f"{said['sent'] / said['seconds']:,.0f}", f"{said['sent']:,}", f"{said['correct']:,}", f"{said['kicked']:,}",
            f"{refused:,}", f"{said['silent'] - refused:,}", said["wrong"] + said["twice"],
            ", ".join(f"{outcome} {count:,}" for outcome, count in sorted(outcomes.items()))])
        if name == "Tactus":
            report.aims.append(Aim(
                f"{rate:,}/s for {seconds} s{', limited' if limit else ''}: without a correct reply or a counted refusal",
                abs(said["silent"] - refused) + said["wrong"] + said["twice"], 0, unit="messages"))
    report.tables.append(Table(
        f"{rate:,} requests a second for {seconds} s",
        ["", "sent/s", "sent", "correct", "told of the limit", "refused, counted", "unaccounted", "wrong or twice", "the host's count"],
        lines))


# MARK: parser


def parser(context, report, python):
    lines_file = context.scratch / "lines"
    lines_file.write_text("\n".join(corpus()) + "\n")
    count = context.long_or_quick(1_000_000, 100_000)
    commands = {
        "Tactus": [PARSER, lines_file, count],
        "paho-mqtt": [python, context.peer("plant_host.py"), "parse", lines_file, count],
    }
    rates = {name: [] for name in NAMES}
    errors = {}
    for _, name in context.turns(NAMES):
        runs = [context.processes.run_json(commands[name], 300) for _ in range(context.long_or_quick(5, 2))]
        rates[name].append(max(run["messages"] / run["ns"] * 1e9 for run in runs))
        errors[name] = (runs[0]["errors"], runs[0]["payload_bytes"])
    if errors["Tactus"][0] != errors["paho-mqtt"][0]:
        raise Failed(f"the parsers differ: {errors}")
    report.raw["parser"] = rates
    best = median_ratio(rates["Tactus"], rates["paho-mqtt"])
    report.tables.append(Table(
        "Parser, messages a second", ["", "median of the rounds", "ours ÷ it"],
        [["Tactus", number(sorted(rates["Tactus"])[len(rates["Tactus"]) // 2]), ""],
         ["Python", number(sorted(rates["paho-mqtt"])[len(rates["paho-mqtt"]) // 2]), number(best)]]))


def corpus():
    """Requests as the app sends them, one in ten of them broken."""
    dice = random.Random(7)
    operations = ["REQ_numPlants", "REQ_plantInfoOnStartup", "REQ_plantSensorData", "REQ_addNewPlant", "REQ_editPlant"]
    for number_ in range(10_000):
        payload = dice.choice(["", "0", "all", 'Basil--["0x36"]', "Old,New", "Grün und mehr Text"])
        parts = [f"ID:{number_}", f"sender:{dice.randrange(16**12):012X}", "receiver:Host-RPI3B+", f"payload:{payload}",
                 f"operation:{dice.choice(operations)}"]
        if number_ % 10 == 9:
            place = dice.randrange(5)
            parts[place] = dice.choice([parts[place].replace(":", ""), parts[place] + ":x", ""])
        yield ";".join(parts)
