"""How far from its instant a leg's deadman cuts the pulse."""
from ..processes import Failed
from ..report import Aim, Report, Table, microseconds
from ..samples import PERCENTILES, Distribution

TITLE = "Error of a leg's deadman"
METHOD = """
Sixteen legs in one production loop (50 Hz, released by arrival and by deadlines) at SCHED_FIFO 80 on one processor, each with a UDP
socket of its own; their chip is registers in memory that stamp every full-off with the clock. A feeder at the same priority on the
other processor disarms, arms and sets each leg at random moments, reads the clock just before it sends the last command, and
waits for the off. A sample is the off's stamp minus that reading minus 200 ms: what the way through the kernel, the loop's waking
at arrival and its waking at the deadline add. A command counts from the start of the tick that takes it, so one that arrives while
the tick begins is counted that much too soon: under a microsecond, unless the machine stops in between.
cyclictest, at the same priority on the same processor, 200 Hz, 30 s, right before: what this machine does to anything that waits for
an instant. In simulated time the same loop is closed over a network with 7 ms of jitter: there the off comes at the deadline, to
the nanosecond.
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
        seconds = context.long_or_quick(30, 3)
        with context.load(hogs, seconds + 20):
            machine = cyclictest(context, seconds)
        with context.load(hogs, limit):
            counts = context.processes.run_json(
                [context.bench, "deadman", wanted, out, context.priority, context.cpu, context.other_cpu], limit)
        errors = Distribution.from_file(out)
        lines.append([
            condition, *(microseconds(errors.percentile(percent)) for percent in PERCENTILES),
            microseconds(errors.maximum), microseconds(min(errors.counts)), f"{errors.count:,}", counts["lost"],
            counts["skipped"]])
        lines.append([
            f"{condition}: cyclictest", *(microseconds(machine.percentile(percent)) for percent in PERCENTILES),
            microseconds(machine.maximum), microseconds(min(machine.counts)), f"{machine.count:,}", "", ""])
        report.raw[condition] = {"deadman": errors.summary(), "cyclictest": machine.summary()}
        report.aims.append(Aim(
            f"{condition}: p99.9 of the error", errors.percentile(99.9) / 1e6, 1, unit="ms",
            detail=f"cyclictest's: {machine.percentile(99.9) / 1e6:.3g} ms"))
        report.aims.append(Aim(f"{condition}: the earliest", min(errors.counts) / 1e6, -1, unit="ms", at_least=True))
    simulated = context.processes.run_json([context.bench, "deadman-simulated", trips], 300)
    report.raw["simulated"] = simulated
    report.tables.append(Table(
        "Real time, µs", ["", "p50", "p99", "p99.9", "max", "least", "trips", "lost", "releases skipped"], lines))
    report.tables.append(Table(
        "Simulated time, ns", ["", "max", "trips"], [["", simulated["worst_ns"], f"{simulated['trips']:,}"]]))
    report.aims.append(Aim("simulated: the error", simulated["worst_ns"], 0, unit="ns"))
    return report


def cyclictest(context, seconds):
    output = context.processes.run(
        ["cyclictest", "-t1", "-p", context.priority, "-m", "-a", context.cpu, "-i", 5000, "-l", 200 * seconds, "-q",
         "-h", 100_000], seconds * 3 + 15)
    distribution = Distribution()
    for line in output.splitlines():
        if line and not line.startswith("#"):
            value, count = line.split()[:2]
            if int(count):
                distribution.counts[int(value) * 1000] += int(count)
    if not distribution.counts:
        raise Failed("cyclictest printed no histogram")
    return distribution
