#!/usr/bin/env python3
"""Lets the hexapod of hexapod.yaml stand up and walk, until it is interrupted or its time is over.

A sequence keeps nothing armed: this program pings twenty times a second, and when it dies every servo of both chips is without a pulse
200 ms later.
"""
import argparse
import json
import pathlib
import socket
import sys
import time
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
PING, DISARM = bytes.fromhex("01040000"), bytes.fromhex("01020000")


def call(base, path, body=b"{}"):
    """Posts a body and returns the answer; a refusal ends the program with the daemon's words."""
    request = urllib.request.Request(base + path, body, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        sys.exit(f"{path}: {error.read().decode()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--http-port", type=int, default=8000)
    parser.add_argument("--leg-port", type=int, default=5010, help="the UDP port of the first leg; one of a group feeds all")
    parser.add_argument("--for", dest="seconds", type=float, default=float("inf"), help="how long to walk, in seconds")
    arguments = parser.parse_args()
    base = f"http://{arguments.host}:{arguments.http_port}"
    leg = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    target = (arguments.host, arguments.leg_port)

    def keep(seconds):
        """Feeds the deadman for a time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            leg.sendto(PING, target)
            time.sleep(min(0.05, max(0, end - time.monotonic())))

    call(base, "/api/leg/disarm")
    call(base, "/api/leg/arm")
    try:
        call(base, "/api/leg/sequence", (HERE / "stand.json").read_bytes())
        keep(1)
        call(base, "/api/leg/sequence", (HERE / "walk.json").read_bytes())
        keep(arguments.seconds)
        call(base, "/api/leg/stop-sequence")
        keep(0.1)
    except KeyboardInterrupt:
        pass
    finally:
        for _ in range(3):
            leg.sendto(DISARM, target)


main()
