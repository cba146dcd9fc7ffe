"""What somebody without a token can cost: memory, processor time and log, over every way in."""
import json
import os
import random
import re
import socket
import threading
import time

import pytest

from test_children import until
from wire import PING, TEXT, Wire, WireSocket, frame, request

MEGABYTE = 1 << 20
# Requests sent on one connection, of which no answer is read.
REQUESTS = int(os.environ.get("REQUESTS", 2000))
CLIENTS = 8
CONNECTIONS = int(os.environ.get("CONNECTIONS", 40))
# 2,000 requests of 51 bytes for the API's description took 430 MB.
GROWTH_LIMIT_BYTES = 24 * MEGABYTE
SEED = int(os.environ.get("SEED", time.time_ns() % 1_000_000))


def resident(process):
    with open(f"/proc/{process}/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read())[1]) * 1024


class Memory:
    """The greatest resident memory of a process while the body runs."""

    def __init__(self, process):
        self.process = process

    def __enter__(self):
        self.before = self.peak = resident(self.process)
        self.isOver = threading.Event()
        self.thread = threading.Thread(target=self.look)
        self.thread.start()
        return self

    def look(self):
        while not self.isOver.wait(0.005):
            self.peak = max(self.peak, resident(self.process))

    def __exit__(self, *_):
        self.isOver.set()
        self.thread.join()

    @property
    def growth(self):
        return self.peak - self.before


def processor_seconds(process):
    with open(f"/proc/{process}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Unread:
    """A connection that sends as much as the daemon takes, and reads nothing."""

    def __init__(self, address, data, begin=None):
        self.socket = begin or socket.socket()
        if begin is None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            self.socket.connect(address)
        self.socket.setblocking(False)
        self.rest, self.sent = memoryview(data), 0

    def push(self):
        try:
            count = self.socket.send(self.rest)
        except BlockingIOError:
            return
        except OSError:
            self.rest = self.rest[:0]
            return
        self.rest, self.sent = self.rest[count:], self.sent + count


def routes_without_token(daemon):
    """Of the description, what answers anything but 401 to nobody; and some ways to be refused."""
    document = daemon.get("/api/openapi.json", token=None).json()
    paths = [path for path, methods in document["paths"].items() if "get" in methods and "{" not in path and path != "/ws"]
    free = [path for path in paths if daemon.get(path, token=None, stream=True).status_code != 401]
    assert {"/api/health", "/api/openapi.json"} <= set(free)
    files = re.findall(r'"((?:page-3|console)-[0-9a-f]{12}\.\w+)"', daemon.get("/", token=None).text)
    assert len(files) == 2
    return ["/", *("/" + name for name in files), *free, "/api/openapi.json?x=1", "/api/status", "/nowhere"]


def growth_of(daemon, requests_of, seconds=1.5):
    """Peak growth, bytes sent and the answers to emergency stops while connections send and read nothing, and close at the end."""
    answers = []
    with Memory(daemon.process.pid) as memory:
        senders = [Unread(daemon.address, data) for data in requests_of]
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for sender in senders:
                sender.push()
            begin = time.monotonic()
            answers.append((daemon.post("/api/e-stop").status_code, time.monotonic() - begin))
        for sender in senders:
            sender.socket.close()
        # What was read of them is answered, or thrown away, before this one is.
        answers.append((daemon.post("/api/e-stop").status_code, 0))
    return memory.growth, sum(sender.sent for sender in senders), answers


# What they take is measured while they send, for as long as they do.
@pytest.mark.real_time
def test_requests_whose_answers_nobody_reads_take_no_memory_to_speak_of(own_daemon):
    daemon = own_daemon()
    routes = routes_without_token(daemon)
    for path in routes:
        growth, sent, answers = growth_of(daemon, [request("GET", path, daemon.port) * REQUESTS])
        slowest = max(seconds for _, seconds in answers)
        print(f"{path}: {sent} bytes, {growth / MEGABYTE:.1f} MB, {growth / sent:.1f} a byte; e-stop {slowest * 1000:.0f} ms at most")
        assert {status for status, _ in answers} == {200}
        assert growth < GROWTH_LIMIT_BYTES, path
    # Many of them, and every route at once.
    many = [request("GET", routes[index % len(routes)], daemon.port) * REQUESTS for index in range(CONNECTIONS)]
    growth, sent, answers = growth_of(daemon, many, seconds=4)
    print(f"{CONNECTIONS} connections: {sent} bytes, {growth / MEGABYTE:.1f} MB; e-stop {max(s for _, s in answers) * 1000:.0f} ms at most")
    assert {status for status, _ in answers} == {200}
    assert growth < GROWTH_LIMIT_BYTES + CONNECTIONS * 128 * 1024


def test_an_e_stop_comes_in_beside_requests_whose_answers_nobody_reads(own_daemon):
    daemon = own_daemon()
    routes = routes_without_token(daemon)
    many = [request("GET", routes[index % len(routes)], daemon.port) * REQUESTS for index in range(CONNECTIONS)]
    _, _, answers = growth_of(daemon, many, seconds=4)
    assert {status for status, _ in answers} == {200}


def test_answers_that_nobody_reads_end_the_connection(own_daemon):
    daemon = own_daemon()
    sender = Unread(daemon.address, request("GET", "/api/openapi.json", daemon.port) * REQUESTS)
    sender.push()
    # A stranger's 10 s, once or twice; the other connection is the question's own.
    end = time.monotonic() + 120
    while not re.search(r"^tactus_service_connections 1$", daemon.get("/metrics").text, re.MULTILINE):
        assert time.monotonic() < end
        time.sleep(0.2)
    sender.socket.close()


def beside_websockets(daemon, what):
    """Stops beside WebSockets that send and read nothing. How much memory they take."""
    token = daemon.create_token("read")
    data = {
        "pings": frame(PING, b"x" * 125) * 20_000,
        "nonsense": frame(TEXT, b"{}") * 20_000,
        "subscriptions": frame(TEXT, json.dumps({"type": "subscribe", "rateHz": 10}).encode()) * 5_000,
    }[what]
    clients = [WireSocket(daemon, token=token) for _ in range(CLIENTS)]
    with Memory(daemon.process.pid) as memory:
        senders = [Unread(daemon.address, data, begin=client.socket) for client in clients]
        end = time.monotonic() + 3
        while time.monotonic() < end:
            for sender in senders:
                sender.push()
            assert daemon.post("/api/e-stop").status_code == 200
        for sender in senders:
            sender.socket.close()
        assert daemon.post("/api/e-stop").status_code == 200
    sent = sum(sender.sent for sender in senders)
    print(f"{what}: {sent} bytes, {memory.growth / MEGABYTE:.1f} MB, {memory.growth / sent:.1f} a byte")
    return memory.growth


WHAT = pytest.mark.parametrize("what", ["pings", "nonsense", "subscriptions"])


@WHAT
def test_an_e_stop_comes_in_beside_websockets_that_nobody_reads(own_daemon, what):
    beside_websockets(own_daemon(), what)


@pytest.mark.real_time
@WHAT
def test_websockets_that_nobody_reads_take_no_memory_to_speak_of(own_daemon, what):
    # Each may have 1 MB of events waiting, besides the last of them.
    assert beside_websockets(own_daemon(), what) < CLIENTS * 2 * MEGABYTE + GROWTH_LIMIT_BYTES


@pytest.mark.real_time
def test_health_costs_about_what_any_prepared_document_does(own_daemon):
    daemon = own_daemon(auth="none")

    def cost(path, count=1500):
        with Wire(daemon.address) as wire:
            begin = processor_seconds(daemon.process.pid)
            for _ in range(count):
                wire.send(request("GET", path, daemon.port))
                assert wire.answer().status == 200
            return (processor_seconds(daemon.process.pid) - begin) / count * 1000

    style = "/" + re.search(r"console-[0-9a-f]{12}\.css", daemon.get("/", token=None).text)[0]
    prepared, health = cost(style), cost("/api/health")
    print(f"{style} {prepared:.3f} ms, /api/health {health:.3f} ms of processor")
    # It was more than tenfold: every state was written and read for each.
    assert health < 3 * prepared + 0.1


# MARK: the log

def flood_http(daemon, data, count):
    wire = None
    for _ in range(count):
        try:
            wire = wire or Wire(daemon.address)
            wire.send(data)
            if wire.answer() is None:
                wire = None
        except ConnectionError:
            wire = None
    return count


def flood_datagrams(port, messages, count):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for index in range(count):
            sender.sendto(messages[index % len(messages)], ("127.0.0.1", port))
            if index % 16 == 0:
                time.sleep(0.005)
    return count


def endpoint(daemon, member):
    """A UDP port of the daemon's, from the line that says what has been started."""
    # The log is written by a thread of its own, and may be behind the first answer.
    daemon.wait_for_line('"msg":"started"')
    line = next(json.loads(line) for line in daemon.log.splitlines() if '"msg":"started"' in line)
    found = line[member][0] if isinstance(line[member], list) else line[member]
    return int(found.rsplit(":", 1)[1])


def test_messages_of_strangers_make_few_lines(own_daemon):
    daemon = own_daemon()
    generator = random.Random(SEED)
    print(f"SEED={SEED}")
    port, robot, leg = daemon.port, endpoint(daemon, "listen"), endpoint(daemon, "leg_listen")
    wrong = dict(token="wrong", headers=["Content-Length: 0"])
    upgrade = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="]
    junk = [generator.randbytes(generator.randrange(1, 64)) for _ in range(200)]
    doors = {
        "wrong tokens": lambda: flood_http(daemon, request("POST", "/api/e-stop", port, **wrong), 1000),
        "wrong tokens, another action": lambda: flood_http(daemon, request("POST", "/api/zone/1/on", port, **wrong), 500),
        "no token": lambda: flood_http(daemon, request("POST", "/api/reset", port, headers=["Content-Length: 0"]), 500),
        "another host": lambda: flood_http(daemon, request("POST", "/api/e-stop", port, host="evil.example", headers=["Content-Length: 0"]), 500),
        "another origin": lambda: flood_http(daemon, request("POST", "/api/e-stop", port, headers=["Origin: http://evil.example", "Content-Length: 0"]), 500),
        "WebSockets refused": lambda: flood_http(daemon, request("GET", "/ws", port, token="wrong", headers=upgrade), 500),
        "no HTTP, TLS for instance": lambda: flood_http(daemon, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 500),
        "robot: e-stop, reset": lambda: flood_datagrams(robot, [b'{"command": "estop"}', b'{"command": "reset"}', b'{"left": 1, "right": 1}'], 3000),
        "robot: nonsense": lambda: flood_datagrams(robot, junk, 2000),
        "leg: arm, disarm": lambda: flood_datagrams(leg, [bytes.fromhex(one) for one in ("01020000", "01010000", "01030200dc05")], 3000),
        "leg: nonsense": lambda: flood_datagrams(leg, junk, 2000),
    }
    for name, flood in doors.items():
        before, began = len(daemon.log), time.monotonic()
        count = flood()
        # Whatever it makes the log say has been said when a later request has been answered and its line is there.
        daemon.post("/api/pump/nothing")
        daemon.get("/api/logs")
        time.sleep(0.3)
        lines = daemon.log[before:]
        print(f"{name}: {count} messages, {len(lines)} bytes, {len(lines) / count:.2f} a message, {lines.count(chr(10))} lines")
        assert lines.count("\n") <= 3 * 30, name
        # What goes on is told again by the second, and a busy machine takes many for a flood.
        assert len(lines) < 20 * count + 1_000 * (time.monotonic() - began)
    # What somebody with a token does is always there, and how much was left out is told at the end.
    before = len(daemon.log)
    for _ in range(40):
        assert daemon.post("/api/e-stop").status_code == 200
    until(lambda: daemon.log[before:].count('"action":"e-stop"') >= 40, "not every stop is in the log")
    daemon.stop()
    told = [json.loads(line) for line in daemon.log.splitlines() if '"more":' in line]
    assert any(line.get("result") in ("TOKEN_INVALID", "TOO_MANY_ATTEMPTS") and line["more"] > 900 for line in told), told
