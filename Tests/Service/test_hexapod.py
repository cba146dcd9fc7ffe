"""Examples/hexapod with the real program and simulated chips: it walks while its script pings, and lies down when the script dies."""
import json
import signal
import subprocess
import sys
import time

import pytest

from daemon import ROOT, START_LIMIT_SECONDS, Daemon

FOLDER = ROOT / "Examples/hexapod"


@pytest.fixture
def hexapod(tmp_path):
    daemon = Daemon(tmp_path)
    text = (FOLDER / "hexapod.yaml").read_text()
    for given, own in (
            ("http_port: 8000", f"http_port: {daemon.port}"), ("leg_udp_port: 5010", "leg_udp_port: 0"),
            # A shared test machine may pause.
            ("deadman_ms: 200", "deadman_ms: 3000"),
            ("service:\n  # Nothing but this machine reaches 127.0.0.1, and nothing real moves.\n  auth: none\n",
             f"service: {{ auth: none, token_file: {daemon.tokens}, bonjour: false }}\n"
             f"store: {{ folder: {tmp_path}/state }}\n"
             "runtime: { lock_memory: false, leg: { scheduling: normal, safe_state_after: 1000 } }\n")):
        assert given in text
        text = text.replace(given, own)
    daemon.config.write_text(text)
    daemon.start()
    yield daemon
    daemon.stop()


def wait_for(daemon, holds):
    """The state of the legs for which `holds` is true."""
    limit = time.monotonic() + START_LIMIT_SECONDS
    while True:
        state = daemon.get("/api/leg").json()
        if holds(state):
            return state
        assert time.monotonic() < limit, state["sequence"]
        time.sleep(0.05)


def walk(daemon, *more):
    port = daemon.get("/api/leg").json()["legs"][0]["settings"]["udpPort"]
    return subprocess.Popen(
        [sys.executable, str(FOLDER / "walk.py"), "--http-port", str(daemon.port), "--leg-port", str(port), *more],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def pulses(daemon):
    return [leg["pulseUs"] for leg in daemon.get("/api/sim/leg").json()["legs"]]


def test_it_walks_and_lies_down_when_its_script_is_killed(hexapod):
    wait_for(hexapod, lambda state: state["chip"]["ready"])
    script = walk(hexapod)
    try:
        walking = wait_for(hexapod, lambda state: state["sequence"]["playing"] and state["sequence"]["round"] >= 2)
        assert walking["chip"]["count"] == 2 and walking["sequence"]["steps"] == 6
        assert {leg["state"] for leg in walking["legs"]} == {"armed"} and {leg["group"] for leg in walking["legs"]} == {"body"}
        assert all(pulse is not None for pulse in pulses(hexapod))
    finally:
        script.send_signal(signal.SIGKILL)
        script.communicate()
    lying = wait_for(hexapod, lambda state: state["state"] == "fault")
    assert {leg["state"] for leg in lying["legs"]} == {"fault"}
    assert lying["sequence"]["ended"] == "legLost" and not lying["sequence"]["playing"]
    assert pulses(hexapod) == [None] * 18


def test_it_stops_when_its_time_is_over(hexapod):
    wait_for(hexapod, lambda state: state["chip"]["ready"])
    script = walk(hexapod, "--for", "1")
    said, _ = script.communicate(timeout=START_LIMIT_SECONDS)
    assert script.returncode == 0, said
    state = wait_for(hexapod, lambda state: state["state"] == "disarmed")
    assert state["sequence"]["ended"] in ("stopped", "legLost")


def test_what_is_wrong_is_refused_with_its_step(hexapod):
    wait_for(hexapod, lambda state: state["chip"]["ready"])
    sequence = json.loads((FOLDER / "walk.json").read_text())
    answer = hexapod.post("/api/leg/sequence", sequence)
    assert answer.status_code == 409 and answer.json()["code"] == "NOT_ARMED"
    sequence["steps"][4]["overMs"] = 100
    answer = hexapod.post("/api/leg/sequence", sequence)
    assert answer.status_code == 422 and answer.json()["field"] == "steps[4].overMs"
    assert hexapod.post("/api/leg/stop-sequence").status_code == 200
