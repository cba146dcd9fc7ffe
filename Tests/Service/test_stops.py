"""A stop comes before everything, whoever else talks: nothing that was asked for before it is carried out after it, and it does not wait for those
who look. `python -m pytest Tests/Service/test_stops.py -m real_time -s` measures, and prints the table of docs/safety.md."""
import itertools
import json
import os
import queue
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

import paho.mqtt.client as mqtt
import pytest

import broker
from live import Live
from wire import Wire, request

CLIENTS = int(os.environ.get("CLIENTS", 60))
ROUNDS = int(os.environ.get("ROUNDS", 12))
MQTT_STOPS = 20
STOPS = int(os.environ.get("STOPS", 100))
# Kind, how many clients, and whose words they were found in.
LOADS = [
    ("nothing", 0, "nothing else"),
    ("health", 250, "250 without a token, 20 `GET /api/health` of each under way"),
    ("query", 250, "250 without a token, queries of 7.6 kB"),
    ("metrics", 16, "16 readers of `/metrics`"),
    ("metrics", 300, "300 readers of `/metrics`"),
    ("schedules", 60, "60 readers of `/api/schedules`, each answer 256 schedules of 64 steps"),
    ("preview", 40, "40 readers of `/api/schedules/preview?count=1000`"),
    ("messages", 4, "4 WebSockets, messages of 65 kB and 5,780 names"),
]


@contextmanager
def load(daemon, kind, count, token=None):
    """`count` clients of a kind, from a program of their own; see stop_load.py."""
    if not count:
        yield
        return
    program = subprocess.Popen(
        [sys.executable, Path(__file__).with_name("stop_load.py"), *map(str, daemon.address), kind, str(count), *[token] * bool(token)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert program.stdout.readline() == "open\n"
        yield
    finally:
        program.stdin.close()
        print(f"{program.stdout.readline().strip()} answers of {kind}")
        assert program.wait(60) == 0


@pytest.mark.parametrize("system", ["zone", "robot"])
def test_nothing_is_carried_out_after_a_stop_that_followed_it(own_daemon, system):
    """Each command has a body and is followed by a stop without one: whichever is looked at first, the stop has the last word."""
    daemon = own_daemon()
    token = daemon.create_token("control")
    command, body, stop, path = {
        "zone": ("/api/zone/1/on", {"minutes": 5}, "/api/zone/1/off", "/api/zones"),
        "robot": ("/api/robot/drive", {"left": 40, "right": 40}, "/api/robot/stop", "/api/robot"),
    }[system]
    outcomes = {}
    with load(daemon, "health", CLIENTS):
        for _ in range(ROUNDS):
            with Wire(daemon.address) as first, Wire(daemon.address) as second:
                first.send(request("POST", command, daemon.port, token=token, body=json.dumps(body).encode(),
                                   headers=["Content-Type: application/json"]))
                time.sleep(0.005)
                second.send(request("POST", stop, daemon.port, token=token))
                stopped, asked = second.answer(), first.answer()
            assert stopped.status == 200, stopped
            outcome = asked.status if asked.status == 200 else json.loads(asked.body)["code"]
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
            state = daemon.get(path).json()
            if system == "zone":
                assert not state["zones"][0]["isOn"], (outcome, state["zones"][0])
            else:
                assert state["state"] != "driving", (outcome, state)
    print(outcomes)
    assert set(outcomes) <= {200, "OVERTAKEN", "STALE"}, outcomes


@broker.needed
def test_a_flood_of_a_topic_that_anybody_may_write_holds_up_no_stop_over_mqtt(tmp_path, own_daemon):
    """Strangers and commands have a connection each: neither the broker's queue nor our socket is shared."""
    house = broker.Broker(tmp_path)
    house.start()
    flood = None
    try:
        daemon = own_daemon(f"mqtt: {{broker: 127.0.0.1, port: {house.port}, device: sill, commands: true}}\n")
        told = queue.Queue()
        owner = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, "owner")
        owner.on_message = lambda _, __, message: told.put(json.loads(message.payload))
        owner.connect("127.0.0.1", house.port)
        owner.subscribe("tactus/sill/reply", 1)
        owner.loop_start()
        broker.eventually(lambda: daemon.get("/api/mqtt").json()["connected"])
        flood = subprocess.Popen(
            ["sh", "-c", f"yes '{{}}' | mosquitto_pub -p {house.port} -t rpi/torpi -l"], start_new_session=True)
        received = daemon.get("/api/mqtt").json()["received"]
        broker.eventually(lambda: daemon.get("/api/mqtt").json()["received"] > received + 10_000)
        for number in range(MQTT_STOPS):
            # Without a promise, as most who write to a topic do.
            owner.publish("tactus/sill/command", json.dumps({"command": "e-stop", "id": str(number)}), qos=0)
            reply = told.get(timeout=60)
            assert reply["id"] == str(number) and reply["ok"], reply
        owner.loop_stop()
    finally:
        if flood:
            os.killpg(flood.pid, signal.SIGTERM)
            flood.wait(60)
        house.stop()


@contextmanager
def doors(daemon, house, token):
    """How an emergency stop is asked for at each door: functions that return when it is done."""
    replies = queue.Queue()
    owner = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, "owner")
    owner.on_message = lambda _, __, message: replies.put(json.loads(message.payload))
    owner.connect("127.0.0.1", house.port)
    owner.subscribe("tactus/sill/reply", 1)
    owner.loop_start()
    broker.eventually(lambda: daemon.get("/api/mqtt").json()["connected"])
    with Live(daemon, token, ping_interval=None) as live:

        def by_http():
            with Wire(daemon.address) as wire:
                wire.send(request("POST", "/api/e-stop", daemon.port, token=token))
                assert wire.answer().status == 200

        numbers = itertools.count()

        def by_websocket():
            number = next(numbers)
            live.say(type="e-stop", id=number)
            assert live.wait_for(lambda event: event.get("id") == number)["type"] != "error"

        def by_mqtt():
            owner.publish("tactus/sill/command", "e-stop")
            assert replies.get(timeout=60)["ok"]

        yield {"HTTP": by_http, "WebSocket": by_websocket, "MQTT": by_mqtt}
    owner.loop_stop()


def fill_schedules(daemon):
    """As many schedules as there may be, each of as many steps."""
    steps = [{"zoneId": step % 4 + 1, "minutes": 1} for step in range(64)]
    made = daemon.post("/api/schedules/import", json=[
        {"name": f"Number {number}", "days": ["Mon"], "isEnabled": True, "startTimes": [f"{number % 24:02}:{number * 7 % 60:02}"], "zones": steps}
        for number in range(256)])
    assert made.status_code == 200, made.text


def milliseconds(act):
    begin = time.monotonic()
    act()
    return (time.monotonic() - begin) * 1000


@broker.needed
@pytest.mark.real_time
def test_how_soon_a_stop_comes(tmp_path, own_daemon):
    """On a connection of its own for HTTP; by WebSocket and MQTT on one that is there."""
    house = broker.Broker(tmp_path)
    house.start()
    rows = []
    try:
        daemon = own_daemon(f"mqtt: {{broker: 127.0.0.1, port: {house.port}, device: sill, commands: true}}\n")
        control, read = daemon.create_token("control"), daemon.create_token("read")
        fill_schedules(daemon)
        for loads, words in [*(([(kind, count)], words) for kind, count, words in LOADS), ([one[:2] for one in LOADS], "all of them at once")]:
            with ExitStack() as stack:
                for kind, count in loads:
                    stack.enter_context(load(daemon, kind, count, None if kind in ("health", "query") else read))
                # Behind the loads, which may take minutes to be there: a WebSocket that nobody reads for as long is closed.
                ways = stack.enter_context(doors(daemon, house, control))
                time.sleep(0.5)
                times = [[milliseconds(act) for act in ways.values()] for _ in range(STOPS)]
                rows.append((words, [sorted(column) for column in zip(*times)]))
            daemon.post("/api/reset", token=control)
        print(f"\n| beside | {' | '.join(f'{way}: p50, p99, slowest' for way in ways)} |\n|---{'|---' * len(ways)}|")
        for words, columns in rows:
            cells = [f"{t[len(t) // 2]:.1f}, {t[len(t) * 99 // 100]:.1f}, {t[-1]:.1f} ms" for t in columns]
            print(f"| {words} | {' | '.join(cells)} |")
    finally:
        house.stop()
