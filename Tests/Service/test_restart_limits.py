"""What counts goes on counting when the daemon is killed and started again, and an emergency stop holds."""
import json
import queue
import socket
import sqlite3
import time

import paho.mqtt.client as mqtt
import pytest

import broker
from daemon import Daemon
from live import Live

LIMIT_SECONDS = 60


def until(read, condition):
    limit = time.monotonic() + LIMIT_SECONDS
    while not condition(value := read()):
        assert time.monotonic() < limit, value
        time.sleep(0.02)
    return value


def kill(daemon):
    daemon.process.kill()
    daemon.process.wait()


def open_runs(daemon):
    """The runs that are open as the disk has them. A valve does not wait for the disk: its record follows."""
    with sqlite3.connect(f"file:{daemon.folder}/state/simulated/store.sqlite?mode=ro", uri=True) as database:
        runs = [json.loads(value) for value, in database.execute("SELECT value FROM sprinkler_pending")]
    return [run for run in runs if run.get("opened")]


def test_a_crash_loop_does_not_water_for_ever(own_daemon):
    daemon = own_daemon()
    assert daemon.post("/api/zone/1/on", {"minutes": 1}).status_code == 200
    until(lambda: open_runs(daemon), bool)
    for death in range(4):
        kill(daemon)
        daemon.start()
        if death == 0:
            daemon.wait_for_line("a run ended by a crash")
        status = daemon.get("/api/status").json()
        assert status["activeZoneId"] is None and status["activeRemainingSec"] in (None, 0), (death, status)
    runs = daemon.get("/api/log").json()["runs"]
    assert [run["outcome"] for run in runs] == ["crash"], runs
    assert 0 < runs[0]["ranSec"] <= 60


PUMPS = {
    "operator": "pump: {run_limit_min: 1}\n",
    "device": "pump: {role: device, backend: sim, run_limit_min: 1, rest_min: 5}\n",
}


@pytest.mark.parametrize("role", PUMPS)
def test_the_pump_s_run_limit_goes_on_counting_over_kills(own_daemon, role):
    daemon = own_daemon(more=PUMPS[role])
    pump = lambda: daemon.get("/api/pump").json()
    until(pump, lambda pump: pump["state"] == "off" and pump["offConfirmed"])
    left = 60.0
    for death in range(3):
        assert daemon.post("/api/pump/on").status_code == 200
        # For so long that a slow disk has it that the pump runs: from then on it counts until the next start.
        left = until(pump, lambda pump: pump["state"] == "on" and pump["leftS"] < left - 2)["leftS"]
        kill(daemon)
        daemon.start()
        after = until(pump, lambda pump: pump["state"] == "off" and pump["offConfirmed"])
        assert after["leftS"] <= left, (death, after)
        left = after["leftS"]
    ends = [session["end"] for session in daemon.get("/api/pump/sessions").json()["sessions"]]
    assert set(ends) == {"crash"}, ends


def by_route(daemon, system, command):
    # A reset may be refused, until the output is known to be off.
    answer = daemon.post(f"/api/{system}/{command}")
    assert answer.status_code == 200 or command == "reset", answer.text


def by_the_route_of_all(daemon, system, command):
    answer = daemon.post(f"/api/{command}")
    assert answer.status_code == 200 or command == "reset", answer.text


def by_message(daemon, system, command):
    """A text on the WebSocket."""
    with Live(daemon) as live:
        live.say(type=command, systems=[system], id=1)
        answer = live.wait_for(lambda event: event.get("id") == 1)
        assert answer["type"] != "error" or command == "reset", answer


def by_broker(daemon, system, command):
    broker.eventually(lambda: daemon.get("/api/mqtt").json()["connected"])
    replies = queue.Queue()
    owner = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
    owner.on_message = lambda _, __, message: replies.put(json.loads(message.payload))
    # Who has subscribed hears the reply.
    owner.on_subscribe = lambda *_: owner.publish(f"tactus/sill/{system}/command", json.dumps({"command": command, "id": "1"}))
    owner.connect("127.0.0.1", daemon.house.port)
    owner.subscribe(f"tactus/sill/{system}/reply", 1)
    owner.loop_start()
    try:
        reply = replies.get(timeout=LIMIT_SECONDS)
    finally:
        owner.disconnect()
        owner.loop_stop()
    assert reply["ok"] or command == "reset", reply


def robot_bytes(command):
    return json.dumps({"command": {"e-stop": "estop"}.get(command, command), "echo": 1}).encode()


def by_frame(daemon, system, command):
    """Bytes on the WebSocket: the loop hears them, and answers when it has taken them."""
    with Live(daemon) as live:
        live.socket.send(robot_bytes(command))
        while isinstance(live.socket.recv(timeout=LIMIT_SECONDS), str):
            pass


def by_datagram(daemon, system, command):
    """The loop hears it, and no route of the service does."""
    # The log is written by a thread of its own, and may be behind the first answer.
    daemon.wait_for_line('"listen"')
    line = next(json.loads(line) for line in daemon.log[daemon.log_start:].splitlines() if '"listen"' in line)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.settimeout(LIMIT_SECONDS)
        sender.connect(("127.0.0.1", int(line["listen"].rpartition(":")[2])))
        sender.send(robot_bytes(command))
        assert json.loads(sender.recv(65536))["echo"] == 1


def state(daemon, system):
    return daemon.get(f"/api/{system}").json()["state"]


def held(daemon):
    """The systems that this start found stopped."""
    # What is said of them is said before this line.
    daemon.wait_for_line('"serving http"')
    lines = [line for line in daemon.log[daemon.log_start:].splitlines() if "the emergency stop from before this start holds" in line]
    return {system for line in lines for system in json.loads(line)["systems"]}


def give_and_kill(daemon, note, system, way, command):
    """Gives a stop or a reset, and kills the daemon once it is noted: the next start is as this one was at its end."""
    stopped = command == "e-stop"
    # Each way returns when the command has been answered, so that none is still under way when the daemon dies.
    until(lambda: way(daemon, system, command) or state(daemon, system), lambda state: (state == "emergencyStopped") == stopped)
    until(note.read_text, lambda text: (system in text) == stopped)
    kill(daemon)
    daemon.start()
    assert (state(daemon, system) == "emergencyStopped") == stopped
    assert (system in held(daemon)) == stopped


@pytest.mark.parametrize("reset", [by_route, by_datagram])
@pytest.mark.parametrize("stop", [by_route, by_datagram])
def test_an_emergency_stop_outlives_a_kill_whoever_gave_it_and_a_reset_too(tmp_path, stop, reset):
    note = tmp_path / "run/safe-state-stops"
    note.parent.mkdir()
    with Daemon(tmp_path, environment={"RUNTIME_DIRECTORY": str(note.parent)}) as daemon:
        give_and_kill(daemon, note, "robot", stop, "e-stop")
        give_and_kill(daemon, note, "robot", reset, "reset")


# A frame of a leg has no word for either, and the pump's line is the pump's.
EVERYWHERE = [by_route, by_the_route_of_all, by_message, by_broker]
WAYS = {"robot": [*EVERYWHERE, by_frame, by_datagram], "leg": EVERYWHERE, "pump": EVERYWHERE, "sprinkler": EVERYWHERE}


@broker.needed
@pytest.mark.parametrize("system", WAYS)
def test_of_every_system_and_by_every_way_a_stop_and_a_reset_outlive_a_kill(tmp_path, system):
    note = tmp_path / "run/safe-state-stops"
    note.parent.mkdir()
    house = broker.Broker(tmp_path)
    house.start()
    more = f"mqtt: {{broker: 127.0.0.1, port: {house.port}, device: sill, commands: true}}\n"
    try:
        with Daemon(tmp_path, more=more + PUMPS["operator"], environment={"RUNTIME_DIRECTORY": str(note.parent)}) as daemon:
            daemon.house = house
            ways = WAYS[system]
            # Each stop is reset by another way than it was given.
            for stop, reset in zip(ways, ways[1:] + ways[:1]):
                give_and_kill(daemon, note, system, stop, "e-stop")
                give_and_kill(daemon, note, system, reset, "reset")
    finally:
        house.stop()
