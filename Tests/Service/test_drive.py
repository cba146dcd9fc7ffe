"""Driving through the WebSocket, and every way in which it must end."""
import json
import socket
import time
from pathlib import Path

import pytest

from daemon import WAIT_LIMIT_SECONDS, Daemon
from live import Live

SPEED = 30
FAILSAFE_NS = 1_000_000_000

pytestmark = pytest.mark.drives


def bus(daemon):
    """The motors' bus: the last of its transactions, oldest first. A robot that stands writes, too: they fill in minutes."""
    return daemon.transactions(daemon.motor_bus)


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


def is_driving(robot):
    return robot["state"] == "driving" and round(robot["speedsPercent"]["left"]) == SPEED


@pytest.mark.protocol
def test_a_held_stick_moves_the_simulated_robot(daemon):
    since = time.monotonic_ns()
    with Live(daemon) as live:
        live.next()
        daemon.until_robot(is_driving, again=lambda: drive(live, 0.5))
        daemon.until_robot(
            lambda _: sum(not is_neutral(write) for write in bus(daemon) if write["monotonicNs"] > since) >= 20,
            again=lambda: drive(live, 0.5))


@pytest.mark.real_time
def test_twenty_hertz_for_two_seconds_is_driving_all_the_time(daemon):
    since = time.monotonic_ns()
    with Live(daemon) as live:
        live.next()
        drive(live, 2)
        state = daemon.get("/api/robot").json()
        assert is_driving(state), state
    writes = [write for write in bus(daemon) if write["monotonicNs"] > since]
    assert sum(not is_neutral(write) for write in writes) >= 20


def command_age(daemon, loop):
    """How old the commands of a loop were when its actuators had them, as `GET /api/runtime` has it."""
    found = next(it for it in daemon.get("/api/runtime").json()["loops"] if it["name"] == loop)
    return next(age for age in found["ages"] if age["name"] == "command")


def test_the_age_of_commands_is_measured_from_their_arrival_to_the_motors(daemon):
    """Of requests and of datagrams, beside the planner's bound, in the document, the metrics and `tactus top`."""
    before = command_age(daemon, "robot.motors")
    assert before["path"] == ["robot.motors"] and before["arrival"] == "releasesLoop"
    count = "tactus_loop_age_seconds_count"
    labels = 'lane="robot",loop="robot.motors",age="command"'

    def metric(name):
        lines = daemon.get("/metrics").text.splitlines()
        return next((float(line.rpartition(" ")[2]) for line in lines if line.startswith(f"{name}{{{labels}}}")), None)

    counted = metric(count)
    limit = time.monotonic() + WAIT_LIMIT_SECONDS
    # Datagrams that came to a loop that was kept waiting are one command.
    while metric(count) < counted + 7:
        assert time.monotonic() < limit, (counted, metric(count))
        daemon.post("/api/robot/drive", {"left": SPEED, "right": SPEED})
        with Sender(daemon) as sender:
            for stamp in range(5):
                sender.socket.send(json.dumps({"left": 0, "right": 0, "timestamp": time.time() + stamp / 1000}).encode())
                time.sleep(0.05)
        daemon.post("/api/robot/stop")
    after = command_age(daemon, "robot.motors")
    assert 0 < after["ageNs"]["min"] <= after["ageNs"]["p50"] <= after["ageNs"]["max"]
    assert after["lastNs"] > 0 and after["nowNs"] >= after["lastNs"] and after["unsampled"] == 0
    # A machine that paused within a tick for longer than the period leaves none.
    if after["boundNs"] is not None:
        assert after["boundNs"] >= 1_000_000 and after["isBoundMeasured"]
        assert metric("tactus_loop_age_bound_seconds") >= 0.001
    assert metric("tactus_loop_age_now_seconds") > 0
    shown = daemon.command("top", "--once", daemon.url, environment={"TACTUS_TOKEN": daemon.admin}).stdout
    heading, *ages = shown[shown.index("AGE OF DATA"):].splitlines()
    assert heading.split() == ["AGE", "OF", "DATA", "P50", "P99", "MAX", "LAST", "BOUND"]
    robot = next(line.split() for line in ages if line.startswith("command: robot.motors"))
    assert len(robot) == 7 and "–" not in robot[:6], robot


@pytest.mark.real_time
def test_commands_are_younger_than_the_failsafe_when_the_motors_have_them(daemon):
    daemon.post("/api/robot/drive", {"left": SPEED, "right": SPEED})
    daemon.post("/api/robot/stop")
    assert command_age(daemon, "robot.motors")["ageNs"]["max"] < FAILSAFE_NS


class Sender:
    """The controller's app over UDP: its stamps are its own clock's."""

    def __init__(self, daemon):
        started = next(json.loads(line) for line in daemon.log.splitlines() if '"listen"' in line)
        host, _, port = started["listen"].rpartition(":")
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect((host, int(port)))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def send(self, percent, clock, **more):
        self.socket.send(json.dumps({"left": percent, "right": percent, "timestamp": clock, **more}).encode())

    def drive(self, percent, step, count, hertz=20):
        """`count` datagrams at a steady rate, by a clock that is `step` seconds beside this machine's."""
        start = time.monotonic()
        for index in range(count):
            time.sleep(max(0, start + index / hertz - time.monotonic()))
            self.send(percent, time.time() + step)


def speeds_written(daemon, since):
    """What was written to the motors since then: 0 for a stop, else the left wheel's duty, and when. Repetitions are left out, those
    of the last write before it, too: a robot that stands repeats its stop at every release."""
    found, last = [], None
    for write in bus(daemon):
        data = bytes.fromhex(write["bytes"])
        duty = 0 if is_neutral(write) else data[1] if data[0] else -data[1]
        if write["monotonicNs"] > since and duty != last:
            found.append((duty, write["monotonicNs"]))
        last = duty
    return found


# A pause of this process between two of its datagrams is a source that fell silent, and a clock of which nothing is known.
@pytest.mark.real_time
@pytest.mark.parametrize("step", [-0.2, -0.9, -3600, 3600])
def test_a_clock_that_was_set_is_followed_by_way_of_zero(daemon, step):
    with Sender(daemon) as sender:
        since = time.monotonic_ns()
        sender.drive(20, 0, 10)
        sender.drive(60, step, 30)
        robot = daemon.get("/api/robot").json()
        written = speeds_written(daemon, since)
    # 153 is 60 % of 255. After 0.2 s the clock may have caught up with itself before it is known to be another.
    expected = [[51, 0, 153]] + ([[51, 153]] if step == -0.2 else [])
    assert [duty for duty, _ in written] in expected, written
    assert robot["state"] == "driving" and robot["speedsPercent"]["left"] == 60, robot


@pytest.fixture
def patient(tmp_path):
    """A robot whose failsafe waits so long for this process that no pause of it stops the wheels."""
    with Daemon(tmp_path, command_timeout=10.0) as daemon:
        yield daemon


@pytest.mark.parametrize("step", [-0.2, -0.9, -3600, 3600])
def test_a_clock_that_was_set_is_followed_in_the_end(patient, step):
    with Sender(patient) as sender:
        since = time.monotonic_ns()
        patient.until_robot(lambda robot: robot["speedsPercent"]["left"] == 20, again=lambda: sender.drive(20, 0, 5))
        patient.until_robot(lambda robot: robot["speedsPercent"]["left"] == 60, again=lambda: sender.drive(60, step, 5))
        assert {duty for duty, _ in speeds_written(patient, since)} <= {0, 51, 153}


def test_a_stamp_an_hour_ahead_changes_nothing(patient):
    daemon = patient
    with Sender(daemon) as sender:
        since = time.monotonic_ns()
        sender.drive(20, 0, 5)
        sender.send(90, time.time() + 3600)
        sender.drive(60, 0, 5)
        assert [duty for duty, _ in speeds_written(daemon, since)] == [51, 153]


@pytest.mark.protocol
def test_a_recording_sent_again_back_to_back_moves_nothing(patient):
    daemon = patient
    recorded = [time.time() + index / 20 for index in range(40)]
    time.sleep(0.1)
    with Sender(daemon) as sender:
        since = time.monotonic_ns()
        for _ in range(5):
            sender.drive(20, 100, 3)
            for stamp in recorded:
                sender.send(90, stamp)
        assert {duty for duty, _ in speeds_written(daemon, since)} == {51}
    refused = daemon.get("/api/robot").json()["counters"]["ignoredByReason"]
    assert refused["older"] >= 200 and "ahead" in refused, refused


def test_a_timestamp_of_null_is_none(patient):
    daemon = patient
    malformed = daemon.get("/api/robot").json()["counters"]["malformed"]
    with Sender(daemon) as sender:
        since = time.monotonic_ns()
        for _ in range(3):
            sender.send(40, None, echo=None)
            time.sleep(0.05)
        assert [duty for duty, _ in speeds_written(daemon, since)] == [102]
    assert daemon.get("/api/robot").json()["counters"]["malformed"] == malformed


def test_each_write_of_a_tick_has_a_stamp_of_its_own(daemon):
    with Live(daemon) as live:
        live.next()
        daemon.until_robot(is_driving, again=lambda: drive(live, 0.3))
    daemon.until_robot(lambda robot: robot["state"] == "stopped")
    writes = bus(daemon)
    stamps = [write["monotonicNs"] for write in writes]
    assert all(one < next for one, next in zip(stamps, stamps[1:]))
    # The stop goes to two registers.
    assert {write["register"] for write in writes} >= {1, 2}


def test_closing_the_socket_stops_and_it_is_no_silence(patient):
    with Live(patient) as live:
        live.next()
        patient.until_robot(is_driving, again=lambda: drive(live, 0.1))
    robot = patient.until_robot(lambda robot: robot["state"] == "stopped")
    assert "silen" not in robot["reason"], robot


@pytest.mark.real_time
def test_closing_the_socket_stops_at_once(daemon):
    with Live(daemon) as live:
        live.next()
        drive(live, 0.5)
    with Live(daemon) as live:
        live.wait_for(lambda event: event["type"] == "robot" and event["state"] == "stopped")
    moving = [write for write in bus(daemon) if not is_neutral(write)][-1]["monotonicNs"]
    neutral = next(write["monotonicNs"] for write in bus(daemon) if is_neutral(write) and write["monotonicNs"] > moving)
    assert neutral - moving < 500_000_000, "that was the failsafe, not the goodbye"


def silence(daemon):
    """Drives and falls silent. When the loop took the last command and when the stop was written, by the daemon's clock."""
    with Live(daemon) as live:
        live.next()
        limit, robot = time.monotonic() + WAIT_LIMIT_SECONDS, {"holder": None}
        # Once more, if this process was kept waiting for so long that nobody was in control any more when it looked.
        while robot["holder"] is None:
            assert time.monotonic() < limit, robot
            drive(live, 0.5)
            assert live.drive_taken(SPEED, SPEED, echo=7)["state"] == "driving"
            robot = daemon.get("/api/robot").json()
        last_command_ns = robot["monotonicNs"] - round(robot["holder"]["ageMs"] * 1e6)
        live.wait_for(
            lambda event: event["type"] == "robot" and event["state"] == "stopped" and event["monotonicNs"] > last_command_ns)
        writes = bus(daemon)
    return last_command_ns, next(one["monotonicNs"] for one in writes if is_neutral(one) and one["monotonicNs"] > last_command_ns)


@pytest.mark.protocol
def test_a_second_of_silence_stops_and_no_less(daemon):
    last_command_ns, neutral = silence(daemon)
    assert FAILSAFE_NS <= neutral - last_command_ns
    assert "silent" in daemon.get("/api/robot").json()["reason"]


@pytest.mark.real_time
def test_a_second_of_silence_stops(daemon):
    last_command_ns, neutral = silence(daemon)
    # 50 ms at most beyond the second, or what the kernel kept the loop waiting at worst, by the loop's own record.
    loops = daemon.get("/api/runtime").json()["loops"]
    worst = next(loop["latencyNs"]["max"] for loop in loops if loop["name"] == "robot.motors")
    assert FAILSAFE_NS <= neutral - last_command_ns <= FAILSAFE_NS + max(50_000_000, worst)


def test_the_emergency_stop_of_another_client_latches(daemon):
    with Live(daemon) as driver, Live(daemon) as other:
        driver.next()
        daemon.until_robot(is_driving, again=lambda: drive(driver, 0.3))
        other.say(type="e-stop", id=5)
        other.wait_for(lambda event: event["type"] == "robot" and event["state"] == "emergencyStopped")
        driver.drive(SPEED, SPEED)
        assert daemon.get("/api/robot").json()["state"] == "emergencyStopped"
        assert is_neutral(bus(daemon)[-1])
    daemon.reset()
    assert daemon.get("/api/robot").json()["state"] == "stopped"


def test_one_source_at_a_time(patient):
    daemon = patient
    with Live(daemon) as first, Live(daemon) as second:
        daemon.until_robot(is_driving, again=lambda: drive(first, 0.2))
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


def test_threads_longest_datagram_and_safe_mode_are_what_the_file_says(own_daemon):
    daemon = own_daemon(
        more="performance: { worker_threads: 3, udp_buffer_size: 64 }\n"
        "safety: { safe_mode: true, safe_mode_speed_limit: 20 }")
    names = [path.read_text() for path in Path(f"/proc/{daemon.process.pid}/task").glob("*/comm")]
    assert sum(name.startswith("NIO-ELT") for name in names) == 3, names
    with Sender(daemon) as sender:
        sender.socket.send(json.dumps({"left": 60, "right": 60}).encode().ljust(65))
        sender.socket.send(json.dumps({"left": 60, "right": 60}).encode().ljust(64))
        robot = daemon.until_robot(lambda robot: robot["state"] == "driving")
    assert robot["speedsPercent"] == {"left": 20, "right": 20}, robot
    assert robot["counters"]["datagrams"] == 2 and robot["counters"]["malformed"] == 1, robot


@pytest.mark.parametrize("board", ["yb-pcb-car", "raspbot-v2", "xgo-rider", "sim"])
def test_every_board_drives_stops_and_lets_the_program_end(tmp_path, board):
    daemon = Daemon(tmp_path)
    daemon.config.write_text(daemon.config.read_text().replace("backend: yb-pcb-car", f"backend: {board}"))
    # Which checks the exit status: 1 if an output is not known to be off.
    with daemon:
        assert daemon.post("/api/robot/drive", {"left": 30, "right": -20}).status_code == 200
        assert daemon.get("/api/robot").json()["state"] == "driving"
        assert daemon.post("/api/robot/stop").status_code == 200


def test_an_emergency_stop_over_udp_that_nobody_answers_says_what_still_stops(daemon):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        result = daemon.command("drive", "127.0.0.1", "--port", silent.getsockname()[1], "--estop")
    assert result.returncode == 1 and result.stderr.startswith("E-STOP is NOT CONFIRMED: no reply from"), result.stderr
    assert "power switch" in result.stderr
