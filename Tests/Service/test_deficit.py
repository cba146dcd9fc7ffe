"""Deficits of zones from the days that a provider tells: a provider of the test's own, in Open-Meteo's format."""
import datetime
import http.server
import json
import threading
import urllib.parse
import zoneinfo

import pytest
from broker import eventually
from daemon import Daemon

BERLIN = zoneinfo.ZoneInfo("Europe/Berlin")


@pytest.fixture
def provider():
    """Answers with seven past days of 12…28 °C without rain, and today; `asked` are the questions; while `down` is set it answers 503."""
    asked, down = [], threading.Event()

    class Provider(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            question = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
            asked.append(question)
            if down.is_set():
                return self.send_error(503)
            days = [datetime.datetime.now(BERLIN).date() + datetime.timedelta(days=day)
                    for day in range(-int(question.get("past_days", 0)), int(question["forecast_days"]))]
            daily = {"time": [str(day) for day in days]}
            for name in question["daily"].split(","):
                daily[name] = [{"temperature_2m_max": 28, "temperature_2m_min": 12, "precipitation_sum": 0}.get(name)] * len(days)
            body = json.dumps({"elevation": 38, "daily": daily}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1], asked, down
    server.shutdown()
    server.server_close()


def test_a_deficit_begins_with_the_first_answer_decides_on_a_start_and_outlives_a_restart(tmp_path, provider):
    port, asked, down = provider
    daemon = Daemon(tmp_path)
    text = daemon.config.read_text()
    weather = f"sprinkler:\n  latitude: 52.52\n  longitude: 13.4\n  weather: {{provider: open-meteo, url: 'http://127.0.0.1:{port}'}}\n"
    text = text.replace("sprinkler:\n", weather, 1).replace("{pin: 12}", "{pin: 12, mm_per_hour: 12}", 1)
    daemon.config.write_text(text)
    yesterday = str(datetime.datetime.now(BERLIN).date() - datetime.timedelta(days=1))

    def deficits():
        return daemon.get("/api/sprinkler").json()["deficits"]

    with daemon:
        eventually(lambda: [one["deficitMm"] for one in deficits()] == [0])
        assert asked[0]["past_days"] == "7" and asked[0]["wind_speed_unit"] == "ms"
        assert deficits()[0]["zoneId"] == 1 and deficits()[0]["isValid"] and deficits()[0]["through"] == yesterday
        soon = datetime.datetime.now(BERLIN) + datetime.timedelta(minutes=10)
        made = daemon.post("/api/schedules", {
            "name": "Soon", "days": ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], "startTimes": [soon.strftime("%H:%M")],
            "zones": [{"zoneId": 1, "minutes": 5}, {"zoneId": 2, "minutes": 5}], "adjustment": "deficit"})
        assert made.status_code == 201 and made.json()["adjustment"] == "deficit", made.text
        runs = daemon.get("/api/schedules/preview").json()["starts"][0]["runs"]
        assert [run["skipped"] for run in runs] == ["noDeficit", None]
        assert runs[0]["why"].startswith("0 mm since ") and runs[0]["why"].endswith(": watered from 5 mm on")
        assert runs[1]["why"] == "zone 2 has no mm_per_hour: as scheduled"
        path = f"/api/schedules/{made.json()['id']}"
        assert daemon.request("PUT", path, json={"priority": 3}).json()["adjustment"] == "deficit"
        assert daemon.request("PUT", path, json={"adjustment": None}).json()["adjustment"] is None
        assert daemon.request("PUT", path, json={"adjustment": "weather"}).status_code == 422
        assert daemon.get("/api/schedules/preview").json()["starts"][0]["runs"][0]["why"] is None

    down.set()
    before = len(asked)
    with daemon:
        eventually(lambda: (daemon.get("/api/sprinkler").json()["weather"] or {}).get("failure"))
        assert len(asked) > before
        assert [(one["deficitMm"], one["through"], one["isValid"]) for one in deficits()] == [(0, yesterday, True)]
