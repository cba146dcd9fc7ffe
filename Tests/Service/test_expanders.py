"""64 zones on simulated MCP23017, and zones on the other chips: what the daemon shows of them, and what becomes of them when a chip fails."""
import signal
import time

import pytest

from daemon import ROOT, START_LIMIT_SECONDS, Daemon

SHIPPED = (ROOT / "config/sprinkler-64-zones.yaml").read_text()
MIXED = """\
sprinkler:
  relay_board: active-low
  expanders:
    - { chip: mcp23017, address: 0x20, first_pin: 100 }
    - { chip: pcf8574, address: 0x38, first_pin: 120 }
    - { chip: 74hc595, first_pin: 200, lines: 16 }
  master: { pin: 18 }
  zones: [{ pin: 100 }, { pin: 127 }, { pin: 215 }, { pin: 5 }]
network:
  http_port: 8000
"""


@pytest.fixture
def started(tmp_path):
    running = []

    def start(text):
        daemon = Daemon(tmp_path)
        text = text.replace("http_port: 8000", f"http_port: {daemon.port}")
        # A shared test machine may pause: missed releases are not what is tested here.
        daemon.config.write_text(text + f"""
store: {{ folder: {tmp_path}/state }}
runtime: {{ lock_memory: false, sprinkler: {{ scheduling: normal, safe_state_after: 1000 }} }}
service: {{ token_file: {daemon.tokens}, bonjour: false }}
""")
        running.append(daemon)
        daemon.start()
        # The loop has written for the first time.
        wait_for(daemon, lambda _: None not in levels(daemon).values())
        return daemon

    yield start
    for daemon in running:
        daemon.stop()


def wait_for(daemon, holds):
    """The state of the sprinkler for which `holds` is true."""
    limit = time.monotonic() + START_LIMIT_SECONDS
    while True:
        state = daemon.get("/api/sprinkler").json()
        if holds(state):
            return state
        assert time.monotonic() < limit, state
        time.sleep(0.02)


def levels(daemon):
    """The level of each pin by its number."""
    return {pin["pin"]: pin["value"] for pin in daemon.get("/api/pins").json()}


def test_64_zones_each_on_its_own_pin(started):
    daemon = started(SHIPPED)
    zones = daemon.get("/api/zones").json()["zones"]
    assert [(zone["id"], zone["gpioPin"]) for zone in zones] == [(number, 99 + number) for number in range(1, 65)]
    assert set(levels(daemon).values()) == {1} and len(levels(daemon)) == 64
    for zone in (1, 16, 17, 64):
        assert daemon.post(f"/api/zone/{zone}/on", {"minutes": 5}).status_code == 200
        assert levels(daemon)[99 + zone] == 0
        assert daemon.post(f"/api/zone/{zone}/off").status_code == 200
    assert set(levels(daemon).values()) == {1}
    # There is no zone 65, in the file or by the API.
    answer = daemon.request("PUT", "/api/zones", json={"zones": [*zones, {"id": 65, "gpioPin": 164}]})
    assert answer.status_code == 422, answer.text


def test_a_chip_that_does_not_answer_is_a_fault_that_names_it(started):
    daemon = started(SHIPPED)
    assert daemon.post("/api/zone/17/on", {"minutes": 5}).status_code == 200
    assert daemon.post("/api/sim/fault", {"fault": "nak", "bus": "sprinkler-i2c-1", "address": 0x21}).status_code == 200
    state = wait_for(daemon, lambda state: state["state"] == "fault")
    assert "the I2C chip 0x21 does not acknowledge" in state["reason"], state["reason"]
    assert daemon.post("/api/sprinkler/reset").status_code == 409
    assert daemon.post("/api/sim/fault", {"fault": "clear"}).status_code == 200
    wait_for(daemon, lambda state: state["linesConfirmed"])
    assert set(levels(daemon).values()) == {1}
    assert daemon.post("/api/sprinkler/reset").status_code == 200
    assert daemon.post("/api/zone/17/on", {"minutes": 5}).status_code == 200


def test_a_line_that_stays_on_is_a_fault_that_names_the_zone(started):
    daemon = started(SHIPPED)
    zones = daemon.get("/api/zones").json()["zones"]
    zones[0]["name"] = "Back lawn"
    assert daemon.request("PUT", "/api/zones", json={"zones": zones}).status_code == 200
    assert daemon.post("/api/sim/fault", {"system": "sprinkler", "fault": "expander-20-stuck"}).status_code == 200
    state = wait_for(daemon, lambda state: state["state"] == "fault")
    assert state["reason"] == "fault: zone 1 (Back lawn) is on although told to be off", state["reason"]
    line = {"line": 1, "pin": 100, "zoneId": 1, "isMaster": False, "isOn": True}
    assert state["faultLine"] == line and state["linesDiffering"] == [line]
    assert state["wayOut"] == "close the main tap, and reset when it is off"
    assert "zone 1 (Back lawn) is on although told to be off" in daemon.log and "whatever it is told" not in daemon.log
    assert daemon.post("/api/sim/fault", {"system": "sprinkler", "fault": "expander-20-stuck", "active": False}).status_code == 200
    state = wait_for(daemon, lambda state: state["linesConfirmed"])
    assert state["reason"] == "fault: zone 1 (Back lawn) was on although told to be off" and state["wayOut"] == "reset"
    assert state["faultLine"] == line and state["linesDiffering"] == []
    assert daemon.post("/api/sprinkler/reset").status_code == 200


def test_every_kind_of_chip_together_with_the_header(started):
    daemon = started(MIXED)
    closed = {100: 1, 127: 1, 215: 1, 5: 1, 18: 1}
    assert levels(daemon) == closed
    for zone, pin in enumerate((100, 127, 215, 5), start=1):
        assert daemon.post(f"/api/zone/{zone}/on", {"minutes": 5}).status_code == 200
        assert levels(daemon) == {**closed, pin: 0, 18: 0}
    assert daemon.post("/api/e-stop").status_code == 200
    assert levels(daemon) == closed
    assert daemon.post("/api/sprinkler/reset").status_code == 200
    assert daemon.post("/api/zone/3/on", {"minutes": 5}).status_code == 200
    # It ends properly, so that every output has been read back as safe.
    daemon.process.send_signal(signal.SIGTERM)
    assert daemon.process.wait(START_LIMIT_SECONDS) == 0
    assert "not safe" not in daemon.log
