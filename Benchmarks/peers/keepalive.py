"""keepalive.py PORT SECONDS: a leg's keepalive as it is usually written in Python: 50 Hz, sleeping to absolute instants."""
import socket
import sys
import time

port, seconds = int(sys.argv[1]), float(sys.argv[2])
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.connect(("127.0.0.1", port))
frame = bytes([0x01, 0x03, 0x02, 0x00, 0xDC, 0x05])
following = time.monotonic() + 0.02
end = following + seconds
while following < end:
    remaining = following - time.monotonic()
    if remaining > 0:
        time.sleep(remaining)
    try:
        sock.send(frame)
    except ConnectionRefusedError:
        break
    following += 0.02
