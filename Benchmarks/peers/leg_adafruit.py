"""leg_adafruit.py PORT FD: a leg as it is usually written in Python: recvfrom, struct, Adafruit's PCA9685 driver.

The driver is Adafruit's own, unchanged. Its I2C bus is this file's: a write's bytes go to FD as one datagram and into the
registers that reads are answered from, exactly as in the Swift program of the same row.
"""
import os
import socket
import struct
import sys
import time

from adafruit_pca9685 import PCA9685

port, bus = int(sys.argv[1]), int(sys.argv[2])


class RegisterBus:
    """What Adafruit's drivers need of `busio.I2C`."""

    def __init__(self):
        self.registers = bytearray(512)

    def try_lock(self):
        return True

    def unlock(self):
        pass

    def writeto(self, address, buffer, *, start=0, end=None):
        piece = bytes(buffer[start:end])
        if len(piece) < 2:
            return  # a probe
        os.write(bus, piece)
        self.registers[piece[0]:piece[0] + len(piece) - 1] = piece[1:]

    def writeto_then_readfrom(self, address, out_buffer, in_buffer, *, out_start=0, out_end=None, in_start=0, in_end=None):
        register = out_buffer[out_start]
        end = len(in_buffer) if in_end is None else in_end
        in_buffer[in_start:end] = self.registers[register:register + end - in_start]

    def readfrom_into(self, address, buffer, *, start=0, end=None):
        pass


pca = PCA9685(RegisterBus())
pca.frequency = 50
channel = pca.channels[0]
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.bind(("127.0.0.1", port))
sock.settimeout(0.1)
armed, last_command = False, 0.0
try:
    while True:
        try:
            data, source = sock.recvfrom(64)
            version, kind, length, _ = struct.unpack_from("<BBBB", data)
            if version != 1 or length != len(data) - 4:
                continue
            if kind == 1:
                armed, last_command = True, time.monotonic()
            elif kind == 2:
                armed = False
                channel.duty_cycle = 0
            elif kind == 3 and armed:
                pulse = max(500, min(2500, struct.unpack_from("<H", data, 4)[0]))
                channel.duty_cycle = int(pulse * 0xFFFF / 20000)
                last_command = time.monotonic()
        except (TimeoutError, struct.error):
            pass
        if armed and time.monotonic() - last_command > 0.2:
            armed = False
            channel.duty_cycle = 0
except (BrokenPipeError, ConnectionError, KeyboardInterrupt):
    pass
