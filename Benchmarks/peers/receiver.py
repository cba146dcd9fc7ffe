"""receiver.py PORT FD: the motor receiver as the original script writes it: recvfrom, json.loads, clamp, one write."""
import json
import os
import socket
import sys
import time

port, motor = int(sys.argv[1]), int(sys.argv[2])
SPEED_LIMIT = 100


def motor_block(left, right):
    return [
        1 if left >= 0 else 0, int(abs(left) * 255 / 100 + 0.5),
        1 if right >= 0 else 0, int(abs(right) * 255 / 100 + 0.5),
    ]


def set_motors(left, right):
    left = max(-SPEED_LIMIT, min(SPEED_LIMIT, left))
    right = max(-SPEED_LIMIT, min(SPEED_LIMIT, right))
    os.write(motor, bytes(motor_block(left, right)))


sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.bind(("127.0.0.1", port))
sock.settimeout(0.1)
last_command = time.monotonic()
moving = False
try:
    while True:
        try:
            data, source = sock.recvfrom(1024)
            command = json.loads(data.decode("utf-8"))
            left, right = command.get("left", 0), command.get("right", 0)
            if not isinstance(left, (int, float)) or not isinstance(right, (int, float)):
                continue
            set_motors(left, right)
            last_command = time.monotonic()
            moving = left != 0 or right != 0
        except (TimeoutError, ValueError, AttributeError):
            pass
        if moving and time.monotonic() - last_command > 1.0:
            set_motors(0, 0)
            moving = False
except (BrokenPipeError, ConnectionError, KeyboardInterrupt):
    pass
