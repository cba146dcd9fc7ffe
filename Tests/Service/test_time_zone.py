"""The time zone that the daemon goes by: every form of TZ as `date` understands it, or a refusal in words."""
import datetime
import json
import os
import subprocess

import pytest

from daemon import Daemon

NAMED = [":Asia/Kathmandu", "<+0545>-5:45", "/usr/share/zoneinfo/Asia/Kathmandu", "NZST-12NZDT,M9.5.0,M4.1.0/3"]
OTHERS = [
    "Asia/Kathmandu", ":/usr/share/zoneinfo/Asia/Kathmandu", "posix/Asia/Kathmandu", ":NZST-12NZDT,M9.5.0,M4.1.0/3", "", ":", "UTC0", "EST5EDT", "EST+5",
    "<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "AAA-1BBB-3,J60/0,J300/0", "AAA-1BBB,59/26,299/-2:30", "EST5EDT,0/0,J365/25",
]


def offset(zone):
    """The present offset from UTC as `date` has it, s."""
    text = subprocess.run(["date", "+%z"], capture_output=True, text=True, check=True, env={**os.environ, "TZ": zone}).stdout.strip()
    seconds = int(text[1:3]) * 3_600 + int(text[3:5]) * 60
    return -seconds if text[0] == "-" else seconds


def words(seconds):
    return f"UTC{'-' if seconds < 0 else '+'}{abs(seconds) // 3_600:02}:{abs(seconds) // 60 % 60:02}"


def on_machine_time(daemon):
    """Takes the sprinkler's own time zone out of the file."""
    text = daemon.config.read_text()
    assert "  time_zone: Europe/Berlin\n" in text
    daemon.config.write_text(text.replace("  time_zone: Europe/Berlin\n", ""))
    return daemon


@pytest.mark.parametrize("zone", NAMED + OTHERS)
def test_check_names_the_zone_that_date_has(tmp_path, zone):
    daemon = Daemon(tmp_path)
    if zone.startswith("posix/") and not os.path.exists("/usr/share/zoneinfo/" + zone):
        pytest.skip("this machine's database has each zone only once")
    checked = daemon.command("check", daemon.config, environment={"TZ": zone})
    assert checked.returncode == 0, checked.stderr
    line = next(line for line in checked.stdout.splitlines() if line.startswith("  time zone: "))
    assert f", {words(offset(zone))}, from TZ, " in line


@pytest.mark.parametrize("zone", NAMED)
def test_the_sprinkler_goes_by_it_and_log_and_api_name_it(tmp_path, zone):
    with on_machine_time(Daemon(tmp_path, environment={"TZ": zone})) as daemon:
        status = daemon.get("/api/status").json()
        local = datetime.datetime.fromisoformat(status["systems"]["sprinkler"]["localTime"])
        assert local.utcoffset().total_seconds() == offset(zone)
        told = status["timeZone"]
        assert told["offsetSeconds"] == offset(zone) and told["source"] == "TZ" and told["remark"] is None
        assert told["name"] == ("Asia/Kathmandu" if "Kathmandu" in zone else None)
        assert told["text"] == (told["name"] or ("+05:45" if zone.startswith("<") else zone))
        assert (told["nextChange"] is not None) == zone.startswith("NZST")
        if told["nextChange"]:
            at = datetime.datetime.fromisoformat(told["nextChange"]["atISO"])
            assert at.utcoffset().total_seconds() == told["nextChange"]["offsetSeconds"] != told["offsetSeconds"]
        started = next(json.loads(line) for line in daemon.log.splitlines() if '"started"' in line)
        assert words(offset(zone)) in json.dumps(started) and "from TZ" in json.dumps(started)


@pytest.mark.parametrize("zone, said", [
    ("Europe/Berln", "Europe/Berlin?"), ("/nowhere", "none can be read"), ("/etc/passwd", "expected a time zone file, got something else"),
    ("NZST-12NZDT", "the dates of both changes"), ("<+5>-5", "at least three letters"), ("UTC+25", "at most 24 hours"),
    ("NZST-12NZDT,M13.5.0,M4.1.0", "a month 1 to 12"),
])
def test_what_is_no_zone_is_refused_at_the_start(tmp_path, zone, said):
    daemon = on_machine_time(Daemon(tmp_path, environment={"TZ": zone}))
    for command in (["check", daemon.config], ["run", "--simulate", "--config", daemon.config]):
        refused = daemon.command(*command, environment={"TZ": zone})
        assert refused.returncode == 78, refused.stdout + refused.stderr
        assert f"TZ={zone}: " in refused.stderr and said in refused.stderr, refused.stderr
