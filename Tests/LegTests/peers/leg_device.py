"""leg_device.py udp | serial [DEADMAN]: a LegCtrl v0.1 device written from the protocol's text alone, for the tests of the operator side.

Its deadman has so many seconds, 0.2 unless given. Says "listening PORT" or, with a pseudo-terminal of its own, "listening PATH", then a line for every change: "armed", "pulse 1500", "disarmed", "fault 1".
Serial framing: 00 COBS(message, CRC-16/CCITT-FALSE little-endian) 00. Before every telemetry frame on the line come noise
and half a frame. Ends at the end of its standard input.
"""
import binascii
import os
import select
import socket
import struct
import sys
import termios
import time
import tty


def cobs(data):
    out = bytearray()
    for block in data.split(b"\0"):
        out += bytes([len(block) + 1]) + block
    return bytes(out)


def uncobs(data):
    out, index = bytearray(), 0
    while index < len(data):
        code = data[index]
        if code == 0 or index + code > len(data):
            return None
        out += data[index + 1:index + code]
        index += code
        if index < len(data):
            out.append(0)
    return bytes(out)


def crc(data):
    return struct.pack("<H", binascii.crc_hqx(data, 0xFFFF))


class Datagrams:
    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.name = self.socket.getsockname()[1]
        self.peer = None

    def fileno(self):
        return self.socket.fileno()

    def receive(self):
        data, self.peer = self.socket.recvfrom(64)
        return [data]

    def send(self, data):
        if self.peer:
            self.socket.sendto(data, self.peer)


class Serial:
    def __init__(self):
        # Both ends stay open: the line outlives the programs on it.
        self.descriptor, self.near = os.openpty()
        self.name, self.buffer = os.ttyname(self.near), b""
        tty.setraw(self.near, termios.TCSANOW)

    def fileno(self):
        return self.descriptor

    def receive(self):
        self.buffer += os.read(self.descriptor, 256)
        *frames, self.buffer = self.buffer.split(b"\0")
        messages = []
        for frame in frames:
            plain = uncobs(frame)
            if plain and len(plain) > 2 and crc(plain[:-2]) == plain[-2:]:
                messages.append(plain[:-2])
        return messages

    def send(self, data):
        frame = b"\0" + cobs(data + crc(data)) + b"\0"
        os.write(self.descriptor, b"\xff\x10noise" + frame[:7] + frame)


def main():
    link = Datagrams() if sys.argv[1] == "udp" else Serial()
    deadman = float(sys.argv[2]) if len(sys.argv) > 2 else 0.2
    state, error, fed, report_at = 0, 0, None, time.monotonic()

    def say(*words):
        print(*words, flush=True)

    say("listening", link.name)
    pulse = None
    while True:
        now = time.monotonic()
        wait = max(0, min([report_at] + ([fed + deadman] if state == 1 else [])) - now)
        ready, _, _ = select.select([link, sys.stdin], [], [], wait)
        now = time.monotonic()
        if state == 1 and now - fed >= deadman:
            state, error, pulse = 2, 1, None
            say("fault 1")
        if sys.stdin in ready and not os.read(0, 64):
            return
        for message in link.receive() if link in ready else []:
            if message == b"\1\1\0\0":
                if state == 0:
                    state, error, fed = 1, 0, now
                    say("armed")
            elif message == b"\1\2\0\0":
                if state != 0:
                    say("disarmed")
                state, error, fed, pulse = 0, 0, None, None
            elif message == b"\1\4\0\0":
                fed = now if state == 1 else fed
            elif message[:4] == b"\1\3\2\0" and len(message) == 6:
                if state == 1:
                    fed = now
                    asked = struct.unpack("<H", message[4:])[0]
                    if asked != pulse:
                        pulse = asked
                        say("pulse", pulse)
            else:
                error = 4
                say("invalid", message.hex())
        if now >= report_at:
            report_at = now + 0.1
            age = 0 if fed is None else min(65535, int((now - fed) * 1000))
            link.send(struct.pack("<BBBBBBHHH", 1, 0x10, 8, 0, state, error, age, 7400, 0))


main()
