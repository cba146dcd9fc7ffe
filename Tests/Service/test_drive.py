"""Driving through the WebSocket, and every way in which it must end."""
import time

import pytest

from live import Live

SPEED = 30
FAILSAFE_NS = 1_000_000_000

pytestmark = pytest.mark.drives


def bus(daemon):
    """The motors' bus: its transactions since the start, oldest first."""
    since, found, name = 0, [], daemon.motor_bus
    while True:
        page = daemon.get(f"/api/sim/bus/{name}?since={since}").json()
        found += page["transactions"]
        if not page["transactions"]:
            return found
        since = page["next"]


def is_neutral(transaction):
    """Whether it is a stop: the board's stop register, or speeds of zero."""
    speeds = bytes.fromhex(transaction["bytes"])
    return transaction["register"] == 2 or speeds[1::2] == b"\0\0"


def drive(live, seconds, hertz=20):
    """At a steady rate by this machine's clock; returns how many frames were sent."""
    start = time.monotonic()
    for index in range(int(seconds * hertz)):
        time.sleep(max(0, start + index / hertz - time.monotonic()))
        live.drive(SPEED, SPEED)
    return int(seconds * hertz)


def test_twenty_hertz_for_two_seconds_moves_the_simulated_robot(daemon):
    before = len(bus(daemon))
    with Live(daemon) as live:
        live.next()
        drive(live, 2)
        state = daemon.get("/api/robot").json()
        assert state["state"] == "driving" and round(state["speedsPercent"]["left"]) == SPEED, state
    writes = bus(daemon)[before:]
    assert sum(not is_neutral(write) for write in writes) >= 20


def test_closing_the_socket_stops_at_once(daemon):
    with Live(daemon) as live:
        live.next()
        drive(live, 0.5)
    with Live(daemon) as live:
        live.wait_for(lambda event: event["type"] == "robot" and event["state"] == "stopped", 5)
    moving = [write for write in bus(daemon) if not is_neutral(write)][-1]["monotonicNs"]
    neutral = next(write["monotonicNs"] for write in bus(daemon) if is_neutral(write) and write["monotonicNs"] > moving)
    assert neutral - moving < 500_000_000, "that was the failsafe, not the goodbye"


def test_a_second_of_silence_stops(daemon):
    with Live(daemon) as live:
        live.next()
        drive(live, 0.5)
        assert live.drive_taken(SPEED, SPEED, echo=7)["state"] == "driving"
        robot = daemon.get("/api/robot").json()
        # All by the daemon's clock: when its loop took the last command, when the stop was written.
        last_command_ns = robot["monotonicNs"] - round(robot["holder"]["ageMs"] * 1e6)
        live.wait_for(
            lambda event: event["type"] == "robot" and event["state"] == "stopped"
            and event["monotonicNs"] > last_command_ns, 5)
        writes = bus(daemon)
    neutral = next(one["monotonicNs"] for one in writes if is_neutral(one) and one["monotonicNs"] > last_command_ns)
    # 50 ms at most beyond the second, or what the kernel kept the loop waiting at worst, by the loop's own record.
    loops = daemon.get("/api/runtime").json()["loops"]
    worst = next(loop["latencyNs"]["max"] for loop in loops if loop["name"] == "robot.motors")
    assert FAILSAFE_NS <= neutral - last_command_ns <= FAILSAFE_NS + max(50_000_000, worst)
    assert "silent" in daemon.get("/api/robot").json()["reason"]


def test_the_emergency_stop_of_another_client_latches(daemon):
    with Live(daemon) as driver, Live(daemon) as other:
        driver.next()
        drive(driver, 0.3)
        other.say(type="e-stop", id=5)
        other.wait_for(lambda event: event["type"] == "robot" and event["state"] == "emergencyStopped")
        driver.drive(SPEED, SPEED)
        assert daemon.get("/api/robot").json()["state"] == "emergencyStopped"
        assert is_neutral(bus(daemon)[-1])
    daemon.reset()
    assert daemon.get("/api/robot").json()["state"] == "stopped"


def test_one_source_at_a_time(daemon):
    with Live(daemon) as first, Live(daemon) as second:
        drive(first, 0.2)
        second.drive(-SPEED, -SPEED)
        assert second.wait_for(lambda event: event["type"] == "error")["code"]
        first.drive(SPEED, SPEED)
        assert round(daemon.get("/api/robot").json()["speedsPercent"]["left"]) == SPEED


def test_a_reader_may_not_drive(daemon, tokens):
    with Live(daemon, token=tokens["read"]) as live:
        live.drive(SPEED, SPEED)
        error = live.wait_for(lambda event: event["type"] == "error")
        assert error["code"] == "SCOPE_DENIED"
        live.say(type="e-stop", id=1)
        assert live.wait_for(lambda event: event["type"] == "error")["code"] == "SCOPE_DENIED"
    assert daemon.get("/api/robot").json()["state"] == "stopped"
