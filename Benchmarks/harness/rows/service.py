"""The status document over HTTP, beside FastAPI, and what that load does to a 1 kHz lane."""
import json
import os
import secrets
import socket
import statistics
import subprocess
import threading
import time
import urllib.request

from ..context import PACKAGE
from ..processes import Failed
from ..report import Aim, Report, Table, microseconds, number
from ..samples import PERCENTILES, Distribution, median_ratio, pooled
from .idle import memory

TITLE = "GET /api/status beside FastAPI; a 1 kHz lane under that load"
METHOD = """
Loopback, HTTP/1.1 keep-alive, `wrk -t1` with 16 and 64 connections, after a second of warming up. Percentiles are wrk's
own over all requests of a run. The document is what our daemon answers, byte for byte; the peers serve a copy.

- Tactus: `tactus run --simulate`, release build, robot at 20 Hz, log level INFO. Every request carries a bearer token, which
  is verified, and passes the checks of Host and Origin.
- FastAPI: uvicorn with uvloop and httptools, one worker, no access log, no token: the document as a dict through JSONResponse.
- FastAPI, bytes: the same, the document encoded beforehand.

Memory is resident memory of all processes: idle, a second after the start and before the first request; loaded, after both
runs. The lane: one process with this service and one loop at 1 kHz (SCHED_FIFO 80, pinned, memory locked), latency as in
the row "release", alone and with wrk at 16 and 64 connections; nothing else pinned. Ratios are medians over the rounds of
ours ÷ theirs, and loaded ÷ alone, in the same round.
"""
ROOT = PACKAGE.parent
CONNECTIONS = (16, 64)
CONFIG = """\
network: {{bind_address: 127.0.0.1, motor_udp_port: {udp}, http_port: {port}}}
motors: {{backend: sim}}
service: {{token_file: {tokens}}}
"""


def run(context):
    context.require_real_time()
    report = Report("service", TITLE, METHOD)
    context.processes.run(
        ["swift", "build", "-c", "release", "--static-swift-stdlib", "--package-path", ROOT, "--product", "tactus"], 3600)
    context.processes.run(
        ["swift", "build", "-c", "release", "--static-swift-stdlib", "--package-path", ROOT, "--product", "service-bench"],
        3600)
    python = context.processes.run([ROOT / "scripts/venv", PACKAGE / "peers/requirements.txt"], 300).strip() + "/bin/python"
    document = capture(context)
    requests(context, report, python, document)
    lane(context, report, document)
    return report


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


# MARK: requests


def requests(context, report, python, document):
    servers = {
        "Tactus": start_tactus,
        "FastAPI": lambda context: start_python(context, python, document, "dict"),
        "FastAPI, bytes": lambda context: start_python(context, python, document, "bytes"),
    }
    results = {name: [] for name in servers}
    for _, name in context.turns(servers):
        results[name].append(one_round(context, servers[name], document))
    report.raw["requests"] = {"document_bytes": document.stat().st_size, **results}

    def values(name, connections, key):
        return [one[str(connections)][key] for one in results[name]]

    for connections in CONNECTIONS:
        lines = []
        for name in servers:
            line = [name, number(statistics.median(values(name, connections, "per_second"))),
                    *(number(statistics.median(values(name, connections, key))) for key in ("p50_us", "p99_us", "p999_us")),
                    sum(values(name, connections, "errors"))]
            for key in ("per_second", "p99_us"):
                line.append("" if name == "Tactus" else number(
                    median_ratio(values("Tactus", connections, key), values(name, connections, key))))
            lines.append(line)
        report.tables.append(Table(
            f"{connections} connections, {document.stat().st_size:,} bytes, medians of the rounds",
            ["", "requests/s", "p50 µs", "p99 µs", "p99.9 µs", "errors", "ours ÷ it, requests/s", "p99"], lines))
        for name in ("FastAPI", "FastAPI, bytes"):
            report.aims.append(Aim(
                f"{connections} connections: requests/s to {name}'s",
                median_ratio(values("Tactus", connections, "per_second"), values(name, connections, "per_second")), 8,
                at_least=True))
            report.aims.append(Aim(
                f"{connections} connections: p99 to {name}'s",
                median_ratio(values("Tactus", connections, "p99_us"), values(name, connections, "p99_us")), 0.15))

    report.tables.append(Table("Resident memory, MB, medians of the rounds", ["", "idle", "loaded"], [
        [name, *(number(statistics.median(one[key] for one in results[name])) for key in ("idle_mb", "loaded_mb"))]
        for name in servers]))


def one_round(context, starter, document):
    process, port, token = starter(context)
    try:
        await_document(context, process, port, token, None)
        time.sleep(1)
        result = {"idle_mb": memory(process.pid)[0] / 1024}
        if fetch(port, token) is None:
            raise Failed("the server does not answer")
        wrk(context, port, token, CONNECTIONS[0], 1)
        for connections in CONNECTIONS:
            result[str(connections)] = wrk(context, port, token, connections, context.long_or_quick(8, 2))
        result["loaded_mb"] = memory(process.pid)[0] / 1024
        return result
    finally:
        context.processes.stop(process)


def start_tactus(context):
    port, token = free_port(), secrets.token_hex(32)
    config = context.scratch / "service.yaml"
    config.write_text(CONFIG.format(udp=0, port=port, tokens=context.scratch / "tokens"))
    log = open(context.scratch / "service.log", "a")
    process = context.processes.start(
        [ROOT / ".build/release/tactus", "run", "--config", config, "--simulate"], stderr=log, stdout=log,
        env={**os.environ, "TACTUS_TOKEN": token})
    return process, port, token


def start_python(context, python, document, kind):
    port = free_port()
    log = open(context.scratch / "service.log", "a")
    process = context.processes.start(
        [python, context.peer("status_server.py"), port, document, kind], stderr=log, stdout=log)
    return process, port, None


def capture(context):
    """What our daemon answers, for the peers to answer too."""
    process, port, token = start_tactus(context)
    try:
        path = context.scratch / "status.json"
        path.write_bytes(await_document(context, process, port, token, fetch))
        json.loads(path.read_bytes())
        return path
    finally:
        context.processes.stop(process)


def fetch(port, token):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request(f"http://127.0.0.1:{port}/api/status", headers=headers)
    with urllib.request.urlopen(request, timeout=5) as response:
        return response.read()


def await_document(context, process, port, token, ask):
    """Waits until the port is open; without `ask` nothing is requested, so that idle memory is that of an idle server."""
    limit = time.monotonic() + 20
    while time.monotonic() < limit and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return ask(port, token) if ask else None
        except OSError:
            time.sleep(0.02)
    log = (context.scratch / "service.log").read_text()[-400:]
    raise Failed(f"the server does not listen within 20 s of its start (status {process.poll()}): {log}")


def wrk_command(context, port, token, connections, seconds, path="/api/status"):
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s",
               "-s", PACKAGE / "peers/percentiles.lua"]
    if token:
        command += ["-H", f"Authorization: Bearer {token}"]
    return [*command, f"http://127.0.0.1:{port}{path}"]


def wrk(context, port, token, connections, seconds):
    process = context.processes.start(
        wrk_command(context, port, token, connections, seconds), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return finished(context, process, seconds)


def finished(context, process, seconds):
    try:
        _, errors = process.communicate(timeout=seconds + 20)
    except subprocess.TimeoutExpired:
        raise Failed(f"wrk did not end within {seconds + 20} s") from None
    finally:
        context.processes.stop(process)
    result = json.loads(errors.strip().splitlines()[-1])
    result["per_second"] = result["requests"] / (result["duration_us"] / 1e6)
    return result


# MARK: the lane


def lane(context, report, document):
    conditions = {"alone": 0, **{f"{connections} connections": connections for connections in CONNECTIONS}}
    results = {name: [] for name in conditions}
    served = {name: [] for name in conditions}
    for _, name in context.turns(conditions):
        distribution, loaded = one_lane(context, conditions[name], document)
        results[name].append(distribution)
        served[name].append(loaded)
    report.raw["lane"] = {
        name: [{**one.summary(), "load": load} for one, load in zip(rounds, served[name])]
        for name, rounds in results.items()}

    def ratio(name, percent):
        return median_ratio([one.percentile(percent) for one in results[name]],
                            [one.percentile(percent) for one in results["alone"]])

    lines = []
    for name, rounds in results.items():
        total = pooled(rounds)
        line = [name, *(microseconds(total.percentile(percent)) for percent in PERCENTILES), microseconds(total.maximum),
                f"{total.count:,}"]
        line += ["", "", ""] if name == "alone" else [number(ratio(name, percent)) for percent in PERCENTILES]
        line.append("" if name == "alone" else number(statistics.median(one["per_second"] for one in served[name])))
        lines.append(line)
        if name != "alone":
            report.aims.append(Aim(f"1 kHz lane: p99 with {name} to alone", ratio(name, 99.0), 1.2))
    report.tables.append(Table(
        "Release latency at 1 kHz, µs", ["", "p50", "p99", "p99.9", "max", "samples", "÷ alone, p50", "p99", "p99.9",
                                         "requests/s"], lines))


def one_lane(context, connections, document):
    port, out, seconds = free_port(), context.scratch / "samples", context.long_or_quick(8, 2)
    process = context.processes.start(
        [ROOT / ".build/release/service-bench", port, document, 1000, seconds, out, context.priority, context.cpu],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    load = None
    # A read from it has no limit of its own.
    limit = threading.Timer(seconds + 30, process.kill)
    limit.start()
    try:
        if process.stdout.readline().strip() != "ready":
            raise Failed("service-bench did not start")
        if connections:
            load = context.processes.start(
                wrk_command(context, port, None, connections, seconds + 2, "/api/document"), stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE)
        time.sleep(1)
        process.stdin.write("\n")
        process.stdin.flush()
        if process.stdout.readline().strip() != "done":
            raise Failed(f"service-bench ended with {process.wait(5)}")
        return Distribution.from_file(out), finished(context, load, seconds + 2) if load else None
    finally:
        limit.cancel()
        context.processes.stop(process)
        if load:
            context.processes.stop(load)
