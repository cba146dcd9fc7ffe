"""From a datagram sent to the motor write it causes."""
from ..receivers import NAMES, receiving
from ..report import Aim, Report, Table, microseconds, number
from ..samples import PERCENTILES, median_ratio, pooled

TITLE = "Datagram sent to motor write"
METHOD = """
A sender on one processor (SCHED_FIFO 90) sends a JSON command over loopback about every 10 ms, at random against the
receiver's own ticks; the receiver's motor is one end of a datagram socket pair. Latency: the kernel's stamp of the motor
write minus the clock read just before the send, so the sender's own waking is not in it.

- Tactus: the robot's motor loop (20 Hz, released by arrival, no ramp) with the Raspbot driver on a bus whose transfer
  writes to the motor; a lane at SCHED_FIFO 80 on the other processor.
- C: recvfrom, a minimal JSON scan, one write, at the same priority on the same processor.
- Python: recvfrom, json.loads, one write, at normal priority, as the original script runs.
"""


def run(context):
    context.require_real_time()
    report = Report("datagram", TITLE, METHOD)
    probes = context.long_or_quick(500, 50)
    for hogs in (False, True):
        condition = "4 hogs" if hogs else "idle"
        results = {name: [] for name in NAMES}
        lost = dict.fromkeys(NAMES, 0)
        for _, name in context.turns(NAMES):
            with context.load(hogs, 60), receiving(context, name) as receiver:
                counts, latencies = receiver.probe(probes, 10_000, 50)
            results[name].append(latencies)
            lost[name] += counts["sent"] - counts["acted"]
        add(report, condition, results, lost)
    return report


def add(report, condition, results, lost):
    ours = results["Tactus"]

    def ratio(name, percent):
        return median_ratio([one.percentile(percent) for one in ours],
                            [one.percentile(percent) for one in results[name]])

    lines = []
    for name, rounds in results.items():
        total = pooled(rounds)
        lines.append([
            name, *(microseconds(total.percentile(percent)) for percent in PERCENTILES), microseconds(total.maximum),
            f"{total.count:,}", lost[name],
            *("" if name == "Tactus" else number(ratio(name, percent)) for percent in (50, 99))])
        report.raw.setdefault(condition, {})[name] = [one.summary() for one in rounds]
    report.tables.append(Table(
        f"{condition}, µs", ["", "p50", "p99", "p99.9", "max", "commands", "lost", "ours ÷ it, p50", "p99"], lines))
    for percent in (50, 99):
        report.aims.append(Aim(f"{condition}: p{percent} to the C receiver's", ratio("C", percent), 1.2))
    floor = median_ratio([one.percentile(50) for one in results["C"]], [one.percentile(50) for one in results["Python"]])
    report.aims.append(Aim(f"{condition}: p50 to Python's", ratio("Python", 50), 0.3,
                           detail=f"the C receiver: {number(floor)}"))
    if condition != "idle":
        report.aims.append(Aim(f"{condition}: p99 to Python's", ratio("Python", 99), 0.1))
