"""Thousands of connections that come and go as no client should, beside somebody who drives and must notice nothing."""
import asyncio
import base64
import json
import os
import random
import re
import socket
import struct
import threading
import time

import pytest

from live import Live
from wire import BINARY, CLOSE, PING, TEXT, frame, request

HASTY_CONNECTIONS = 1000
CONNECTIONS = 2500
AT_ONCE = 48
DRIVE_HZ = 20
SPEED = 30
LIMIT_SECONDS = 600
RESET = struct.pack("ii", 1, 0)


class Driver(threading.Thread):
    """Drives at 20 Hz on a WebSocket and wants an answer to every frame."""

    def __init__(self, daemon):
        super().__init__(daemon=True)
        self.live = Live(daemon)
        self.sent = 0
        self.answers = []
        self.failure = None
        self.ending = threading.Event()

    def run(self):
        try:
            begin = time.monotonic()
            while not self.ending.wait(max(0, begin + self.sent / DRIVE_HZ - time.monotonic())):
                self.sent += 1
                self.answers.append(self.live.drive_taken(SPEED, SPEED, echo=self.sent))
        except Exception as error:  # Whatever it is, the test tells it.
            self.failure = error

    def finish(self):
        self.ending.set()
        self.join(30)
        self.live.socket.close()


def upgrade(daemon, token):
    key = base64.b64encode(os.urandom(16)).decode()
    return request("GET", "/ws", daemon.port, token=token, headers=[
        "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {key}"])


def opening(dice, daemon, token):
    """What a connection begins with: mostly a WebSocket, also behind other requests."""
    look = request("GET", dice.choice(["/api/health", "/api/status", "/api/robot", "/nowhere", "/"]), daemon.port, token=token)
    body = request("POST", "/api/robot/drive", daemon.port, token=token, body=b'{"left":1,"right":1}')
    return dice.choice([
        upgrade(daemon, token), upgrade(daemon, token), upgrade(daemon, token), look + upgrade(daemon, token),
        look, look * 3, body, body[:-5], dice.randbytes(dice.randrange(200)), b""])


def words(dice):
    """What follows: frames, right and wrong, and what is no frame."""
    subscribe = frame(TEXT, json.dumps({"type": "subscribe", "systems": ["robot"], "rateHz": 10, "id": 1}).encode())
    choices = [
        b"", b"\x81", subscribe, subscribe, subscribe[:-1], frame(TEXT, b'{"type":"ping"}') * dice.randrange(1, 40),
        frame(PING, b"x" * dice.randrange(126)), frame(CLOSE, b"\x03\xe8"), frame(BINARY, dice.randbytes(20)),
        frame(TEXT, b"{}", masked=False), frame(TEXT, b"x", fin=False), frame(TEXT, b"", claimed=60_000),
        frame(BINARY, json.dumps({"left": 9, "right": 9, "timestamp": time.time()}).encode()),
        dice.randbytes(dice.randrange(300))]
    return b"".join(dice.choices(choices, k=dice.randrange(4)))


def hasty_visit(daemon, token, dice):
    """A WebSocket asked for, something said, and gone while hello is being written: the daemon's writes fail while it has more to read."""
    try:
        with socket.create_connection(daemon.address, timeout=60) as client:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            client.sendall(upgrade(daemon, token))
            if dice.random() < 0.8:
                client.recv(dice.choice([1, 64, 65536]))
            for data in [words(dice) for _ in range(dice.randrange(3))] + [b"\x81"]:
                client.sendall(data)
            if dice.random() < 0.3:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
    except OSError:
        pass


async def visit(daemon, token, dice):
    """One connection: says something, cut anywhere, and is gone 0…10 ms later."""
    loop = asyncio.get_running_loop()
    client = socket.socket()
    client.setblocking(False)
    try:
        await loop.sock_connect(client, daemon.address)
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        data = opening(dice, daemon, dice.choice([token, token, None, "wrong"])) + words(dice)
        cuts = sorted(dice.randrange(len(data) + 1) for _ in range(dice.randrange(4)))
        for begin, end in zip([0, *cuts], [*cuts, len(data)]):
            await loop.sock_sendall(client, data[begin:end])
            if dice.random() < 0.3:
                await asyncio.sleep(dice.random() * 0.003)
        if dice.random() < 0.3:
            client.shutdown(socket.SHUT_WR)
        if dice.random() < 0.3:
            await asyncio.wait_for(loop.sock_recv(client, 65536), 1)
        await asyncio.sleep(dice.choice([0, 0, dice.random() * 0.01]))
    except OSError:
        pass
    finally:
        if dice.random() < 0.5:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        client.close()


async def visit_all(daemon, token, seed):
    for index in range(HASTY_CONNECTIONS):
        await asyncio.to_thread(hasty_visit, daemon, token, random.Random(f"{seed} hasty {index}"))
    order = asyncio.Semaphore(AT_ONCE)

    async def one(index):
        async with order:
            await visit(daemon, token, random.Random(f"{seed} {index}"))

    await asyncio.gather(*(one(index) for index in range(CONNECTIONS)))


def opened(daemon):
    """What must not grow: connections, WebSockets, descriptors."""
    page = daemon.get("/metrics").text
    return {name: float(value) for name, value in re.findall(
        r"^(tactus_service_connections|tactus_service_websocket_clients|process_open_fds) (\S+)$", page, re.MULTILINE)}


def test_a_driver_notices_nothing_of_clients_that_come_and_go_anyhow(own_daemon):
    seed = int(os.environ.get("CHAOS_SEED", time.time_ns()))
    print(f"CHAOS_SEED={seed}")
    daemon = own_daemon(command_timeout=10.0)
    token = daemon.create_token("read")
    before = opened(daemon)
    driver = Driver(daemon)
    driver.start()
    try:
        asyncio.run(asyncio.wait_for(visit_all(daemon, token, seed), LIMIT_SECONDS))
    finally:
        driver.finish()
    assert daemon.process.poll() is None, daemon.log[-3000:]
    assert driver.failure is None, repr(driver.failure)
    assert driver.sent == len(driver.answers) > DRIVE_HZ
    assert {answer["state"] for answer in driver.answers} == {"driving"}, driver.answers
    end = time.monotonic() + 120
    while True:
        after = opened(daemon)
        if all(after[name] <= before[name] + 2 for name in before):
            return
        assert time.monotonic() < end, f"connections stay open: {before} became {after}"
        time.sleep(0.2)
