"""How old the sensor's data is when the actuator has used it: two loops of one lane, by phases and in order."""
from ..report import Aim, Report, Table, microseconds

TITLE = "Age of data from sensor to actuator, two 100 Hz loops of one lane"
METHOD = """
One SCHED_FIFO lane with two empty loops at 100 Hz. The first publishes a value that says when it was measured (`Sampled`), the
second uses it (`DataAge`): from the start of the first one's tick to the end of the second one's. "phases": each loop has the
phase that the planner gives it, apart from the other's; "in order": `after: "sensor"`. The bound is the planner's, from the
execution times measured in the same run; it does not contain the kernel's lateness.
"""


def run(context):
    context.require_real_time()
    report = Report("age", TITLE, METHOD)
    seconds = context.long_or_quick(5, 1)
    results = {"phases": [], "in order": []}
    for _, name in context.turns(results):
        word = "ordered" if name == "in order" else "phases"
        results[name].append(context.processes.run_json(
            [context.bench, "age", word, 100, seconds, context.priority, context.cpu], seconds + 15))
    report.raw = results
    lines = []
    for name, rounds in results.items():
        for one in rounds:
            lines.append([name, *(microseconds(one[key]) for key in ("p50", "p99", "max", "bound")), f"{one['count']:,}"])
    report.tables.append(Table("µs", ["", "p50", "p99", "max", "bound", "samples"], lines))
    medians = sorted(one["p50"] for one in results["in order"])
    report.aims.append(Aim("in order: median age, median of the rounds", medians[len(medians) // 2] / 1_000, 100, "µs"))
    return report
