"""What the flight recorder costs a tick, and how fast a recording is replayed."""
import statistics

from ..report import Aim, Report, Table, number

TITLE = "Flight recorder"
METHOD = """
One loop at 1 kHz on the simulated clock, by the production scheduler: each tick reads a value of 64 bytes, looks for an order, publishes 64 bytes, and in every
fiftieth answers an order. Real time for each tick without and with a recorder, in turns; the difference of the two in the same round is the recorder's cost. Then what was
recorded (the last 64 MB) is replayed by another runtime and compared: no difference may be found. No peer replays by computing, so there is none to put beside it.
"""


def run(context):
    report = Report("recorder", TITLE, METHOD)
    ticks = context.long_or_quick(10_000_000, 500_000)
    results = {"off": [], "on": []}
    for _, name in context.turns(results):
        results[name].append(context.processes.run_json([context.bench, "recorded", name, ticks], 120))
    report.raw.update(results)
    costs = [on["tick_ns"] - off["tick_ns"] for off, on in zip(results["off"], results["on"])]
    rows = [[title, *(number(figure(values)) for figure in (statistics.median, min, max))] for title, values in {
        "a tick without, ns": [one["tick_ns"] for one in results["off"]],
        "a tick with, ns": [one["tick_ns"] for one in results["on"]],
        "the recorder's cost, ns": costs,
        "bytes a tick": [one["bytes"] for one in results["on"]],
        "kB/s at 1 kHz": [one["bytes"] for one in results["on"]],
        "a replayed tick, ns": [one["replay_tick_ns"] for one in results["on"]],
        "replay, times real time": [one["times_real_time"] for one in results["on"]],
    }.items()]
    report.tables.append(Table("Recorder", ["", "median", "least", "most"], rows))
    report.aims.append(Aim("the recorder's cost", statistics.median(costs), 100, "ns"))
    report.aims.append(Aim("differences", max(one["differences"] for one in results["on"]), 0, ""))
    report.aims.append(Aim(
        "replay", statistics.median(one["times_real_time"] for one in results["on"]), 1000, "times real time", at_least=True))
    return report
