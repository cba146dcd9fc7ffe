"""Heartbeats for `tactus guard --timeout 500ms --outputs outputs.yaml -- python3 robot.py`. Copy this file beside your program.

    import tactus_guard
    guard = tactus_guard.Guard()
    while True:
        guard.beat()        # in the loop that must not hang
        ...

`beat` costs a few microseconds and never blocks; it may be called as often as you like. Without a guard, as on a desk, it does nothing.
"""
import os
import socket
import struct
import time

_MESSAGE = struct.Struct("=QQqqQQQ")  # tactus_guard_message in CTactusGuard.h
_HEARTBEAT, _ANSWER, _ASK = 2, 3, 4


class GuardLost(Exception):
    """The guard process has died: from now on nothing makes the outputs safe. End the program, or stop what moves."""


class Guard:
    """The guard that this program was started under. `is_there` is False if there is none."""

    def __init__(self):
        # Taken out: programs that this one starts have no part in it.
        descriptor = os.environ.pop("TACTUS_GUARD_FD", None)
        self.is_there = descriptor is not None
        self.number = self.sent = self.written = 0
        if self.is_there:
            os.set_inheritable(int(descriptor), False)
            self.socket = socket.socket(fileno=int(descriptor))
            self.socket.setblocking(False)
            self.period = int(os.environ["TACTUS_GUARD_PERIOD_MS"]) * 1_000_000

    def beat(self):
        """Says that the program is alive. Returns True if the guard has made the outputs safe since the last call: write them again."""
        now = time.monotonic_ns()
        if not self.is_there or now - self.sent < self.period:
            return False
        self.number, self.sent = self.number + 1, now
        self._send(_HEARTBEAT, self.number, now)
        before = self.written
        try:
            while answer := self.socket.recv(8192):
                if len(answer) >= _MESSAGE.size and (fields := _MESSAGE.unpack_from(answer))[0] == _ANSWER:
                    self.written = fields[6]
            raise GuardLost
        except BlockingIOError:
            return self.written > before

    def make_safe(self):
        """Asks for the safe state now, once. Does not wait for it."""
        if self.is_there:
            self._send(_ASK, 0, 0)

    def _send(self, kind, number, now):
        try:
            self.socket.send(_MESSAGE.pack(kind, number, now, now, 0, 0, 0), socket.MSG_NOSIGNAL)
        except BlockingIOError:
            pass  # the guard has not read the last hundred: it hangs
        except (BrokenPipeError, ConnectionError) as error:
            raise GuardLost from error
