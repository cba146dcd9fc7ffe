"""What each list costs when it is full, of those that strangers or readers may fill: `python -m pytest Tests/Service/test_filled.py -m real_time -s`
measures, and prints the table of docs/safety.md. That each has an end is in the tests of its own: one more is refused."""
import sqlite3
import struct
import time
from contextlib import contextmanager, nullcontext

import paho.mqtt.client as mqtt
import pytest

import broker
from daemon import Daemon
from test_costs import MEGABYTE, processor_seconds, resident
from test_stops import fill_schedules, load, milliseconds
from wire import Wire, request

IDLE_SECONDS = 10
STOPS = 100
# What the caches of a start and the first beats do is not what is measured.
SETTLE_SECONDS = 8
USERS, PLANTS_OF_ONE = 256, 7
ZONES = 64
TOKENS = 256
SESSIONS = 200_000
# Of 2,048 connections an eighth, 64 at most, are kept for who may stop.
LISTENERS = 1_984
RETAINED = 4_096

FOUR_ZONES = "  zones: [{pin: 12}, {pin: 16}, {pin: 20}, {pin: 21}]\n"
ALL_ZONES = (
    "  expanders: [" + ", ".join(f"{{chip: mcp23017, address: {0x20 + n:#x}, first_pin: {100 + 16 * n}}}" for n in range(4)) + "]\n"
    + "  zones: [" + ", ".join(f"{{pin: {100 + n}}}" for n in range(ZONES)) + "]\n")


def fill_plants(daemon, house):
    """As strangers do it: messages of the app on the broker, from as many names as may have plants."""
    app = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, "filler")
    app.connect("127.0.0.1", house.port)
    app.loop_start()
    count = lambda: len(daemon.get("/api/plants").json()["plants"])
    for user in range(USERS):
        for plant in range(PLANTS_OF_ONE):
            payload = f'P{plant}--["0x36"]'
            app.publish(
                "rpi/torpi", f"ID:0;sender:u{user};receiver:Host-RPI3B+;payload:{payload};operation:REQ_addNewPlant", qos=1)
        if user % 16 == 15:
            broker.eventually(lambda: count() >= (user + 1) * PLANTS_OF_ONE)
    app.loop_stop()
    app.disconnect()
    return f"{count():,} plants of {USERS} users"


def schedules(daemon, _):
    fill_schedules(daemon)
    return "256 schedules of 64 steps"


def fill_tokens(daemon, _):
    count = 0
    while (answer := daemon.post("/api/tokens", json={"name": f"number {count}", "scope": "read"})).status_code < 300:
        count += 1
    assert answer.json()["code"] == "TOKENS_FULL", answer.text
    return f"{TOKENS} tokens"


def seal(values):
    """The last column of a row in the store: FNV-1a over the kinds and bytes of the others."""
    data = b""
    for value in values:
        match value:
            case None:
                data += b"\0"
            case int():
                data += b"\1" + struct.pack("<q", value)
            case float():
                data += b"\2" + struct.pack("<d", value)
            case str():
                data += b"\3" + value.encode() + b"\xff"
    total = 0xCBF29CE484222325
    for byte in data:
        total = (total ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return struct.unpack("<q", struct.pack("<Q", total))[0]


def fill_sessions(daemon, _):
    """What 200,000 runs of a pump would have left, written into the store of a daemon that does not run."""
    daemon.stop()
    [path] = daemon.folder.glob("state/**/store.sqlite")
    store, now = sqlite3.connect(path), int(time.time())
    number = store.execute("SELECT ifnull(max(number), 0) FROM pump_session").fetchone()[0]
    rows = ([number + 1 + index, now - 20 * (SESSIONS - index), 10.0, "app", "off", "app", *[None] * 7] for index in range(SESSIONS))
    store.executemany(f"INSERT INTO pump_session VALUES ({', '.join('?' * 14)})", ([*row, seal(row)] for row in rows))
    store.commit()
    store.close()
    daemon.start()
    assert len(daemon.get("/api/pump/sessions?limit=1000").json()["sessions"]) == 1000
    return f"{SESSIONS:,} sessions of the pump"


def fill_retained(daemon, house):
    """What looks like states of ours that nobody publishes any more, kept by the broker: we remove them when we are there."""
    daemon.stop()
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, "filler")
    client.max_queued_messages_set(0)
    client.connect("127.0.0.1", house.port)
    client.loop_start()
    sent = [client.publish(f"tactus/sill/sprinkler/zone/{1000 + number}/state", "{}", qos=1, retain=True) for number in range(RETAINED)]
    for one in sent:
        one.wait_for_publish(60)
    client.loop_stop()
    client.disconnect()
    return f"{RETAINED:,} topics that a broker has retained"


def listening(daemon):
    return load(daemon, "listen", LISTENERS, daemon.create_token("read"))


# How it is filled, before the start that is measured; what is there besides while it is measured; the zones of the file.
LISTS = [
    (lambda *_: "nothing", None, FOUR_ZONES),
    (fill_plants, None, FOUR_ZONES),
    (schedules, None, FOUR_ZONES),
    (lambda *_: f"{ZONES} zones on expanders", None, ALL_ZONES),
    (fill_sessions, None, FOUR_ZONES),
    (fill_tokens, None, FOUR_ZONES),
    (lambda *_: f"{LISTENERS:,} WebSockets", listening, FOUR_ZONES),
    (fill_retained, None, FOUR_ZONES),
]


def measure(folder, house, fill, beside, zones):
    """The list's words; percent of a core at rest, megabytes, milliseconds of an e-stop (p50 and slowest), seconds until it answers."""
    daemon = Daemon(folder, more=(
        f"mqtt: {{broker: 127.0.0.1, port: {house.port}, device: sill, commands: true}}\npump: {{backend: sim}}\n"))
    text = daemon.config.read_text()
    assert FOUR_ZONES in text
    daemon.config.write_text(text.replace(FOUR_ZONES, zones))
    with daemon:
        broker.eventually(lambda: daemon.get("/api/mqtt").json()["connected"])
        token = daemon.create_token("control")
        words = fill(daemon, house)
        daemon.stop()
        begin = time.monotonic()
        daemon.start()
        start = time.monotonic() - begin
        process = daemon.process.pid
        with beside(daemon) if beside else nullcontext():
            time.sleep(SETTLE_SECONDS)
            begin, used = time.monotonic(), processor_seconds(process)
            time.sleep(IDLE_SECONDS)
            idle = (processor_seconds(process) - used) / (time.monotonic() - begin) * 100
            memory = resident(process) / MEGABYTE

            def stop():
                with Wire(daemon.address) as wire:
                    wire.send(request("POST", "/api/e-stop", daemon.port, token=token))
                    assert wire.answer().status == 200

            times = sorted(milliseconds(stop) for _ in range(STOPS))
    return words, [idle, memory, times[len(times) // 2], times[-1], start]


# Twice of empty, and so much more: below that a ratio is of two small numbers.
FLOORS = [5, 32, 5, 20, 1]


@broker.needed
@pytest.mark.real_time
def test_a_full_list_costs_no_more_than_twice_an_empty_one(tmp_path):
    rows = []
    for number, one in enumerate(LISTS):
        folder = tmp_path / str(number)
        folder.mkdir()
        house = broker.Broker(folder)
        house.start()
        try:
            rows.append(measure(folder, house, *one))
        finally:
            house.stop()
    print("\n| full | at rest | memory | e-stop: p50, slowest | start |\n|---|---|---|---|---|")
    for words, (idle, memory, middle, slowest, start) in rows:
        print(f"| {words} | {idle:.1f} % | {memory:.0f} MB | {middle:.1f}, {slowest:.1f} ms | {start:.1f} s |")
    empty = rows[0][1]
    beyond = {
        words: figures for words, figures in rows
        if any(figure > 2 * least + floor for figure, least, floor in zip(figures, empty, FLOORS))
    }
    assert not beyond, beyond
