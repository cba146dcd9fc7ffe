"""A serial program on the simulated pump's terminal, as any that is written for the real one; and a session over HTTP."""
import csv
import io
import os
import re
import select
import signal
import subprocess
import termios
import time
import tty

import pytest
import requests

from daemon import PROGRAM

LIMIT_SECONDS = 60


class Serial:
    """9600 bit/s, 8N1, raw: what pyserial does, without it."""

    def __init__(self, path):
        self.descriptor = os.open(path, os.O_RDWR | os.O_NOCTTY)
        tty.setraw(self.descriptor)
        settings = termios.tcgetattr(self.descriptor)
        settings[4] = settings[5] = termios.B9600
        termios.tcsetattr(self.descriptor, termios.TCSANOW, settings)
        self.rest = b""

    def close(self):
        os.close(self.descriptor)

    def write(self, text):
        os.write(self.descriptor, text.encode())

    def line(self):
        limit = time.monotonic() + LIMIT_SECONDS
        while b"\r\n" not in self.rest:
            assert select.select([self.descriptor], [], [], max(0, limit - time.monotonic()))[0], f"only {self.rest} came"
            self.rest += os.read(self.descriptor, 256)
        line, self.rest = self.rest.split(b"\r\n", 1)
        return line.decode()

    def ask(self, text, lines=1):
        """What is answered. A pump that is on says every five seconds how it is: who was kept waiting for so long has that before the answer."""
        while select.select([self.descriptor], [], [], 0)[0]:
            self.rest += os.read(self.descriptor, 256)
        while b"\r\n" in self.rest:
            assert (line := self.line()).startswith("STATUS:{State:ON"), line
        self.write(text)
        found = []
        while len(found) < lines:
            line = self.line()
            if "STATUS" in text.upper() or not line.startswith("STATUS:{State:ON"):
                found.append(line)
        return found


@pytest.fixture
def pump(request):
    options = getattr(request, "param", [])
    process = subprocess.Popen(
        [PROGRAM, "sim", "pump", "--pty", *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    serial = Serial(process.stdout.readline().strip())
    yield serial
    serial.close()
    process.send_signal(signal.SIGTERM)
    assert process.wait(LIMIT_SECONDS) == 0


STATUS_ON = re.compile(
    r"STATUS:\{State:ON,Speed:(\d+)%,Runtime:(\d+)m,Remaining:(\d+)m,WaterTemp:[ \d]\d\.\dC,SkinTemp:[ \d]\d\.\dC\}")


@pytest.mark.protocol
def test_every_command_is_answered_as_the_firmware_does(pump):
    assert pump.ask("ON\n", 2) == ["OK", "PUMP:ON"]
    speed, runtime, remaining = map(int, STATUS_ON.fullmatch(pump.ask("STATUS\n")[0]).groups())
    assert (speed, runtime) == (70, 0) and remaining in (29, 30)
    assert pump.ask("speed:128\r", 2) == ["OK", "SPEED:128"]
    assert STATUS_ON.fullmatch(pump.ask("Status\r\n")[0])[1] == "50"
    assert pump.ask("SPEED:256\n") == ["ERROR:INVALID_SPEED_VALUE"]
    assert pump.ask("DANCE\n") == ["ERROR:UNKNOWN_COMMAND"]
    assert pump.ask("X" * 64 + "\n") == ["ERROR:CMD_TOO_LONG"]
    assert re.fullmatch(r"TEMP:\{Water:[ \d]\d\.\dC,Skin:[ \d]\d\.\dC\}", pump.ask("TEMP\n")[0])
    assert pump.ask("OFF\n", 2) == ["OK", "PUMP:OFF"]
    assert re.fullmatch(r"STATUS:\{State:OFF,WaterTemp:.*,SkinTemp:.*\}", pump.ask("STATUS\n")[0])
    assert pump.ask("SPEED:9\n") == ["ERROR:PUMP_NOT_RUNNING"]


def test_a_line_in_pieces_is_one_line(pump):
    for byte in "\n\r\nON\n":
        pump.write(byte)
    assert [pump.line(), pump.line()] == ["OK", "PUMP:ON"]


def test_a_pump_that_is_on_says_so_by_itself(pump):
    pump.ask("ON\n", 2)
    for _ in range(2):
        assert STATUS_ON.fullmatch(pump.line())


@pytest.mark.real_time
def test_a_pump_that_is_on_says_so_by_itself_every_five_seconds(pump):
    pump.ask("ON\n", 2)
    began = time.monotonic()
    assert STATUS_ON.fullmatch(pump.line())
    assert 3 < time.monotonic() - began < 9


@pytest.mark.parametrize("pump", [["--dialect", "legacy"]], indirect=True)
def test_the_legacy_dialect_has_one_temperature(pump):
    pump.ask("ON\n", 2)
    assert re.fullmatch(r"STATUS:\{State:ON,Speed:70%,Runtime:0m,Remaining:\d+m,Temp:[ \d]\d\.\dC\}", pump.ask("STATUS\n")[0])
    assert re.fullmatch(r"TEMP:[ \d]\d\.\d", pump.ask("TEMP\n")[0])


@pytest.mark.parametrize("pump", [["--original"]], indirect=True)
def test_the_original_reads_lines_as_its_firmware_does(pump):
    unknown, on, off = ["ERROR:UNKNOWN_COMMAND"], ["OK", "PUMP:ON"], ["OK", "PUMP:OFF"]
    for text, answer in [
        # A word stands alone, and is a C string.
        (" ON\n", unknown), ("ON \n", unknown), ("\tON\n", unknown), ("\0ON\n", unknown), ("on\0\n", on), ("ON\0OFF\n", on),
        # atoi with 16 bits.
        ("SPEED:65791\n", ["OK", "SPEED:255"]), ("SPEED:-65281\n", ["OK", "SPEED:255"]), ("SPEED: 7x\n", ["OK", "SPEED:7"]),
        ("SPEED:fast\n", ["OK", "SPEED:0"]), ("SPEED:256\n", ["ERROR:INVALID_SPEED_VALUE"]),
        ("SPEED:32768\n", ["ERROR:INVALID_SPEED_VALUE"]), ("SPEED:-1\n", ["ERROR:INVALID_SPEED_VALUE"]),
        # 63 bytes fit. The next one empties the buffer, and what follows it is a line.
        ("X" * 63 + "\n", unknown), ("X" * 64, ["ERROR:CMD_TOO_LONG"]), ("OFF\n", off), ("X" * 64 + "ON\n", ["ERROR:CMD_TOO_LONG", *on]),
        ("X" * 128 + "\nOFF\n", ["ERROR:CMD_TOO_LONG"] * 2 + off), ("SPEED:65791\n", ["ERROR:PUMP_NOT_RUNNING"]),
        # ON while on is at the first speed again.
        ("ON\n", on), ("SPEED:100\n", ["OK", "SPEED:100"]), ("ON\n", on),
    ]:
        assert pump.ask(text, len(answer)) == answer, repr(text)
    assert STATUS_ON.fullmatch(pump.ask("STATUS\n")[0])[1] == "70"


def test_a_session_is_kept_and_exported(own_daemon):
    daemon = own_daemon(more="pump: {}\n")
    headers = {"Authorization": f"Bearer {daemon.admin}"}

    def call(method, path, **body):
        answer = requests.request(method, daemon.url + path, headers=headers, json=body or None, timeout=LIMIT_SECONDS)
        return answer.status_code, answer

    def state():
        return call("GET", "/api/pump")[1].json()

    def until(condition):
        limit = time.monotonic() + LIMIT_SECONDS
        while not condition(state()):
            assert time.monotonic() < limit, state()
            time.sleep(0.05)

    until(lambda pump: pump["state"] == "off")
    assert call("POST", "/api/pump/on", speedPercent=70)[0] == 200
    until(lambda pump: pump["state"] == "on" and pump["speedPercent"] == 70)
    # What waits for a disk never keeps the pump waiting: the session is shown once it is there.
    until(lambda _: [session["end"] for session in call("GET", "/api/pump/sessions")[1].json()["sessions"]] == [None])
    # A fever stops the cooling pump; the way out is told.
    assert call("POST", "/api/sim/fault", fault="overheat", bus="pump")[0] == 200
    until(lambda pump: pump["fault"] == "overheat" and pump["offConfirmed"])
    assert "cool down" in state()["wayOut"]
    assert call("POST", "/api/pump/on")[0] == 409
    # While it is warm, and before a reading has come that is younger than the fault, a reset says what to wait for.
    status, refusal = call("POST", "/api/pump/reset")
    assert status == 409 and refusal.json()["code"] in ("NO_READING_YET", "CAUSE_PERSISTS"), refusal.text
    assert "let the skin cool down" in refusal.json()["message"]
    assert call("POST", "/api/sim/fault", fault="clear")[0] == 200
    assert call("POST", "/api/sim/fault", fault="overheat", bus="pump", celsius=35)[0] == 200
    until(lambda _: call("POST", "/api/pump/reset")[0] == 200)
    # Accepted on a reading that was true, it stays out of the fault.
    limit = time.monotonic() + 4
    while time.monotonic() < limit:
        assert state()["state"] == "off", state()
        time.sleep(0.1)
    session = call("GET", "/api/pump/sessions")[1].json()["sessions"][0]
    assert session["end"] == "overheat" and session["startedBy"] == "app" and session["seconds"] > 0
    status, answer = call("GET", "/api/pump/sessions.csv")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert answer.headers["Content-Type"].startswith("text/csv") and len(rows) == 1
    assert rows[0]["end"] == "overheat" and rows[0]["number"] == str(session["number"])


@pytest.mark.parametrize("role", ["operator", "device"])
def test_what_the_pump_measured_is_kept_over_a_restart_and_a_gap_stays_one(own_daemon, role):
    device = "  role: device\n  adc: { water_channel: 0, skin_channel: 1 }\n" if role == "device" else ""
    daemon = own_daemon(more="pump:\n  backend: sim\n" + device)

    def history(query=""):
        answer = daemon.get("/api/pump/history" + query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def until(condition):
        limit = time.monotonic() + LIMIT_SECONDS
        while not condition():
            assert time.monotonic() < limit, history("?points=2000")
            time.sleep(0.1)

    def samples(of="samples"):
        return sum(row[of] for row in history("?points=2000")["rows"])

    until(lambda: daemon.get("/api/pump").json()["state"] == "off")
    until(lambda: samples() >= 2)
    assert daemon.post("/api/pump/on", {"speedPercent": 70}).status_code == 200
    # The minute in progress is in the answer, before it is stored.
    until(lambda: samples("runningSamples") >= 2 and history("?points=1")["rows"][0]["speedPercent"])
    row = history("?points=1")["rows"][0]
    assert 20 < row["skinLeastCelsius"] <= row["skinMeanCelsius"] <= row["skinHighestCelsius"] < 40
    assert row["waterMeanCelsius"] is not None and 0 < row["speedPercent"] <= 100
    # One row of the whole day has them all; without `points` there are 200 at most.
    whole = history("?points=1")
    assert len(whole["rows"]) == 1 and whole["spanSec"] >= 86400 and history()["spanSec"] * 200 >= 86400
    kept = samples()
    daemon.stop()
    daemon.start()
    assert samples() >= kept
    times = [row["startISO"] for row in history("?points=2000")["rows"]]
    assert times == sorted(set(times)) and len(times) < 10, "nothing is known of the time before"
    # What has no end in sight is bounded, what has been nowhere is empty, and a refusal names its field.
    assert len(history("?since=1970-01-01T00:00:00Z&points=2000")["rows"]) <= 2000
    assert history("?since=2001-01-01T00:00:00Z&until=2001-01-02T00:00:00Z")["rows"] == []
    for query, field in (("since=yesterday", "since"), ("until=2026-02-30T00:00:00Z", "until"), ("points=0", "points"), ("points=2001", "points"),
                         ("limit=5", "limit"), ("since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z", "since")):
        refusal = daemon.get("/api/pump/history?" + query)
        assert refusal.status_code == 422 and refusal.json()["field"] == field, f"{query}: {refusal.text}"
    [part] = [part for part in daemon.get("/api/store").json()["parts"] if part["part"] == "pump"]
    assert any(one["rows"] == "minutes of readings" and one["count"] >= 1 for one in part["contents"]), part
