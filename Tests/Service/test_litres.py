"""Runs by litres, with the simulated flow sensor: 10 l/min through each open valve."""
from broker import eventually
from daemon import Daemon

FLOW = "sprinkler:\n  flow: {pin: 7}\n"


def test_a_zone_by_litres_closes_when_it_has_them_and_the_log_says_how_much(tmp_path):
    daemon = Daemon(tmp_path)
    daemon.config.write_text(daemon.config.read_text().replace("sprinkler:\n", FLOW, 1))

    def zone(number=1):
        return daemon.get("/api/sprinkler").json()["zones"][number - 1]

    def log():
        return daemon.get("/api/log").json()["runs"]

    with daemon:
        for litres in (0, -1, 1e300, "12", None):
            answer = daemon.post("/api/zone/1/on", {"litres": litres, "mode": "extend"} if litres is None else {"litres": litres})
            assert answer.status_code == 422, (litres, answer.text)
        assert daemon.post("/api/zone/1/on", {"litres": 0.6}).status_code == 200
        eventually(lambda: zone()["isOn"])
        assert zone()["runLitresAsked"] == 0.6 and zone()["runLitres"] < 1
        eventually(lambda: not zone()["isOn"])
        run = eventually(log)[0]
        assert run["outcome"] == "completed" and run["askedLitres"] == 0.6 and 0.6 <= run["litres"] < 1, run
        assert 3 < run["ranSec"] < 10 and run["askedSec"] == 7200

        # Nothing flows: the longest time ends it.
        assert daemon.post("/api/sim/fault", {"system": "sprinkler", "fault": "no-water", "active": True}).status_code == 200
        assert daemon.post("/api/queue", {"zones": [{"zoneId": 2, "litres": 5, "seconds": 2}]}).status_code == 200
        run = eventually(lambda: [run for run in log() if run["zoneId"] == 2])[0]
        assert run["outcome"] == "timeLimit" and run["why"] == "0 of 5 l in its longest time", run

        made = daemon.post("/api/schedules", {"name": "By litres", "days": ["Mon"], "startTimes": ["06:00"],
                                              "zones": [{"zoneId": 1, "litres": 20, "minutes": 30}, {"zoneId": 2, "minutes": 5}]})
        assert made.status_code == 201
        assert made.json()["zones"] == [{"zoneId": 1, "minutes": 30, "litres": 20}, {"zoneId": 2, "minutes": 5}]
        runs = daemon.get("/api/schedules/preview").json()["starts"][0]["runs"]
        assert [(run["litres"], run["seconds"]) for run in runs] == [(20, 1800), (None, 300)]


def test_without_a_flow_sensor_litres_are_refused_with_the_field_and_the_key(daemon):
    answer = daemon.post("/api/zone/1/on", {"litres": 5})
    assert answer.status_code == 422 and answer.json()["field"] == "litres"
    assert "sprinkler.flow.pin" in answer.json()["message"]


def test_a_zone_beyond_its_own_limit_is_a_fault_that_says_how_much_flowed_and_its_learnt_flow_can_be_forgotten(tmp_path):
    daemon = Daemon(tmp_path)
    config = daemon.config.read_text().replace("sprinkler:\n", "sprinkler:\n  flow: {pin: 7, settle_s: 1}\n", 1)
    daemon.config.write_text(config.replace("{pin: 12}", "{pin: 12, max_l_per_min: 12, learn_flow: true}", 1))

    def state():
        return daemon.get("/api/sprinkler").json()

    with daemon:
        flow = eventually(lambda: state()["flows"])[0]
        assert flow == {"zoneId": 1, "usualLitresPerMinute": None, "learntISO": None, "runs": 0, "neededRuns": 5,
                        "minLitresPerMinute": None, "maxLitresPerMinute": 12, "why": "0 of 5 runs measured"}
        assert daemon.post("/api/zone/1/on", {"minutes": 5}).status_code == 200
        assert daemon.post("/api/sim/fault", {"system": "sprinkler", "fault": "burst", "active": True}).status_code == 200
        eventually(lambda: state()["state"] == "fault")
        assert state()["fault"].startswith("zone 1 is open and more water flows than it should: ")
        assert state()["fault"].endswith(" l/min, at most 12.0 (set)")
        assert daemon.request("DELETE", "/api/zone/1/flow").status_code == 200
        assert daemon.request("DELETE", "/api/zone/9/flow").status_code == 404
