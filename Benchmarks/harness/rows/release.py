"""How late a periodic release begins, beside cyclictest and what else one might use."""
import re
import sys

from ..processes import Failed
from ..report import Aim, Report, Table, microseconds, number
from ..samples import PERCENTILES, Distribution, median_ratio, pooled

TITLE = "Release latency at 1 kHz and 200 Hz"
METHOD = """
Latency: when the work begins minus when it was due, in ns, by CLOCK_MONOTONIC. Ours is taken by a clock read of the
tick's own, so our dispatch counts, and the aims are held against it; "woken" is the runtime's own first clock read after
waking, which is where cyclictest takes its sample. cyclictest's figures are its own `-N` histogram, 1 ns wide up to 1 ms
(what is later counts as 1 ms, in its favour, but for the latest). Every peer skips the periods that it has missed, and for every peer they
count alike: a release that began v late, v longer than the period P, stands for those due meanwhile, v − P, v − 2P, … late. "given
up" says how many those are. So an outage is as bad here as it is for a loop.

- Tactus: one loop on one lane, SCHED_FIFO 80, memory locked, pinned.
- cyclictest `-t1 -p 80 -m -a CPU -i PERIOD`, pinned to the same processor.
- Dispatch: `DispatchSourceTimer` with the strict flag on a serial queue of its own, normal priority.
- Task.sleep: `Task.sleep(until:)` on the continuous clock in a loop, normal priority.
- Python: `time.sleep` to absolute instants by `time.monotonic_ns`, normal priority.

Idle means nothing else was started; the hogs are four busy processes at normal priority. Ratios are the median over the
rounds of (ours ÷ theirs in the same round); "pooled" is the ratio of the percentiles over all samples of all rounds.
"""
WOKEN = "Tactus, woken"
LIMIT = 1_000_000  # cyclictest's histogram, ns


def run(context):
    context.require_real_time()
    report = Report("release", TITLE, METHOD)
    for rate in (1000, 200):
        for hogs in (False, True):
            condition = f"{'1 kHz' if rate == 1000 else '200 Hz'}, {'4 hogs' if hogs else 'idle'}"
            add(report, condition, *measure(context, rate, hogs))
    return report


def measure(context, rate, hogs):
    seconds = context.long_or_quick(5, 1)
    period = 1_000_000_000 // rate
    results = {name: [] for name in ("Tactus", WOKEN, *PEERS)}
    given_up = dict.fromkeys(results, 0)

    def take(name, ran):
        every = ran.every_release(period)
        results[name].append(every)
        given_up[name] += every.count - ran.count

    for _, name in context.turns(PEERS):
        with context.load(hogs, seconds + 20):
            take(name, PEERS[name](context, rate, seconds))
        if name == "Tactus":
            take(WOKEN, Distribution.from_file(context.scratch / "samples.woken"))
    return results, given_up


def tactus(context, rate, seconds):
    out = context.scratch / "samples"
    context.processes.run(
        [context.bench, "release", "lane", rate, seconds, out, context.priority, context.cpu], seconds + 15)
    return Distribution.from_file(out)


def cyclictest(context, rate, seconds, *options):
    output = context.processes.run(
        ["cyclictest", "-t1", "-p", context.priority, "-m", "-a", context.cpu, "-i", 1_000_000 // rate,
         "-l", rate * seconds, "-N", "-q", "-h", LIMIT, *options], seconds * 3 + 15)
    distribution = Distribution()
    for line in output.splitlines():
        if line and not line.startswith("#"):
            value, count = line.split()[:2]
            if int(count):
                distribution.counts[int(value)] += int(count)
    overflow = re.search(r"# Histogram Overflows:\s*(\d+)", output)
    if overflow is None or not distribution.counts:
        raise Failed("cyclictest printed no histogram")
    beyond = int(overflow.group(1))
    if beyond:
        # Of those it tells the largest alone; the others count as the histogram's end, which they are beyond.
        largest = re.search(r"# Max Latencies:\s*(\d+)", output)
        distribution.counts[int(largest.group(1))] += 1
        distribution.counts[LIMIT] += beyond - 1
    return distribution


def dispatch(context, rate, seconds):
    out = context.scratch / "samples"
    context.processes.run([context.bench, "release", "dispatch", rate, seconds, out], seconds + 30)
    return Distribution.from_file(out)


def task(context, rate, seconds):
    out = context.scratch / "samples"
    context.processes.run([context.bench, "release", "task", rate, seconds, out], seconds + 30)
    return Distribution.from_file(out)


def python(context, rate, seconds):
    out = context.scratch / "samples"
    context.processes.run([sys.executable, context.peer("periodic.py"), rate, seconds, out], seconds + 30)
    return Distribution.from_file(out)


PEERS = {"Tactus": tactus, "cyclictest": cyclictest, "Dispatch": dispatch, "Task.sleep": task, "Python": python}


def add(report, condition, results, given_up):
    ours = results["Tactus"]
    totals = {name: pooled(rounds) for name, rounds in results.items()}
    lines = []
    for name, rounds in results.items():
        total = totals[name]
        line = [name, *(microseconds(total.percentile(percent)) for percent in PERCENTILES),
                microseconds(total.maximum), f"{total.count:,}", f"{given_up[name]:,}"]
        for percent in PERCENTILES:
            line.append("" if name in ("Tactus", WOKEN) else number(ratio(ours, rounds, percent)))
        lines.append(line)
        report.raw.setdefault(condition, {})[name] = [one.summary() for one in rounds]
    report.tables.append(Table(
        f"{condition}, µs", ["", "p50", "p99", "p99.9", "max", "releases", "given up",
                             "ours ÷ it, p50", "p99", "p99.9"], lines))
    for percent in PERCENTILES:
        together = totals["Tactus"].percentile(percent) / totals["cyclictest"].percentile(percent)
        woken = ratio(results[WOKEN], results["cyclictest"], percent)
        report.aims.append(Aim(
            f"{condition}: p{percent:g} to cyclictest's", ratio(ours, results["cyclictest"], percent), 1.1,
            detail=f"pooled {number(together)}, woken {number(woken)}"))


def ratio(ours, theirs, percent):
    return median_ratio([one.percentile(percent) for one in ours], [one.percentile(percent) for one in theirs])
