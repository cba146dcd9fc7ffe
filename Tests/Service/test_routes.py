"""Every route answers, in the words of the document."""
import json
import os
import subprocess
import time

import pytest

from daemon import WAIT_LIMIT_SECONDS


def test_status_health_and_document(daemon):
    status = daemon.get("/api/status")
    assert status.status_code == 200 and status.json()["ok"] is True and set(status.json()["systems"]) == {"robot", "leg", "sprinkler", "plants"}
    assert status.headers["Content-Type"].startswith("application/json")
    health = daemon.get("/api/health", token=None)
    assert health.status_code == 200 and health.json()["ok"] is True
    document = daemon.get("/api/openapi.json", token=None).json()
    assert document["openapi"].startswith("3.1")


@pytest.mark.real_time
def test_status_is_quick(daemon):
    """The requirement's bound is 150 ms on a LAN; most of 50 here must be far below."""
    times = sorted(daemon.get("/api/status").elapsed.total_seconds() for _ in range(50))
    assert times[45] < 0.15


def test_runtime_accounts_for_every_release(daemon):
    loops = daemon.get("/api/runtime").json()["loops"]
    assert {"robot.motors", "leg.servos", "sprinkler.valves", "plants", "supervisor"} <= {loop["name"] for loop in loops}
    for loop in loops:
        assert loop["released"] == loop["ran"] + loop["skipped"] + loop["pending"]


@pytest.mark.protocol
def test_curl_reads_the_robot(daemon):
    result = subprocess.run(
        ["curl", "-sS", "-f", "-m", "60", "-H", f"Authorization: Bearer {daemon.admin}", daemon.url + "/api/robot"],
        capture_output=True, check=True)
    assert json.loads(result.stdout)["ok"] is True


@pytest.mark.protocol
def test_every_system_stops_and_is_reset_together(own_daemon):
    daemon = own_daemon()
    assert daemon.post("/api/e-stop").json() == {"ok": True, "systems": ["robot", "leg", "sprinkler", "plants"]}
    assert daemon.get("/api/status").json()["systems"]["robot"]["state"] == "emergencyStopped"
    # A stop that is not confirmed yet is not left.
    limit = time.monotonic() + WAIT_LIMIT_SECONDS
    while (answer := daemon.post("/api/reset")).status_code != 200:
        assert "NOT_CONFIRMED" in answer.text and time.monotonic() < limit, answer.text
        time.sleep(0.05)
    assert daemon.get("/api/status").json()["systems"]["robot"]["state"] == "stopped"


def test_emergency_stop_latches_until_the_reset(own_daemon):
    daemon = own_daemon()
    assert daemon.post("/api/robot/drive", {"left": 10, "right": 10}).status_code == 200
    assert daemon.post("/api/robot/e-stop").status_code == 200
    assert daemon.get("/api/robot").json()["state"] == "emergencyStopped"
    refused = daemon.post("/api/robot/drive", {"left": 10, "right": 10})
    assert (refused.status_code, refused.json()["code"]) == (409, "EMERGENCY_STOPPED")
    daemon.reset()
    assert daemon.get("/api/robot").json()["state"] == "stopped"


@pytest.mark.protocol
def test_the_metrics_are_accepted_by_promtool(daemon):
    response = daemon.get("/metrics")
    assert response.headers["Content-Type"].startswith("text/plain")
    for part in ("tactus_service_connections ", "tactus_build_info{", "process_open_fds "):
        assert "\n" + part in response.text, f"no metrics of {part}"
    checked = subprocess.run([os.environ["PROMTOOL"], "check", "metrics"], input=response.content, capture_output=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_top_shows_the_loops(daemon):
    shown = daemon.command("top", daemon.url, "--once", environment={"TACTUS_TOKEN": daemon.admin})
    assert shown.returncode == 0, shown.stderr
    assert "robot.motors" in shown.stdout
    assert "\x1b" not in shown.stdout, "colours in a pipe"


def test_logs_hold_the_action_and_their_level_can_be_changed(own_daemon):
    daemon = own_daemon()
    daemon.post("/api/robot/drive", {"left": 12, "right": 13})
    page = daemon.get("/api/logs?level=info").json()
    action = next(line for line in page["lines"] if line.get("action") == "drive")
    assert action["system"] == "robot" and action["result"] == "ok" and action["tokenId"] == "env"
    assert "12" in action["value"] and {"ts", "caller", "seq"} <= set(action)
    assert daemon.get(f"/api/logs?since={page['next']}").json()["dropped"] == 0
    assert daemon.request("PUT", "/api/log-level", json={"level": "error"}).json()["level"] == "error"
    before = daemon.get("/api/logs").json()["next"]
    daemon.post("/api/robot/stop")
    assert daemon.get("/api/logs").json()["next"] == before, "an info line below the level"
    exported = daemon.get("/api/logs/export")
    assert "attachment" in exported.headers["Content-Disposition"]
    assert all(json.loads(line) for line in exported.text.splitlines())


def test_a_simulated_fault_is_seen_and_cleared(own_daemon):
    daemon = own_daemon()
    name = daemon.motor_bus
    assert daemon.post("/api/sim/fault", {"fault": "stuck", "bus": name}).status_code == 200
    daemon.post("/api/robot/drive", {"left": 20, "right": 20})
    limit = time.monotonic() + WAIT_LIMIT_SECONDS
    while daemon.get("/api/robot").json()["state"] != "fault":
        assert time.monotonic() < limit
        time.sleep(0.02)
    assert any(one["result"] < 0 for one in daemon.transactions(name))
    assert daemon.post("/api/sim/fault", {"fault": "clear"}).json()["faults"] == []
    daemon.reset()


def test_leg_arms_moves_and_stops(daemon):
    # Another test's e-stop may still hold the leg; 409 says that nothing did.
    assert daemon.post("/api/leg/reset").status_code in (200, 409)
    # All of them: a leg that another test left armed would hold the output line, which arming then need not set.
    assert daemon.post("/api/leg/disarm").status_code == 200
    assert daemon.post("/api/leg/0/disarm").status_code == 200
    refused = daemon.post("/api/leg/0/set", {"pulseUs": 1500})
    assert refused.status_code == 409 and refused.json()["code"] == "NOT_ARMED"
    assert daemon.post("/api/leg/0/arm").json()["leg"]["positionless"] is True
    assert daemon.post("/api/leg/0/set", {"pulseUs": 1500}).json()["leg"]["pulseUs"] == 1500
    assert daemon.get("/api/leg").json()["legs"][0]["state"] == "armed"
    assert abs(daemon.get("/api/sim/leg").json()["legs"][0]["pulseUs"] - 1500) < 5
    assert daemon.get("/api/leg").json()["chip"]["outputEnable"]["enabled"] is True
    lines = daemon.transactions("leg-gpio")
    assert next(one for one in reversed(lines) if one["operation"] == "set")["levels"] == [0], "active low"
    assert daemon.post("/api/leg/disarm").json()["legs"][0]["pulseUs"] is None
    assert daemon.get("/api/sim/leg").json()["legs"][0]["pulseUs"] is None
    assert daemon.get("/api/leg").json()["chip"]["outputEnable"]["enabled"] is False
    assert daemon.post("/api/leg/16/arm").status_code == 404
