"""What a device of another package has that needs more than a loop: a list, progress and tables over a restart, several of a kind, routes."""
import re
import sqlite3
import time
from pathlib import Path

import pytest
from generated_client import GeneratedClient

EXAMPLE = Path(__file__).resolve().parents[3] / "Examples/kettle-daemon"


def wait_for(condition, seconds=120):
    limit = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < limit, "it did not come to that"
        time.sleep(0.05)
    return found


def test_two_kettles_each_follow_a_programme_of_their_own(own_kettles):
    daemon = own_kettles(minutes=0.02)
    assert daemon.get("/api/kettle/left/recipe").json()["steps"] == [
        {"celsius": 30, "minutes": 0.02}, {"celsius": 40, "minutes": 0.02}]
    assert daemon.post("/api/kettle/left/start").json()["state"] == "heating"
    assert daemon.state("right")["state"] == "idle"
    assert daemon.post("/api/kettle/left/start").json()["code"] == "AT_WORK"
    # Who was kept waiting finds it at its end already.
    wait_for(lambda: daemon.state()["step"] == 2 or daemon.state()["state"] == "idle")
    wait_for(lambda: daemon.state()["state"] == "idle")
    run = wait_for(lambda: (rows := daemon.runs()) and rows[0]["end"] and rows[0])
    assert run["number"] == 1 and run["end"] == "finished" and 39 < run["highestCelsius"] < 45 and run["seconds"] > 4
    assert daemon.runs("right") == []
    assert daemon.get("/api/health").json()["systems"] == {"kettle/left": "idle", "kettle/right": "idle"}
    metrics = daemon.get("/metrics").text
    assert re.search(r'^tactus_kettle_temperature_celsius\{kettle="left"\} 3\d', metrics, re.M)
    assert re.search(r'^tactus_kettle_temperature_celsius\{kettle="right"\} (?:19|20)\b', metrics, re.M)
    assert metrics.count("# TYPE tactus_kettle_temperature_celsius ") == 1
    called = daemon.command("call", "--port", daemon.port, "kettle", "right", "start", environment={"TACTUS_TOKEN": daemon.admin})
    assert called.returncode == 0, called.stderr
    wait_for(lambda: daemon.runs("right"))


def test_progress_outlives_a_restart_and_nothing_heats_by_itself(kettles):
    kettles.post("/api/kettle/left/start")
    wait_for(lambda: kettles.state()["step"] == 2 and kettles.state()["heldSeconds"] > 1)
    before = kettles.state()
    kettles.stop()
    kettles.start()
    after = kettles.state()
    assert after["state"] == "interrupted" and after["step"] == 2 and after["powerPercent"] == 0
    assert after["heldSeconds"] >= before["heldSeconds"]
    assert kettles.runs()[0]["end"] == "interrupted"
    assert kettles.state("right")["state"] == "idle"
    assert kettles.post("/api/kettle/left/start").json()["state"] == "heating"
    assert kettles.state()["step"] == 2
    wait_for(lambda: kettles.runs()[0]["end"] is None)
    kettles.process.kill()
    kettles.process.wait()
    kettles.start()
    wait_for(lambda: kettles.runs()[0]["end"])
    assert [run["end"] for run in kettles.runs()] == ["interrupted", "interrupted"], "each is closed, and so is what a kill left open"
    assert kettles.state()["state"] == "interrupted" and kettles.state()["step"] == 2
    kettles.post("/api/kettle/left/stop")
    wait_for(lambda: kettles.state()["state"] == "idle")
    kettles.stop()
    kettles.start()
    assert kettles.state()["state"] == "idle" and kettles.state()["step"] is None


def test_a_setting_that_a_client_has_changed_outlives_a_kill_until_the_file_says_something_else(kettles):
    def most(name="left"):
        described = kettles.get("/api/systems").json()["systems"]
        settings = next(system for system in described if system["name"] == f"kettle/{name}")["settings"]
        return next(setting["value"] for setting in settings if setting["name"] == "mostPercent")

    def kept(value):
        [store] = kettles.folder.rglob("store.sqlite")
        with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as database:
            rows = database.execute("SELECT value FROM kettle_kept WHERE instance = 'kettle/left' AND name = 'settings.set'")
            return next(rows, None) == (value,)

    def restart(change=None):
        kettles.process.kill()
        kettles.process.wait()
        if change:
            kettles.config.write_text(kettles.config.read_text().replace(*change))
        kettles.start()
        return most()

    for percent in 150, "40":
        assert kettles.request("PUT", "/api/kettle/left/settings", json={"mostPercent": percent}, token=kettles.admin).status_code == 422
    answer = kettles.request("PUT", "/api/kettle/left/settings", json={"mostPercent": 40, "gain": 30}, token=kettles.admin)
    assert answer.status_code == 200, answer.text
    wait_for(lambda: kept('{"most_percent":40}'))
    assert restart() == 40 and most("right") == 100
    assert restart(("name: left", "name: left\n    most_percent: 90")) == 90, "the file says something else"
    assert restart() == 90
    assert kettles.request("PUT", "/api/kettle/left/settings", json={"most_percent": 50}, token=kettles.admin).status_code == 200
    wait_for(lambda: kept('{"most_percent":50}'))
    assert kettles.request("POST", "/api/reload", token=kettles.admin).status_code == 200
    wait_for(lambda: kept("{}"))
    assert restart() == 90, "a reload says again what the file says"


def test_a_note_is_written_to_its_run_and_to_no_other(kettles):
    for name in "left", "right":
        kettles.post(f"/api/kettle/{name}/start")
        kettles.post(f"/api/kettle/{name}/stop")
        wait_for(lambda: kettles.runs(name) and kettles.runs(name)[0]["end"])
    answer = kettles.request("PUT", "/api/kettle/left/runs/1/note", json={"note": "=too thin"})
    assert answer.status_code == 200 and answer.json()["note"] == "=too thin"
    assert kettles.runs()[0]["note"] == "=too thin" and kettles.runs("right")[0]["note"] is None
    for body, number, status, field in [
            ({}, 1, 422, "note"), ({"note": 3}, 1, 422, "note"), ({"note": "a", "more": 1}, 1, 422, "more"),
            ({"note": "a"}, "x", 422, "number"), ({"note": "a"}, 0, 422, "number"), ({"note": "a"}, 9, 404, None)]:
        wrong = kettles.request("PUT", f"/api/kettle/left/runs/{number}/note", json=body)
        assert wrong.status_code == status and wrong.json().get("field") == field, wrong.text
    assert kettles.request("PUT", "/api/kettle/left/runs/1/note", json={"note": "a"}, token=None).status_code == 401
    looker = kettles.create_token("read")
    assert kettles.request("PUT", "/api/kettle/left/runs/1/note", json={"note": "a"}, token=looker).status_code == 403
    assert kettles.get("/api/kettle/left/runs", token=looker).status_code == 200
    csv = kettles.get("/api/kettle/left/runs.csv").text.splitlines()
    assert csv[0] == "number,start,seconds,end,highestCelsius,note" and csv[1].endswith(",'=too thin")
    assert kettles.get("/api/kettle/left/runs?limit=0").json()["field"] == "limit"


def test_a_locked_store_loses_nothing_and_the_health_shows_it(kettles):
    store = kettles.folder / "store/simulated/store.sqlite"
    lock = sqlite3.connect(store, isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    try:
        kettles.post("/api/kettle/left/start")
        kettles.post("/api/kettle/left/stop")
        health = wait_for(lambda: (now := kettles.get("/api/health").json())["status"] != "ok" and now)
        assert "STORE_FAILED" in str(health)
        refused = kettles.request("PUT", "/api/kettle/left/runs/1/note", json={"note": "a"}, timeout=120)
        assert refused.status_code in (404, 503), refused.text
        # Everything but the disk goes on.
        assert kettles.post("/api/kettle/right/start").status_code == 200
    finally:
        lock.execute("ROLLBACK")
        lock.close()
    run = wait_for(lambda: (rows := kettles.runs()) and rows[0]["end"] and rows[0])
    assert run["end"] == "stopped"
    wait_for(lambda: kettles.get("/api/health").json()["status"] == "ok")


def test_every_route_is_described_and_a_client_is_made_of_it(kettles, tmp_path):
    document = kettles.get("/api/openapi.json").json()
    note = document["paths"]["/api/kettle/left/runs/{number}/note"]["put"]
    assert note["operationId"] == "putKettleLeftRunsNumberNote"
    assert note["requestBody"]["content"]["application/json"]["schema"]["required"] == ["note"]
    assert "/api/kettle/right/runs.csv" in document["paths"] and "/api/kettle/right/recipe" in document["paths"]
    client = GeneratedClient(kettles, tmp_path, "kettles_of_this_test")
    assert client.call("kettleleft.get_kettle_left").state == "idle"
    assert [step.celsius for step in client.call("kettleleft.get_kettle_left_recipe").steps] == [30, 40]
    assert client.call("kettleleft.get_kettle_left_runs").rows == []


@pytest.mark.parametrize("before, after, words", [
    ("name: right", "name: left", "kettles[1].name: expected another name than line 3: kettles[0].name, got left"),
    ("name: right", "name: A", "kettles[1].name: expected a name of at most 16 lower-case letters"),
    ("GPIO22", "GPIO17", "kettles[1].agitator: expected one owner of GPIO line GPIO17"),
    ("/dev/spidev0.1", "/dev/spidev0.0", "kettles[1].thermometer: expected one owner of the chip select /dev/spidev0.0"),
    ("celsius: 30", "celsius: 130", "kettles[0].steps[0].celsius: expected a number 20…100, got 130"),
    ("celsius: 22", "kelvin: 22", "kettles[1].steps[0].kelvin: expected a known key"),
])
def test_what_is_wrong_with_the_file_is_said_with_its_place(kettles, before, after, words):
    text = kettles.config.read_text()
    assert before in text
    wrong = kettles.folder / "wrong.yaml"
    wrong.write_text(text.replace(before, after, 1))
    checked = kettles.command("check", wrong)
    assert checked.returncode == 78 and words in checked.stderr, checked.stderr


def test_the_reference_is_a_valid_file_and_the_scenarios_end_well(kettles, tmp_path):
    reference = tmp_path / "reference.yaml"
    reference.write_text(kettles.command("check", "--reference").stdout)
    assert kettles.command("check", reference).returncode == 0, kettles.command("check", reference).stderr
    assert "    steps:\n      -\n" in reference.read_text()
    assert "/var/lib/kettle-daemon" in reference.read_text() and "/var/lib/tactus" not in reference.read_text()
    for scenario in ["dry.yaml", "hang.yaml"]:
        played = kettles.command("sim", EXAMPLE / "scenarios" / scenario)
        assert played.returncode == 0, played.stdout + played.stderr
    assert "releases missed: it is put into its safe state" in played.stdout
    assert kettles.command("check", EXAMPLE / "kettle.yaml").returncode == 0
