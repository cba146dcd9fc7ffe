"""How long an embedder's outputs stay on after its program has ended, however it ends."""
import os
import select
import signal
import statistics
import subprocess
import time
import tty

from ..processes import Failed
from ..report import Aim, Report, Table

TITLE = "From the end of an embedder's program to its safe output"
METHOD = """
`tactus-bench guarded`: a program with one lane at 1 kHz and a `Guard` of product TactusGuard with a time-out of 200 ms, whose safe state is one
byte on a pseudo-terminal. Time runs from just before the signal is sent, or from just before the program begins to end itself, until the byte can
be read at the other end: the end of the process, the guard's wake-up and the write are in it. "hangs" is a tick of the lane that does not end.
Nothing runs at real-time priority but the guard itself.
"""
TIMEOUT = 200
AT_ONCE = ["kill -9", "SIGTERM", "exit(0)", "return from main", "thrown error", "trap"]
LATER = ["SIGSTOP", "a tick hangs"]
SIGNALS = {"kill -9": signal.SIGKILL, "SIGTERM": signal.SIGTERM, "SIGSTOP": signal.SIGSTOP}
WORDS = {"exit(0)": "exit", "return from main": "return", "thrown error": "throw", "trap": "trap", "a tick hangs": "hang"}


def run(context):
    report = Report("guard", TITLE, METHOD)
    times = {ending: [] for ending in AT_ONCE + LATER}
    repeats = context.long_or_quick(20, 2)
    for _, ending in context.turns(times):
        for _ in range(repeats):
            times[ending].append(end(context, ending))
    report.raw = times

    def largest(endings):
        return max(max(times[ending]) for ending in endings) / 1e6

    report.tables.append(Table("ms", ["ending", "p50", "p99", "longest", "runs"], [
        [ending, *(f"{value / 1e6:,.1f}" for value in (statistics.median(all), nearest(all, 0.99), max(all))), len(all)]
        for ending, all in times.items()]))
    report.aims += [
        Aim("ends at once: until the output is safe, longest", largest(AT_ONCE), 20, "ms"),
        Aim("stopped or hanging: the same, longest", largest(LATER),
            TIMEOUT, "ms"),
    ]
    return report


def nearest(values, share):
    return sorted(values)[max(0, -(-int(share * 100) * len(values) // 100) - 1)]


def end(context, ending):
    master, slave = os.openpty()
    tty.setraw(slave)
    program = context.processes.start(
        [context.bench, "guarded", os.ttyname(slave), TIMEOUT, WORDS.get(ending, "wait")], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, "SWIFT_BACKTRACE": "enable=no"})
    try:
        if program.stdout.readline() != "ready\n":
            raise Failed("tactus-bench guarded did not become ready")
        time.sleep(0.05)
        if ending in SIGNALS:
            began = time.monotonic_ns()
            os.kill(program.pid, SIGNALS[ending])
        else:
            program.stdin.write("\n")
            program.stdin.flush()
            began = int(program.stdout.readline())
        ready, _, _ = select.select([master], [], [], 10)
        until = time.monotonic_ns()
        if not ready or os.read(master, 16)[:1] != b"S":
            raise Failed(f"{ending}: nothing was written within 10 s")
        return until - began
    finally:
        if program.poll() is None:
            program.kill()
        program.wait()
        context.processes.live.pop(program.pid, None)
        program.stdin.close()
        program.stdout.close()
        # The guard writes once more, or ends; the line must live so long.
        select.select([master], [], [], 0.05)
        os.close(slave)
        os.close(master)
