"""What counts goes on counting when the daemon is killed and started again, and an emergency stop holds."""
import json
import socket
import sqlite3
import time

import pytest

from daemon import Daemon

LIMIT_SECONDS = 60


def until(read, condition):
    limit = time.monotonic() + LIMIT_SECONDS
    while not condition(value := read()):
        assert time.monotonic() < limit, value
        time.sleep(0.02)
    return value


def kill(daemon):
    daemon.process.kill()
    daemon.process.wait()


def open_runs(daemon):
    """The runs that are open as the disk has them. A valve does not wait for the disk: its record follows."""
    with sqlite3.connect(f"file:{daemon.folder}/state/simulated/store.sqlite?mode=ro", uri=True) as database:
        runs = [json.loads(value) for value, in database.execute("SELECT value FROM sprinkler_pending")]
    return [run for run in runs if run.get("opened")]


def test_a_crash_loop_does_not_water_for_ever(own_daemon):
    daemon = own_daemon()
    assert daemon.post("/api/zone/1/on", {"minutes": 1}).status_code == 200
    until(lambda: open_runs(daemon), bool)
    for death in range(4):
        kill(daemon)
        daemon.start()
        if death == 0:
            daemon.wait_for_line("a run ended by a crash")
        status = daemon.get("/api/status").json()
        assert status["activeZoneId"] is None and status["activeRemainingSec"] in (None, 0), (death, status)
    runs = daemon.get("/api/log").json()["runs"]
    assert [run["outcome"] for run in runs] == ["crash"], runs
    assert 0 < runs[0]["ranSec"] <= 60


PUMPS = {
    "operator": "pump: {run_limit_min: 1}\n",
    "device": "pump: {role: device, backend: sim, run_limit_min: 1, rest_min: 5}\n",
}


@pytest.mark.parametrize("role", PUMPS)
def test_the_pump_s_run_limit_goes_on_counting_over_kills(own_daemon, role):
    daemon = own_daemon(more=PUMPS[role])
    pump = lambda: daemon.get("/api/pump").json()
    until(pump, lambda pump: pump["state"] == "off" and pump["offConfirmed"])
    left = 60.0
    for death in range(3):
        assert daemon.post("/api/pump/on").status_code == 200
        # For so long that a slow disk has it that the pump runs: from then on it counts until the next start.
        left = until(pump, lambda pump: pump["state"] == "on" and pump["leftS"] < left - 2)["leftS"]
        kill(daemon)
        daemon.start()
        after = until(pump, lambda pump: pump["state"] == "off" and pump["offConfirmed"])
        assert after["leftS"] <= left, (death, after)
        left = after["leftS"]
    ends = [session["end"] for session in daemon.get("/api/pump/sessions").json()["sessions"]]
    assert set(ends) == {"crash"}, ends


def by_route(daemon, command):
    if command == "reset":
        daemon.reset()
    else:
        assert daemon.post("/api/robot/e-stop").status_code == 200


def by_datagram(daemon, command):
    """The loop hears it, and no route of the service does."""
    # The log is written by a thread of its own, and may be behind the first answer.
    daemon.wait_for_line('"listen"')
    line = next(json.loads(line) for line in daemon.log[daemon.log_start:].splitlines() if '"listen"' in line)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.connect(("127.0.0.1", int(line["listen"].rpartition(":")[2])))
        until(lambda: sender.send(json.dumps({"command": command}).encode()) and daemon.get("/api/robot").json()["emergencyStopped"],
              lambda stopped: stopped == (command == "estop"))


@pytest.mark.parametrize("reset", [by_route, by_datagram])
@pytest.mark.parametrize("stop", [by_route, by_datagram])
def test_an_emergency_stop_outlives_a_kill_whoever_gave_it_and_a_reset_too(tmp_path, stop, reset):
    note = tmp_path / "run/safe-state-stops"
    note.parent.mkdir()
    with Daemon(tmp_path, environment={"RUNTIME_DIRECTORY": str(note.parent)}) as daemon:
        for give, command, stopped in ((stop, "estop", True), (reset, "reset", False)):
            give(daemon, command)
            until(note.read_text, lambda text: ("robot" in text) == stopped)
            kill(daemon)
            daemon.start()
            assert daemon.get("/api/robot").json()["emergencyStopped"] == stopped
            if stopped:
                daemon.wait_for_line("the emergency stop from before this start holds")
