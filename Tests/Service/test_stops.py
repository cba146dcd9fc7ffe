"""A stop comes before everything, whoever else talks: nothing that was asked for before it is carried out after it, and it does not wait for those
who look. `python -m pytest Tests/Service/test_stops.py -m real_time -s` measures, and prints the table of docs/safety.md."""
import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from wire import Wire, request

CLIENTS = int(os.environ.get("CLIENTS", 60))
ROUNDS = int(os.environ.get("ROUNDS", 12))
STOPS = int(os.environ.get("STOPS", 100))
# Kind, how many clients, and whose words they were found in.
LOADS = [
    ("nothing", 0, "nothing else"),
    ("health", 250, "250 without a token, 20 `GET /api/health` of each under way"),
    ("query", 250, "250 without a token, queries of 7.6 kB"),
    ("metrics", 16, "16 readers of `/metrics`"),
    ("metrics", 300, "300 readers of `/metrics`"),
    ("schedules", 60, "60 readers of `/api/schedules`"),
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


def stop_all(daemon, token):
    """One emergency stop on a connection of its own: how long it took, in milliseconds."""
    begin = time.monotonic()
    with Wire(daemon.address) as wire:
        wire.send(request("POST", "/api/e-stop", daemon.port, token=token))
        answer = wire.answer()
    assert answer.status == 200, answer
    return (time.monotonic() - begin) * 1000


@pytest.mark.real_time
def test_how_soon_a_stop_comes(own_daemon):
    daemon = own_daemon()
    control, read = daemon.create_token("control"), daemon.create_token("read")
    rows = []
    for kind, count, words in LOADS:
        with load(daemon, kind, count, None if kind in ("health", "query") else read):
            time.sleep(0.5)
            times = sorted(stop_all(daemon, control) for _ in range(STOPS))
        rows.append((words, times))
        daemon.post("/api/reset", token=control)
    print("\n| beside | p50 | p99 | slowest |\n|---|---|---|---|")
    for words, times in rows:
        print(f"| {words} | {times[len(times) // 2]:.1f} ms | {times[len(times) * 99 // 100]:.1f} ms | {times[-1]:.1f} ms |")
