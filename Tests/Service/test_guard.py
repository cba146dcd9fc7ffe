"""The guard of a real daemon hangs, dies, and cannot be replaced: what is told, when, and what becomes of the output.

The robot is an xgo-rider on a pseudo-terminal, so the guard is a real one with a real output."""
import json
import os
import re
import resource
import select
import signal
import socket
import subprocess
import time

import pytest
import requests

from daemon import PROGRAM, Daemon

LIMIT_SECONDS = 120
RUNS = 5


class Guarded(Daemon):
    """A daemon whose motors hang on a pseudo-terminal, with a service manager that counts its signs of life."""

    def __init__(self, folder):
        super().__init__(folder)
        self.terminal = os.openpty()
        self.config.write_text(f"""\
network: {{ bind_address: 127.0.0.1, motor_udp_port: 0, http_port: {self.port} }}
motors: {{ backend: xgo-rider, serial_device: {os.ttyname(self.terminal[1])}, acceleration: 0 }}
store: {{ folder: {folder}/state }}
runtime: {{ lock_memory: false, robot: {{ scheduling: normal, safe_state_after: 1000 }} }}
service: {{ token_file: {self.tokens}, bonjour: false }}
""")
        self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.manager.bind(str(self.folder / "notify"))

    def start_process(self):
        self.log_start = 0
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [PROGRAM, "run", "--config", self.config], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=self.own_environment(TACTUS_TOKEN=self.admin, NOTIFY_SOCKET=self.folder / "notify"))

    @property
    def guard(self):
        """The process of the newest guard that watches."""
        def lines():
            return re.findall('.*"msg":"(?:started|another guard is watching)".*\n', self.log)

        # A line may be written after what it tells of can be seen.
        wait(lines, "no guard was told of")
        return json.loads(lines()[-1])["guard"]

    def signs(self):
        """How many signs of life have come since the last call."""
        count = 0
        while select.select([self.manager], [], [], 0)[0]:
            count += self.manager.recv(4096).count(b"WATCHDOG=1")
        return count

    def ticks(self):
        return sum(float(value) for value in re.findall(
            r"^tactus_loop_ran_total\{[^}]*\} (\S+)$", self.get("/metrics").text, re.MULTILINE))


@pytest.fixture
def guarded(tmp_path):
    with Guarded(tmp_path) as daemon:
        yield daemon


def wait(condition, what):
    limit = time.monotonic() + LIMIT_SECONDS
    while not condition():
        assert time.monotonic() < limit, what
        time.sleep(0.005)


def test_a_guard_that_hangs_is_told_of_killed_and_replaced_while_everything_else_goes_on(guarded):
    detected, replaced = [], []
    for run in range(RUNS):
        first, ticks = guarded.guard, guarded.ticks()
        guarded.signs()
        since = time.monotonic()
        os.kill(first, signal.SIGSTOP)
        wait(lambda: guarded.log.count("the guard process does not answer") > run, "not judged")
        detected.append(time.monotonic() - since)
        wait(lambda: guarded.guard != first, "not replaced")
        replaced.append(time.monotonic() - since)
        # Killed, and taken off the kernel.
        assert not os.path.exists(f"/proc/{first}")
        assert guarded.ticks() > ticks
        wait(lambda: guarded.signs() > 0, "no sign of life to the service manager")
    print("detected after", [f"{s:.2f}" for s in detected], "s; replaced after", [f"{s:.2f}" for s in replaced], "s")
    assert guarded.get("/api/health").json()["guard"] == {"state": "watching", "replacements": RUNS, "madeSafe": 0}
    metrics = guarded.get("/metrics").text
    assert f'tactus_guard_replacements_total{{reason="hung"}} {RUNS}' in metrics
    assert 'tactus_guard_replacements_total{reason="died"} 0' in metrics
    assert "was put into its safe state" not in guarded.log and "was sent its safe state" not in guarded.log


def test_a_daemon_that_stands_still_after_a_replacement_has_a_guard_in_the_end(guarded):
    first = guarded.guard
    os.kill(first, signal.SIGSTOP)
    wait(lambda: guarded.guard != first, "not replaced")
    os.kill(guarded.process.pid, signal.SIGSTOP)
    time.sleep(0.9)
    os.kill(guarded.process.pid, signal.SIGCONT)
    ticks = guarded.ticks()
    wait(lambda: guarded.ticks() > ticks + 10, "the loops stand still")
    wait(lambda: guarded.get("/api/health").json()["guard"]["state"] == "watching", "nobody watches")
    assert os.path.exists(f"/proc/{guarded.guard}")


# It stands still for longer than it waits for an answer, and for less than the guard waits for it.
@pytest.mark.real_time
def test_a_daemon_that_stood_still_just_after_a_replacement_leaves_the_new_guard_alone(guarded):
    for run in range(1, 4):
        first = guarded.guard
        os.kill(first, signal.SIGSTOP)
        wait(lambda: guarded.guard != first, "not replaced")
        # Before the new guard has been sent a heartbeat.
        os.kill(guarded.process.pid, signal.SIGSTOP)
        second = guarded.guard
        # Longer than the daemon waits for an answer.
        time.sleep(0.9)
        os.kill(guarded.process.pid, signal.SIGCONT)
        # Another verdict would come with the next heartbeat.
        ticks = guarded.ticks()
        wait(lambda: guarded.ticks() > ticks + 10, "the loops stand still")
        assert guarded.guard == second and os.path.exists(f"/proc/{second}")
        assert f'tactus_guard_replacements_total{{reason="hung"}} {run}' in guarded.get("/metrics").text


def test_no_other_guard_can_be_had_every_output_stops_until_there_is_one_and_somebody_resets(guarded):
    # One connection from before serves the test: no further descriptor is to be had.
    session = requests.Session()

    def ask(method, path):
        return session.request(
            method, guarded.url + path, headers={"Authorization": f"Bearer {guarded.admin}"}, timeout=60)

    def state():
        return ask("GET", "/api/health").json()["guard"]["state"]

    assert state() == "watching"
    before = resource.prlimit(guarded.process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(guarded.process.pid, resource.RLIMIT_NOFILE, (3, before[1]))
    os.kill(guarded.guard, signal.SIGKILL)
    wait(lambda: state() == "lost", "not told")
    health = ask("GET", "/api/health").json()
    assert health["code"] == "GUARD_LOST" and "POST /api/reset" in health["message"], health
    wait(lambda: "no guard can be had" in guarded.log, "not logged")
    wait(lambda: ask("GET", "/api/robot").json()["emergencyStopped"], "not stopped")
    for path in ["/api/robot/reset", "/api/reset"]:
        refused = ask("POST", path)
        assert (refused.status_code, refused.json()["code"]) == (409, "NO_GUARD"), refused.text
    resource.prlimit(guarded.process.pid, resource.RLIMIT_NOFILE, before)
    wait(lambda: state() == "watching", "no guard again")
    # It stays stopped until somebody says otherwise.
    assert ask("GET", "/api/robot").json()["emergencyStopped"]
    guarded.reset()
    assert not ask("GET", "/api/robot").json()["emergencyStopped"]
