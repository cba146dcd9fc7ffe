"""What holding the processors' wake-up latency is worth, ours and cyclictest's."""
from ..report import Report, Table, microseconds
from ..samples import PERCENTILES, Distribution, pooled
from .release import cyclictest

TITLE = "Release latency with and without the wake-up latency held"
METHOD = """
As row "release" at 200 Hz and idle, where a processor has the time to fall into a deep sleep between two releases. The
harness itself holds nothing in this row. "held" is what our runtime (`wakeUpLatency: .held(.zero)`, its default for a
real-time lane) and cyclictest do by themselves; "as the kernel likes" is our `.asTheKernelLikes` and cyclictest's
`--default-system`. cyclictest's histogram ends at 1,000 µs: a percentile of 1,000.0 is that or more. A processor without
deep sleeps shows no difference.
"""
RATE = 200


def run(context):
    context.require_real_time()
    report = Report("wake-up", TITLE, METHOD)
    seconds = context.long_or_quick(5, 1)
    results = {name: [] for name in PEERS}
    context.release_latency()
    try:
        for _, name in context.turns(PEERS):
            results[name].append(PEERS[name](context, seconds))
    finally:
        context.hold_latency()
    lines = []
    for name, rounds in results.items():
        total = pooled(rounds)
        lines.append([name, *(microseconds(total.percentile(percent)) for percent in PERCENTILES),
                      microseconds(total.maximum), f"{total.count:,}"])
        report.raw[name] = [one.summary() for one in rounds]
    report.tables.append(Table("200 Hz, idle, µs", ["", "p50", "p99", "p99.9", "max", "samples"], lines))
    return report


def ours(kind):
    def measure(context, seconds):
        out = context.scratch / "samples"
        context.processes.run(
            [context.bench, "release", kind, RATE, seconds, out, context.priority, context.cpu], seconds + 15)
        return Distribution.from_file(out)
    return measure


PEERS = {
    "Tactus, held": ours("lane-held"),
    "Tactus, as the kernel likes": ours("lane-unheld"),
    "cyclictest, held": lambda context, seconds: cyclictest(context, RATE, seconds),
    "cyclictest, as the kernel likes":
        lambda context, seconds: cyclictest(context, RATE, seconds, "--default-system"),
}
