"""How evenly a leg's 50 Hz keepalive arrives."""
import select
import socket
import struct
import sys
import time

from ..processes import Failed
from ..report import Aim, Report, Table, microseconds, number
from ..samples import PERCENTILES, Distribution, median_ratio, pooled

TITLE = "Spacing of a leg's 50 Hz keepalive"
METHOD = """
Each sender sends the pulse of a leg on loopback 50 times a second; the receiver takes the kernel's receive stamps
(SO_TIMESTAMPNS), so its own waking is not in them, and answers with telemetry ten times a second as an armed leg does. A
sample is how far the time between two consecutive pulses is from 20 ms, either way; the first second is left out.

- Tactus: the operator's production loop, as `tactus leg` runs it, on a lane at SCHED_FIFO 80, memory locked, pinned.
- Dispatch: `DispatchSourceTimer` with the strict flag on a serial queue of its own, normal priority.
- Python: `time.sleep` to absolute instants, `socket.send`, normal priority.

Idle means nothing else was started; the hogs are four busy processes at normal priority.
"""
PERIOD = 20_000_000
PULSE = b"\x01\x03\x02\x00"
TELEMETRY = bytes([1, 0x10, 8, 0, 1, 0, 10, 0, 0, 0, 0, 0])


def run(context):
    context.require_real_time()
    report = Report("leg-keepalive", TITLE, METHOD)
    for hogs in (False, True):
        condition = "4 hogs" if hogs else "idle"
        spacings = {name: [] for name in SENDERS}
        for _, name in context.turns(SENDERS):
            with context.load(hogs, 60):
                spacings[name].append(measure(context, name))
        add(report, condition, spacings)
    return report


def measure(context, name):
    seconds = context.long_or_quick(20, 3)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as leg:
        leg.bind(("127.0.0.1", 0))
        leg.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        process = context.processes.start(SENDERS[name](context, leg.getsockname()[1], seconds + 1))
        stamps = receive(leg, process, seconds + 20)
    context.processes.stop(process)
    stamps = stamps[50:]
    if len(stamps) < 25 * seconds:
        raise Failed(f"{name} sent {len(stamps)} pulses in {seconds} s")
    return [later - earlier for earlier, later in zip(stamps, stamps[1:])]


SO_TIMESTAMPNS = 35


def receive(leg, process, limit):
    """The stamps of the pulses until the sender has ended."""
    stamps = []
    report_at, end = time.monotonic(), time.monotonic() + limit
    sender = None
    while time.monotonic() < end:
        now = time.monotonic()
        if sender and now >= report_at:
            report_at = now + 0.1
            leg.sendto(TELEMETRY, sender)
        ready, _, _ = select.select([leg], [], [], 0.05)
        if not ready:
            if process.poll() is not None:
                return stamps
            continue
        data, control, _, sender = leg.recvmsg(64, 64)
        if data[:4] == PULSE:
            seconds, nanoseconds = struct.unpack("qq", control[0][2])
            stamps.append(seconds * 1_000_000_000 + nanoseconds)
    raise Failed("a sender did not end")


SENDERS = {
    "Tactus": lambda context, port, seconds: [
        context.bench, "keepalive", "lane", port, seconds, context.priority, context.cpu],
    "Dispatch": lambda context, port, seconds: [context.bench, "keepalive", "dispatch", port, seconds],
    "Python": lambda context, port, seconds: [sys.executable, context.peer("keepalive.py"), port, seconds],
}


def add(report, condition, spacings):
    deviations = {
        name: [Distribution([abs(spacing - PERIOD) for spacing in one]) for one in rounds]
        for name, rounds in spacings.items()}

    def ratio(name, percent):
        return median_ratio([one.percentile(percent) for one in deviations["Tactus"]],
                            [one.percentile(percent) for one in deviations[name]])

    lines = []
    for name, rounds in deviations.items():
        total = pooled(rounds)
        lines.append([
            name, *(microseconds(total.percentile(percent)) for percent in PERCENTILES), microseconds(total.maximum),
            f"{total.count:,}", *("" if name == "Tactus" else number(ratio(name, percent)) for percent in PERCENTILES)])
        report.raw.setdefault(condition, {})[name] = [one.summary() for one in rounds]
    report.tables.append(Table(
        f"{condition}: from 20 ms, µs",
        ["", "p50", "p99", "p99.9", "max", "spacings", "ours ÷ it, p50", "p99", "p99.9"], lines))
    lines = []
    for name, rounds in spacings.items():
        total = pooled([Distribution(one) for one in rounds])
        lines.append([name, *(f"{total.percentile(percent) / 1e6:.3f}" for percent in PERCENTILES),
                      f"{total.maximum / 1e6:.3f}"])
    report.tables.append(Table(f"{condition}: the spacing itself, ms", ["", "p50", "p99", "p99.9", "max"], lines))
    if condition != "idle":
        for name in ("Dispatch", "Python"):
            report.aims.append(Aim(f"{condition}: p99.9 to {name}'s", ratio(name, 99.9), 1))
