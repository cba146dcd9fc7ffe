"""A PID step in Swift beside the same in C and beside control_toolbox's algorithm."""
from ..report import Aim, Report, Table, number
from ..samples import PERCENTILES, Distribution, median_ratio, pooled

TITLE = "PID: nanoseconds a step"
METHOD = """
Three controllers in one process and in the same run: TactusControl's `PID`; the same difference equation in C, which a check holds
to give the same outputs; and the algorithm of ros2 control_toolbox's `Pid` with back-calculation, written in C after its documents,
without its box for gains and its log (no filter of the derivative, no setpoint weight, no feed-forward, a division for each
derivative). Each loop over the steps is compiled in its own language (C by the toolchain's clang, -O2), so each step may be
inlined. The measurement is noisy about a setpoint that steps, so the limits are met and left.

- In a 1 kHz tick: a lane at SCHED_FIFO 80, memory locked, pinned, whose tick steps 64 controllers of each kind (a robot's joints), a
  clock read before and after each kind, all six orders by turns; caches are as cold as the sleep leaves them. A sample
  is one kind's time in one tick, ÷ 64; the clock's read, about 0.4 ns of it, is in all.
- At full speed: 4,096 steps of one controller in a row, each waiting for the one before, the kinds by turns. A sample is 4,096 steps.

Percentiles are nearest-rank over all samples, nothing removed; ratios are the median over the rounds of the ratios in a round.
"""
NAMES = {"swift": "TactusControl", "c": "the same in C", "toolbox": "control_toolbox's algorithm in C"}
CONTROLLERS, STEPS = 64, 4096


def run(context):
    context.require_real_time()
    report = Report("pid", TITLE, METHOD)
    seconds, batches = context.long_or_quick((5, 20_000), (1, 500))
    out = context.scratch / "pid"
    for mode, conditional in (("back-calculation", 0), ("conditional", 1)):
        conditions = {
            f"1 kHz tick, {mode}": (CONTROLLERS, [
                "tick", seconds, CONTROLLERS, conditional, out, context.priority, context.cpu]),
            f"full speed, {mode}": (STEPS, ["run", batches, conditional, out, context.cpu]),
        }
        for condition, (steps, arguments) in conditions.items():
            add(context, report, condition, steps, [context.bench, "pid", *arguments], out)
    return report


def add(context, report, condition, steps, command, out):
    rounds = {name: [] for name in NAMES}
    for _ in range(context.rounds):
        context.processes.run_json(command, 120)
        for name in NAMES:
            rounds[name].append(Distribution.from_file(f"{out}.{name}"))
    lines = []
    for name, title in NAMES.items():
        all_samples = pooled(rounds[name])
        lines.append([title, *(number(all_samples.percentile(percent) / steps) for percent in PERCENTILES),
                      number(all_samples.maximum / steps), f"{all_samples.count:,}"])
    columns = ["ns a step", *(f"p{percent:g}" for percent in PERCENTILES), "most", "samples"]
    report.tables.append(Table(condition, columns, lines))
    report.raw[condition] = {name: [one.summary() for one in rounds[name]] for name in NAMES}
    for name in ("c", "toolbox"):
        ratios = {percent: [(ours.percentile(percent), theirs.percentile(percent))
                            for ours, theirs in zip(rounds["swift"], rounds[name])] for percent in (50.0, 99.0)}
        for percent, pairs in ratios.items():
            ours, theirs = zip(*pairs)
            each = [one / other for one, other in pairs]
            report.aims.append(Aim(
                f"{condition}: p{percent:g} to {'C' if name == 'c' else 'control_toolbox'}'s", median_ratio(ours, theirs),
                1.1, detail=f"rounds from {number(min(each))} to {number(max(each))}"))
