"""A zone's ON until its line is written, its status, its countdown, and a simulated year."""
import http.client
import json
import os
import secrets
import statistics
import time

from ..context import PACKAGE
from ..processes import Failed
from ..report import Aim, Report, Table, microseconds, number
from ..samples import PERCENTILES, Distribution, median_ratio, pooled
from .service import await_document, free_port, wrk

TITLE = "The sprinkler beside FastAPI"
METHOD = """
One client sends `POST /api/zone/{id}/on`, then `off`, on one kept-alive connection, another zone each time, with a bearer token that
both servers check. *written*: from just before the send to the write of the zone's line, by CLOCK_MONOTONIC on both sides;
*answered*: to the last byte of the answer.

- Tactus: `tactus run --simulate`, release build, eight zones on simulated lines; an ON is a row in SQLite (WAL, synchronous FULL)
  before it is an open valve. The line's instant is the start of the tick that writes it.
- FastAPI: the requirement's backend as one writes it: uvicorn with uvloop and httptools, one worker, a timer task a zone, pins in
  memory that note when they were written; nothing is kept.
- FastAPI, SQLite: the same, with a row a run, likewise before the valve opens.

Status: `wrk -t1 -c16`, the status of eight zones, one of them open, each server's own. Countdown: both hold a zone for twelve minutes at the same time
on an otherwise idle machine; the error is the time between the two writes of its line minus the time asked for. The simulated year:
`tactus sim config/scenarios/sprinkler-year.yaml` as a whole process, 20 programs on 16 zones.
"""
ROOT = PACKAGE.parent
TACTUS = ROOT / ".build/release/tactus"
YEAR = ROOT / "config/scenarios/sprinkler-year.yaml"
ZONES = 8
CONFIG = """\
network: {{bind_address: 127.0.0.1, http_port: {port}}}
service: {{token_file: {folder}/tokens}}
store: {{folder: {folder}}}
sprinkler:
  backend: sim
  time_zone: Europe/Berlin
  zones:
{zones}
"""


def run(context):
    report = Report("sprinkler", TITLE, METHOD)
    context.processes.run(
        ["swift", "build", "-c", "release", "--static-swift-stdlib", "--package-path", ROOT, "--product", "tactus"], 3600)
    python = context.processes.run([ROOT / "scripts/venv", PACKAGE / "peers/requirements.txt"], 300).strip() + "/bin/python"
    servers = {
        "Tactus": lambda: Tactus(context),
        "FastAPI": lambda: FastAPI(context, python, None),
        "FastAPI, SQLite": lambda: FastAPI(context, python, context.scratch / f"{secrets.token_hex(4)}.sqlite"),
    }
    switching(context, report, servers)
    countdown(context, report, servers)
    year(context, report)
    return report


class Server:
    """A running server, and a client's one connection to it."""

    def __init__(self, context, command, environment, port, token):
        self.context, self.port, self.token = context, port, token
        log = open(context.scratch / "service.log", "a")
        self.process = context.processes.start(command, stdout=log, stderr=log, env={**os.environ, **environment})
        await_document(context, self.process, port, token, None)
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()
        self.context.processes.stop(self.process)

    def ask(self, method, path, body=None):
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        self.connection.request(method, path, body=None if body is None else json.dumps(body), headers=headers)
        response = self.connection.getresponse()
        text = response.read()
        if response.status != 200:
            raise Failed(f"{method} {path}: {response.status} {text[:200]}")
        return json.loads(text)


class Tactus(Server):
    def __init__(self, context):
        port, token = free_port(), secrets.token_hex(32)
        folder = context.scratch / secrets.token_hex(4)
        folder.mkdir()
        zones = "".join(f"    - {{name: Zone {zone}, pin: {16 + zone}}}\n" for zone in range(1, ZONES + 1))
        config = folder / "sprinkler.yaml"
        config.write_text(CONFIG.format(port=port, folder=folder, zones=zones))
        super().__init__(context, [TACTUS, "run", "--config", config, "--simulate"], {"TACTUS_TOKEN": token}, port, token)
        buses = self.ask("GET", "/api/sim/bus")["buses"]
        self.bank = next(bus["name"] for bus in buses if "gpio" in bus["name"])
        self.seen = 0

    def writes(self):
        """(ns, line levels) since the last call: whatever was set."""
        found = []
        while True:
            page = self.ask("GET", f"/api/sim/bus/{self.bank}?since={self.seen}")
            rows = page["transactions"]
            if not rows:
                return found
            self.seen = page["next"]
            found += [row["monotonicNs"] for row in rows if row["operation"] == "set"]


class FastAPI(Server):
    def __init__(self, context, python, database):
        port, token = free_port(), secrets.token_hex(32)
        super().__init__(
            context, [python, context.peer("sprinkler_server.py"), port, token, database or "memory"], {}, port, token)
        self.seen = 0

    def writes(self):
        rows = self.ask("GET", "/pins/writes")
        found = [row[0] for row in rows[self.seen:]]
        self.seen = len(rows)
        return found


# MARK: on, off, status


def switching(context, report, servers):
    written = {name: [] for name in servers}
    answered = {name: [] for name in servers}
    status = {name: [] for name in servers}
    for _, name in context.turns(servers):
        with servers[name]() as server:
            one, two = one_round(context, server)
            written[name].append(one)
            answered[name].append(two)
            server.ask("POST", "/api/zone/1/on", {"minutes": 30})
            wrk(context, server.port, server.token, 16, 1)
            status[name].append(wrk(context, server.port, server.token, 16, context.long_or_quick(6, 2)))
    report.raw["switching"] = {
        name: {"written": [one.summary() for one in written[name]], "answered": [one.summary() for one in answered[name]],
               "status": status[name]} for name in servers}
    for title, results in (("ON to the line written, µs", written), ("ON to its answer, µs", answered)):
        lines = []
        for name in servers:
            total = pooled(results[name])
            line = [name, *(microseconds(total.percentile(percent)) for percent in PERCENTILES), microseconds(total.maximum),
                    f"{total.count:,}"]
            line += ["", ""] if name == "Tactus" else [
                number(ratio(results["Tactus"], results[name], percent)) for percent in (50.0, 99.0)]
            lines.append(line)
        report.tables.append(Table(title, ["", "p50", "p99", "p99.9", "max", "samples", "ours ÷ it, p50", "p99"], lines))
    lines = []
    for name in servers:
        line = [name, *(number(statistics.median(one[key] for one in status[name])) for key in ("per_second", "p50_us", "p99_us"))]
        line += ["", ""] if name == "Tactus" else [
            number(median_ratio([one[key] for one in status["Tactus"]], [one[key] for one in status[name]]))
            for key in ("per_second", "p99_us")]
        lines.append(line)
    report.tables.append(Table(
        "GET /api/status, 16 connections", ["", "requests/s", "p50 µs", "p99 µs", "ours ÷ it, requests/s", "p99"], lines))
    for name in list(servers)[1:]:
        for percent in (50.0, 99.0):
            report.aims.append(Aim(
                f"ON to the line written, p{percent:g}, to {name}'s", ratio(written["Tactus"], written[name], percent), 1))


def ratio(ours, theirs, percent):
    return median_ratio([one.percentile(percent) for one in ours], [one.percentile(percent) for one in theirs])


def one_round(context, server):
    written, answered = [], []
    for turn in range(context.long_or_quick(600, 60)):
        zone = turn % ZONES + 1
        server.writes()
        began = time.monotonic_ns()
        server.ask("POST", f"/api/zone/{zone}/on", {"minutes": 5})
        ended = time.monotonic_ns()
        marks = [mark for mark in server.writes() if mark >= began]
        if not marks:
            raise Failed(f"zone {zone} was switched on, and no line was written")
        written.append(marks[0] - began)
        answered.append(ended - began)
        server.ask("POST", f"/api/zone/{zone}/off", {})
    return Distribution(written), Distribution(answered)


# MARK: countdown and the year


def countdown(context, report, servers):
    seconds = context.long_or_quick(720, 6)
    running = {name: servers[name]() for name in list(servers)[:2]}
    lines = []
    try:
        for server in running.values():
            server.writes()
            server.ask("POST", "/api/zone/1/on", {"minutes": seconds / 60})
        time.sleep(seconds + 1)
        for name, server in running.items():
            # Nobody keeps an idle connection for so long: the next request opens another.
            server.connection.close()
            marks = server.writes()
            if len(marks) < 2:
                raise Failed(f"{name} has not closed its zone after {seconds} s")
            error = abs(marks[-1] - marks[0] - seconds * 1_000_000_000)
            report.raw.setdefault("countdown", {})[name] = error
            lines.append([name, number(error / 1e6)])
            if name == "Tactus":
                report.aims.append(Aim(f"a zone held for {seconds} s: the error", error / 1e6, 1, unit="ms"))
    finally:
        for server in running.values():
            server.__exit__()
    report.tables.append(Table(f"A zone held for {seconds} s", ["", "error, ms"], lines))


def year(context, report):
    times = []
    for _ in range(context.rounds):
        began = time.monotonic()
        context.processes.run([TACTUS, "sim", YEAR], 120)
        times.append(time.monotonic() - began)
    report.raw["year_s"] = times
    report.aims.append(Aim("a simulated year", max(times), 2, unit="s"))
    report.tables.append(Table("A simulated year, s", ["least", "median", "most"], [
        [number(min(times)), number(statistics.median(times)), number(max(times))]]))
