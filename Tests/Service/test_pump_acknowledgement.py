"""A real daemon and a pump on a terminal whose answers come when the test says: what is accepted happens, or is told to have failed."""
import os
import queue
import subprocess
import threading
import time
import tty

import pytest
from daemon import PROGRAM, Daemon

LIMIT_SECONDS = 60


class HeldPump:
    """Its commands as they come; it says nothing by itself."""

    def __init__(self):
        self.master, slave = os.openpty()
        tty.setraw(slave)
        self.path = os.ttyname(slave)
        self.slave = slave
        self.commands = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        rest = b""
        while True:
            try:
                rest += os.read(self.master, 256)
            except OSError:
                return
            *lines, rest = rest.split(b"\n")
            for line in lines:
                if line.strip():
                    self.commands.put(line.strip().decode())

    def expect(self, command):
        """The next of its kind; a STATUS in between is answered with what the pump is."""
        limit = time.monotonic() + LIMIT_SECONDS
        while True:
            came = self.commands.get(timeout=max(0.01, limit - time.monotonic()))
            if came == command:
                return
            assert came == "STATUS", f"{came} instead of {command}"
            self.say("STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.0C}")

    def say(self, *lines):
        os.write(self.master, "".join(line + "\r\n" for line in lines).encode())

    def close(self):
        os.close(self.slave)
        os.close(self.master)


class RealDaemon(Daemon):
    """Without --simulate: its pump is on a terminal."""

    def __init__(self, folder, device):
        super().__init__(folder)
        self.config.write_text(
            f"network: {{bind_address: 127.0.0.1, http_port: {self.port}}}\n"
            f"service: {{token_file: '{self.tokens}', bonjour: false}}\n"
            f"store: {{folder: '{folder}/state'}}\n"
            "runtime: {lock_memory: false}\n"
            f"pump: {{device: {device}}}\n")

    def start_process(self):
        self.log_start = 0
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [PROGRAM, "run", "--config", self.config], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=self.own_environment(TACTUS_TOKEN=self.admin))


def until(read, condition):
    limit = time.monotonic() + LIMIT_SECONDS
    while not condition(value := read()):
        assert time.monotonic() < limit, value
        time.sleep(0.02)
    return value


@pytest.mark.parametrize("stop", ["off", "e-stop"])
def test_an_on_after_a_stop_whose_answer_is_late_is_refused_or_reaches_the_pump(tmp_path, stop):
    pump = HeldPump()
    daemon = RealDaemon(tmp_path, pump.path)
    daemon.start()
    try:
        state = lambda: daemon.get("/api/pump").json()
        off = "STATUS:{State:OFF,WaterTemp:12.0C,SkinTemp:34.0C}"
        assert pump.commands.get(timeout=LIMIT_SECONDS) == "STATUS"
        pump.say(off)
        # A look asks for a STATUS, which the pump holds back.
        state()
        assert pump.commands.get(timeout=LIMIT_SECONDS) == "STATUS"
        if stop == "e-stop":
            assert daemon.post("/api/pump/e-stop").status_code == 200
            pump.expect("OFF")
            pump.say("OK", "PUMP:OFF")
            until(lambda: daemon.post("/api/pump/reset").status_code, lambda status: status == 200)
        else:
            assert daemon.post("/api/pump/off").status_code == 200
        pump.expect("OFF")
        # What it said before the OFF came.
        pump.say(off, off)
        answers = []
        # An ON is tried while the OFF has no answer yet: well within the second after which it would be repeated.
        for _ in range(8):
            answers.append(daemon.post("/api/pump/on").status_code)
            if answers[-1] == 200:
                break
            time.sleep(0.02)
        assert set(answers) <= {200, 409}
        pump.say("OK", "PUMP:OFF")
        if answers[-1] != 200:
            until(lambda: daemon.post("/api/pump/on").status_code, lambda status: status == 200)
        # It was accepted: it comes.
        pump.expect("ON")
        pump.say("OK", "PUMP:ON")
        until(state, lambda pump: pump["state"] == "on")
        daemon.post("/api/pump/off")
        pump.expect("OFF")
        pump.say("OK", "PUMP:OFF")
        until(state, lambda pump: pump["state"] == "off" and pump["offConfirmed"])
    finally:
        # The farewell waits for the pump's word.
        daemon.process.terminate()
        threading.Thread(target=lambda: answer_offs(pump), daemon=True).start()
        daemon.process.wait(LIMIT_SECONDS)
        pump.close()


def answer_offs(pump):
    while True:
        try:
            if pump.commands.get(timeout=LIMIT_SECONDS) == "OFF":
                pump.say("OK", "PUMP:OFF")
        except (queue.Empty, OSError):
            return
