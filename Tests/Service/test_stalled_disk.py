"""A disk that stalls under every system that keeps something: what needs no disk is answered, and the service manager hears of us."""
import shutil
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest

from daemon import START_LIMIT_SECONDS, Daemon

COMPILER = shutil.which("cc") or shutil.which("clang")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C compiler: the disk is stalled by a library before the C library's")

# What systemd waits for a sign of life: config/tactus.service.
WATCHDOG_SECONDS = 5
STALL_SECONDS = 8


@pytest.fixture
def stalled(tmp_path):
    """A daemon, its disk as a file whose presence stalls it, and the socket on which it notifies."""
    library = tmp_path / "stalled_disk.so"
    source = Path(__file__).parent / "stalled_disk.c"
    subprocess.run([COMPILER, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    disk = tmp_path / "stalled"
    notified = tmp_path / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as service_manager:
        service_manager.bind(str(notified))
        daemon = Daemon(
            tmp_path, more="pump: {}\n", environment={
                "LD_PRELOAD": str(library), "STALLED_DISK": str(disk), "NOTIFY_SOCKET": str(notified),
                "WATCHDOG_USEC": str(WATCHDOG_SECONDS * 1_000_000)})
        daemon.start()
        yield daemon, disk, service_manager
        disk.unlink(missing_ok=True)
        daemon.stop()


def until(condition):
    limit = time.monotonic() + START_LIMIT_SECONDS
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.02)


def test_a_stalled_disk_holds_up_neither_an_e_stop_nor_the_watchdog(stalled):
    stop_on(stalled, START_LIMIT_SECONDS, lambda stops: stops >= 5)


@pytest.mark.real_time
def test_a_stalled_disk_holds_up_no_sign_of_life_for_so_long_that_the_watchdog_would_act(stalled):
    end = time.monotonic() + STALL_SECONDS
    stop_on(stalled, WATCHDOG_SECONDS, lambda _: time.monotonic() > end)


def stop_on(stalled, limit, is_enough):
    """Stops while the disk is stalled, until that is enough: each stop, and a sign of life to the service manager before it, comes within the limit."""
    daemon, disk, service_manager = stalled
    service_manager.settimeout(limit)
    assert daemon.post("/api/plants", {"name": "Basil", "sensors": ["0x36"]}).status_code == 201
    assert daemon.post("/api/zone/1/on", {"minutes": 5}).status_code == 200
    until(lambda: daemon.get("/api/pump").json()["state"] == "off")
    assert daemon.post("/api/pump/on", {"speedPercent": 70}).status_code == 200
    until(lambda: daemon.get("/api/pump").json()["state"] == "on")
    disk.touch()
    # Each of them changes what is kept.
    changes = {"/api/seasonal": ("PUT", {"percent": 80}), "/api/plants/1/watered": ("POST", {})}
    answers = {}

    def change(path, method, body):
        answers[path] = daemon.request(method, path, json=body, timeout=STALL_SECONDS + START_LIMIT_SECONDS)

    clients = [threading.Thread(target=change, args=(path, *what)) for path, what in changes.items()]
    for client in clients:
        client.start()
    until(disk.with_name(disk.name + ".waiting").exists)
    # A sign of life a second; one that comes later than the limit ends the test.
    slowest, stops = 0, 0
    while not is_enough(stops):
        stops += 1
        while b"WATCHDOG=1" not in service_manager.recv(4096):
            pass
        asked = time.monotonic()
        stop = daemon.post("/api/e-stop", timeout=limit)
        slowest = max(slowest, time.monotonic() - asked)
        assert stop.status_code == 200, stop.text
        states = {name: system["state"] for name, system in daemon.get("/api/status").json()["systems"].items()}
        assert states["robot"] == states["sprinkler"] == states["pump"] == "emergencyStopped", states
    print(f"slowest e-stop {slowest * 1000:.0f} ms")
    assert answers == {}, "the disk was stalled"
    disk.unlink()
    for client in clients:
        client.join()
    assert {path: answer.status_code for path, answer in answers.items()} == dict.fromkeys(changes, 200)
    # What happened meanwhile is kept.
    until(lambda: daemon.get("/api/pump/sessions").json()["sessions"][0]["end"] == "emergency-stop")
