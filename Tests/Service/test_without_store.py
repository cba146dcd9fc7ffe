"""The store's disk full, read-only, not mounted, or something else in the store's place: the daemon starts and goes on without it, says so,
opens no zone and waters no plant, and takes the store up again by itself."""
import json
import re
import secrets
import shutil
import sqlite3
import subprocess
import threading
import time

import pytest

from daemon import PROGRAM, START_LIMIT_SECONDS, Daemon
from test_access import jwt

# It is looked at every five seconds.
RECOVERY_SECONDS = START_LIMIT_SECONDS + 20


class Disk:
    """A mount namespace of its own, in which a small disk is mounted at `point`, or is not."""

    def __init__(self, folder):
        self.point = folder / "state"
        self.disk = folder / "disk"
        for path in (self.point, self.disk):
            path.mkdir()
        self.keeper = subprocess.Popen(
            ["unshare", "-mr", "sh", "-c", "echo ready; exec sleep infinity"], stdout=subprocess.PIPE, text=True)
        if self.keeper.stdout.readline() != "ready\n":
            self.keeper.wait()
            pytest.skip("no mount namespace to be had: unshare -mr fails")
        self.prefix = ["nsenter", "-t", str(self.keeper.pid), "-U", "-m", "--preserve-credentials"]
        self.run("mount", "-t", "tmpfs", "-o", "size=3m", "none", self.disk)
        self.mount()

    def close(self):
        self.keeper.kill()
        self.keeper.wait()

    def run(self, *command):
        subprocess.run([*self.prefix, *map(str, command)], check=True)

    def mount(self):
        self.run("mount", "--bind", self.disk, self.point)

    def unmount(self):
        self.run("umount", "-l", self.point)

    def read_only(self):
        self.run("mount", "-o", "remount,ro", self.disk)

    def writable(self):
        self.run("mount", "-o", "remount,rw", self.disk)

    def fill(self):
        subprocess.run(
            [*self.prefix, "sh", "-c", f"cat /dev/zero > {self.disk}/other 2>/dev/null"], check=False)

    def make_room(self):
        self.run("rm", self.disk / "other")

    @property
    def store(self):
        return self.disk / "simulated/store.sqlite"

    def folder_in_place(self):
        self.run("mv", self.store, f"{self.store}-away")
        self.run("mkdir", self.store)

    def no_folder_in_place(self):
        self.run("rmdir", self.store)
        self.run("mv", f"{self.store}-away", self.store)

    def file_in_place(self):
        self.run("mv", self.store.parent, f"{self.store.parent}-away")
        self.run("touch", self.store.parent)

    def no_file_in_place(self):
        self.run("rm", self.store.parent)
        self.run("mv", f"{self.store.parent}-away", self.store.parent)


@pytest.fixture
def disk(tmp_path):
    if shutil.which("unshare") is None or shutil.which("nsenter") is None:
        pytest.skip("no unshare or no nsenter: apt install util-linux")
    made = Disk(tmp_path)
    yield made
    made.close()


def daemon_on(disk, tmp_path, **service):
    return Daemon(
        tmp_path, more="pump: {}\n", prefix=disk.prefix, environment={"XDG_STATE_HOME": str(tmp_path / "xdg")},
        **service)


def until(condition, limit=RECOVERY_SECONDS):
    end = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def health(daemon):
    answer = daemon.get("/api/health", token=None)
    # An updater that reads the status must not go back to an older version for a disk.
    assert answer.status_code == 200, answer.text
    return answer.json()


def metric(daemon, name):
    return re.search(rf"^{name} (\S+)$", daemon.get("/metrics").text, re.MULTILINE).group(1)


def assert_works_but_for_water(daemon, cause):
    state = health(daemon)
    assert state["status"] == "degraded" and state["code"] == "STORE_FAILED", state
    assert re.search(cause, state["message"]) and "to go on: " in state["message"], state
    assert metric(daemon, "tactus_store_open") == "0" and metric(daemon, "tactus_store_writable") == "0"
    assert daemon.post("/api/robot/drive", {"left": 20, "right": 20}).status_code == 200
    armed = daemon.post("/api/leg/0/arm")
    assert armed.status_code == 200, armed.text
    until(lambda: daemon.get("/api/pump").json()["state"] == "off")
    # Nobody knows how long it has pumped: it must rest, or a person resets it.
    refused = daemon.post("/api/pump/on", {"speedPercent": 70})
    assert refused.status_code == 409 and refused.json()["code"] == "MUST_REST", refused.text
    assert daemon.post("/api/pump/reset").status_code == 200
    assert daemon.post("/api/pump/on", {"speedPercent": 70}).status_code == 200
    for method, path, body in [
            ("POST", "/api/zone/1/on", {"minutes": 1}), ("POST", "/api/run-once", {"zones": [{"zoneId": 1, "minutes": 1}]}),
            ("GET", "/api/zones", None), ("PUT", "/api/seasonal", {"percent": 50}), ("GET", "/status", None),
            ("POST", "/api/rain-delay", {"hours": 24}), ("POST", "/zone/on/1", None),
            ("POST", "/api/plants", {"name": "Basil", "sensors": ["0x36"]}), ("GET", "/api/plants/1", None),
            ("GET", "/api/pump/sessions", None), ("GET", "/api/pump/history", None), ("GET", "/api/log", None)]:
        answer = daemon.request(method, path, json=body)
        assert answer.status_code == 503 and answer.json()["code"] == "STORE_FAILED", f"{method} {path}: {answer.text}"
        assert "to go on: " in answer.json()["message"], answer.text
    for path in ["/api/zone/1/off", "/zone/off/1", "/api/stop"]:
        answer = daemon.post(path)
        assert answer.status_code == 200 and answer.json()["warning"], f"{path}: {answer.text}"
    assert daemon.post("/api/e-stop").status_code == 200
    systems = daemon.get("/api/status").json()["systems"]
    assert {systems[name]["state"] for name in ("robot", "sprinkler", "pump")} == {"emergencyStopped"}, systems
    # What cannot be left at once (a stick that was pushed a moment ago) is another test's.
    until(lambda: daemon.post("/api/reset").status_code == 200)


TROUBLES = {
    "full": ("fill", "make_room", "the disk is full"),
    "read-only": ("read_only", "writable", "the file system is read-only"),
    "not mounted": ("unmount", "mount", "found none mounted there"),
    "a folder in place of the file": ("folder_in_place", "no_folder_in_place", "it is not a regular file"),
    "a file in place of the folder": ("file_in_place", "no_file_in_place", "Not a directory|File exists"),
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_starts_without_the_store_and_takes_it_up_again(disk, tmp_path, trouble):
    begin, end, cause = TROUBLES[trouble]
    daemon = daemon_on(disk, tmp_path)
    with daemon:
        assert health(daemon)["status"] == "ok"
        assert daemon.request("PUT", "/api/seasonal", json={"percent": 80}).status_code == 200
        assert daemon.post("/api/plants", {"name": "Basil", "sensors": ["0x36"]}).status_code == 201
    getattr(disk, begin)()
    with daemon:
        assert_works_but_for_water(daemon, cause)
        if trouble == "not mounted":
            assert list(disk.point.iterdir()) == [], "a new store beneath the mount point"
        getattr(disk, end)()
        until(lambda: health(daemon)["status"] == "ok")
        # It is the store of before.
        until(lambda: daemon.get("/api/seasonal").status_code == 200)
        assert daemon.get("/api/seasonal").json()["percent"] == 80
        until(lambda: [plant["name"] for plant in daemon.get("/api/plants").json()["plants"]] == ["Basil"])
        assert daemon.post("/api/zone/1/on", {"minutes": 1}).status_code == 200
        until(lambda: daemon.get("/api/status").json()["activeZoneId"] == 1)
        assert metric(daemon, "tactus_store_open") == "1" and metric(daemon, "tactus_store_writable") == "1"
        said = [json.loads(line) for line in daemon.log[daemon.log_start:].splitlines() if line.startswith("{")]
        # One when it begins, one when it is over.
        assert sum("running without the store" in line["msg"] for line in said) == 1, said
        assert sum("the store takes writes again" in line["msg"] for line in said) == 1, said
        assert not [line for line in said if "refuses" in line["msg"]], said


def test_a_run_of_a_dead_daemon_is_logged_until_the_start_that_closed_its_valve_though_the_store_comes_later(disk, tmp_path):
    daemon = daemon_on(disk, tmp_path)
    with daemon:
        assert daemon.post("/api/zone/1/on", {"minutes": 10}).status_code == 200
        until(lambda: daemon.get("/api/status").json()["activeZoneId"] == 1)
        opened = time.monotonic()
        daemon.process.kill()
        daemon.process.wait(60)
        disk.folder_in_place()
        daemon.start()
        watered = time.monotonic() - opened
        assert health(daemon)["code"] == "STORE_FAILED"
        time.sleep(5)
        disk.no_folder_in_place()
        until(lambda: daemon.get("/api/log").status_code == 200 and daemon.get("/api/log").json()["runs"])
        run, = daemon.get("/api/log").json()["runs"]
        # Whole seconds, and what passed before the valve was seen to be open.
        assert run["outcome"] == "crash" and run["ranSec"] <= watered + 2, (run, watered)


# The kernel makes no disk read-only that somebody writes to, but for one that fails.
@pytest.mark.parametrize("trouble", ["full", "not mounted"])
def test_says_so_while_it_runs_and_goes_on_by_itself(disk, tmp_path, trouble):
    begin, end, cause = TROUBLES[trouble]
    with daemon_on(disk, tmp_path) as daemon:
        assert daemon.request("PUT", "/api/seasonal", json={"percent": 80}).status_code == 200
        assert health(daemon)["status"] == "ok"
        getattr(disk, begin)()
        until(lambda: health(daemon)["status"] == "degraded")
        state = health(daemon)
        assert state["code"] == "STORE_FAILED" and "to go on: " in state["message"], state
        assert metric(daemon, "tactus_store_writable") == "0"
        assert daemon.post("/api/robot/drive", {"left": 20, "right": 20}).status_code == 200
        assert daemon.post("/api/zone/1/off").status_code == 200
        assert daemon.post("/api/e-stop").status_code == 200
        until(lambda: daemon.post("/api/reset").status_code == 200)
        getattr(disk, end)()
        until(lambda: health(daemon)["status"] == "ok")
        assert daemon.get("/api/seasonal").json()["percent"] == 80
        assert daemon.post("/api/zone/1/on", {"minutes": 1}).status_code == 200


def test_tokens_and_revocations_fail_closed_while_their_disk_is_away(disk, tmp_path):
    key = secrets.token_hex(32)
    tokens = disk.point / "tokens.json"
    daemon = daemon_on(disk, tmp_path, token_file=str(tokens), jwt_key=key)

    def answers(*tokens):
        return [daemon.get("/api/robot", token=token).status_code for token in tokens]

    claims = {"exp": int(time.time()) + 3600, "scope": "read"}
    good, revoked = jwt(key, jti="good", **claims), jwt(key, jti="revoked", **claims)
    with daemon:
        # As an operator does it beside the running daemon.
        def token(*arguments):
            command = [*disk.prefix, PROGRAM, "token", *arguments, "--config", daemon.config]
            return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

        token("revoke", "--jti", "revoked")
        made = token("create", "--scope", "read", "--name", "phone")
        assert answers(made, good, revoked, daemon.admin) == [200, 200, 401, 200]
        disk.unmount()
        assert answers(made, good, revoked, daemon.admin) == [401, 401, 401, 200]
        disk.mount()
        assert answers(made, good, revoked, daemon.admin) == [200, 200, 401, 200]
    disk.unmount()
    with daemon:
        assert answers(made, good, revoked, daemon.admin) == [401, 401, 401, 200]
        state = health(daemon)
        assert state["status"] == "degraded" and "no token but TACTUS_TOKEN" in state["message"], state
        disk.mount()
        until(lambda: health(daemon)["status"] == "ok")
        assert answers(made, good, revoked, daemon.admin) == [200, 200, 401, 200]


SAFE = pytest.mark.parametrize("method, path", [
    ("POST", "/api/zone/1/off"), ("POST", "/api/stop"), ("POST", "/api/pause"), ("POST", "/api/queue/skip"), ("DELETE", "/api/queue"), ("DELETE", "/api/queue/RUN"),
    ("POST", "/api/pump/off"), ("POST", "/api/leg/disarm"), ("POST", "/api/robot/stop"), ("POST", "/zone/off/1"), ("POST", "/api/e-stop"),
])


@SAFE
def test_what_makes_safe_is_answered_while_another_program_has_locked_the_store(tmp_path, method, path):
    make_safe(tmp_path, method, path, seconds=60)


@pytest.mark.real_time
@SAFE
def test_what_makes_safe_is_answered_within_what_a_client_waits_while_another_program_has_locked_the_store(tmp_path, method, path):
    make_safe(tmp_path, method, path, seconds=5)


def make_safe(tmp_path, method, path, seconds):
    with Daemon(tmp_path, more="pump: {}\n") as daemon:
        started = daemon.post("/api/run-once", {"zones": [{"zoneId": 1, "minutes": 5}]})
        assert started.status_code == 200, started.text
        with sqlite3.connect(tmp_path / "state/simulated/store.sqlite", isolation_level=None) as store:
            store.execute("BEGIN EXCLUSIVE")
            # Somebody else's change waits for the store, and everything that has to wait behind it would, too.
            change = threading.Thread(target=daemon.request, args=("PUT", "/api/seasonal"), kwargs={"json": {"percent": 80}, "timeout": 60})
            change.start()
            change.join(0.5)
            assert change.is_alive()
            # Within what a client waits; the lock is there until it has been answered.
            answer = daemon.request(method, path.replace("RUN", str(started.json()["runIds"][0])), timeout=seconds)
            assert answer.status_code == 200, answer.text
            if path.startswith(("/api/zone", "/zone", "/api/stop", "/api/pause", "/api/queue/", "/api/e-stop")):
                assert not any(zone["isOn"] for zone in daemon.get("/api/sprinkler").json()["zones"])
            store.execute("ROLLBACK")
        change.join()
        # It is written down afterwards.
        limit = time.monotonic() + 120
        while daemon.get("/api/health").json()["status"] != "ok" or daemon.get("/api/sprinkler").json()["store"]["failure"]:
            assert time.monotonic() < limit
            time.sleep(0.1)


def test_a_store_that_has_lost_changes_is_told_until_the_next_start(tmp_path):
    daemon = Daemon(tmp_path)
    with daemon:
        assert daemon.request("PUT", "/api/seasonal", json={"percent": 80}).status_code == 200
        assert health(daemon)["status"] == "ok"
    store = tmp_path / "state/simulated/store.sqlite"
    assert store.stat().st_size > 0
    store.write_bytes(b"")
    with daemon:
        until(lambda: health(daemon)["status"] == "degraded")
        state = health(daemon)
        assert state["ok"] and state["code"] == "STORE_LOST" and "is lost" in state["message"], state
        said = daemon.command("status", daemon.url)
        assert said.returncode == 1 and state["message"] in said.stdout.splitlines()[0], said
    with daemon:
        assert health(daemon)["status"] == "ok"


def test_a_log_on_a_full_disk_is_told_and_stops_nothing(tmp_path):
    daemon = Daemon(tmp_path)
    daemon.config.write_text(daemon.config.read_text().replace("  level: INFO\n", "  level: INFO\n  file: /dev/full\n", 1))
    with daemon:
        limit = time.monotonic() + START_LIMIT_SECONDS
        while (health := daemon.get("/api/health").json()).get("code") != "LOG_FAILED":
            assert time.monotonic() < limit, health
            time.sleep(0.1)
        assert health["ok"] and "/dev/full cannot be written (No space left on device)" in health["message"]
        lost = [line for line in daemon.get("/metrics").text.splitlines() if line.startswith('tactus_log_lines_lost_total{to="file"}')]
        assert len(lost) == 1 and float(lost[0].split()[-1]) > 0, lost
        assert "the log's file cannot be written: lines are lost" in daemon.log
        assert daemon.post("/api/leg/0/arm").status_code == 200
