"""From a leg's command sent to the last I2C byte that it causes, beside Adafruit's driver."""
import socket
import subprocess
from contextlib import contextmanager

from ..context import PACKAGE
from ..processes import Failed
from ..receivers import free_port
from ..report import Aim, Report, Table, microseconds, number
from ..samples import PERCENTILES, Distribution, median_ratio, pooled

TITLE = "A leg's command to the last I2C byte"
METHOD = """
A sender on one processor (SCHED_FIFO 90) sends a leg on loopback its pulse (LegCtrl v0.1), another one each time, about every
10 ms, at random against the leg's own ticks. Both legs write to the same bus: one end of a datagram socket pair, one datagram a
transaction, reads answered from registers in memory; no bus hardware and no bit times are in it. Latency: the kernel's stamp of the
transaction that completes channel 0's four bytes minus the clock read just before the send. Bytes count the address.

- Tactus: the production loop of one leg (50 Hz, released by arrival, its deadman and clamps) with our PCA9685 driver; a lane at
  SCHED_FIFO 80 on the other processor.
- Adafruit: recvfrom, struct.unpack, `PCA9685.channels[0].duty_cycle` of adafruit-circuitpython-pca9685 as published, on a `busio.I2C`
  of the row's own; normal priority, as such a script runs. Blinka is not in it: it needs a board.
"""
ROOT = PACKAGE.parent
NAMES = ("Tactus", "Adafruit")


def run(context):
    context.require_real_time()
    report = Report("leg-update", TITLE, METHOD)
    requirements = PACKAGE / "peers/requirements-leg.txt"
    python = context.processes.run([ROOT / "scripts/venv", requirements], 300).strip() + "/bin/python"
    commands = context.long_or_quick(1_000, 60)
    for hogs in (False, True):
        condition = "4 hogs" if hogs else "idle"
        results = {name: [] for name in NAMES}
        counts = {name: dict.fromkeys(("sent", "acted", "transactions", "bytes"), 0) for name in NAMES}
        for _, name in context.turns(NAMES):
            with context.load(hogs, 90), running(context, name, python) as (port, bus):
                out = context.scratch / "probes"
                seen = context.processes.run_json(
                    [context.peer("leg_prober"), port, bus.fileno(), commands, 10_000, out, context.priority + 10,
                     context.other_cpu], 80, pass_fds=(bus.fileno(),))
                results[name].append(Distribution.from_file(out))
            for key in counts[name]:
                counts[name][key] += seen[key]
        add(report, condition, results, counts)
    return report


@contextmanager
def running(context, name, python):
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    port = free_port()
    command = {
        "Tactus": [context.bench, "leg", port, theirs.fileno(), context.priority, context.cpu],
        "Adafruit": [python, context.peer("leg_adafruit.py"), port, theirs.fileno()],
    }[name]
    process = context.processes.start(command, pass_fds=(theirs.fileno(),), stdout=subprocess.PIPE)
    theirs.close()
    try:
        yield port, ours
        if process.poll() is not None:
            raise Failed(f"the leg ended with {process.returncode}")
    finally:
        context.processes.stop(process)
        ours.close()


def add(report, condition, results, counts):
    def ratio(percent):
        return median_ratio(*([one.percentile(percent) for one in results[name]] for name in NAMES))

    lines = []
    for name, rounds in results.items():
        total, count = pooled(rounds), counts[name]
        lines.append([
            name, *(microseconds(total.percentile(percent)) for percent in PERCENTILES), microseconds(total.maximum),
            f"{total.count:,}", count["sent"] - count["acted"], number(count["transactions"] / count["sent"]),
            number(count["bytes"] / count["sent"]),
            *("" if name == "Tactus" else number(ratio(percent)) for percent in (50, 99))])
        report.raw.setdefault(condition, {})[name] = {
            "rounds": [one.summary() for one in rounds], "counts": count}
    report.tables.append(Table(
        f"{condition}, µs",
        ["", "p50", "p99", "p99.9", "max", "updates", "lost", "transactions an update", "bytes", "ours ÷ it, p50", "p99"],
        lines))
    for percent in (50, 99):
        report.aims.append(Aim(f"{condition}: p{percent} to Adafruit's driver", ratio(percent), 0.1))
