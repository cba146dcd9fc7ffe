"""The sprinkler's rules of the soil in one daemon with the plants that measure it."""
import datetime
import re
import zoneinfo

import broker
from broker import Broker, eventually
from daemon import Daemon

RULES = "sprinkler:\n  soil: [{plant: 1, zones: [1], wet_percent: 60}, {plant: 9, zones: [3]}]\n"


def test_wet_soil_keeps_the_next_start_from_its_zone_and_the_preview_says_which_reading(tmp_path):
    daemon = Daemon(tmp_path)
    daemon.config.write_text(daemon.config.read_text().replace("sprinkler:\n", RULES, 1))
    with daemon:
        assert daemon.post("/api/sim/plants/0x36", {"moisturePercent": 80}).status_code == 200
        assert daemon.post("/api/plants", {"name": "Lawn", "sensors": ["0x36"]}).status_code == 201
        soon = datetime.datetime.now(zoneinfo.ZoneInfo("Europe/Berlin")) + datetime.timedelta(minutes=10)
        assert daemon.post("/api/schedules", {
            "name": "Soon", "days": ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], "startTimes": [soon.strftime("%H:%M")],
            "zones": [{"zoneId": zone, "minutes": 5} for zone in (1, 2, 3)]}).status_code == 201

        def states():
            return [rule["soilState"] for rule in daemon.get("/api/sprinkler").json()["soil"]]

        eventually(lambda: states() == ["wet", "unknown"])
        rule = daemon.get("/api/sprinkler").json()["soil"][0]
        assert rule["plant"] == 1 and 75 < rule["moisturePercent"] < 85 and rule["readISO"]
        runs = daemon.get("/api/schedules/preview").json()["starts"][0]["runs"]
        assert [run["skipped"] for run in runs] == ["wetSoil", None, None]
        assert re.fullmatch(r"plant 1 read \S+ % at \d{4}-\d\d-\d\d \d\d:\d\d, wet from 60 % on", runs[0]["why"])
        assert [run["why"] for run in runs[1:]] == [None, "no reading of plant 9 yet: as scheduled"]

        assert daemon.post("/api/sim/plants/0x36", {"moisturePercent": 20}).status_code == 200
        eventually(lambda: states() == ["dry", "unknown"])
        assert daemon.get("/api/schedules/preview").json()["starts"][0]["runs"][0]["why"] is None


def soon():
    return (datetime.datetime.now(zoneinfo.ZoneInfo("Europe/Berlin")) + datetime.timedelta(minutes=10)).strftime("%H:%M")


@broker.needed
def test_a_topic_and_a_comparator_keep_a_start_from_their_zones_and_what_is_no_reading_changes_nothing(tmp_path):
    mosquitto = Broker(tmp_path)
    mosquitto.start()
    # The broker keeps it, so nobody knows how old it is.
    eventually(lambda: mosquitto.keep("garden/other", "99"))
    rules = ("sprinkler:\n  soil: [{topic: garden/lawn, member: moisture, zones: [1]}, {pin: 23, zones: [2], effect: shorten}, "
             "{topic: garden/other, zones: [3]}]\n")
    daemon = Daemon(tmp_path)
    config = daemon.config.read_text().replace("sprinkler:\n", rules, 1)
    daemon.config.write_text(config + f"mqtt: {{broker: 127.0.0.1, port: {mosquitto.port}}}\n")
    try:
        with daemon:
            assert daemon.post("/api/schedules", {
                "name": "Soon", "days": ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], "startTimes": [soon()],
                "zones": [{"zoneId": zone, "minutes": 5} for zone in (1, 2, 3)]}).status_code == 201
            eventually(lambda: daemon.get("/api/mqtt").json()["connected"])
            for text in ("NaN", "wet", "{}", '{"moisture": 1e300}', '{"moisture": null}', "x" * 100_000):
                mosquitto.publish("garden/lawn", text)
            mosquitto.publish("garden/lawn", '{"moisture": 71.5}')
            assert daemon.post("/api/sim/fault", {"system": "sprinkler", "fault": "soil-23", "active": True}).status_code == 200

            def soil():
                return {rule["probe"]: (rule["soilState"], rule["moisturePercent"], rule["plant"])
                        for rule in daemon.get("/api/sprinkler").json()["soil"]}

            eventually(lambda: soil()["topic garden/lawn (moisture)"] == ("wet", 71.5, None) and soil()["pin 23"][0] == "wet")
            assert soil()["pin 23"] == ("wet", 100, None)
            runs = daemon.get("/api/schedules/preview").json()["starts"][0]["runs"]
            assert [run["skipped"] for run in runs] == ["wetSoil", None, None] and [run["seconds"] for run in runs][1] == 150
            assert re.fullmatch(r"topic garden/lawn \(moisture\) read 71.5 % at \S+ \S+, wet from 60 % on", runs[0]["why"])
            assert runs[2]["why"] == "no reading of topic garden/other yet: as scheduled"
            assert re.fullmatch(r"pin 23 read wet at \S+ \S+: watered for 50 % of the time", runs[1]["why"])
    finally:
        mosquitto.stop()
