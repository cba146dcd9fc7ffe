"""Whoever holds a token that may stop gets in, whatever those without one do."""
import os
import re
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from live import Live
from test_costs import processor_seconds
from wire import Wire, WireSocket, request

# A debug build lets in a thousand connections a second, and the flood keeps up to 1,024 waiting: `STOPS=67 IDLE=2240` measures.
STOPS = int(os.environ.get("STOPS", 4))
IDLE = int(os.environ.get("IDLE", 640))
BODIES = 500
BODY_BYTES = 65_536
# 500 bodies held whole, and copies of them, took 72 MB.
GROWTH_LIMIT_BYTES = 40 << 20


@contextmanager
def flood(daemon, count):
    """`count` connections that say nothing and come back when they are closed, from a program of their own."""
    program = subprocess.Popen(
        [sys.executable, Path(__file__).with_name("flood.py"), *map(str, daemon.address), str(count)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert program.stdout.readline() == "open\n"
        yield
    finally:
        program.stdin.close()
        print(f"{program.stdout.readline().strip()} connections of the flood")
        assert program.wait(60) == 0


def stop_all(daemon, token):
    """One emergency stop on a connection of its own: its status and how long it took."""
    begin = time.monotonic()
    with Wire(daemon.address) as wire:
        wire.send(request("POST", "/api/e-stop", daemon.port, token=token))
        answer = wire.answer()
    return answer and answer.status, time.monotonic() - begin


def metric(daemon, name):
    # Who looks waits for those who looked before, with a debug build on a busy machine for minutes.
    return float(re.search(rf"^{name} (\S+)$", daemon.get("/metrics", timeout=600).text, re.MULTILINE)[1])


@pytest.mark.parametrize("auth", ["tokens", "none"])
def test_e_stops_beside_hundreds_of_connections_that_say_nothing(own_daemon, auth):
    daemon = own_daemon(auth=auth)
    token = daemon.create_token("control") if auth == "tokens" else None
    with Live(daemon, ping_interval=None) as live:
        live.next()
        with flood(daemon, IDLE):
            answers = [stop_all(daemon, token) for _ in range(STOPS)]
            assert daemon.get("/api/status", token=token or "").status_code == 200
            # Who was there before is there still.
            live.say(type="ping", id=1)
            live.wait_for(lambda event: event.get("id") == 1)
    times = sorted(seconds for _, seconds in answers)
    print(f"e-stop: median {times[STOPS // 2] * 1000:.1f} ms, longest {times[-1] * 1000:.1f} ms")
    assert [status for status, _ in answers] == [200] * STOPS
    assert metric(daemon, "tactus_service_evicted_connections_total") > IDLE / 2


def test_with_64_descriptors_an_e_stop_still_comes_in(tmp_path):
    from daemon import Daemon
    with Daemon(tmp_path, open_files=64) as daemon:
        token, reader = daemon.create_token("control"), daemon.create_token("read")
        with flood(daemon, 200):
            answers = [stop_all(daemon, token) for _ in range(10)]
        assert [status for status, _ in answers] == [200] * 10
        assert "file descriptors run out" in daemon.log
        # What is left of the flood has to be closed first.
        limit = time.monotonic() + 60
        while daemon.get("/api/health").json().get("code") == "FEW_DESCRIPTORS":
            assert time.monotonic() < limit
            time.sleep(0.1)
        # Those of readers are not what the last ones are kept for.
        sockets = []
        try:
            while (wire := WireSocket(daemon, token=reader)).upgrade.status == 101:
                sockets.append(wire)
                assert len(sockets) < 64
            assert wire.upgrade.status == 503
            assert stop_all(daemon, token)[0] == 200
            health = daemon.get("/api/health")
            assert health.status_code == 200 and health.json()["code"] == "FEW_DESCRIPTORS", health.text
        finally:
            print(f"{len(sockets)} readers")
            for socket in sockets:
                socket.socket.close()


def test_too_few_descriptors_are_refused_at_the_start(tmp_path):
    from daemon import Daemon
    daemon = Daemon(tmp_path, open_files=48)
    daemon.start_process()
    assert daemon.process.wait(120) == 1
    assert re.search(r"expected at least \d+ files that may be open, got 48: .*LimitNOFILE=", daemon.log)


def with_no_descriptor_left(tmp_path, seconds):
    """Stops a daemon that has no descriptor left; which part of a core it then needs, over some seconds."""
    from daemon import Daemon
    with Daemon(tmp_path, open_files=72, auth="none") as daemon:
        # Known, all of them, and each may stop: nothing but descriptors bounds them. Some wait to be accepted.
        wires = []
        try:
            for _ in range(100):
                wires.append(Wire(daemon.address, limit=1))
                wires[-1].send(request("GET", "/api/status", daemon.port))
            begin, ticks = time.monotonic(), processor_seconds(daemon.process.pid)
            assert [stop_all(daemon, None)[0] for _ in range(4)] == [200] * 4
            time.sleep(seconds)
            return (processor_seconds(daemon.process.pid) - ticks) / (time.monotonic() - begin)
        finally:
            for wire in wires:
                wire.socket.close()


def test_with_no_descriptor_left_an_e_stop_still_comes_in(tmp_path):
    with_no_descriptor_left(tmp_path, seconds=0)


@pytest.mark.real_time
def test_no_descriptor_left_costs_no_processor(tmp_path):
    used = with_no_descriptor_left(tmp_path, seconds=2)
    print(f"{used * 100:.0f} % of a core")
    # It was 52 to 84 %; what is left is the loops'.
    assert used < 0.4


def test_more_connections_with_tokens_than_allowed_are_told_and_who_can_stop_is_not(own_daemon):
    daemon = own_daemon(max_connections=16)
    reader, controller = daemon.create_token("read"), daemon.create_token("control")
    sockets = [WireSocket(daemon, token=reader) for _ in range(14)]
    try:
        assert {socket.upgrade.status for socket in sockets} == {101}
        refused = WireSocket(daemon, token=reader)
        assert refused.upgrade.status == 503 and b"TOO_MANY_CONNECTIONS" in refused.upgrade.body
        for _ in range(20):
            assert stop_all(daemon, controller)[0] == 200
        assert requests.get(daemon.url + "/api/health", timeout=60).status_code == 200
    finally:
        for socket in sockets:
            socket.socket.close()


def beside_bodies(daemon):
    """What hundreds of bodies that do not end are answered, and who stops beside them. How much memory they take."""
    token = daemon.create_token("control")
    head = request("POST", "/api/robot/drive", daemon.port, token=token, headers=[
        "Content-Type: application/json", f"Content-Length: {BODY_BYTES}"])
    stop_all(daemon, token)
    before = metric(daemon, "process_resident_memory_bytes")
    senders = []
    try:
        for _ in range(BODIES):
            senders.append(Wire(daemon.address))
            try:
                senders[-1].send(head + b" " * (BODY_BYTES - 1))
            except ConnectionError:
                pass  # Refused already.
        statuses = [stop_all(daemon, token)[0] for _ in range(10)]
        growth = metric(daemon, "process_resident_memory_bytes") - before
        print(f"{BODIES} bodies of {BODY_BYTES} bytes: {before / 2**20:.1f} MB and {growth / 2**20:.1f} MB more")
        assert statuses == [200] * 10
        answers = [sender.answer() for sender in senders[-100:]]
        assert {answer.status for answer in answers} == {503}
        assert all(b"TOO_MANY_BODIES" in answer.body for answer in answers)
        for sender in senders[:20]:
            sender.send(b" ")
            assert sender.answer().status == 400
    finally:
        for sender in senders:
            sender.socket.close()
    return growth


def test_hundreds_of_bodies_are_refused_and_who_stops_is_not(own_daemon):
    beside_bodies(own_daemon())


@pytest.mark.real_time
def test_hundreds_of_bodies_take_no_memory_to_speak_of(own_daemon):
    assert beside_bodies(own_daemon()) < GROWTH_LIMIT_BYTES


# The answers must be made within the minute after which who reads nothing is closed as idle: a busy machine takes longer.
@pytest.mark.real_time
def test_who_does_not_read_is_closed_when_too_much_waits_and_who_reads_is_not(own_daemon):
    """Sixteen ask for 3 MB each and read nothing: more than may wait for all together, less than one alone may have."""
    daemon = own_daemon()
    for number in range(40):
        answer = daemon.post("/api/schedules", {
            "name": f"{number} " + "x" * 50, "days": ["Mon", "Tue", "Fri"], "startTimes": ["06:00"],
            "zones": [{"zoneId": 1 + zone % 4, "minutes": 1} for zone in range(30)]})
        assert answer.status_code == 201, answer.text
    preview = "/api/schedules/preview?count=1000"
    # 3 MB take a debug build seconds.
    length = len(daemon.get(preview, timeout=600).content)
    assert 16 * length > 40 << 20, length
    deaf = []
    try:
        for _ in range(16):
            one = socket.socket()
            # What lies in the kernel waits for nobody of ours.
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            one.settimeout(60)
            one.connect(daemon.address)
            one.sendall(request("GET", preview, daemon.port, token=daemon.admin))
            deaf.append(one)
        limit = time.monotonic() + 600
        while not metric(daemon, "tactus_service_slow_connections_total"):
            assert time.monotonic() < limit, "nobody was closed"
            time.sleep(0.1)
        assert len(daemon.get(preview, timeout=600).content) == length
    finally:
        for one in deaf:
            one.close()
    # Who has gone is gone.
    limit = time.monotonic() + 600
    while metric(daemon, "tactus_service_connections") > 1:
        assert time.monotonic() < limit, "the connections of those who have gone are still there"
        time.sleep(0.1)
