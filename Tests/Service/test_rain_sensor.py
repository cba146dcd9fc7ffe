"""The sprinkler's rain sensor, simulated by a fault of the daemon."""
import datetime
import re
import zoneinfo

from broker import eventually
from daemon import Daemon

SENSOR = "sprinkler:\n  rain_sensor: {pin: 23, delay_minutes: 0, dry_hours: 2}\n"


def test_a_wet_sensor_is_a_rain_delay_that_the_preview_and_the_state_explain_and_dry_it_lasts_its_hours(tmp_path):
    daemon = Daemon(tmp_path)
    daemon.config.write_text(daemon.config.read_text().replace("sprinkler:\n", SENSOR, 1))

    def rain(state):
        assert daemon.post("/api/sim/fault", {"system": "sprinkler", "fault": "rain", "active": state}).status_code == 200

    def state():
        return daemon.get("/api/sprinkler").json()

    with daemon:
        eventually(lambda: (state()["rainSensor"] or {}).get("state") == "dry")
        assert not state()["rainDelay"]["active"]
        soon = datetime.datetime.now(zoneinfo.ZoneInfo("Europe/Berlin")) + datetime.timedelta(minutes=10)
        assert daemon.post("/api/schedules", {
            "name": "Soon", "days": ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], "startTimes": [soon.strftime("%H:%M")],
            "zones": [{"zoneId": 1, "minutes": 5}]}).status_code == 201

        rain(True)
        eventually(lambda: state()["rainSensor"]["state"] == "wet" and state()["rainDelay"]["active"])
        delay = state()["rainDelay"]
        assert delay["reason"] == "sensor" and re.fullmatch(r"rain sensor wet since \d{4}-\d\d-\d\d \d\d:\d\d", delay["detail"])
        run = daemon.get("/api/schedules/preview").json()["starts"][0]["runs"][0]
        assert (run["skipped"], run["why"]) == ("rainDelay", delay["detail"])
        assert "tactus_sprinkler_rain_sensor_wet 1" in daemon.get("/metrics").text

        rain(False)
        eventually(lambda: state()["rainSensor"]["state"] == "dry")
        delay = state()["rainDelay"]
        assert delay["active"] and delay["detail"].endswith(": dries for 2 h")
