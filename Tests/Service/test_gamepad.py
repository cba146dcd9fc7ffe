"""`tactus drive --gamepad`: a gamepad's events drive the simulated robot. The kernel's own device is uinput's, where there is one; else a FIFO that
answers as an input device does (fake_gamepad.c)."""
import fcntl
import os
import struct
import subprocess
import time
from pathlib import Path

import pytest

from daemon import PROGRAM, WAIT_LIMIT_SECONDS, own_environment
from test_si import FAILSAFE_SECONDS, of_known_size, until

HERE = Path(__file__).parent
ABS, KEY, SYN = 3, 1, 0
X, Y = 0, 1
STOP, EMERGENCY_STOP, RESET = 0x130, 0x131, 0x13B
DROPPED = 3


@pytest.fixture(scope="module")
def robot(tmp_path_factory):
    with of_known_size(tmp_path_factory.mktemp("gamepad")) as daemon:
        yield daemon


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    library = tmp_path_factory.mktemp("shim") / "gamepad.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, HERE / "fake_gamepad.c", "-ldl"], check=True)
    return library


class Pad:
    """A gamepad whose events the test writes, and `tactus drive` with it."""

    def __init__(self, robot, folder, shim, *options):
        self.path = folder / "event0"
        os.mkfifo(self.path)
        # Both ends: opening one of a FIFO waits for the other.
        self.device = os.open(self.path, os.O_RDWR)
        self.writer = os.open(self.path, os.O_WRONLY)
        self.robot = robot
        self.process = subprocess.Popen(
            [PROGRAM, "drive", "127.0.0.1", self.path, "--gamepad", "--port", str(robot.udp_port), *options], text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=own_environment(folder, LD_PRELOAD=shim, TACTUS_TEST_GAMEPAD=self.path))
        self.greeting = [self.process.stdout.readline(), self.process.stdout.readline()]
        os.close(self.device)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.unplug()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()

    def send(self, *events):
        """Each event is type, code and value; what belongs together ends with a report."""
        assert self.process.poll() is None, self.process.stderr.read()
        os.write(self.writer, b"".join(struct.pack("@qqHHi", 0, 0, *event) for event in [*events, (SYN, 0, 0)]))

    def unplug(self):
        if self.writer is not None:
            os.close(self.writer)
            self.writer = None

    def end(self):
        return self.process.wait(WAIT_LIMIT_SECONDS), self.process.stderr.read()


@pytest.fixture
def pad(robot, tmp_path, shim):
    robot.reset()
    until(robot, lambda state: state["holder"] is None)
    made = []

    def start(*options):
        made.append(Pad(robot, tmp_path, shim, *options))
        return made[0]

    yield start
    for one in made:
        one.__exit__()


def wheels(left, right):
    return lambda state: state["targetPercent"] and [round(state["targetPercent"][side]) for side in ("left", "right")] == [left, right]


def is_stopped(state):
    return state["state"] == "stopped"


@pytest.mark.protocol
def test_the_stick_drives_and_released_it_stops(robot, pad):
    one = pad()
    assert f"Test \N{REPLACEMENT CHARACTER}Pad" in one.greeting[0] and "B E-STOP" in one.greeting[1], one.greeting
    one.send((ABS, Y, 0))
    until(robot, wheels(100, 100))
    one.send((ABS, X, 255), (ABS, Y, 128))
    until(robot, wheels(100, -100))
    # Held, it goes on beyond the failsafe: the keepalive is the program's.
    turned = robot.get("/api/robot").json()["monotonicNs"]
    until(robot, lambda state: state["monotonicNs"] - turned > 1.2e9 * FAILSAFE_SECONDS and wheels(100, -100)(state))
    one.send((ABS, X, 132))
    state = until(robot, is_stopped)
    assert "silen" not in state["reason"], state


@pytest.mark.protocol
def test_unplugged_it_stops_the_robot_at_once_and_ends(robot, pad):
    one = pad()
    one.send((ABS, Y, 0))
    until(robot, wheels(100, 100))
    one.unplug()
    state = until(robot, is_stopped)
    assert "silen" not in state["reason"], state
    status, said = one.end()
    assert status == 1 and "the gamepad is gone; the robot was told to stop" in said, said
    # The keepalive has ended.
    until(robot, lambda state: state["holder"] is None)


def test_buttons_stop_and_the_stick_must_come_back_to_the_middle(robot, pad):
    one = pad()
    one.send((ABS, Y, 0))
    until(robot, wheels(100, 100))
    one.send((KEY, STOP, 1))
    until(robot, is_stopped)
    one.send((ABS, Y, 10))
    until(robot, is_stopped)
    one.send((ABS, Y, 128))
    # The operator's side says again where the stick is at its next tick.
    time.sleep(0.3)
    one.send((ABS, Y, 0))
    until(robot, wheels(100, 100))
    one.send((KEY, EMERGENCY_STOP, 1))
    until(robot, lambda state: state["state"] == "emergencyStopped")
    one.send((ABS, Y, 128))
    end = time.monotonic() + WAIT_LIMIT_SECONDS
    while robot.get("/api/robot").json()["state"] != "stopped":
        assert time.monotonic() < end
        one.send((KEY, RESET, 1))
        time.sleep(0.3)


def test_full_stick_in_si_units(robot, pad):
    one = pad("--linear", "0.25", "--angular", "1")
    one.send((ABS, Y, 0))
    until(robot, lambda state: state["motion"] and abs(state["motion"]["linearMPerS"] - 0.25) < 1e-6)


def test_dropped_events_are_read_again(robot, pad):
    one = pad()
    one.send((ABS, Y, 0))
    until(robot, wheels(100, 100))
    # The device says that its axes are in the middle.
    one.send((SYN, DROPPED, 0))
    until(robot, is_stopped)


def test_a_signal_stops_the_robot(robot, pad):
    one = pad()
    one.send((ABS, Y, 0))
    until(robot, wheels(100, 100))
    one.process.terminate()
    assert one.end()[0] == 0
    assert "silen" not in until(robot, is_stopped)["reason"]


def test_bytes_that_are_no_events_end_it_as_unplugging_does(robot, pad):
    one = pad()
    one.send((ABS, Y, 0))
    until(robot, wheels(100, 100))
    os.write(one.writer, b"garbage")
    assert one.end()[0] == 1
    until(robot, is_stopped)


def test_what_is_no_gamepad_is_told_with_what_there_is(robot, tmp_path, shim):
    def drive(*words, **environment):
        return robot.command("drive", "127.0.0.1", *words, "--gamepad", environment=environment)

    plain = tmp_path / "file"
    plain.write_text("")
    for path, said in [(tmp_path / "none", "No such file"), (plain, "expected an input device, /dev/input/event*")]:
        done = drive(path)
        assert done.returncode == 1 and str(path) in done.stderr and said in done.stderr, done.stderr
    fifo = tmp_path / "event1"
    os.mkfifo(fifo)
    done = drive(fifo, LD_PRELOAD=str(shim), TACTUS_TEST_GAMEPAD=str(fifo), TACTUS_TEST_KEYBOARD="1")
    assert done.returncode == 1 and "Pad): expected a left stick and gamepad's buttons" in done.stderr, done.stderr
    if not any(Path("/dev/input").glob("event*")):
        done = drive()
        assert done.returncode == 1 and "there is no input device at all" in done.stderr, done.stderr


@pytest.mark.parametrize("words", [
    ("/dev/input/event0",), ("--gamepad", "--for", "1s"), ("--gamepad", "--left", "5"), ("--gamepad", "--linear", "1"),
    ("--gamepad", "--linear", "-1", "--angular", "1"), ("--gamepad", "--estop"),
])
def test_options_that_contradict_are_told(robot, words):
    done = robot.command("drive", "127.0.0.1", *words)
    assert done.returncode == 64 and "gamepad" in done.stderr or "above 0" in done.stderr, done.stderr


@pytest.mark.skipif(not os.access("/dev/uinput", os.W_OK), reason="this machine has no /dev/uinput that may be written")
def test_a_gamepad_of_the_kernel(robot):
    """By uinput: found among the input devices, read, and destroyed, which is what unplugging is."""
    device = os.open("/dev/uinput", os.O_WRONLY | os.O_NONBLOCK)
    try:
        for request, values in [(0x40045564, (KEY, ABS)), (0x40045565, (STOP, EMERGENCY_STOP, RESET)), (0x40045567, (X, Y))]:
            for value in values:
                fcntl.ioctl(device, request, value)
        # struct uinput_user_dev: name, id, ff_effects_max, then maximum, minimum, fuzz and flat of 64 axes.
        axes = [255, 255] + [0] * 62 + [0] * 64 + [0] * 64 + [15, 15] + [0] * 62
        os.write(device, struct.pack("@80s4HI256i", b"Tactus Test Pad", 3, 1, 1, 1, 0, *axes))
        fcntl.ioctl(device, 0x5501)
        end = time.monotonic() + WAIT_LIMIT_SECONDS
        while not (named := [name for name in Path("/sys/class/input").glob("event*/device/name") if name.read_text() == "Tactus Test Pad\n"]):
            assert time.monotonic() < end
            time.sleep(0.05)
        path = f"/dev/input/{named[0].parts[-3]}"
        process = subprocess.Popen(
            [PROGRAM, "drive", "127.0.0.1", path, "--gamepad", "--port", str(robot.udp_port)], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        assert "Tactus Test Pad" in process.stdout.readline()
        def send(*event):
            os.write(device, struct.pack("@qqHHi", 0, 0, *event) + struct.pack("@qqHHi", 0, 0, SYN, 0, 0))

        # The axes of a new device stand at 0, which is an end: the stick has to be released first.
        send(ABS, X, 128)
        send(ABS, Y, 128)
        send(ABS, Y, 1)
        until(robot, lambda state: state["state"] == "driving")
        fcntl.ioctl(device, 0x5502)
        assert "silen" not in until(robot, is_stopped)["reason"]
        assert process.wait(WAIT_LIMIT_SECONDS) == 1 and "the gamepad is gone" in process.communicate()[1]
    finally:
        os.close(device)
