"""How far from its instant a leg's deadman cuts the pulse."""
from ..report import Aim, Report, Table, microseconds
from ..samples import PERCENTILES, Distribution, pooled

TITLE = "Error of a leg's deadman"
METHOD = """
Sixteen legs in one production loop (50 Hz, released by arrival and by deadlines) at SCHED_FIFO 80 on one processor, each with a UDP
socket of its own; their chip is registers in memory that stamp every full-off with the clock. A feeder at the same priority on the
other processor disarms, arms and sets each leg at random moments, reads the clock just before it sends the last command, and
waits for the off. A sample is the off's stamp minus that reading minus 200 ms: what the way through the kernel, the loop's waking
at arrival and its waking at the deadline add. Never less than zero: earlier would be a trip too soon. In simulated time the same
loop is closed over a network with 7 ms of jitter: there the off comes at the deadline, to the nanosecond.
"""


def run(context):
    context.require_real_time()
    report = Report("leg-deadman", TITLE, METHOD)
    trips = context.long_or_quick(10_000, 400)
    lines = []
    for hogs in (False, True):
        condition = "4 hogs" if hogs else "idle"
        # About 70 trips a second.
        wanted = trips if not hogs else trips // 4
        limit = wanted / 30 + 30
        out = context.scratch / "samples"
        with context.load(hogs, limit):
            counts = context.processes.run_json(
                [context.bench, "deadman", wanted, out, context.priority, context.cpu, context.other_cpu], limit)
        errors = Distribution.from_file(out)
        lines.append([
            condition, *(microseconds(errors.percentile(percent)) for percent in PERCENTILES),
            microseconds(errors.maximum), microseconds(min(errors.counts)), f"{errors.count:,}", counts["lost"],
            counts["skipped"]])
        report.raw[condition] = errors.summary()
        report.aims.append(Aim(
            f"{condition}: p99.9 of the error", errors.percentile(99.9) / 1e6, 1, unit="ms"))
        report.aims.append(Aim(f"{condition}: none too early", min(errors.counts) / 1e6, 0, unit="ms", at_least=True))
    simulated = context.processes.run_json([context.bench, "deadman-simulated", trips], 300)
    report.raw["simulated"] = simulated
    report.tables.append(Table(
        "Real time, µs", ["", "p50", "p99", "p99.9", "max", "least", "trips", "lost", "releases skipped"], lines))
    report.tables.append(Table(
        "Simulated time, ns", ["", "max", "trips"], [["", simulated["worst_ns"], f"{simulated['trips']:,}"]]))
    report.aims.append(Aim("simulated: the error", simulated["worst_ns"], 0, unit="ns"))
    return report
