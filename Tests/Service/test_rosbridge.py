"""ROS clients at /rosbridge: roslibpy as its users use it, and messages by hand for what it would not send."""
import json
import math
import subprocess
import sys
import time
from pathlib import Path

import pytest
import requests
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from daemon import PROGRAM, Daemon
from live import Live

BASE, TOP = 0.2, 0.5
CURVE = {"linear": {"x": 0.2, "y": 0, "z": 0}, "angular": {"x": 0, "y": 0, "z": 0.5}}
LIMIT_SECONDS = 60


def with_rosbridge(folder, size=f"  wheel_base_m: {BASE}\n  top_speed_m_per_s: {TOP}\n"):
    daemon = Daemon(folder, command_timeout=5.0)
    text = daemon.config.read_text()
    assert "\nmotors:\n" in text
    daemon.config.write_text(text.replace("\nmotors:\n", f"\nmotors:\n  rosbridge: true\n{size}"))
    return daemon


@pytest.fixture(scope="module")
def bridged(tmp_path_factory):
    with with_rosbridge(tmp_path_factory.mktemp("rosbridge")) as daemon:
        yield daemon


@pytest.fixture(scope="module")
def unmeasured(tmp_path_factory):
    with with_rosbridge(tmp_path_factory.mktemp("unmeasured"), size="") as daemon:
        yield daemon


@pytest.fixture(autouse=True)
def at_rest(request):
    """The robot stands and is free before each test."""
    if "bridged" in request.fixturenames:
        request.getfixturevalue("bridged").free_robot()
    yield


until = Daemon.until_robot


def is_curve(robot):
    wheels = robot["targetPercent"]
    return wheels and math.isclose(wheels["left"], 30) and math.isclose(wheels["right"], 50)


class Client:
    """A client of rosbridge; every wait is bounded."""

    def __init__(self, daemon, token="", **options):
        if token is not None:
            options.setdefault("additional_headers", {})["Authorization"] = f"Bearer {token or daemon.admin}"
        self.socket = connect(
            f"ws://127.0.0.1:{daemon.port}/rosbridge", open_timeout=LIMIT_SECONDS, close_timeout=LIMIT_SECONDS, compression=None,
            proxy=None, **options).__enter__()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def say(self, op, **members):
        self.socket.send(json.dumps({"op": op, **members}))

    def drive(self, message=CURVE, **members):
        self.say("publish", topic="/cmd_vel", msg=message, **members)

    def next(self, op, limit=LIMIT_SECONDS):
        end = time.monotonic() + limit
        while (message := json.loads(self.socket.recv(timeout=max(0, end - time.monotonic()))))["op"] != op:
            pass
        return message

    def told(self, text, **expected):
        """The next status message: an error that says this."""
        status = self.next("status")
        assert status["level"] == "error" and text in status["msg"], status
        assert all(status.get(name) == value for name, value in expected.items()), status


@pytest.mark.protocol
def test_roslibpy_drives_the_simulated_robot_and_reads_where_it_is(bridged):
    before, began = bridged.get("/api/sim/robot").json()["pose"], time.time()
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("rosbridge_client.py"), f"ws://127.0.0.1:{bridged.port}/rosbridge", bridged.admin],
        capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    came = json.loads(done.stdout.splitlines()[-1])
    first, last = came["odom"][0], came["odom"][-1]
    assert first["header"]["frame_id"] == "odom" and first["child_frame_id"] == "base_link"
    assert began - 5 < first["header"]["stamp"]["sec"] < time.time() + 5
    assert len(first["pose"]["covariance"]) == 36 and first["pose"]["covariance"][0] == 1e-9
    at = last["pose"]["pose"]["position"]
    assert math.dist((at["x"], at["y"]), (before["xM"], before["yM"])) > 0.05, (before, last)
    turn = last["pose"]["pose"]["orientation"]
    assert math.isclose(turn["z"] ** 2 + turn["w"] ** 2, 1, rel_tol=1e-6) and turn["x"] == turn["y"] == 0
    # Ten a second, unless the machine has paused; never twenty.
    assert 3 <= len(came["odom"]) <= 20 * came["seconds"], (len(came["odom"]), came["seconds"])
    status = came["diagnostics"][0]["status"][0]
    assert status["name"] == "tactus: robot" and status["level"] == 0
    assert {"state", "reason", "writes"} <= {value["key"] for value in status["values"]}
    assert "no services" in came["service"][0], came["service"]
    assert bridged.get("/api/robot").json()["state"] == "stopped"
    # The log has the caller.
    assert '"action":"drive"' in bridged.log and '"caller":"127.0.0.1"' in bridged.log, bridged.log[-3000:]


@pytest.mark.protocol
def test_a_twist_drives_the_asked_curve_silence_stops_it_and_closing_does_at_once(bridged):
    with Client(bridged) as client:
        until(bridged, is_curve, again=client.drive)
        until(bridged, lambda robot: robot["state"] == "stopped" and "silen" in robot["reason"])
        until(bridged, is_curve, again=client.drive)
    robot = until(bridged, lambda robot: robot["state"] == "stopped")
    assert "silen" not in robot["reason"], robot


def test_it_is_one_controller_among_others_and_zero_is_a_stop_of_anyone(bridged):
    with Client(bridged) as one, Client(bridged) as other:
        until(bridged, is_curve, again=one.drive)
        other.drive(id="o1")
        other.told("NOT_IN_CONTROL", id="o1")
        other.drive({})
        until(bridged, lambda robot: robot["state"] == "stopped")
        refused = bridged.post("/api/robot/drive", {"left": 10, "right": 10})
        assert refused.status_code == 409, refused.text


def test_an_emergency_stop_holds_against_it(bridged):
    with Client(bridged) as client:
        until(bridged, is_curve, again=client.drive)
        bridged.post("/api/robot/e-stop")
        client.drive()
        client.told("EMERGENCY_STOPPED")
        client.say("subscribe", topic="/diagnostics")
        status = client.next("publish")["msg"]["status"][0]
        assert status["level"] == 1 and "emergency" in status["message"], status


@pytest.mark.parametrize("message, said", [
    ('{"op": "publish", "topic": "/cmd_vel", "msg": {"linear": {"x": NaN}}}', "line 1"),
    ('{"op": "publish", "topic": "/cmd_vel", "msg": {"linear": {"x": 1e999}}}', "msg.linear.x: expected a number -100.0…100.0"),
    ('{"op": "publish", "topic": "/cmd_vel", "msg": {"linear": {"x": null}}}', "msg.linear.x: expected a number"),
    ('{"op": "publish", "topic": "/cmd_vel", "msg": {"angular": {"z": 101}}}', "msg.angular.z: expected a number"),
    ('{"op": "publish", "topic": "/cmd_vel", "msg": {"linear": {"y": 0.1}}}', "msg.linear.y: expected a number 0"),
    ('{"op": "publish", "topic": "/cmd_vel", "msg": {"speed": 1}}', "msg.speed: expected linear, angular"),
    ('{"op": "publish", "topic": "/cmd_vel"}', "msg: expected an object, got nothing"),
    ('{"op": "publish", "topic": "/odom", "msg": {}}', "topic: expected /cmd_vel to publish on, got /odom"),
    ('{"op": "publish", "topic": "/arm", "msg": {}}', "topic: expected /cmd_vel, /odom, /diagnostics, /battery_state, got"),
    ('{"op": "advertise", "topic": "/cmd_vel", "type": "std_msgs/String"}', "type: /cmd_vel is geometry_msgs/msg/Twist"),
    ('{"op": "subscribe", "topic": "/odom", "type": "std_msgs/String"}', "type: /odom is nav_msgs/msg/Odometry"),
    ('{"op": "subscribe", "topic": "/odom", "throttle_rate": -1}', "throttle_rate: expected an integer 0…3600000"),
    ('{"op": "subscribe", "topic": "/odom", "queue_length": 101}', "queue_length: expected an integer 0…100"),
    ('{"op": "subscribe", "topic": "/odom", "compression": "cbor"}', "compression: expected none"),
    ('{"op": "subscribe", "topic": "/battery_state"}', "no battery is measured"),
    ('{"op": "subscribe", "topic": "/cmd_vel"}', "published to"),
    ('{"op": "unsubscribe", "topic": "/odom"}', "expected one that is subscribed to"),
    ('{"op": "dance", "id": "d"}', 'got "dance"'),
    ("[" * 100, "line 1"),
    ("7", "expected an object, got 7"),
])
def test_what_is_wrong_is_told_with_its_member_and_nothing_moves(bridged, message, said):
    with Client(bridged) as client:
        client.socket.send(message)
        client.told(said)
        client.say("call_service", service="/still/there", id="c")
        assert client.next("service_response")["id"] == "c"
    assert bridged.get("/api/robot").json()["state"] == "stopped"


def test_a_battery_that_the_board_measures_is_told(tmp_path):
    daemon = with_rosbridge(tmp_path)
    text = daemon.config.read_text()
    assert "\n  backend: yb-pcb-car\n" in text
    daemon.config.write_text(text.replace("\n  backend: yb-pcb-car\n", "\n  backend: xgo-rider\n"))
    with daemon, Client(daemon) as client:
        client.say("subscribe", topic="/battery_state", type="sensor_msgs/BatteryState")
        message = client.next("publish")
        assert message["topic"] == "/battery_state", message
        assert message["msg"]["percentage"] == 0.8 and message["msg"]["present"] is True, message
        assert message["msg"]["voltage"] is None, message


def test_a_client_has_sixteen_subscriptions_and_messages_of_64_kib(bridged):
    with Client(bridged) as client:
        for number in range(17):
            client.say("subscribe", topic="/odom", id=f"s{number}", throttle_rate=3_600_000)
        client.told("at most 16 subscriptions", id="s16")
        client.socket.send(json.dumps({"op": "publish", "topic": "/cmd_vel", "msg": {}, "more": "x" * 70_000}))
        with pytest.raises(ConnectionClosed) as closed:
            client.next("never")
        assert closed.value.rcvd.code == 1009
    with Client(bridged) as client:
        client.socket.send(b"{}")
        with pytest.raises(ConnectionClosed) as closed:
            client.next("never")
        assert closed.value.rcvd.code == 1003


def test_throttle_and_unsubscribe_are_kept(bridged):
    with Client(bridged) as client:
        client.say("subscribe", topic="/odom", id="slow", throttle_rate=400)
        stamps = [client.next("publish")["msg"]["header"]["stamp"] for _ in range(4)]
        times = [stamp["sec"] + stamp["nanosec"] / 1e9 for stamp in stamps]
        # Ticks of 20 ms and beats of 50 ms; a pause of the machine only lengthens them.
        assert all(later - earlier > 0.3 for earlier, later in zip(times, times[1:])), times
        client.say("unsubscribe", topic="/odom", id="slow")
        client.say("call_service", service="/x")
        client.next("service_response")
        with pytest.raises(TimeoutError):
            client.next("publish", limit=1)


def test_the_level_of_status_messages_is_the_clients(bridged):
    with Client(bridged) as client:
        client.say("set_level", level="none")
        client.say("dance")
        client.say("call_service", service="/x", id="c")
        assert json.loads(client.socket.recv(timeout=LIMIT_SECONDS))["op"] == "service_response"


def test_who_may_come_in_is_who_may_at_ws(bridged):
    with pytest.raises(InvalidStatus) as refused:
        Client(bridged, token=None)
    assert refused.value.response.status_code == 401
    answer = bridged.get("/rosbridge")
    assert answer.status_code == 426 and "/rosbridge speaks WebSocket" in answer.json()["message"]
    reader = bridged.create_token("read")
    with Client(bridged, token=reader) as client:
        client.drive()
        client.told("SCOPE_DENIED")
        client.say("advertise", topic="/cmd_vel", type="geometry_msgs/Twist")
        client.told("SCOPE_DENIED")
        client.say("subscribe", topic="/odom")
        assert client.next("publish")["topic"] == "/odom"
    # As a browser does it.
    with Client(bridged, token=None, subprotocols=["rosbridge.v2", f"bearer.{bridged.admin}"]) as client:
        assert client.socket.subprotocol == "rosbridge.v2"
        until(bridged, is_curve, again=client.drive)


def test_a_token_that_is_revoked_ends_the_connection_and_its_driving(bridged):
    token = bridged.create_token("control", "ros")
    with Client(bridged, token=token) as client:
        until(bridged, is_curve, again=client.drive)
        listed = json.loads(bridged.command("token", "list", "--json", "--config", bridged.config).stdout)["tokens"]
        number = next(listed_token["id"] for listed_token in listed if listed_token["name"] == "ros")
        gone = bridged.command("token", "revoke", number, "--config", bridged.config)
        assert gone.returncode == 0, gone.stderr
        with pytest.raises(ConnectionClosed) as closed:
            while True:
                client.drive()
                time.sleep(0.05)
        assert closed.value.rcvd.code == 4001, closed.value
    until(bridged, lambda robot: robot["state"] == "stopped")


def test_a_client_that_does_not_read_holds_nobody(bridged):
    with Client(bridged, max_queue=1) as lazy:
        for number in range(16):
            lazy.say("subscribe", topic="/odom", id=f"s{number}", queue_length=3)
        with Client(bridged) as client:
            client.say("subscribe", topic="/odom")
            for _ in range(40):
                client.next("publish")
        # It is still a client.
        lazy.say("call_service", service="/x", id="c")
        assert lazy.next("service_response")["id"] == "c"


@pytest.mark.protocol
def test_without_the_keys_it_is_refused_and_the_error_names_them(unmeasured):
    with Client(unmeasured) as client:
        client.say("advertise", topic="/cmd_vel", type="geometry_msgs/msg/Twist", id="a")
        client.told("motors.wheel_base_m and motors.top_speed_m_per_s", id="a")
        client.drive()
        client.told("NO_GEOMETRY: linear and angular need motors.wheel_base_m and motors.top_speed_m_per_s")
        client.drive({})
        client.say("subscribe", topic="/odom")
        assert client.next("publish")["topic"] == "/odom"
    assert unmeasured.get("/api/robot").json()["state"] == "stopped"
    checked = subprocess.run([PROGRAM, "check", unmeasured.config], capture_output=True, text=True, check=True).stdout
    assert "clients of ROS at /rosbridge cannot drive it: motors.wheel_base_m and motors.top_speed_m_per_s are missing" in checked


def test_it_is_not_there_unless_configured(daemon):
    assert requests.get(f"{daemon.url}/rosbridge", headers={"Authorization": f"Bearer {daemon.admin}"}).status_code == 404
    with Live(daemon) as live:
        assert live.next()["type"] == "hello"
