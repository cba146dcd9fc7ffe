"""What a release costs on top of its two system calls; what it allocates and locks."""
import os
import re
import statistics

from ..processes import Failed
from ..report import Aim, Report, Table, number

TITLE = "Cost of a release on top of its two system calls"
METHOD = """
A real lane with one loop (not the simulated clock) whose tick only counts. The floor is a bare C loop of clock_nanosleep
to an absolute instant and one clock_gettime.

- Cost: both run on a preloaded "null kernel", in which clock_nanosleep returns at once and moves the clock to the
  instant asked for. What is left is all our own: thread processor time for each release, minus the floor's.
- Really sleeping: both at SCHED_FIFO on the same processor, 10 kHz; processor time for each release with caches and
  branch predictor as cold as a sleep leaves them. The kernel's part is in both and varies by more than we cost.
- Instructions: Valgrind's callgrind on the null kernel, the difference of two lengths, so start-up cancels; user space.
- Allocations and locks: calls of the allocator and of the C library's locks counted by a preloaded library from inside
  the tick over 10⁶ real releases at 20 kHz; futex system calls by strace over the same.
"""


def run(context):
    context.require_real_time()
    report = Report("release-cost", TITLE, METHOD)
    processor_time(context, report)
    sleeping(context, report)
    instructions(context, report)
    calls(context, report)
    return report


def preloading(context, name):
    return {**os.environ, "LD_PRELOAD": str(context.peer(name))}


def processor_time(context, report):
    count = context.long_or_quick(10_000_000, 500_000)
    commands = {"Tactus": [context.bench, "cost", "past", count], "floor": [context.peer("floor"), "past", count]}
    results = alternate(context, commands, env=preloading(context, "null_kernel.so"))
    cost = statistics.median(a - b for a, b in zip(results["Tactus"], results["floor"]))
    report.raw["null kernel, ns"] = results
    report.tables.append(Table("Processor time on the null kernel, ns a release", ["", "median", "least", "most"], [
        [name, *(number(figure(values)) for figure in (statistics.median, min, max))]
        for name, values in results.items()]))
    report.aims.append(Aim("cost of a release on top of its two calls", cost, 60, "ns"))


def sleeping(context, report):
    count = context.long_or_quick(30_000, 5_000)
    tail = [count, 100_000, context.priority, context.cpu]
    commands = {"Tactus": [context.bench, "cost", "sleep", *tail], "floor": [context.peer("floor"), "sleep", *tail]}
    results = alternate(context, commands)
    report.raw["sleeping, ns"] = results
    lines = [[name, *(number(figure(values)) for figure in (statistics.median, min, max))]
             for name, values in results.items()]
    differences = [a - b for a, b in zip(results["Tactus"], results["floor"])]
    lines.append(["difference", *(number(figure(differences)) for figure in (statistics.median, min, max))])
    report.tables.append(Table(
        "Processor time while really sleeping at 10 kHz, kernel included, ns a release",
        ["", "median", "least", "most"], lines))


def alternate(context, commands, **options):
    results = {name: [] for name in commands}
    for _, name in context.turns(commands):
        results[name].append(context.processes.run_json(commands[name], 120, **options)["processor_ns"])
    return results


def instructions(context, report):
    short, long = 10_000, 60_000
    per_release = {}
    # Valgrind gives up on the debug information that the Swift compiler writes.
    stripped = context.scratch / "tactus-bench"
    context.processes.run(["strip", "-o", stripped, context.bench], 30)
    for name, command in (("Tactus", [stripped, "cost", "past"]), ("floor", [context.peer("floor"), "past"])):
        counted = [callgrind(context, [*command, count]) for count in (short, long)]
        per_release[name] = (counted[1] - counted[0]) / (long - short)
    report.raw["instructions"] = per_release
    report.tables.append(Table(
        "Instructions a release, user space", ["", "instructions"],
        [[name, number(value)] for name, value in per_release.items()]
        + [["on top", number(per_release["Tactus"] - per_release["floor"])]]))


def callgrind(context, command):
    out = context.scratch / "callgrind"
    context.processes.run(
        ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", *command], 300,
        env=preloading(context, "null_kernel.so"))
    match = re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.MULTILINE)
    if match is None:
        raise Failed("callgrind wrote no total")
    return int(match.group(1))


def calls(context, report):
    releases = context.long_or_quick(1_000_000, 20_000)
    command = [context.bench, "calls", releases, context.priority, context.cpu]
    counted = context.processes.run_json(command, 240, env=preloading(context, "count_calls.so"))
    traced = {count: futexes(context, [context.bench, "calls", count, context.priority, context.cpu])
              for count in (1_000, releases)}
    report.raw["calls"] = {**counted, "futex": traced}
    more = max(0, traced[releases] - traced[1_000])
    report.tables.append(Table(f"Over {releases:,} releases", ["", "calls"], [
        ["allocator (malloc, free, …)", f"{counted['allocations']:,}"],
        ["C library locks", f"{counted['locks']:,}"],
        ["futex system calls more than in a run of 1,000", f"{more:,}"]]))
    report.aims.append(Aim("allocations", counted["allocations"], 0, "calls"))
    report.aims.append(Aim("locks", counted["locks"] + more, 0, "calls"))


def futexes(context, command):
    out = context.scratch / "strace"
    context.processes.run(["strace", "-f", "--seccomp-bpf", "-c", "-e", "trace=futex", "-o", out, *command], 240)
    match = re.search(r"^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?futex", out.read_text(), re.MULTILINE)
    return int(match.group(1)) if match else 0
