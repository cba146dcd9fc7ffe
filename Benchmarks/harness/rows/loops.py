"""What one release costs as a lane gets more loops."""
import math
import statistics

from ..report import Aim, Report, Table, number

TITLE = "Cost of a release with 1 to 10,000 loops on one lane"
METHOD = """
Simulated clock, so no sleeping: loops of one lane at 1 kHz whose phases are spread over the period, empty ticks, the same
number of releases in all. ns for each release, medians over the rounds. The fit is the least-squares line over log2 n from
10 loops on. Grows no faster than log n: the cost at 10,000 loops is at most what the line in log n through 10 and 1,000
loops says (10 % allowed for the measurement; growth like √n would give over 2, a linear scan over 6).
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
    line = medians[1_000] + (medians[1_000] - medians[10]) / 2
    report.aims.append(Aim("cost at 10,000 loops to the line in log n through 10 and 1,000", medians[10_000] / line, 1.1))
    return report


def fit(points):
    mean_x = statistics.mean(x for x, _ in points)
    mean_y = statistics.mean(y for _, y in points)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)
    return slope, mean_y - slope * mean_x
