"""Every route answers, in the words of the document."""
import json
import os
import subprocess


def test_status_health_and_document(daemon):
    status = daemon.get("/api/status")
    assert status.status_code == 200 and status.json()["ok"] is True and "robot" in status.json()
    assert status.headers["Content-Type"].startswith("application/json")
    health = daemon.get("/api/health", token=None)
    assert health.status_code == 200 and health.json()["ok"] is True
    document = daemon.get("/api/openapi.json", token=None).json()
    assert document["openapi"].startswith("3.1")


def test_status_is_quick(daemon):
    """The requirement's bound is 150 ms on a LAN; most of 50 here must be far below."""
    times = sorted(daemon.get("/api/status").elapsed.total_seconds() for _ in range(50))
    assert times[45] < 0.15


def test_runtime_accounts_for_every_release(daemon):
    loops = daemon.get("/api/runtime").json()["loops"]
    assert {"robot.motors", "supervisor"} <= {loop["name"] for loop in loops}
    for loop in loops:
        assert loop["released"] == loop["ran"] + loop["skipped"] + loop["pending"]


def test_curl_reads_the_robot(daemon):
    result = subprocess.run(
        ["curl", "-sS", "-f", "-m", "10", "-H", f"Authorization: Bearer {daemon.admin}", daemon.url + "/api/robot"],
        capture_output=True, check=True)
    assert json.loads(result.stdout)["ok"] is True


def test_emergency_stop_latches_until_the_reset(own_daemon):
    daemon = own_daemon()
    assert daemon.post("/api/robot/drive", {"left": 10, "right": 10}).status_code == 200
    assert daemon.post("/api/robot/estop").status_code == 200
    assert daemon.get("/api/robot").json()["state"] == "estop"
    refused = daemon.post("/api/robot/drive", {"left": 10, "right": 10})
    assert refused.status_code == 409, refused.text
    assert daemon.post("/api/robot/reset").status_code == 200
    assert daemon.get("/api/robot").json()["state"] == "stopped"


def test_the_metrics_are_accepted_by_promtool(daemon):
    response = daemon.get("/metrics")
    assert response.headers["Content-Type"].startswith("text/plain")
    checked = subprocess.run([os.environ["PROMTOOL"], "check", "metrics"], input=response.content, capture_output=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_top_shows_the_loops(daemon):
    shown = daemon.command(
        "top", "--once", "--url", daemon.url, environment={"TACTUS_TOKEN": daemon.admin})
    assert shown.returncode == 0, shown.stderr
    assert "robot.motors" in shown.stdout
    assert "\x1b" not in shown.stdout, "colours in a pipe"
