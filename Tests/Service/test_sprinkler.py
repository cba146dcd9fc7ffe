"""A client written from the requirement alone (§2.3), as a phone app would be."""
import asyncio
import csv
import io
import json
import os
import re
import signal
import time

import pytest
import requests
import websockets

ISO = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)$")


@pytest.fixture
def sprinkler(own_daemon):
    return own_daemon()


class Phone:
    """What the requirement names, and nothing else."""

    def __init__(self, daemon):
        self.url, self.headers = daemon.url, {"Authorization": f"Bearer {daemon.admin}", "Content-Type": "application/json"}

    def call(self, method, path, body=None):
        answer = requests.request(
            method, self.url + path, headers=self.headers, data=None if body is None else json.dumps(body), timeout=60)
        return answer.status_code, answer.json()

    def get(self, path):
        status, body = self.call("GET", path)
        assert status == 200, body
        return body


def test_status_has_what_the_requirement_shows(sprinkler):
    status = Phone(sprinkler).get("/api/status")
    assert status["ok"] is True and isinstance(status["backend"], str) and status["pigpioConnected"] is True
    assert status["activeZoneId"] is None and status["activeRemainingSec"] is None and status["nextRun"] is None
    assert status["rainDelay"]["active"] is False and status["rainDelay"]["until"] is None
    assert isinstance(status["latencyMs"], (int, float))
    for zone in status["zones"]:
        assert isinstance(zone["id"], int) and isinstance(zone["name"], str) and isinstance(zone["gpioPin"], int)
        assert isinstance(zone["isEnabled"], bool) and zone["isOn"] is False and isinstance(zone["defaultMinutes"], (int, float))


@pytest.mark.real_time
def test_the_status_says_that_it_took_less_than_150_ms(sprinkler):
    assert Phone(sprinkler).get("/api/status")["latencyMs"] < 150


def test_a_zone_holds_and_others_close(sprinkler):
    phone = Phone(sprinkler)
    began = time.monotonic()
    status, _ = phone.call("POST", "/api/zone/3/on", {"minutes": 12})
    assert status == 200
    state = phone.get("/api/status")
    assert state["activeZoneId"] == 3 and 718 - (time.monotonic() - began) <= state["activeRemainingSec"] <= 720
    assert [zone["id"] for zone in state["zones"] if zone["isOn"]] == [3]
    pins = {pin["pin"]: pin for pin in phone.get("/api/pins")}
    pin = next(zone["gpioPin"] for zone in state["zones"] if zone["id"] == 3)
    assert pins[pin]["mode"] == "OUTPUT" and pins[pin]["value"] == 1
    assert phone.call("POST", "/api/zone/1/on", {"minutes": 5})[0] == 200
    assert phone.get("/api/status")["activeZoneId"] == 1
    assert phone.call("POST", "/api/zone/1/off")[0] == 200
    assert phone.get("/api/status")["activeZoneId"] is None


def test_schedules_and_rain_delay(sprinkler):
    phone = Phone(sprinkler)
    schedule = {"name": "Mornings", "isEnabled": True, "days": ["Mon", "Wed", "Fri"], "startTimes": ["06:30", "19:00"],
                "zones": [{"zoneId": 1, "minutes": 10}, {"zoneId": 2, "minutes": 5}], "skipIfRain": True}
    status, made = phone.call("POST", "/api/schedules", schedule)
    assert status == 201 and made["id"] > 0 and {**made, **schedule} == made
    assert phone.get("/api/schedules")["schedules"][0]["name"] == "Mornings"
    following = phone.get("/api/status")["nextRun"]
    assert following["zoneId"] == 1 and ISO.match(following["startISO"])
    status, changed = phone.call("PUT", f"/api/schedules/{made['id']}", {**schedule, "isEnabled": False})
    assert status == 200 and changed["isEnabled"] is False
    assert phone.get("/api/status")["nextRun"] is None
    assert phone.call("POST", "/api/rain-delay", {"hours": 24})[0] == 200
    rain = phone.get("/api/status")["rainDelay"]
    assert rain["active"] is True and ISO.match(rain["until"])
    assert phone.call("DELETE", "/api/rain-delay")[0] == 200
    assert phone.get("/api/status")["rainDelay"]["active"] is False
    assert phone.call("DELETE", f"/api/schedules/{made['id']}")[0] == 200
    assert phone.get("/api/schedules")["schedules"] == []


def test_errors_have_the_requirements_codes(sprinkler):
    phone = Phone(sprinkler)
    status, error = phone.call("POST", "/api/zone/1/on", {"minutes": -3})
    assert (status, error["ok"], error["code"], error["field"]) == (422, False, "VALIDATION", "minutes") and error["message"]
    status, error = phone.call("PUT", "/api/zones", [{"id": 1, "gpioPin": 2}])
    assert (status, error["code"]) == (403, "ZONE_DENY")
    zones = phone.get("/api/zones")["zones"]
    zones[1]["gpioPin"] = zones[0]["gpioPin"]
    status, error = phone.call("PUT", "/api/zones", {"zones": zones})
    assert (status, error["code"]) == (409, "GPIO_BUSY")
    assert requests.get(sprinkler.url + "/api/status", timeout=60).status_code == 401


def test_each_action_leaves_the_line_the_requirement_names(sprinkler):
    phone = Phone(sprinkler)
    phone.call("POST", "/api/zone/2/on", {"minutes": 1.5})
    phone.call("POST", "/api/zone/2/off")
    phone.call("POST", "/api/zone/9/on", {"minutes": 1})
    lines = [line for line in phone.get("/api/logs?limit=200")["lines"] if line.get("action") in ("on", "off")]
    assert [(line["action"], line["zoneId"], line["result"]) for line in lines] == [
        ("on", "2", "ok"), ("off", "2", "ok"), ("on", "9", "NOT_FOUND")]
    assert lines[0]["minutes"] == "1.5" and lines[0]["pinValue"] == "1" and lines[1]["pinValue"] == "0"
    assert all({"ts", "caller", "tokenId"} <= set(line) for line in lines)


def test_zones_can_be_renamed_and_come_back_as_they_were_sent(sprinkler):
    phone = Phone(sprinkler)
    zones = phone.get("/api/zones")["zones"]
    zones[0]["name"] = "Front lawn, north"
    assert phone.call("PUT", "/api/zones", {"zones": zones})[0] == 200
    assert phone.get("/api/status")["zones"][0]["name"] == "Front lawn, north"


def test_the_socket_tells_zones_and_rain(sprinkler):
    async def listen():
        phone = Phone(sprinkler)
        seen = []
        async with websockets.connect(sprinkler.ws_url, additional_headers=phone.headers) as socket:
            await asyncio.to_thread(phone.call, "POST", "/api/zone/3/on", {"seconds": 3})
            await asyncio.to_thread(phone.call, "POST", "/api/rain-delay", {"hours": 1})
            while not any(event.get("type") == "zone" and not event["isOn"] for event in seen):
                seen.append(json.loads(await asyncio.wait_for(socket.recv(), 60)))
        return seen

    seen = asyncio.run(listen())
    zone = [event for event in seen if event.get("type") == "zone"]
    assert all(event["id"] == 3 for event in zone)
    remaining = [event["remainingSec"] for event in zone]
    assert remaining[0] == 3 and remaining[-1] == 0 and remaining == sorted(remaining, reverse=True)
    rain = [event for event in seen if event.get("type") == "rain"]
    assert rain and rain[0]["active"] is True and ISO.match(rain[0]["until"])


def test_the_socket_tells_again_and_again_while_a_zone_is_open(sprinkler):
    async def listen():
        phone = Phone(sprinkler)
        async with websockets.connect(sprinkler.ws_url, additional_headers=phone.headers) as socket:
            await asyncio.to_thread(phone.call, "POST", "/api/zone/3/on", {"minutes": 10})
            seen = set()
            while len(seen) < 3:
                event = json.loads(await asyncio.wait_for(socket.recv(), 60))
                if event.get("type") == "zone":
                    seen.add(event["remainingSec"])

    asyncio.run(listen())


@pytest.mark.real_time
def test_the_socket_tells_once_a_second_while_a_zone_is_open(sprinkler):
    async def listen():
        phone = Phone(sprinkler)
        remaining = []
        async with websockets.connect(sprinkler.ws_url, additional_headers=phone.headers) as socket:
            await asyncio.to_thread(phone.call, "POST", "/api/zone/3/on", {"seconds": 3})
            while not remaining or remaining[-1]:
                event = json.loads(await asyncio.wait_for(socket.recv(), 60))
                if event.get("type") == "zone":
                    remaining.append(event["remainingSec"])
        return remaining

    assert {1, 2} & set(asyncio.run(listen()))


def test_a_killed_daemon_keeps_what_was_set_and_opens_nothing(sprinkler):
    phone = Phone(sprinkler)
    assert phone.call("POST", "/api/zone/2/on", {"minutes": 10})[0] == 200
    phone.call("POST", "/api/rain-delay", {"hours": 48})
    before = phone.get("/api/status")["rainDelay"]
    os.kill(sprinkler.process.pid, signal.SIGKILL)
    sprinkler.process.wait(60)
    sprinkler.start()
    # It answers before its first beat, which tells how the run ended.
    limit = time.monotonic() + 60
    while not (runs := phone.get("/api/log")["runs"]):
        assert time.monotonic() < limit
        time.sleep(0.02)
    assert [(run["zoneId"], run["outcome"]) for run in runs] == [(2, "crash")]
    status = phone.get("/api/status")
    assert status["rainDelay"] == before and status["activeZoneId"] is None


def test_the_log_is_json_and_csv(sprinkler):
    phone = Phone(sprinkler)
    phone.call("POST", "/api/zone/1/on", {"minutes": 1})
    phone.call("POST", "/api/zone/1/off")
    run = phone.get("/api/log")["runs"][0]
    assert run["zoneId"] == 1 and run["outcome"] == "stopped" and ISO.match(run["startISO"])
    text = requests.get(sprinkler.url + "/api/log.csv", headers=phone.headers, timeout=60)
    assert text.headers["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(text.text)))
    assert len(rows) == 1 and rows[0]["zone"] == "1"


def test_a_calendar_program_subscribes_to_the_upcoming_starts(sprinkler):
    phone = Phone(sprinkler)
    phone.call("POST", "/api/schedules", {"name": "Hedge", "days": ["Sun"], "startTimes": ["05:00"], "zones": [{"zoneId": 1, "minutes": 2}]})
    answer = requests.get(sprinkler.url + "/api/sprinkler.ics?count=3", headers=phone.headers, timeout=60)
    assert answer.headers["Content-Type"] == "text/calendar; charset=utf-8"
    lines = answer.text.split("\r\n")
    assert lines[0] == "BEGIN:VCALENDAR" and lines[-2:] == ["END:VCALENDAR", ""]
    assert lines.count("BEGIN:VEVENT") == lines.count("SUMMARY:Watering: Hedge") == 3


def test_a_backup_is_one_file_that_restores(sprinkler):
    phone = Phone(sprinkler)
    phone.call("POST", "/api/schedules", {"name": "Kept", "days": ["Sun"], "startTimes": ["05:00"],
                                          "zones": [{"zoneId": 1, "minutes": 1}]})
    backup = requests.get(sprinkler.url + "/api/sprinkler/backup", headers=phone.headers, timeout=60)
    assert backup.status_code == 200 and backup.content.startswith(b"SQLite format 3")
    phone.call("DELETE", "/api/schedules/1")
    headers = {**phone.headers, "Content-Type": "application/vnd.sqlite3"}
    answer = requests.post(sprinkler.url + "/api/sprinkler/restore", headers=headers, data=backup.content, timeout=60)
    assert answer.status_code == 200, answer.text
    assert phone.get("/api/schedules")["schedules"][0]["name"] == "Kept"
    answer = requests.post(sprinkler.url + "/api/sprinkler/restore", headers=headers, data=b"nonsense", timeout=60)
    assert answer.status_code == 422


def test_a_longest_run_below_the_usual_one_is_refused_by_its_own_name(own_daemon):
    daemon = own_daemon()
    zones = daemon.get("/api/zones").json()["zones"]
    only = [{"id": zone["id"], **({"maxMinutes": 2} if zone["id"] == 1 else {})} for zone in zones]
    refused = daemon.request("PUT", "/api/zones", json=only)
    assert refused.status_code == 422 and refused.json()["field"] == "zones[0].maxMinutes", refused.text
    assert "at least defaultMinutes, which is 10" in refused.json()["message"]


def test_a_start_by_the_sun_without_a_place_says_which_keys_give_it(daemon):
    refused = daemon.post("/api/schedules", {
        "name": "Dawn", "days": ["Sun"], "startTimes": ["sunrise-20"], "zones": [{"zoneId": 1, "minutes": 5}]})
    assert refused.status_code == 422 and refused.json()["field"] == "startTimes[0]", refused.text
    assert "sprinkler.latitude and sprinkler.longitude in the file" in refused.json()["message"]
