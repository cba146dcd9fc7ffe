"""What an outage looks like in our figures and in cyclictest's, both in the same stop."""
import json
import os
import re
import signal
import statistics
import subprocess
import time

from ..processes import Failed
from ..report import Aim, Report, Table, number

TITLE = "One outage, as lateness"
METHOD = """
One loop at 1 kHz (policy skip) and cyclictest at 1 kHz, both SCHED_FIFO 80 on a processor each. Both processes get SIGSTOP
and, after the outage, SIGCONT, one call after the other. The outage is the time between the two signals. Reported lateness is
the largest release latency of our runtime's statistics and cyclictest's Max; both are measured from the first release
missed, so each may be up to a period shorter than the outage. "late" counts our releases that were 10 ms late or more: every
release of the outage is one, whether it ran or was given up.
"""
RATE = 1_000
SETTLE = 0.5  # seconds before and after the stop


def run(context):
    context.require_real_time()
    report = Report("outage", TITLE, METHOD)
    lines = []
    for seconds in (0.3, 3.0):
        rounds = [stop_both(context, seconds) for _ in range(context.rounds)]
        report.raw[f"{seconds} s"] = rounds
        for one in rounds:
            lines.append([f"{seconds:g} s", *(f"{one[key] / 1e6:,.1f}" for key in ("outage", "ours", "theirs", "gap")),
                          f"{one['late']:,}"])
        ratios = [one["ours"] / one["theirs"] for one in rounds]
        worst = max(ratios, key=lambda ratio: abs(ratio - 1))
        report.aims.append(Aim(
            f"outage of {seconds:g} s: lateness is off cyclictest's by, at worst", abs(worst - 1) * 100, 1, "%",
            detail=f"median ratio {number(statistics.median(ratios))}"))
        missing = max(abs(one["late"] - (one["ours"] / 1e9 - 0.01) * RATE) for one in rounds)
        report.aims.append(Aim(f"outage of {seconds:g} s: late releases that are not in the histogram", missing, 2, ""))
    report.tables.append(Table("ms", ["outage", "between the signals", "ours", "cyclictest", "longest gap", "late"],
                               lines))
    return report


def stop_both(context, seconds):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    ours = context.processes.start(
        [context.bench, "outage", RATE, context.priority, context.cpu], stdin=subprocess.PIPE, **pipes)
    theirs = context.processes.start(
        ["cyclictest", "-t1", "-p", context.priority, "-m", "-a", context.other_cpu, "-i", 1_000_000 // RATE, "-q"],
        **pipes)
    both = (ours, theirs)
    time.sleep(SETTLE)
    began = time.monotonic_ns()
    for process in both:
        os.kill(process.pid, signal.SIGSTOP)
    time.sleep(seconds)
    for process in both:
        os.kill(process.pid, signal.SIGCONT)
    outage = time.monotonic_ns() - began
    time.sleep(SETTLE)
    said = context.processes.stop(theirs)
    found = re.search(r"Max:\s*(\d+)", said or "")
    if found is None:
        raise Failed("cyclictest printed no maximum")
    output, errors = ours.communicate(timeout=20)
    context.processes.live.pop(ours.pid, None)
    if ours.returncode != 0:
        raise Failed(f"tactus-bench ended with {ours.returncode}: {errors.strip()[-400:]}")
    result = json.loads(output)
    if not result["all"]:
        raise Failed("not every release has a lateness")
    return {"outage": outage, "ours": result["latest_ns"], "theirs": int(found.group(1)) * 1_000, "gap": result["gap_ns"],
            "late": result["late"]}
