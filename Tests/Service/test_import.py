"""`tactus import`: the schedules of OpenSprinkler and SIP, as their programs write them."""
import json

import pytest

from daemon import Daemon

# The first of July 2026, 12:00 by the controller's clock.
OPEN_SPRINKLER = {
    "settings": {"devt": 1782907200, "nbrd": 1, "rd": 0, "loc": "52.52,13.40"},
    "programs": {"nprogs": 4, "nboards": 1, "mnp": 40, "mnst": 4, "pnsize": 32, "pd": [
        [195, 21, 0, [390, 1200, -1, -1], [600, 0, 90, 0, 0, 0, 0, 0], "Front", [1, 4 << 5 | 15, 10 << 5 | 1]],
        [113, 2, 5, [60, -1, -1, -1], [0, 300, 0, 0, 0, 0, 0, 0], "Trees \x1b[31m", [0, 33, 415]],
        [1, 127, 0, [1200, 11, 30, 0], [0, 0, 0, 60, 0, 0, 0, 0], "Mist", [0, 33, 415]],
        [97, 15, 0, [60, -1, -1, -1], [60, 0, 0, 0, 0, 0, 0, 0], "Monthly", [0, 33, 415]],
    ]},
    "options": {"fwv": 221, "wl": 80, "sdt": 0, "mas": 0},
    "status": {"sn": [0] * 8, "nstations": 8},
    "stations": {"snames": ["Lawn", "Trees", "Roses", "Patio", "S05"], "stn_dis": [0], "ignore_rain": [0]},
}
SIP = [{
    "enabled": 1, "type": "alldays", "day_mask": 127, "interval_base_day": 0, "start_min": 360, "stop_min": 1080, "cycle_min": 240,
    "duration_sec": [600, 300, 0, 0, 0, 0, 0, 0], "station_mask": [3], "name": "Beds"}]


@pytest.fixture
def daemon(tmp_path):
    with Daemon(tmp_path) as daemon:
        yield daemon


def written(folder, name, content):
    (folder / name).write_text(json.dumps(content))
    return folder / name


def run(daemon, *words):
    return daemon.command("import", *words, environment={"TACTUS_TOKEN": daemon.admin})


def test_an_export_of_opensprinkler_is_printed_sent_listed_and_previewed(daemon, tmp_path):
    export = written(tmp_path, "backup.json", OPEN_SPRINKLER)
    printed = run(daemon, export)
    assert printed.returncode == 0, printed.stderr
    assert "programs.pd[3]: not taken: monthly, on day 15" in printed.stderr
    assert "options.wl: not taken: a level of 80 %: PUT /api/seasonal" in printed.stderr
    assert '"Front": Mon, Wed, Fri, 04-15 to 10-01; 06:30' in printed.stderr
    assert '"Mist" as 2 schedules: every day; 20:00' in printed.stderr and "names of zones" not in printed.stdout
    assert "\x1b" not in printed.stdout + printed.stderr
    assert daemon.get("/api/schedules").json()["schedules"] == []
    body = json.loads(printed.stdout)

    sent = run(daemon, export, "--send", "--names", "--host", daemon.url)
    assert sent.returncode == 0, sent.stderr
    assert "names of zones 5: not taken" in sent.stderr and "4 zones named" in sent.stdout
    zones = daemon.get("/api/zones").json()["zones"]
    assert [zone["name"] for zone in zones] == ["Lawn", "Trees", "Roses", "Patio"]
    schedules = daemon.get("/api/schedules").json()["schedules"]
    assert [schedule["name"] for schedule in schedules] == ["Front", "Trees  [31m", "Mist", "Mist (2)"]
    front, trees, mist, _ = schedules
    assert front["days"] == ["Mon", "Wed", "Fri"] and front["startTimes"] == ["06:30", "20:00"] and front["followsSeason"]
    assert front["season"] == {"from": "04-15", "to": "10-01"}
    assert [(step["zoneId"], step["minutes"]) for step in front["zones"]] == [(1, 10), (3, 1.5)]
    assert (trees["intervalDays"], trees["intervalFrom"]) == (5, "2026-07-03") and not mist["followsSeason"]
    starts = daemon.get("/api/schedules/preview?count=50").json()["starts"]
    assert {"Mist", "Mist (2)"} <= {start["scheduleName"] for start in starts}
    assert any(run["zoneId"] == 4 and run["seconds"] == 60 for start in starts for run in start["runs"])
    # What was printed is what was sent.
    again = daemon.post("/api/schedules/import", body)
    assert again.status_code == 200 and [one["name"] for one in again.json()["schedules"]] == [one["name"] for one in schedules]


def test_sips_files_come_over_switched_off(daemon, tmp_path):
    files = [
        written(tmp_path, "programs.json", SIP), written(tmp_path, "snames.json", ["A", "B"]),
        written(tmp_path, "sd.json", {"nst": 8, "idd": 1, "mas": 2, "wl": 100, "seq": 1, "ir": [1], "iw": [0]})]
    sent = run(daemon, *files, "--send", "--off", "--host", daemon.url)
    assert sent.returncode == 0, sent.stderr
    assert "sd.mas: not taken: station 2 is the master valve" in sent.stderr and "sd.ir: not taken: zones 1 ignore rain" in sent.stderr
    [beds] = daemon.get("/api/schedules").json()["schedules"]
    assert (beds["isEnabled"], beds["startTimes"]) == (False, ["06:00", "10:00", "14:00"])
    assert [(step["zoneId"], step["minutes"]) for step in beds["zones"]] == [(1, 10)]


def test_what_the_daemon_refuses_is_said_in_its_words_and_nothing_comes_over(daemon, tmp_path):
    pd = [OPEN_SPRINKLER["programs"]["pd"][0], [65, 1, 0, [60, -1, -1, -1], [0, 0, 0, 0, 0, 60], "Sixth"]]
    export = written(tmp_path, "backup.json", OPEN_SPRINKLER | {"programs": {"pd": pd}})
    sent = run(daemon, export, "--send", "--host", daemon.url)
    assert sent.returncode == 1 and "one of the zones" in sent.stderr, sent.stderr
    assert daemon.get("/api/schedules").json()["schedules"] == []


def test_other_files_are_refused_with_their_name(daemon, tmp_path):
    text = tmp_path / "text"
    text.write_text("not json")
    for path, reason in [
        (text, "expected JSON"), (tmp_path / "none", "there is no such file"), (tmp_path, "is not a file"),
        (written(tmp_path, "other.json", {"a": 1}), "expected OpenSprinkler's export, or programs.json"),
    ]:
        refused = run(daemon, path)
        assert refused.returncode == 1 and f"{path}: " in refused.stderr and reason in refused.stderr, refused.stderr
    nothing = run(daemon, written(tmp_path, "empty.json", []))
    assert nothing.returncode == 1 and "no schedule comes over" in nothing.stderr and nothing.stdout == ""
    assert run(daemon, text, "--names").returncode == 64
