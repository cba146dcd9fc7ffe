"""The single-producer single-consumer ring beside Boost's."""
import statistics

from ..report import Aim, Report, Table, number
from ..samples import median_ratio

TITLE = "Ring: throughput and cross-core round trip"
METHOD = """
One producer and one consumer thread, pinned to two processors, capacity 1024, full speed. Throughput: ns for each element
moved. Round trip: an element there through one ring and back through another, both sides spinning. The peer is
`boost::lockfree::spsc_queue`, g++ -O3. Figures are medians over the rounds, ratios the median of the rounds' ratios.
Full and empty: how often an end found the ring full or empty for each element that was moved. One word there and back: an
atomic word handed from one processor to the other and back by two spinning threads, what any exchange costs at least.
"""
FIGURES = {"element_ns": "throughput, ns an element", "round_trip_ns": "round trip, ns"}


def run(context):
    count, trips = context.long_or_quick((20_000_000, 1_000_000), (1_000_000, 50_000))
    report = Report("ring", TITLE, METHOD)
    lines = []
    for size in (8, 64):
        arguments = [size, count, trips, context.other_cpu, context.cpu]
        commands = {"Tactus": [context.bench, "ring", *arguments], "Boost": [context.peer("spsc"), *arguments]}
        compare(context, report, f"{size} bytes", commands, FIGURES, lines)
    report.tables.append(Table("Ring", ["", "Tactus", "Boost", "ratio"], lines))
    report.tables.append(Table("Every round: what the throughput depends on", [
        "", "round", "Tactus, ns", "full", "empty", "Boost, ns", "full", "empty", "one word there and back, ns"], rounds(report)))
    return report


def rounds(report):
    """A line for every round, the slowest of ours last."""
    lines = []
    for condition, results in report.raw.items():
        pairs = sorted(enumerate(zip(results["Tactus"], results["Boost"]), 1), key=lambda pair: pair[1][0]["element_ns"])
        for turn, (one, other) in pairs:
            lines.append([condition, turn, *(number(run[key]) for run in (one, other) for key in ("element_ns", "full", "empty")),
                          number(other["line_ns"])])
    return lines


def compare(context, report, condition, commands, figures, lines):
    """Runs the commands alternately; a line and an aim of ≤ 1.0 × for every figure they print: first beside second."""
    results = {name: [] for name in commands}
    for _, name in context.turns(commands):
        results[name].append(context.processes.run_json(commands[name], 120))
    report.raw[condition] = results
    ours, theirs, *others = (results[name] for name in commands)
    for figure, title in figures.items():
        one, other = [run[figure] for run in ours], [run[figure] for run in theirs]
        ratio = median_ratio(one, other)
        low, high = min(a / b for a, b in zip(one, other)), max(a / b for a, b in zip(one, other))
        lines.append([f"{condition}: {title}", number(statistics.median(one)), number(statistics.median(other)),
                      *(number(statistics.median(run[figure] for run in runs)) for runs in others), number(ratio)])
        report.aims.append(Aim(f"{condition}: {title}", ratio, 1.0,
                               detail=f"rounds from {number(low)} to {number(high)}"))
