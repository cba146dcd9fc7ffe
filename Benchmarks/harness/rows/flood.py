"""Garbage beside a sender."""
import subprocess

from ..receivers import NAMES, receiving
from ..report import Aim, Report, Table, microseconds
from ..samples import pooled
import json

TITLE = "100,000 garbage datagrams a second beside a 20 Hz sender"
METHOD = """
Loopback. The flood sends datagrams that are no valid command (random bytes, truncated JSON, wrong types, one in 64 longer
than the buffer) in bursts of ten every 100 µs; beside it a sender sends a valid command every 50 ms and waits for the
motor write that carries it, 45 ms at most. "Dropped" is the kernel's count for the receiver's socket buffer. C and Python
are shown for comparison.
"""


def run(context):
    context.require_real_time()
    report = Report("flood", TITLE, METHOD)
    seconds = context.long_or_quick(10, 2)
    results = {name: [] for name in NAMES}
    for _, name in context.turns(NAMES):
        results[name].append(one_round(context, name, seconds))
    lines = []
    for name, rounds in results.items():
        latencies = pooled([run["latencies"] for run in rounds])
        sent, acted = (sum(run[key] for run in rounds) for key in ("sent", "acted"))
        lines.append([
            name, f"{sum(run['flooded'] for run in rounds):,}", f"{min(run['per_second'] for run in rounds):,.0f}",
            sent, acted, sum(run["dropped"] for run in rounds),
            *((microseconds(latencies.percentile(percent)) for percent in (50, 99)) if acted else ("", "")),
            sum(run["ran"] for run in rounds) if name == "Tactus" else "",
            sum(run["skipped"] for run in rounds) if name == "Tactus" else ""])
        report.raw[name] = [{**run, "latencies": run["latencies"].summary() if run["acted"] else None}
                            for run in rounds]
    report.tables.append(Table(
        "All rounds", ["", "garbage sent", "least a second", "commands", "acted on", "dropped", "p50 µs", "p99 µs",
                       "periodic ticks", "skipped"], lines))
    ours = results["Tactus"]
    report.aims.append(Aim("valid commands not acted on", sum(run["sent"] - run["acted"] for run in ours), 0, ""))
    report.aims.append(Aim("ticks skipped", sum(run["skipped"] for run in ours), 0, ""))
    return report


def one_round(context, name, seconds):
    with receiving(context, name) as receiver:
        # Up and acting before the flood begins.
        receiver.probe(-1, 50_000, 15)
        flood = context.processes.start(
            [context.peer("flood"), receiver.port, 100_000, seconds + 1, context.other_cpu], stdout=subprocess.PIPE)
        try:
            counts, latencies = receiver.probe(-20 * seconds, 50_000, seconds + 15)
        finally:
            flooded, _ = flood.communicate(timeout=seconds + 10)
            context.processes.live.pop(flood.pid, None)
        flooded = json.loads(flooded)
        dropped = receiver.dropped()
    result = {**counts, "latencies": latencies, "flooded": flooded["sent"], "per_second": flooded["per_second"],
              "dropped": dropped}
    if name == "Tactus":
        result.update(json.loads(receiver.printed.strip().splitlines()[-1]))
    return result
