"""The original robot's pi/config.yaml: every key that it has, checked and run as it stands."""
import re
import signal
import subprocess
import time

import pytest

from daemon import PROGRAM, START_LIMIT_SECONDS, STOP_LIMIT_SECONDS

# All its keys with its own values.
ORIGINAL = """\
network:
  motor_udp_port: 5005
  rtsp_port: 8554
  bind_address: "0.0.0.0"
camera:
  resolution: [640, 480]
  framerate: 30
  format: "h264"
  bitrate: 2000000
  rotation: 0
  device: "/dev/video0"
motors:
  i2c_bus: 1
  i2c_address: 0x16
  speed_limit: 100
  acceleration: 50
  command_timeout: 1.0
  invert_left: false
  invert_right: false
logging:
  level: "INFO"
  file: "/var/log/yahboom.log"
  console: true
  format: "%(asctime)s - %(name)s - %(levelname)s - %(message)s"
safety:
  emergency_stop_enabled: true
  safe_mode_speed_limit: 50
  watchdog_enabled: true
  watchdog_timeout: 2.0
performance:
  worker_threads: 2
  udp_buffer_size: 1024
  enable_monitoring: false
"""
LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} - [a-z]+ - (DEBUG|INFO|NOTICE|WARNING|ERROR|CRITICAL) - .+")


def check(tmp_path, text):
    file = tmp_path / "config.yaml"
    file.write_text(text)
    return subprocess.run([PROGRAM, "check", file], capture_output=True, text=True, timeout=120)


def run(tmp_path, text):
    """Of a run on simulated hardware: what standard error got, and what the log file. Its ports are any free ones."""
    log = tmp_path / "robot.log"
    text = text.replace("5005", "0").replace("8554", "0\n  http_port: 0").replace("/var/log/yahboom.log", str(log))
    (tmp_path / "config.yaml").write_text(text)
    environment = {"PATH": "/usr/bin:/bin", "XDG_STATE_HOME": str(tmp_path / "state"), "TZ": "UTC"}
    with subprocess.Popen(
            [PROGRAM, "run", "--config", tmp_path / "config.yaml", "--simulate"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env=environment) as program:
        limit = time.monotonic() + START_LIMIT_SECONDS
        # Its advice comes when everything runs.
        while "Ctrl-C stops" not in (line := program.stdout.readline()):
            assert line and time.monotonic() < limit, program.stderr.read()
        program.send_signal(signal.SIGTERM)
        _, said = program.communicate(timeout=STOP_LIMIT_SECONDS)
        assert program.returncode == 0, said
    return said.splitlines(), log.read_text().splitlines() if log.exists() else []


def test_check_as_it_stands(tmp_path):
    checked = check(tmp_path, ORIGINAL)
    assert checked.returncode == 0, checked.stderr


def test_run_as_it_stands_in_its_own_format(tmp_path):
    said, logged = run(tmp_path, ORIGINAL)
    assert said and all(LINE.fullmatch(line) for line in said), said
    assert logged == said
    assert any(" - tactus - INFO - started" in line for line in said) and any("INFO - stopped reason=" in line for line in said)


def test_console_false_leaves_the_lines_to_the_file(tmp_path):
    said, logged = run(tmp_path, ORIGINAL.replace("console: true", "console: false"))
    assert said == [] and any(" - tactus - INFO - started" in line for line in logged)


def test_console_false_and_a_file_that_cannot_be_opened_standard_error_has_them_all_the_same(tmp_path):
    text = ORIGINAL.replace("console: true", "console: false").replace("/var/log/yahboom.log", "/dev/null/yahboom.log")
    said, _ = run(tmp_path, text)
    assert any("the log file cannot be opened" in line for line in said)


def test_file_null_and_monitoring(tmp_path):
    text = ORIGINAL.replace('"/var/log/yahboom.log"', "null").replace("enable_monitoring: false", "enable_monitoring: true")
    said, logged = run(tmp_path, text)
    assert said and not logged


@pytest.mark.parametrize("old, new, expected", [
    ('"%(asctime)s - %(name)s - %(levelname)s - %(message)s"', '"%(lineno)d %(message)s"', r"24:11: logging.format: expected a line's format"),
    ("console: true", "console: loud", r"logging.console: expected true or false, got loud"),
    ("enable_monitoring: false", "enable_monitoring: 5", r"performance.enable_monitoring: expected true or false, got 5"),
])
def test_a_wrong_value_is_named_with_its_place(tmp_path, old, new, expected):
    assert old in ORIGINAL
    wrong = check(tmp_path, ORIGINAL.replace(old, new))
    assert wrong.returncode == 78 and re.search(expected, wrong.stderr), wrong.stderr
