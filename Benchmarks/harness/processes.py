"""Starts programs so that none of them outlives this one, and bounds every wait."""
import ctypes
import json
import os
import signal
import subprocess
from contextlib import contextmanager

_libc = ctypes.CDLL(None)
_PR_SET_PDEATHSIG = 1


class Failed(Exception):
    """A program did not do what the row needs; the message says which and how."""


class Processes:
    """Every program runs in a process group of its own, dies with this process, and is killed by `close`."""

    def __init__(self):
        self.live = {}

    def start(self, command, **options):
        process = subprocess.Popen(
            [str(part) for part in command], start_new_session=True, text=True,
            preexec_fn=lambda: _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL), **options)
        self.live[process.pid] = process
        return process

    def stop(self, process, grace=2.0):
        """SIGTERM, then SIGKILL to its group after `grace` seconds. Returns what it printed, if that was piped."""
        if process.poll() is None:
            process.terminate()
        try:
            output, _ = process.communicate(timeout=grace)
        except subprocess.TimeoutExpired:
            self._kill(process)
            output, _ = process.communicate()
        self.live.pop(process.pid, None)
        return output

    def run(self, command, limit, **options):
        """Runs to the end and returns standard output; `Failed` after `limit` seconds or on a bad exit status."""
        process = self.start(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        name = os.path.basename(str(command[0]))
        try:
            output, errors = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            self._kill(process)
            process.communicate()
            raise Failed(f"{name} did not end within {limit:g} s") from None
        finally:
            self.live.pop(process.pid, None)
        if process.returncode != 0:
            raise Failed(f"{name} ended with {process.returncode}: {errors.strip()[-400:]}")
        return output

    def run_json(self, command, limit, **options):
        return json.loads(self.run(command, limit, **options).strip().splitlines()[-1])

    def close(self):
        for process in list(self.live.values()):
            self._kill(process)
            process.wait()
        self.live.clear()

    @staticmethod
    def _kill(process):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    @contextmanager
    def hogs(self, program, count, seconds):
        """`count` busy processes at normal priority, gone when the block ends."""
        busy = [self.start([program, str(int(seconds) + 1)]) for _ in range(count)]
        try:
            yield
        finally:
            for process in busy:
                self._kill(process)
                process.wait()
                self.live.pop(process.pid, None)
