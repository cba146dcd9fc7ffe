"""The robot in SI units: m/s and rad/s at every door, in a daemon that knows its size and in one that does not."""
import json
import math
import re
import socket
import time

import pytest

import broker
from daemon import WAIT_LIMIT_SECONDS, Daemon, free_port
from live import Live

BASE, TOP = 0.2, 0.5
CURVE = {"linear": 0.2, "angular": 0.5}
# The wheels of CURVE: 0.2 ∓ 0.5 · 0.2 / 2 m/s of 0.5.
LEFT, RIGHT = 30, 50
FAILSAFE_SECONDS = 5.0


def of_known_size(folder, more=""):
    """A daemon that is not started yet, whose robot has wheel base and top speed. Its failsafe waits for five seconds: this process, or a program
    that drives for a test, may be kept waiting for some."""
    daemon = Daemon(folder, more=more, command_timeout=FAILSAFE_SECONDS)
    daemon.udp_port = free_port()
    text = daemon.config.read_text().replace("motor_udp_port: 0", f"motor_udp_port: {daemon.udp_port}")
    assert "\nmotors:\n" in text
    daemon.config.write_text(text.replace("\nmotors:\n", f"\nmotors:\n  wheel_base_m: {BASE}\n  top_speed_m_per_s: {TOP}\n"))
    return daemon


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    with of_known_size(tmp_path_factory.mktemp("measured")) as daemon:
        yield daemon


@pytest.fixture(autouse=True)
def at_rest(request):
    """The robot stands and is free before each test."""
    if "measured" in request.fixturenames:
        request.getfixturevalue("measured").free_robot()
    yield


until = Daemon.until_robot


def is_curve(robot):
    wheels = robot["targetPercent"]
    return wheels and math.isclose(wheels["left"], LEFT) and math.isclose(wheels["right"], RIGHT)


@pytest.mark.protocol
def test_a_request_drives_the_asked_curve_and_the_simulated_robot_goes_that_way(measured):
    answer = measured.post("/api/robot/drive", CURVE)
    assert answer.status_code == 200 and answer.json()["scaledTo"] is None, answer.text
    robot = until(measured, is_curve, again=lambda: measured.post("/api/robot/drive", CURVE))
    assert math.isclose(robot["motion"]["linearMPerS"], 0.2) and math.isclose(robot["motion"]["angularRadPerS"], 0.5)
    assert robot["settings"]["wheelBaseM"] == BASE and robot["settings"]["topSpeedMPerS"] == TOP
    # The twin has the file's size: its wheels come to these speeds, but for the steps of the board's duty.
    def follow(_):
        wheels = measured.get("/api/sim/robot").json()["target"]
        return abs(wheels["leftMPerS"] - 0.15) < 0.005 and abs(wheels["rightMPerS"] - 0.25) < 0.005

    until(measured, follow, again=lambda: measured.post("/api/robot/drive", CURVE))
    # Silence stops it as it stops everybody.
    until(measured, lambda robot: robot["state"] == "stopped" and "silen" in robot["reason"])


def test_what_the_wheels_cannot_is_scaled_on_the_same_curve_and_the_answer_says_by_how_much(measured):
    answer = measured.post("/api/robot/drive", {"linear": 2, "angular": 5}).json()
    # The outer wheel would need 2.5 m/s of 0.5.
    assert math.isclose(answer["scaledTo"], 0.2), answer
    motion = until(
        measured, lambda robot: robot["motion"]["linearMPerS"] > 0,
        again=lambda: measured.post("/api/robot/drive", {"linear": 2, "angular": 5}))["motion"]
    assert math.isclose(motion["linearMPerS"], 0.4) and math.isclose(motion["angularRadPerS"], 1), motion
    assert measured.post("/api/robot/drive", {"left": 100, "right": 100}).json()["scaledTo"] is None


@pytest.mark.parametrize("body, field, said", [
    ({"linear": 101, "angular": 0}, "linear", "expected a number -100…100, got 101"),
    ({"linear": 0, "angular": -1e300}, "angular", "expected a number -100…100"),
    ({"linear": "1", "angular": 0}, "linear", "expected a number -100…100"),
    ({"linear": 0.1}, "angular", "expected linear and angular, got one of them"),
    ({"angular": 0.1}, "linear", "expected linear and angular, got one of them"),
    ({"left": 5}, "right", "expected left and right, got one of them"),
    ({"left": 5, "right": 5, "linear": 0.1, "angular": 0}, "linear", "expected left and right, or linear and angular, got both"),
    ({}, "left", "expected left and right, or linear and angular, got nothing"),
])
def test_what_is_no_motion_is_422_with_its_field(measured, body, field, said):
    answer = measured.post("/api/robot/drive", body)
    assert answer.status_code == 422 and answer.json()["field"] == field and said in answer.json()["message"], answer.text
    assert measured.get("/api/robot").json()["state"] == "stopped"


def test_a_number_that_is_none_is_refused(measured):
    for number in ("NaN", "Infinity", "1e999"):
        answer = measured.request(
            "POST", "/api/robot/drive", data='{"linear": %s, "angular": 0}' % number, headers={"Content-Type": "application/json"})
        assert answer.status_code in (400, 422), answer.text


@pytest.mark.protocol
def test_a_binary_frame_drives_as_a_datagram_does(measured):
    with Live(measured) as live:
        live.next()
        replies = {}

        def send(echo, **motion):
            live.socket.send(json.dumps({**motion, "timestamp": time.time(), "echo": echo}).encode())

        until(measured, is_curve, again=lambda: send(1, **CURVE))
        end = time.monotonic() + WAIT_LIMIT_SECONDS
        send(2, linear=9, angular=0)
        while 2 not in replies and time.monotonic() < end:
            data = live.socket.recv(timeout=WAIT_LIMIT_SECONDS)
            if not isinstance(data, str):
                replies[json.loads(data)["echo"]] = json.loads(data)
        assert replies[1]["reason"] is None and replies[2]["reason"] == "scaled", replies
    # Who leaves lets go.
    until(measured, lambda robot: robot["state"] == "stopped")


@pytest.mark.protocol
def test_datagrams_drive_are_told_what_is_scaled_and_never_guessed_at(measured):
    with socket.socket(type=socket.SOCK_DGRAM) as sender:
        sender.connect(("127.0.0.1", measured.udp_port))
        sender.settimeout(1)

        def ask(**datagram):
            limit = time.monotonic() + WAIT_LIMIT_SECONDS
            while True:
                # A source is answered once in 20 ms.
                time.sleep(0.03)
                sender.send(json.dumps(datagram).encode())
                try:
                    while (reply := json.loads(sender.recv(1024)))["echo"] != datagram["echo"]:
                        pass
                    return reply
                except TimeoutError:
                    assert time.monotonic() < limit, datagram

        assert ask(**CURVE, echo=1)["state"] == "driving"
        until(measured, is_curve, again=lambda: ask(**CURVE, echo=1))
        reply = ask(linear=-3, angular=0, echo=2)
        assert reply["reason"] == "scaled", reply
        before = measured.get("/api/robot").json()["counters"]["malformed"]
        for bad in (b'{"linear":0.1,"left":5}', b'{"linear":1000}', b'{"linear":NaN}', b'{"angular":1e999}'):
            sender.send(bad)
        robot = until(measured, lambda robot: robot["counters"]["malformed"] == before + 4)
        assert robot["lastMalformed"]


def turn_for(daemon, seconds):
    """How far the simulated robot turns while the terminal drives it, in radians."""
    start = daemon.get("/api/sim/robot").json()["pose"]
    done = daemon.command("drive", "127.0.0.1", "--port", daemon.udp_port, "--linear", "0.2", "--angular", "0.5", "--for", f"{seconds}s")
    assert done.returncode == 0, done.stderr
    return daemon.get("/api/sim/robot").json()["pose"]["headingRad"] - start["headingRad"]


@pytest.mark.real_time
def test_drive_of_the_terminal_for_a_second_turns_by_half_a_radian(measured):
    # But for the wheels' inertia.
    assert 0.2 < turn_for(measured, 1) < 1.5 and measured.get("/api/robot").json()["state"] == "stopped"


@pytest.mark.protocol
def test_drive_of_the_terminal_holds_a_motion_for_a_time_and_stops(measured):
    # For longer, if the second passed while the program or the daemon was kept waiting.
    for seconds in (1, 5, 20):
        turned = turn_for(measured, seconds)
        until(measured, lambda robot: robot["state"] == "stopped")
        if turned > 0.2:
            break
    assert turned > 0.2, turned
    both = measured.command("drive", "127.0.0.1", "--linear", "0.2", "--left", "5", "--for", "1s")
    assert both.returncode == 64 and "--linear/--angular" in both.stderr, both.stderr


@pytest.mark.protocol
def test_call_drives_and_says_what_is_wrong(measured):
    def call(*words):
        return measured.command("call", "--port", measured.port, *words, environment={"TACTUS_TOKEN": measured.admin})

    limit = time.monotonic() + WAIT_LIMIT_SECONDS
    while "STALE" in (done := call("robot", "drive", "linear=0.2", "angular=0.5")).stderr and time.monotonic() < limit:
        pass
    assert done.returncode == 0, done.stderr
    until(measured, is_curve, again=lambda: call("robot", "drive", "linear=0.2", "angular=0.5"))
    half = call("robot", "drive", "linear=0.2")
    assert half.returncode == 64 and "angular=NUMBER(-100…100 rad/s)" in half.stderr, half.stderr


@broker.needed
@pytest.mark.protocol
def test_a_message_on_the_broker_drives(tmp_path):
    server = broker.Broker(tmp_path)
    server.start()
    try:
        with of_known_size(tmp_path, f"mqtt: {{broker: 127.0.0.1, port: {server.port}, device: r, commands: true}}\n") as daemon:
            broker.eventually(lambda: server.retained("tactus/r/robot/state"))
            until(daemon, is_curve, again=lambda: server.publish("tactus/r/robot/command", json.dumps({"command": "drive", **CURVE})))
    finally:
        server.stop()


def test_an_emergency_stop_holds_against_a_motion(measured):
    measured.post("/api/robot/drive", CURVE)
    measured.post("/api/robot/e-stop")
    refused = measured.post("/api/robot/drive", CURVE)
    assert refused.status_code == 409 and refused.json()["code"] == "EMERGENCY_STOPPED", refused.text


def test_another_client_does_not_take_over_and_zero_is_a_stop_of_anyone(measured):
    other = measured.create_token("control", "other")
    measured.post("/api/robot/drive", CURVE)
    refused = measured.post("/api/robot/drive", CURVE, token=other)
    assert refused.status_code == 409 and refused.json()["code"] == "NOT_IN_CONTROL", refused.text
    assert measured.post("/api/robot/drive", {"linear": 0, "angular": 0}, token=other).json()["state"] == "stopped"


@pytest.mark.drives
def test_without_the_keys_it_is_refused_and_the_error_names_them(daemon):
    refused = daemon.post("/api/robot/drive", CURVE)
    assert refused.status_code == 409 and refused.json()["code"] == "NO_GEOMETRY", refused.text
    assert "motors.wheel_base_m" in refused.json()["message"] and "motors.top_speed_m_per_s" in refused.json()["message"]
    robot = daemon.get("/api/robot").json()
    assert robot["motion"] is None and robot["settings"]["wheelBaseM"] is None and robot["state"] == "stopped"
    assert daemon.post("/api/robot/drive", {"linear": 0, "angular": 0}).status_code == 200
    port = re.search(r'"robot_listen":"127.0.0.1:(\d+)"', daemon.log)[1]
    drive = daemon.command("drive", "127.0.0.1", "--port", port, "--linear", "0.2", "--angular", "0", "--for", "0.5s")
    assert drive.returncode == 1 and "wheel_base_m" in drive.stderr, (drive.stdout, drive.stderr)
