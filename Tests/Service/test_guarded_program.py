"""`tactus guard --outputs FILE -- PROGRAM`: a program in Python or C, a serial line, and every way in which the program can end."""
import contextlib
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import termios
import time

import pytest

EXAMPLE = pathlib.Path(__file__).parents[2] / "Examples" / "guarded-program"
PROGRAM = os.environ["TACTUS_PROGRAM"]
SAFE = b"speed 0 0\n"
PATIENCE_SECONDS = 120


class Line:
    """A serial line whose far end is read by the test."""

    def __init__(self):
        self.far, self.near = os.openpty()
        attributes = termios.tcgetattr(self.near)
        attributes[1] &= ~termios.OPOST
        attributes[3] &= ~(termios.ECHO | termios.ICANON)
        termios.tcsetattr(self.near, termios.TCSANOW, attributes)
        self.path = os.ttyname(self.near)
        self.heard = b""

    def listen(self, done):
        """Reads until `done(heard)`."""
        limit = time.monotonic() + PATIENCE_SECONDS
        while not done(self.heard):
            left = limit - time.monotonic()
            assert left > 0, f"the line has only {self.heard[-200:]!r}"
            if select.select([self.far], [], [], left)[0]:
                self.heard += os.read(self.far, 4096)

    def close(self):
        os.close(self.far)
        os.close(self.near)


@pytest.fixture
def line():
    line = Line()
    yield line
    line.close()


@pytest.fixture
def guarded(tmp_path, line):
    """`guarded(PROGRAM…, options=…)` starts one under a guard whose only output is the line."""
    running = []
    outputs = tmp_path / "outputs.yaml"
    outputs.write_text(f'outputs:\n  - {{serial: {line.path}, baud: 115200, text: "speed 0 0\\n"}}\n')

    def start(*words, options=(), environment=None):
        process = subprocess.Popen(
            [PROGRAM, "guard", "--outputs", str(outputs), *options, "--", *map(str, words)], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONUNBUFFERED": "1", **(environment or {})})
        running.append(process)
        return process

    yield start
    for process in running:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        process.communicate()


def robot(line):
    return [sys.executable, EXAMPLE / "robot.py", line.path]


def guard_of(process):
    """The process of the guard: the program's only child."""
    return int(pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()[0])


def drives(heard):
    return heard.count(b"speed 40 40\n") > 3


@pytest.mark.parametrize("options", [[], ["--timeout", "10m"]], ids=["without heartbeats", "with"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGSEGV])
def test_a_program_that_is_killed_or_crashes_leaves_its_outputs_safe(guarded, line, number, options):
    process = guarded(*robot(line), options=options)
    line.listen(drives)
    assert SAFE not in line.heard
    process.send_signal(number)
    line.listen(lambda heard: heard.endswith(SAFE))
    _, said = process.communicate(timeout=PATIENCE_SECONDS)
    assert "is gone: every output was sent its safe state" in said
    assert process.returncode in (-number, 1)


@pytest.mark.parametrize(("body", "status"), [("pass", 0), ("raise SystemExit(3)", 3), ("1 / 0", 1), ("import os; os._exit(4)", 4)])
def test_a_program_that_ends_by_itself_has_its_own_exit_status_and_safe_outputs(guarded, line, body, status):
    process = guarded(sys.executable, "-c", body)
    line.listen(lambda heard: heard == SAFE)
    assert process.wait(PATIENCE_SECONDS) == status


def test_a_stopped_program_is_killed_when_its_heartbeats_are_late(guarded, line):
    process = guarded(*robot(line), options=["--timeout", "400ms"])
    line.listen(drives)
    process.send_signal(signal.SIGSTOP)
    line.listen(lambda heard: heard.count(SAFE) == 2)
    assert process.wait(PATIENCE_SECONDS) == -signal.SIGKILL
    said = process.communicate()[1]
    assert "heartbeat has lapsed: every output was sent its safe state" in said
    assert "was not under control and was killed" in said


def test_a_loop_that_hangs_is_killed(guarded, line):
    hangs = f"import sys; sys.path.insert(0, {str(EXAMPLE)!r}); import tactus_guard; tactus_guard.Guard().beat()\nwhile True: pass"
    process = guarded(sys.executable, "-c", hangs, options=["--timeout", "400ms"])
    line.listen(lambda heard: heard == SAFE * 2)
    assert process.wait(PATIENCE_SECONDS) == -signal.SIGKILL


def test_a_program_that_never_beats_is_killed_after_its_first_time(guarded, line):
    process = guarded("/bin/sleep", "1000", options=["--timeout", "100ms", "--first", "700ms"])
    begun = time.monotonic()
    assert process.wait(PATIENCE_SECONDS) == -signal.SIGKILL
    assert time.monotonic() - begun > 0.6
    line.listen(lambda heard: heard == SAFE * 2)


def test_kept_it_comes_back_and_is_told(guarded, line):
    process = guarded(*robot(line), options=["--timeout", "400ms", "--on-hang", "keep"])
    line.listen(drives)
    process.send_signal(signal.SIGSTOP)
    line.listen(lambda heard: heard.endswith(SAFE))
    line.heard = b""
    process.send_signal(signal.SIGCONT)
    line.listen(drives)
    process.kill()
    said = process.communicate()
    assert "the guard has stopped the motors meanwhile" in said[0]
    assert "heartbeat is back" in said[1]


def test_what_a_program_leaves_behind_does_not_count_as_the_program(guarded, line, tmp_path):
    process = guarded("/bin/sh", "-c", f"sleep 1000 & echo $! > {tmp_path}/left; kill -9 $$")
    line.listen(lambda heard: heard == SAFE)
    left = int((tmp_path / "left").read_text())
    os.kill(left, signal.SIGKILL)
    assert process.wait(PATIENCE_SECONDS) == -signal.SIGKILL


def test_a_program_whose_guard_dies_is_told(guarded, line):
    process = guarded(*robot(line), options=["--timeout", "1s"])
    line.listen(drives)
    os.kill(guard_of(process), signal.SIGKILL)
    assert process.wait(PATIENCE_SECONDS) == 1
    assert "GuardLost" in process.communicate()[1]


LOOK = """import json, os, subprocess, sys
sys.path.insert(0, sys.argv[1])
import tactus_guard
signals = [line.split() for line in open("/proc/self/status") if line.startswith(("SigIgn", "SigBlk"))]
kinds = [os.readlink(f"/proc/self/fd/{one}").split(":")[0] for one in os.listdir("/proc/self/fd") if int(one) > 2 and os.path.lexists(f"/proc/self/fd/{one}")]
tactus_guard.Guard()
child = subprocess.run([sys.executable, "-c", "import os; print('TACTUS_GUARD_FD' in os.environ)"], capture_output=True, text=True).stdout
print(json.dumps({"signals": signals, "kinds": kinds, "child": child.strip()}))
"""


def test_a_program_gets_one_descriptor_more_and_its_signals_as_they_were(guarded):
    bare = json.loads(subprocess.run([sys.executable, "-c", LOOK, EXAMPLE], capture_output=True, text=True, check=True).stdout)
    shown = json.loads(guarded(sys.executable, "-c", LOOK, EXAMPLE).communicate(timeout=PATIENCE_SECONDS)[0])
    assert bare["kinds"] == [] and shown["kinds"] == ["socket"]
    # What it starts itself has no part in it.
    assert shown["signals"] == bare["signals"] and shown["child"] == "False"


@pytest.mark.skipif(not (shutil.which("cc") or shutil.which("clang")), reason="there is no C compiler")
def test_a_program_in_c(guarded, line, tmp_path):
    subprocess.run(
        [shutil.which("cc") or shutil.which("clang"), "-Wall", "-Wextra", "-Werror", "-O2", "-o", tmp_path / "robot", EXAMPLE / "robot.c"], check=True)
    process = guarded(tmp_path / "robot", line.path, options=["--timeout", "400ms"])
    line.listen(drives)
    process.send_signal(signal.SIGSTOP)
    line.listen(lambda heard: heard.count(SAFE) == 2)
    assert process.wait(PATIENCE_SECONDS) == -signal.SIGKILL


def test_a_plan_is_left_for_a_stop_hook(guarded, line, tmp_path):
    process = guarded(*robot(line), environment={"RUNTIME_DIRECTORY": str(tmp_path)})
    line.listen(drives)
    guard = guard_of(process)
    # Both at once: nothing is left but the plan.
    os.kill(guard, signal.SIGSTOP)
    process.kill()
    os.kill(guard, signal.SIGKILL)
    process.communicate()
    line.heard = b""
    hook = subprocess.run([PROGRAM, "guard", "--once", "--plan", tmp_path / "safe-state"], capture_output=True, text=True)
    assert hook.returncode == 0 and "every actuator was sent its safe state" in hook.stderr, hook
    line.listen(lambda heard: heard.endswith(SAFE))
    assert "stop hook" in (tmp_path / "safe-state-written").read_text()


def test_nothing_is_started_that_cannot_be_guarded(guarded, line, tmp_path):
    mark = tmp_path / "started"
    assert guarded("/nonexistent/robot").wait(PATIENCE_SECONDS) == 127
    assert guarded(tmp_path).wait(PATIENCE_SECONDS) == 126
    outputs = tmp_path / "outputs.yaml"
    for text, said in [
        ("outputs:\n  - {serial: /nonexistent/tty, baud: 9600, text: x}\n", "/nonexistent/tty: expected a serial line, found no such device"),
        ("outputs:\n  - {command: /nonexistent/off}\n", "/nonexistent/off: No such file or directory"),
        ("outputs: []\n", "outputs.yaml:1:10: outputs: expected a list of 1…64 outputs, got 0"),
        ("", "expected outputs, got an empty file"),
        ("outputs:\n  - {serial: tty, baud: 9600, text: x}\n", "a path is absolute, got \"tty\""),
        ("outputs:\n  - {serial: /dev/null, baud: 12345, text: x}\n", "12345 bit/s is no rate of a serial line"),
        ("outputs:\n  - {serial: /dev/null, baud: 9600}\n", "outputs[0]: expected either bytes or text, got neither"),
        ("outputs:\n  - {serial: /dev/null, baud: 9600, bytes: [256]}\n", "outputs[0].bytes[0]: expected an integer 0…255, got 256"),
        ("outputs:\n  - {i2c: /dev/i2c-1, address: 0x80, bytes: 1}\n", "outputs[0].address: expected an integer 8…119, got 0x80"),
        (f'outputs:\n  - {{serial: /dev/null, baud: 9600, text: "{"x" * 1025}"}}\n', "outputs[0].text: expected at most 1024 bytes, got 1025"),
        ("outputs:\n  - {serial: /dev/a, baud: 9600, text: x}\n  - {serial: /dev/a, baud: 19200, text: x}\n",
         "outputs[1]: expected one kind and rate for each path, got serial:19200:78:/dev/a beside serial:9600:78:/dev/a"),
        ("outputs:\n  - {gpio: /dev/gpiochip0, line: 3}\n", "expected a known key (lines?), got line"),
        ("outputs:\n  - {pwm: /sys/x, gpio: /dev/gpiochip0}\n", "outputs[0]: expected a mapping with one of i2c, gpio, serial, pwm, command, got pwm, gpio"),
    ]:
        outputs.write_text(text)
        process = guarded("/usr/bin/touch", mark)
        assert process.wait(PATIENCE_SECONDS) == 78, text
        assert said in process.communicate()[1], (text, said)
        assert not mark.exists()
    for words in (["--outputs", "x"], ["--outputs", "x", "--timeout", "1ms", "--", "true"], ["--", "true"], ["--once", "--outputs", "x", "y"]):
        assert subprocess.run([PROGRAM, "guard", *words], capture_output=True).returncode == 64, words
