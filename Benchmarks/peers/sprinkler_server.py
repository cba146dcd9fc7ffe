"""sprinkler_server.py PORT TOKEN memory|DATABASE: the sprinkler requirement's backend as one writes it with FastAPI.

Eight zones, one open at a time, a timer task each (asyncio), a bearer token compared in constant time, pins in memory that note
when they were written. With a DATABASE every run is a row of SQLite (WAL, synchronous FULL) before the valve opens.
GET /pins/writes: [[monotonic ns, pin, level], …] since the start.
"""
import asyncio
import secrets
import sqlite3
import sys
import time

import uvicorn
from fastapi import Depends, FastAPI, HTTPException, Request
from pydantic import BaseModel, Field

port, token, kept = sys.argv[1:]
app = FastAPI(openapi_url=None)
writes = []
zones = {
    number: {"id": number, "name": f"Zone {number}", "gpioPin": 16 + number, "isEnabled": True, "isOn": False,
             "defaultMinutes": 10}
    for number in range(1, 9)
}
timers, ends = {}, {}
database = None
if kept != "memory":
    database = sqlite3.connect(kept, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("PRAGMA synchronous = FULL")
    database.execute("CREATE TABLE IF NOT EXISTS run (id INTEGER PRIMARY KEY, zone INTEGER, seconds REAL, began REAL)")


class Duration(BaseModel):
    minutes: float = Field(10, gt=0, le=720)


def write(pin, level):
    writes.append((time.monotonic_ns(), pin, level))


def allowed(request: Request):
    given = request.headers.get("authorization", "").removeprefix("Bearer ")
    if not secrets.compare_digest(given.encode(), token.encode()):
        raise HTTPException(401)


def close(number):
    timer = timers.pop(number, None)
    if timer is not None:
        timer.cancel()
    ends.pop(number, None)
    write(zones[number]["gpioPin"], 0)
    zones[number]["isOn"] = False


async def hold(number, seconds):
    await asyncio.sleep(seconds)
    timers.pop(number, None)
    close(number)


@app.get("/api/status", dependencies=[Depends(allowed)])
async def status():
    began = time.monotonic()
    active = next(iter(ends), None)
    return {
        "ok": True, "backend": "memory", "pigpioConnected": True, "zones": list(zones.values()), "activeZoneId": active,
        "activeRemainingSec": None if active is None else round(ends[active] - time.monotonic()), "nextRun": None,
        "rainDelay": {"active": False, "until": None}, "latencyMs": (time.monotonic() - began) * 1000,
    }


@app.post("/api/zone/{number}/on", dependencies=[Depends(allowed)])
async def on(number: int, duration: Duration):
    if number not in zones:
        raise HTTPException(404)
    seconds = duration.minutes * 60
    if database is not None:
        database.execute("INSERT INTO run (zone, seconds, began) VALUES (?, ?, ?)", (number, seconds, time.time()))
    for other in [other for other in timers if other != number]:
        close(other)
    if number in timers:
        timers.pop(number).cancel()
    write(zones[number]["gpioPin"], 1)
    zones[number]["isOn"] = True
    ends[number] = time.monotonic() + seconds
    timers[number] = asyncio.create_task(hold(number, seconds))
    return {"ok": True, "zone": zones[number], "remainingSec": seconds}


@app.post("/api/zone/{number}/off", dependencies=[Depends(allowed)])
async def off(number: int):
    if number not in zones:
        raise HTTPException(404)
    close(number)
    return {"ok": True, "zone": zones[number]}


@app.get("/pins/writes", dependencies=[Depends(allowed)])
async def written():
    return writes


uvicorn.run(
    app, host="127.0.0.1", port=int(port), workers=1, loop="uvloop", http="httptools", access_log=False,
    log_level="warning")
