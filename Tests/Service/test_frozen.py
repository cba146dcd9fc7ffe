"""A daemon that was frozen, as by kill -STOP or a virtual machine that was paused, does not obey what lay in its sockets when it goes on."""
import os
import re
import signal
import socket
import time

from live import Live
from wire import Wire, request

# Longer than the longest period of a loop here (1 s) and the second from which on it counts as having stood still, and than the robot's failsafe.
FROZEN_SECONDS = 3


def test_what_lay_in_the_sockets_of_a_frozen_daemon_moves_nothing_and_a_stop_is_obeyed(own_daemon):
    daemon = own_daemon()
    port = int(re.search(r"motor commands on UDP 127\.0\.0\.1:(\d+)", daemon.log)[1])
    assert daemon.post("/api/zone/3/on", json={"minutes": 10}).status_code == 200
    asked = [("/api/zone/1/on", b'{"minutes": 1}'), ("/api/leg/0/arm", b"{}"), ("/api/robot/drive", b'{"left": 40, "right": 40}')]
    robot = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with Live(daemon) as page:
        page.drive_taken(0, 0, echo=1)
        os.kill(daemon.process.pid, signal.SIGSTOP)
        wires = []
        for path, body in asked + [("/api/zone/3/off", b"{}")]:
            wire = Wire(daemon.address)
            wire.send(request("POST", path, daemon.port, token=daemon.admin, headers=["Content-Type: application/json"], body=body))
            wires.append(wire)
        page.drive(40, 40)
        robot.sendto(b'{"left": 40, "right": 40}', ("127.0.0.1", port))
        time.sleep(FROZEN_SECONDS)
        os.kill(daemon.process.pid, signal.SIGCONT)
        answers = [wire.answer() for wire in wires]
    assert [answer.status for answer in answers] == [409, 409, 409, 200], answers
    robot_now = daemon.until_robot(lambda robot: robot["counters"]["datagrams"] >= 1)
    assert robot_now["state"] != "driving" and robot_now["holder"] is None, robot_now
    zones = daemon.get("/api/sprinkler").json()["zones"]
    assert [zone["id"] for zone in zones if zone["isOn"]] == [], zones
    # From then on it obeys as ever.
    assert daemon.post("/api/zone/1/on", json={"minutes": 1}).status_code == 200
