"""A daemon with everything that moves, heats or opens something, on hardware that outlives it: chips and lines of hardware.c, and a
pump on a pseudo-terminal."""
import http.client
import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import termios
import threading
import time
import tty
import urllib.error
import urllib.request
from pathlib import Path

from hardware import COMPILER, Hardware, safe_since

sys.path.append(str(Path(__file__).resolve().parents[1] / "Service"))
from apart import free_port, own_environment  # noqa: E402

# Bounds waiting for what must come, on a machine that may be busy.
PATIENCE_SECONDS = 120
# How a request ends whose answer does not come, or not to its end.
BROKEN = (OSError, http.client.HTTPException)
CONFIG = """\
network:
  bind_address: 127.0.0.1
  motor_udp_port: {motors}
  leg_udp_port: {legs}
  http_port: {http}
service: {{ auth: none, bonjour: false }}
store: {{ folder: '{folder}/state' }}
motors: {{ backend: yb-pcb-car, i2c_bus: 1, acceleration: 0, command_timeout: {command_timeout} }}
leg: {{ backend: pca9685, i2c_bus: 1, deadman_ms: {deadman_ms} }}
sprinkler:
  backend: gpio
  relay_board: active-low
  time_zone: Europe/Berlin
  zones: [{{ name: Front lawn, pin: 17 }}, {{ name: Back lawn, pin: 27 }}]
pump: {{ device: {pump}, run_limit_min: 1440 }}
safety: {{ watchdog_timeout: {timeout} }}
runtime:
  lock_memory: false
{lanes}
"""
SYSTEMS = ("robot", "leg", "sprinkler", "pump")


def until(condition, what, limit=PATIENCE_SECONDS):
    end = time.monotonic() + limit
    while not (result := condition()):
        if time.monotonic() > end:
            raise TimeoutError(f"not within {limit} s: {what}")
        time.sleep(0.005)
    return result


class Pump(threading.Thread):
    """The pump's own microcontroller: answers as the firmware does, and remembers when it was turned off."""

    def __init__(self):
        super().__init__(daemon=True)
        self.master, self.slave = pty.openpty()
        tty.setraw(self.master)
        tty.setraw(self.slave)
        self.path = os.ttyname(self.slave)
        self.is_on, self.off_since, self.ons = False, 0, 0
        self.start()

    def run(self):
        waiting = b""
        while True:
            try:
                waiting += os.read(self.master, 4096)
            except OSError:
                return
            at = time.monotonic_ns()
            *lines, waiting = re.split(rb"[\r\n]+", waiting)
            for line in filter(None, lines):
                os.write(self.master, self.answer(line.decode(errors="replace"), at).encode())

    def answer(self, line, at):
        if line == "ON":
            self.is_on, self.off_since = True, None
            self.ons += 1
            return "OK\r\nPUMP:ON\r\n"
        if line == "OFF":
            if self.is_on:
                self.is_on, self.off_since = False, at
            return "OK\r\nPUMP:OFF\r\n"
        if line.startswith("SPEED:"):
            return f"OK\r\n{line}\r\n"
        if line == "TEMP":
            return "TEMP:{Water:12.0C,Skin:34.0C}\r\n"
        state = "State:ON,Speed:70%,Runtime:0m,Remaining:29m" if self.is_on else "State:OFF"
        return f"STATUS:{{{state},WaterTemp:12.0C,SkinTemp:34.0C}}\r\n"


class Bench:
    """Everything on: `start()`, `turn_on()`. What fails is the cell's business; `safe_after` says how it ended."""

    # A machine that is shared may pause: what is tried is the guard, and not what missed releases lead to, unless `lanes` says so.
    PATIENT = dict.fromkeys(("robot", "leg", "sprinkler"), 1000)

    def __init__(self, program, folder, timeout=1.0, lanes=PATIENT, deadman_ms=10_000, command_timeout=1.0, is_timed=True):
        self.is_timed = is_timed
        self.program, self.folder = Path(program), Path(folder)
        self.folder.mkdir(parents=True)
        self.hardware = Hardware(self.folder / "machine")
        self.pump = Pump()
        self.config = self.folder / "tactus.yaml"
        lanes = "\n".join(f"  {lane}: {{ safe_state_after: {misses} }}" for lane, misses in lanes.items())
        self.ports = {name: free_port() for name in ("motors", "legs", "http")}
        self.config.write_text(CONFIG.format(
            folder=self.folder, timeout=timeout, deadman_ms=deadman_ms, command_timeout=command_timeout, pump=self.pump.path, lanes=lanes, **self.ports))
        self.log_path, self.log_start = self.folder / "log", 0
        self.environment = own_environment(
            self.folder, **self.hardware.environment, XDG_RUNTIME_DIR=self.folder, RUNTIME_DIRECTORY=self.folder)
        self.process = self.guard = None
        self.driving, self.last_sent, self.sent = threading.Event(), 0, 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driving.clear()
        self.hardware.hang(0)
        for process in (self.process.pid if self.process else None, self.guard):
            if process:
                try:
                    os.kill(process, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        if self.process:
            self.process.wait()

    def command(self, *arguments, config=None):
        return [str(self.program), *arguments, "--config", str(config or self.config)]

    def start(self):
        self.log_start = len(self.log)
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                self.command("run"), stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=self.environment)
        self.guard = int(json.loads(self.line('"msg":"started"')).get("guard", 0))
        until(lambda: self.ask("/api/pump")["offConfirmed"], "the pump's off is confirmed")

    def run(self, *arguments, config=None):
        """Another program of ours on the same machine, to its end."""
        return subprocess.run(
            self.command(*arguments, config=config), env=self.environment, stdin=subprocess.DEVNULL, capture_output=True,
            text=True, timeout=PATIENCE_SECONDS)

    @property
    def log(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def line(self, text, limit=PATIENCE_SECONDS):
        """The first whole line of this start's log with `text`."""
        def found():
            whole = self.log[self.log_start:].rpartition("\n")[0]
            line = next((line for line in whole.split("\n") if text in line), None)
            if line is None and self.process.poll() is not None and not self.guard:
                raise RuntimeError(f"the daemon ended with {self.process.returncode}:\n{self.log}")
            return line
        return until(found, f"a log line with {text}; said:\n{self.log[-3000:]}", limit)

    def ask(self, path, body=None):
        """What the daemon answers; a refusal is an answer, too."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.ports['http']}{path}", data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            return json.load(error)

    def drive(self):
        """A stick that somebody holds: a zero, then twenty commands a second until `driving` is cleared."""
        self.driving.set()

        def hold():
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stick:
                stick.sendto(b'{"left": 0, "right": 0}', ("127.0.0.1", self.ports["motors"]))
                while self.driving.is_set():
                    self.last_sent = time.monotonic_ns()
                    stick.sendto(b'{"left": 40, "right": 40}', ("127.0.0.1", self.ports["motors"]))
                    self.sent += 1
                    time.sleep(0.05)
        self.stick = threading.Thread(target=hold, daemon=True)
        self.stick.start()

    def let_go(self):
        """The end of that."""
        self.driving.clear()
        self.stick.join()

    def states(self):
        """What is on, by the hardware."""
        on = {name: at is None for name, at in safe_since(self.hardware).items()}
        return {**on, "pump": self.pump.is_on}

    def until_every_loop_has_had_its_turn(self):
        """Twenty more of each, and as many more commands of the stick's: by then whatever comes on by itself has done so."""
        def ran():
            return {loop["name"]: loop["ran"] for loop in self.ask("/api/runtime")["loops"]}
        before, sent = ran(), self.sent
        until(lambda: all(now >= before[name] + 20 for name, now in ran().items()), "every loop has had its turn")
        until(lambda: not self.driving.is_set() or self.sent >= sent + 20, "the stick is held")

    def turn_on(self):
        """Everything, and again what a pause of the machine has turned off meanwhile. What has become a fault by it is reset, which a stick that is
        held does not allow."""
        commands = {
            "leg": ("/api/leg/0/disarm", "/api/leg/0/arm", "/api/leg/0/set"), "sprinkler": ("/api/zone/1/on",),
            "pump": ("/api/pump/reset", "/api/pump/on"),
        }
        bodies = {"/api/leg/0/set": {"pulseUs": 1600}, "/api/zone/1/on": {"minutes": 5}}
        self.drive()
        end = time.monotonic() + PATIENCE_SECONDS
        while not all(self.states().values()):
            assert time.monotonic() < end, f"not everything can be turned on: {self.states()}"
            for system, paths in commands.items():
                if not self.states()[system]:
                    for path in paths:
                        self.ask(path, bodies.get(path, {}))
            try:
                until(lambda: all(self.states().values()), "everything is on", 2)
            except TimeoutError:
                self.let_go()
                until(lambda: self.ask("/api/robot")["holder"] is None, "nobody drives")
                self.ask("/api/reset", {})
                self.drive()

    def safe_after(self, instant, limit):
        """Milliseconds from `instant` (monotonic nanoseconds) until each output was off for good; `None` if it is still on after
        `limit` seconds."""
        def offs():
            return {**safe_since(self.hardware), "pump": self.pump.off_since}
        try:
            until(lambda: None not in offs().values(), "everything is off", limit)
        except TimeoutError:
            pass
        return {name: None if at is None else max(0.0, (at - instant) / 1e6) for name, at in offs().items()}

    def signal(self, *signals):
        """Sends each (process, signal), and says when the first was sent."""
        at = time.monotonic_ns()
        for process, number in signals:
            os.kill(process, number)
        return at

    def kill(self):
        at = self.signal((self.process.pid, signal.SIGKILL))
        self.process.wait()
        return at

    def until_guard_is_gone(self):
        """A guard that a killed daemon has left behind: it ends by itself when it has written."""
        def is_gone():
            try:
                return "\nState:\tZ" in Path(f"/proc/{self.guard}/status").read_text()
            except (FileNotFoundError, ProcessLookupError):  # Before it was opened, or between that and the read.
                return True
        until(is_gone, "the guard has ended")

    def ask_or_end(self, path, body=None):
        """What the daemon answers; `None` if it has ended instead, which is some moments after its connections broke."""
        try:
            return self.ask(path, body)
        except BROKEN:
            self.process.wait(PATIENCE_SECONDS)
            return None
