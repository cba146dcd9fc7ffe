"""What a dosing pump of another package has: a limit of a day that no restart gives anew, notices with values, a table that a kill leaves no hole in."""
import time
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[3] / "Examples/doser-daemon"


def wait_for(condition, seconds=120):
    limit = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < limit, "it did not come to that"
        time.sleep(0.05)
    return found


def test_it_doses_what_it_is_asked_for_and_no_more_than_a_day_may_have(dosers):
    assert dosers.dose(2).status_code == 200
    row = wait_for(lambda: (rows := dosers.doses()) and rows[0]["end"] and rows[0])
    assert row["end"] == "done" and row["askedMl"] == 2 and abs(row["dosedMl"] - 2) < 0.1 and row["scheduled"] is False
    assert abs(dosers.state()["todayMillilitres"] - 2) < 0.1
    refused = dosers.dose(4)
    assert refused.status_code == 409 and refused.json()["code"] == "OVER_LIMIT", refused.text
    assert dosers.dose(0).status_code == 422
    assert dosers.state("chlorine")["todayMillilitres"] == 0
    assert '"msg":"a dose is complete (2.0 ml)"' in dosers.log
    assert "tactus_doser_today_millilitres" in dosers.get("/metrics").text


def test_a_kill_in_the_middle_of_a_dose_gives_nothing_anew(dosers):
    dosers.dose(4)
    wait_for(lambda: dosers.state()["state"] == "dosing" and dosers.state()["dosedMillilitres"] > 0)
    dosers.process.kill()
    dosers.process.wait()
    dosers.start()
    state = dosers.state()
    # Nobody knows how much of it had been dosed: all of it counts.
    assert state["state"] == "idle" and state["todayMillilitres"] == 4
    assert dosers.dose(2).json()["code"] == "OVER_LIMIT"
    assert [row["end"] for row in dosers.doses()] == ["interrupted"]
    assert dosers.dose(0.5).status_code == 200


def test_a_stop_gives_back_what_was_not_dosed(dosers):
    dosers.dose(5)
    wait_for(lambda: dosers.state()["dosedMillilitres"] > 0.5)
    assert dosers.post("/api/doser/acid/stop").json()["state"] == "idle"
    row = wait_for(lambda: (rows := dosers.doses()) and rows[0]["end"] and rows[0])
    assert row["end"] == "stopped" and row["dosedMl"] < 5
    assert dosers.state()["todayMillilitres"] < 5


def test_a_dose_that_is_stopped_before_the_pump_turns_has_a_row(dosers):
    for _ in range(5):
        dosers.dose(0.5)
        dosers.post("/api/doser/acid/stop")
    rows = wait_for(lambda: len(rows := dosers.doses()) == 5 and all(row["end"] for row in rows) and rows)
    assert {row["end"] for row in rows} == {"stopped"} and all(row["askedMl"] == 0.5 for row in rows), rows


def test_the_example_is_right_and_its_scenarios_come_out_as_they_say(dosers):
    for words in (["check", EXAMPLE / "doser.yaml"], *(["sim", file] for file in sorted((EXAMPLE / "scenarios").glob("*.yaml")))):
        played = dosers.command(*words)
        assert played.returncode == 0, played.stdout + played.stderr
