"""What one release costs as a lane gets more loops."""
import math
import statistics

from ..report import Aim, Report, Table, number

TITLE = "Cost of a release with 1 to 10,000 loops on one lane"
METHOD = """
Simulated clock, so no sleeping: loops of one lane at 1 kHz whose phases are spread over the period, empty ticks, the same
number of releases in all. ns for each release, medians over the rounds. The least-squares line over log2 n from 10 loops on
gives ns for each doubling; grows no faster than log n means that no tenfold step costs more than the log-n line through
the two steps before it allows, and is measured as (cost at 10,000 − cost at 100) ÷ (cost at 100 − cost at 1): log n gives
1, a linear scan 100.
"""
COUNTS = (1, 10, 100, 1_000, 10_000)


def run(context):
    releases = context.long_or_quick(20_000_000, 1_000_000)
    report = Report("loops", TITLE, METHOD)
    costs = {count: [] for count in COUNTS}
    for _, count in context.turns(COUNTS):
        costs[count].append(
            context.processes.run_json([context.bench, "loops", count, releases], 120)["release_ns"])
    report.raw = {str(count): values for count, values in costs.items()}
    medians = {count: statistics.median(values) for count, values in costs.items()}
    slope, intercept = fit([(math.log2(count), medians[count]) for count in COUNTS if count >= 10])
    report.tables.append(Table(
        f"ns a release; fit {number(intercept)} + {number(slope)} × log2 n", ["loops", "median", "least", "most", "fit"],
        [[f"{count:,}", number(medians[count]), number(min(costs[count])), number(max(costs[count])),
          number(intercept + slope * math.log2(count))] for count in COUNTS]))
    growth = (medians[10_000] - medians[100]) / max(1e-9, medians[100] - medians[1])
    report.aims.append(Aim("growth from 100 to 10,000 loops over growth from 1 to 100", growth, 1.0))
    return report


def fit(points):
    mean_x = statistics.mean(x for x, _ in points)
    mean_y = statistics.mean(y for _, y in points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)
    return slope, mean_y - slope * mean_x
