"""A daemon whose wall clock is years ahead, weeks behind or set while it runs: a Pi has no clock of its own."""
import datetime
import shutil
import struct
import subprocess
import time
import zoneinfo
from pathlib import Path

import pytest

from daemon import START_LIMIT_SECONDS, Daemon

COMPILER = shutil.which("cc") or shutil.which("clang")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C compiler: the clock is set by a library before the C library's")

DAY = 86_400
YEARS = 3_650 * DAY
BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")


class Clock:
    """The wall clock that the daemon sees: `wrong` is by how much it is ahead of the right time, which `pass_time` lets go on."""

    def __init__(self, path):
        self.path = path
        self.passed = 0
        self.wrong = 0
        self.write()

    def write(self):
        with open(self.path, "r+b" if self.path.exists() else "wb") as file:
            file.write(struct.pack("<qq", self.passed + self.wrong, self.passed))

    def set_wrong(self, seconds):
        self.wrong = seconds
        self.write()
        self.be_seen()

    def pass_time(self, seconds):
        self.passed += int(seconds)
        self.write()
        self.be_seen()

    def be_seen(self):
        # A beat of the daemon is a tenth of a second.
        time.sleep(0.5)

    @property
    def right(self):
        return time.time() + self.passed


@pytest.fixture
def clock(tmp_path):
    return Clock(tmp_path / "clock")


@pytest.fixture
def daemon(tmp_path, clock):
    """Not started."""
    library = tmp_path / "jumping_clock.so"
    subprocess.run(
        [COMPILER, "-shared", "-fPIC", "-o", library, Path(__file__).parent / "jumping_clock.c", "-ldl"], check=True)
    daemon = Daemon(tmp_path, more="pump: {}\n", environment={"LD_PRELOAD": str(library), "JUMPING_CLOCK": str(clock.path)})
    yield daemon
    if daemon.process is not None and daemon.process.poll() is None:
        daemon.stop()


def until(condition, what):
    limit = time.monotonic() + START_LIMIT_SECONDS
    while not condition():
        assert time.monotonic() < limit, what
        time.sleep(0.05)


def start(daemon, clock, wrong):
    """A clock that only this program sees behind would end every wait of its start at once: the kernel's is ahead of it. So it is set then."""
    if wrong > 0:
        clock.set_wrong(wrong)
    daemon.start()
    clock.set_wrong(wrong)


def rain_left(daemon, clock):
    """Hours that are left of the rain delay by the right time; None: there is none."""
    delay = daemon.get("/api/rain-delay").json()["rainDelay"]
    if not delay["active"]:
        return None
    return (datetime.datetime.fromisoformat(delay["until"]).timestamp() - clock.right) / 3600


@pytest.mark.parametrize("wrong", [YEARS, -40 * DAY])
def test_a_rain_delay_lasts_as_long_as_asked_whatever_the_clock_was(daemon, clock, wrong):
    start(daemon, clock, wrong)
    assert daemon.post("/api/rain-delay", {"hours": 1}).status_code == 200
    clock.set_wrong(0)
    until(lambda: abs((rain_left(daemon, clock) or 0) - 1) < 0.02, "the delay follows the clock")
    time.sleep(3)
    assert abs(rain_left(daemon, clock) - 1) < 0.02
    # A restart by a wrong clock changes nothing, either.
    daemon.stop()
    start(daemon, clock, wrong)
    clock.set_wrong(0)
    until(lambda: abs((rain_left(daemon, clock) or 0) - 1) < 0.02, "the delay is kept over a restart")
    clock.pass_time(3_500)
    assert 0 < rain_left(daemon, clock) < 0.03
    clock.pass_time(120)
    until(lambda: rain_left(daemon, clock) is None, "the delay ends")


def schedule(daemon, at, zone=1):
    """A schedule that waters one zone every day at the minute of that instant."""
    start = datetime.datetime.fromtimestamp(at, BERLIN).strftime("%H:%M")
    answer = daemon.post("/api/schedules", {
        "name": "Daily", "isEnabled": True, "days": ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], "startTimes": [start],
        "zones": [{"zoneId": zone, "minutes": 1}]})
    assert answer.status_code in (200, 201), answer.text


def outcomes(daemon):
    return [(line["outcome"], line["startISO"][:10]) for line in daemon.get("/api/log").json()["runs"]]


@pytest.mark.parametrize("ahead_for", [36, 600])
def test_two_days_ahead_no_day_is_without_water(daemon, clock, ahead_for):
    daemon.start()
    due = (clock.right // 60 + 20) * 60
    schedule(daemon, due)
    daemon.stop()
    clock.set_wrong(2 * DAY)
    daemon.start()
    assert not daemon.get("/api/sprinkler").json()["clock"]["isBelieved"]
    clock.pass_time(ahead_for)
    clock.set_wrong(0)
    for day in range(2):
        clock.pass_time(due + day * DAY - clock.right + 1)
        until(lambda: daemon.get("/api/zones").json()["zones"][0]["isOn"], f"day {day}: {daemon.log}")
        assert daemon.post("/api/zone/1/off").status_code == 200
    # What the wrong clock had called missed says so.
    said = [outcome for outcome, _ in outcomes(daemon)]
    assert "missed" not in said, said
    assert ("wrongClock" in said) == (ahead_for == 600), said


def test_ten_years_ahead_at_the_start_nothing_is_deleted(daemon, clock):
    daemon.start()
    assert daemon.post("/api/zone/1/on", {"minutes": 1}).status_code == 200
    assert daemon.post("/api/zone/1/off").status_code == 200
    until(lambda: daemon.get("/api/pump").json()["state"] == "off", "the pump answers")
    assert daemon.post("/api/pump/on", {"speedPercent": 70}).status_code == 200
    until(lambda: daemon.get("/api/pump").json()["state"] == "on", "the pump runs")
    # The last session is never deleted: there are two.
    for state in ("off", "on", "off"):
        assert daemon.post(f"/api/pump/{state}", {"speedPercent": 70} if state == "on" else None).status_code == 200
        until(lambda: daemon.get("/api/pump").json()["state"] == state, state)
    assert daemon.post("/api/plants", {"name": "Basil", "sensors": ["0x36"]}).status_code == 201

    def kept():
        # Plants' rows are shown by time: the right one.
        return (
            len(daemon.get("/api/log").json()["runs"]), len(daemon.get("/api/pump/sessions").json()["sessions"]),
            len(daemon.get("/api/plants/1/history").json()["sensors"][0]["rows"]))

    until(lambda: kept()[0] >= 1 and kept()[1] >= 2 and kept()[2] >= 1, f"{kept()}")
    before = kept()
    daemon.stop()
    clock.set_wrong(YEARS)
    daemon.start()
    time.sleep(4)
    clock.set_wrong(0)
    after = kept()
    assert after[0] == before[0] and after[1] == before[1] and after[2] >= before[2], (before, after)
    lines = daemon.get("/api/sprinkler").json()["clock"]
    assert lines["state"] == "unconfirmed" and abs(lines["lastJumpSec"] + YEARS) < 5
