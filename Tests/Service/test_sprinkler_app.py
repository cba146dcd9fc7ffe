"""Sprinkler: the original phone app, unmodified, call by call: what it sends and what it decodes."""
import http.client
import json
import time
import uuid
from datetime import datetime, timedelta, timezone

import pytest

from daemon import REQUEST_LIMIT_SECONDS, Daemon

WEEK = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
# What its catalogue holds, whether the machine has them or not.
CATALOGUE = [12, 16, 20, 21, 26, 19, 13, 6, 5, 11, 9, 10, 22, 27, 17, 4]


class Phone:
    """Its HTTP client: pretty-printed bodies, a content type only with one, errors shown by their `message`."""

    def __init__(self, daemon, token):
        self.daemon, self.token = daemon, token

    def call(self, method, path, body=None, token=...):
        token = self.token if token is ... else token
        headers = {"Accept": "application/json"}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(body, indent=2, separators=(",", " : ")).encode()
        elif method == "POST":
            headers["Content-Length"] = "0"
        connection = http.client.HTTPConnection(*self.daemon.address, timeout=REQUEST_LIMIT_SECONDS)
        try:
            connection.request(method, path, data, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def done(self, method, path, body=None):
        status, text = self.call(method, path, body)
        # A loop that was kept waiting has not done it: whoever holds the phone touches the button once more.
        for _ in range(10):
            if status != 409 or b'"STALE"' not in text:
                break
            status, text = self.call(method, path, body)
        assert 200 <= status < 300, (method, path, status, text)

    def refused(self, expected, method, path, body=None, **options):
        status, text = self.call(method, path, body, **options)
        assert status == expected, (method, path, status, text)
        message = json.loads(text)["message"]
        assert isinstance(message, str) and message

    def status(self):
        """StatusDTO: every member may be missing, but one of another type throws the whole answer away."""
        code, text = self.call("GET", "/api/status")
        assert code == 200, (code, text)
        whole = json.loads(text, object_pairs_hook=once)
        assert whole["ok"] is True
        decoded = {
            "version": whole["version"], "last_updated": date(whole["last_updated"]),
            "pins": [members(pin, pin=int, name=str, is_active=bool, is_enabled=bool) for pin in whole["pins"]],
            "rain": members(
                whole["rain"], is_active=bool, ends_at=str, duration_hours=int, chance_percent=int,
                threshold_percent=int, zip_code=str, automation_enabled=bool),
            "schedules": [members(
                schedule, id=str, name=str, duration=int, start_time=str, days=list, is_enabled=bool, sequence=list)
                for schedule in whole["schedules"]],
        }
        assert isinstance(decoded["version"], str)
        for schedule in decoded["schedules"]:
            schedule["sequence"] = [members(step, pin=int, duration=int) for step in schedule["sequence"]]
        return decoded

    def pin(self, number):
        return next(pin for pin in self.status()["pins"] if pin["pin"] == number)

    def schedule(self, name):
        return next((schedule for schedule in self.status()["schedules"] if schedule["id"] == name), None)


def once(pairs):
    """No name is there twice: which one counts is the reader's guess."""
    assert len({name for name, _ in pairs}) == len(pairs), [name for name, _ in pairs]
    return dict(pairs)


def date(text):
    """ISO8601DateFormatter with .withInternetDateTime."""
    return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)


def members(value, **types):
    decoded = {}
    for name, kind in types.items():
        if value.get(name) is not None:
            assert type(value[name]) is kind, (name, value[name])
            decoded[name] = value[name]
    return decoded


def payload(identifier, **changes):
    """ScheduleWritePayload: what is None is not sent, and there is never a sequence."""
    body = {"id": identifier, "name": "Lawn", "duration": 10, "start_time": "06:30", "days": ["Mon", "Wed"], "is_enabled": True}
    return {name: value for name, value in {**body, **changes}.items() if value is not None}


class Run:
    """A run that is asked for now: `is_left(seconds)` whether the daemon says that as much is left of it, but for the time that has passed since
    then, here and there."""

    def __init__(self, daemon):
        self.daemon, self.began = daemon, time.monotonic()

    def is_left(self, seconds):
        left = self.daemon.get("/api/status").json()["activeRemainingSec"]
        return seconds - (time.monotonic() - self.began) - 2 <= left <= seconds


@pytest.fixture
def daemon(tmp_path):
    with Daemon(tmp_path) as daemon:
        yield daemon


@pytest.mark.protocol
def test_every_call_of_the_app_works(daemon, capsys):
    phone = Phone(daemon, daemon.create_token("control"))
    lawn, beds, bare, made, never = (str(uuid.uuid4()).upper() for _ in range(5))
    # Made elsewhere: three starts, half a minute, every third day, a season, a priority.
    assert daemon.request("PUT", "/api/zones", json=[
        {"id": 1, "defaultMinutes": 5}, {"id": 2}, {"id": 3, "defaultMinutes": 5, "maxMinutes": 10}, {"id": 4}]).status_code == 200
    ours = daemon.post("/api/schedules", {
        "name": "Roses", "intervalDays": 3, "intervalFrom": "2026-05-01", "startTimes": ["07:00", "19:00", "21:00"],
        "zones": [{"zoneId": 2, "seconds": 30}, {"zoneId": 4, "minutes": 10}], "season": {"from": "04-15", "to": "10-01"},
        "cycleAndSoak": {"cycleMinutes": 5, "soakMinutes": 20}, "followsSeason": False, "skipIfRain": False, "priority": 7,
    }).json()
    number = str(ours["id"])

    def kept(*but):
        now = daemon.get(f"/api/schedules/{number}").json()
        assert {name: now[name] for name in now if name not in but} == {name: ours[name] for name in ours if name not in but}
        return now

    calls = []

    def call(title):
        def add(work):
            calls.append((title, work))
            return work
        return add

    @call("status: everything that it decodes, in its types")
    def _():
        began, status = datetime.now(timezone.utc), phone.status()
        assert [pin["pin"] for pin in status["pins"]] == [12, 16, 20, 21]
        assert all(pin["name"] and pin["is_enabled"] and not pin["is_active"] for pin in status["pins"])
        assert began - timedelta(seconds=5) < status["last_updated"] < datetime.now(timezone.utc) + timedelta(seconds=5)
        assert status["rain"] == {"is_active": False, "automation_enabled": False}

    @call("status with another token: 401 with a message")
    def _(): phone.refused(401, "GET", "/api/status", token="another")

    @call("status without a token: 401 with a message")
    def _(): phone.refused(401, "GET", "/api/status", token=None)

    @call("a pin on for some minutes")
    def _():
        run = Run(daemon)
        phone.done("POST", "/api/pin/12/on", {"minutes": 5})
        assert phone.pin(12)["is_active"] and run.is_left(300)

    @call("a pin that is on, on again for longer")
    def _():
        run = Run(daemon)
        phone.done("POST", "/api/pin/12/on", {"minutes": 20})
        assert run.is_left(1200)

    @call("a pin that is on, on again for less")
    def _():
        run = Run(daemon)
        phone.done("POST", "/api/pin/12/on", {"minutes": 3})
        assert run.is_left(180)

    @call("a pin that is on, on again without a body: half an hour")
    def _():
        run = Run(daemon)
        phone.done("POST", "/api/pin/12/on")
        assert run.is_left(1800)

    @call("another pin on without a body: the first one closes")
    def _():
        phone.done("POST", "/api/pin/16/on")
        assert phone.pin(16)["is_active"] and not phone.pin(12)["is_active"]

    @call("a pin on without a body, longer than its zone may run: cut to that")
    def _():
        run = Run(daemon)
        phone.done("POST", "/api/pin/20/on")
        assert run.is_left(600)

    @call("a pin off, without a body")
    def _():
        phone.done("POST", "/api/pin/20/off")
        assert not phone.pin(20)["is_active"]

    @call("a pin off that is off")
    def _(): phone.done("POST", "/api/pin/20/off")

    @call("a pin on that is not ours: 404 with a message")
    def _(): phone.refused(404, "POST", "/api/pin/26/on")

    @call("a pin off that is not ours: 404 with a message")
    def _(): phone.refused(404, "POST", "/api/pin/26/off")

    @call("a pin on with another token: 401 with a message")
    def _(): phone.refused(401, "POST", "/api/pin/12/on", token="another")

    @call("a pin renamed")
    def _():
        phone.done("POST", "/api/pins/16", {"name": "Hedge", "is_enabled": True})
        assert phone.pin(16) == {"pin": 16, "name": "Hedge", "is_active": False, "is_enabled": True}

    @call("a pin hidden, its name not sent: it stays")
    def _():
        phone.done("POST", "/api/pins/16", {"is_enabled": False})
        assert phone.pin(16)["name"] == "Hedge" and not phone.pin(16)["is_enabled"]

    @call("a pin shown again")
    def _():
        phone.done("POST", "/api/pins/16", {"name": "Hedge", "is_enabled": True})
        assert phone.pin(16)["is_enabled"]

    @call("a pin renamed that is not ours: 404 with a message")
    def _(): phone.refused(404, "POST", "/api/pins/26", {"name": "x", "is_enabled": True})

    @call("pins in another order")
    def _():
        phone.done("POST", "/api/pins/reorder", [21, 12, 20, 16])
        assert [pin["pin"] for pin in phone.status()["pins"]] == [21, 12, 20, 16]

    @call("pins in another order, with those of its catalogue that are not ours")
    def _():
        phone.done("POST", "/api/pins/reorder", CATALOGUE)
        assert [pin["pin"] for pin in phone.status()["pins"]] == [12, 16, 20, 21]

    @call("a schedule made: under the id that it gave, on the first pin")
    def _():
        phone.done("POST", "/api/schedules", payload(lawn))
        assert phone.schedule(lawn) == {**payload(lawn), "sequence": [{"pin": 12, "duration": 10}]}

    @call("the same schedule made again, since the answer was lost")
    def _():
        phone.done("POST", "/api/schedules", payload(lawn))
        assert [schedule["id"] for schedule in phone.status()["schedules"]].count(lawn) == 1

    @call("a schedule made without a name")
    def _():
        phone.done("POST", "/api/schedules", payload(beds, name=None, days=WEEK))
        assert phone.schedule(beds)["days"] == WEEK

    @call("a schedule made without days: there, and never due")
    def _():
        phone.done("POST", "/api/schedules", payload(bare, days=None))
        assert phone.schedule(bare)["days"] == [] and phone.schedule(bare)["is_enabled"]

    @call("a schedule renamed")
    def _():
        phone.done("PUT", f"/api/schedules/{lawn}", payload(lawn, name="Front lawn"))
        assert phone.schedule(lawn)["name"] == "Front lawn"

    @call("a schedule changed without a name: it stays")
    def _():
        phone.done("PUT", f"/api/schedules/{lawn}", payload(lawn, name=None, start_time="05:45", duration=25))
        assert phone.schedule(lawn) == {
            **payload(lawn, name="Front lawn", start_time="05:45", duration=25), "sequence": [{"pin": 12, "duration": 25}]}

    @call("a schedule on other days")
    def _():
        phone.done("PUT", f"/api/schedules/{lawn}", payload(lawn, days=["Sat", "Sun"]))
        assert phone.schedule(lawn)["days"] == ["Sat", "Sun"]

    @call("a schedule switched off")
    def _():
        phone.done("PUT", f"/api/schedules/{lawn}", payload(lawn, is_enabled=False))
        assert phone.schedule(lawn)["is_enabled"] is False

    @call("a schedule changed that nobody has: made")
    def _():
        phone.done("PUT", f"/api/schedules/{made}", payload(made))
        assert phone.schedule(made) == {**payload(made), "sequence": [{"pin": 12, "duration": 10}]}

    @call("a schedule for no minutes: refused with a message")
    def _(): phone.refused(422, "PUT", f"/api/schedules/{made}", payload(made, duration=0))

    @call("one made elsewhere: shown by its number, half a minute is not 0")
    def _():
        assert phone.schedule(number) == {
            "id": number, "name": "Roses", "duration": 11, "start_time": "07:00", "days": [], "is_enabled": True,
            "sequence": [{"pin": 16, "duration": 1}, {"pin": 21, "duration": 10}]}

    @call("one made elsewhere, renamed: all that the app knows nothing of stays")
    def _():
        phone.done("PUT", f"/api/schedules/{number}", payload(number, name="Old roses", start_time="07:00", duration=11, days=None))
        assert kept("name")["name"] == "Old roses"

    @call("one made elsewhere, its weekdays invented by the app, at another time: the interval and the other starts stay")
    def _():
        phone.done("PUT", f"/api/schedules/{number}", payload(number, start_time="06:00", duration=11, days=WEEK))
        assert kept("name", "startTimes", "nextStartISO")["startTimes"] == ["06:00", "19:00", "21:00"]

    @call("one made elsewhere, twice as long: each zone has its share")
    def _():
        phone.done("PUT", f"/api/schedules/{number}", payload(number, start_time="06:00", duration=21, days=None))
        zones = kept("name", "startTimes", "zones", "nextStartISO")["zones"]
        assert [zone["zoneId"] for zone in zones] == [2, 4] and sum(zone["minutes"] for zone in zones) == 21
        assert zones[0]["minutes"] == 1

    @call("one made elsewhere, switched off")
    def _():
        phone.done("PUT", f"/api/schedules/{number}", payload(number, start_time="06:00", duration=21, days=None, is_enabled=False))
        assert kept("name", "startTimes", "zones", "isEnabled", "nextStartISO")["isEnabled"] is False

    @call("schedules in another order")
    def _():
        order = [made, number, bare, lawn, beds]
        phone.done("POST", "/api/schedules/reorder", order)
        assert [schedule["id"] for schedule in phone.status()["schedules"]] == order

    @call("schedules in another order, one of them gone, one not known yet")
    def _():
        phone.done("POST", "/api/schedules/reorder", [lawn, never, made, beds, number])
        assert [schedule["id"] for schedule in phone.status()["schedules"]] == [lawn, made, beds, number, bare]

    @call("a schedule removed")
    def _():
        phone.done("DELETE", f"/api/schedules/{made}")
        assert phone.schedule(made) is None

    @call("a schedule removed that is gone: 404 with a message")
    def _(): phone.refused(404, "DELETE", f"/api/schedules/{made}")

    @call("one made elsewhere, removed")
    def _():
        phone.done("DELETE", f"/api/schedules/{number}")
        assert phone.schedule(number) is None and daemon.get(f"/api/schedules/{number}").status_code == 404

    @call("a rain delay of some hours")
    def _():
        began = datetime.now(timezone.utc)
        phone.done("POST", "/api/rain-delay", {"active": True, "hours": 48})
        rain = phone.status()["rain"]
        assert rain["is_active"] and rain["duration_hours"] == 48
        ends = date(rain["ends_at"]) - timedelta(hours=48)
        assert began - timedelta(seconds=10) < ends < datetime.now(timezone.utc) + timedelta(seconds=10)

    @call("a rain delay without hours")
    def _():
        phone.done("POST", "/api/rain-delay", {"active": True})
        assert phone.status()["rain"]["duration_hours"] == 24

    @call("the rain delay ended")
    def _():
        phone.done("POST", "/api/rain-delay", {"active": False})
        assert phone.status()["rain"]["is_active"] is False

    @call("rain alone, as the status has it")
    def _():
        status, text = phone.call("GET", "/api/rain")
        assert status == 200 and json.loads(text)["automation_enabled"] is False

    @call("rain settings: the forecast stays off")
    def _(): phone.done("POST", "/api/rain/settings", {"zip_code": "10115", "threshold_percent": 60, "automation_enabled": False})

    @call("rain settings: a forecast that is not configured, refused with what to do")
    def _(): phone.refused(409, "POST", "/api/rain/settings", {"zip_code": "10115", "threshold_percent": 60, "automation_enabled": True})

    @call("after a restart: pins and schedules as they were, under the same ids")
    def _():
        before = phone.status()
        daemon.stop()
        daemon.start()
        after = phone.status()
        assert {**after, "last_updated": 0} == {**before, "last_updated": 0}
        assert [schedule["id"] for schedule in after["schedules"]] == [lawn, beds, bare]

    failed = []
    for place, (title, work) in enumerate(calls, 1):
        try:
            work()
        except Exception as error:  # each call is counted, not only the first that fails
            failed.append(f"{place}. {title}: {error!r}")
    with capsys.disabled():
        print(f"\n{len(calls) - len(failed)} of {len(calls)} calls of the app work")
    assert not failed, "\n".join(failed)


def test_the_ids_of_the_app_go_through_export_and_backup(daemon):
    phone = Phone(daemon, daemon.create_token("control"))
    lawn = str(uuid.uuid4()).upper()
    phone.done("POST", "/api/schedules", payload(lawn))
    assert daemon.get(f"/api/schedules/{lawn}").json()["alias"] == lawn
    backup = daemon.get("/api/sprinkler/backup").content
    export = daemon.get("/api/schedules/export").json()
    assert [schedule["alias"] for schedule in export["schedules"]] == [lawn]
    # Beside the first one a copy is another schedule; alone it is the app's again.
    copy = daemon.post("/api/schedules/import", export).json()["schedules"][0]
    assert copy["alias"] is None and daemon.post(f"/api/schedules/{lawn}/duplicate").json()["alias"] is None
    phone.done("DELETE", f"/api/schedules/{lawn}")
    assert daemon.post("/api/schedules/import", export).json()["schedules"][0]["alias"] == lawn
    phone.done("DELETE", f"/api/schedules/{lawn}")
    restored = daemon.request(
        "POST", "/api/sprinkler/restore", data=backup, headers={"Content-Type": "application/octet-stream"})
    assert restored.status_code == 200, restored.text
    assert [schedule["id"] for schedule in phone.status()["schedules"]] == [lawn]


def test_rain_settings_switch_a_configured_forecast_and_say_what_is_not_used(tmp_path):
    daemon = Daemon(tmp_path)
    weather = "latitude: 52.5\n  longitude: 13.4\n  weather: {provider: open-meteo, url: 'http://127.0.0.1:9'}"
    daemon.config.write_text(daemon.config.read_text().replace("legacy_routes: true", "legacy_routes: true\n  " + weather))
    wanted = {"zip_code": "10115", "threshold_percent": 60, "automation_enabled": True}

    def is_on():
        return phone.status()["rain"]["automation_enabled"], daemon.get("/api/sprinkler").json()["weather"]["isOn"]

    with daemon:
        phone = Phone(daemon, daemon.create_token("control"))
        answer = daemon.post("/api/rain/settings", wanted).json()
        assert answer["rain"]["automation_enabled"] and "not used" in answer["warning"]
        assert is_on() == (True, True)
        answer = daemon.post("/api/rain/settings", {"automation_enabled": False}).json()
        assert answer["rain"]["automation_enabled"] is False and "warning" not in answer
        # What is not given stays as it is.
        assert daemon.post("/api/rain/settings", {"zip_code": "10115"}).json()["rain"]["automation_enabled"] is False
        daemon.stop()
        daemon.start()
        assert is_on() == (False, False)
        assert daemon.post("/api/rain/settings", wanted).json()["rain"]["automation_enabled"] is True
        assert is_on() == (True, True)


def test_without_legacy_routes_nothing_of_it_is_there(tmp_path):
    daemon = Daemon(tmp_path)
    daemon.config.write_text(daemon.config.read_text().replace("legacy_routes: true", "legacy_routes: false"))
    with daemon:
        status = daemon.get("/api/status").json()
        assert not {"pins", "schedules", "rain", "last_updated"} & set(status)
        assert daemon.post("/api/pins/12", {"name": "x"}).status_code == 404
        assert daemon.post("/api/rain/settings", {}).status_code == 404
        assert daemon.post("/api/schedules", payload("x")).status_code == 422
        assert daemon.post("/api/schedules/reorder", ["x"]).status_code == 422
