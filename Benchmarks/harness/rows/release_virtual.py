"""How late a periodic release begins beside cyclictest, in the rig's emulated machine, whose time is virtual."""
import re

from ..context import PACKAGE
from ..processes import Failed
from ..report import Aim, Report, Table, microseconds, number

TITLE = "Release latency in an emulated PREEMPT_RT machine"
METHOD = """
`scripts/rig --latency`: Debian's PREEMPT_RT kernel under QEMU's emulation, one processor, every instruction 4 ns
(`-icount shift=2`), so that the figures do not depend on how fast or how busy the host is. They are for comparing two
programs and two versions of one, not for what hardware does: an instruction costs ten times what it costs on a processor,
and memory nothing. The machine named above is the host.

- Tactus: one loop on one lane, SCHED_FIFO 80, memory locked; a clock read of the tick's own minus the instant at which the
  release was due, of every release.
- cyclictest `-t 1 -p 80 -m -i PERIOD -N`: its clock read after waking, which is where its work would begin.
- C: `clock_nanosleep` to an absolute instant and one `clock_gettime`, at the same priority: the kernel's own share.

One after the other, in turns, under the same load at normal priority: a spinning shell, small reads and writes (dd), a pipe, and
two threads with timers of 137 µs and 637 µs. There are two runs, whatever the number of rounds, each a boot of its own. "longest" is one release of all.
"""
LINE = re.compile(r"^figures: ([^;]+); ([^;]+); (\d+) (\d+) (\d+) (\d+) (\d+)$", re.MULTILINE)
COLUMNS = ("p50", "p99", "p99.9", "longest")


def run(context):
    report = Report("release-virtual", TITLE, METHOD)
    boots = [boot(context), boot(context)]
    conditions = list(dict.fromkeys(condition for condition, _ in boots[0]))
    for condition in conditions:
        lines = []
        for program in ("Tactus", "cyclictest", "C"):
            for number_of_boot, figures in enumerate(boots, 1):
                *times, samples = figures[condition, program]
                lines.append([f"{program}, run {number_of_boot}", *map(microseconds, times), f"{samples:,}"])
            report.raw.setdefault(condition, {})[program] = [
                dict(zip((*(f"{name}_ns" for name in COLUMNS), "samples"), figures[condition, program]))
                for figures in boots]
        report.tables.append(Table(f"{condition}, µs of virtual time", ["", *COLUMNS, "samples"], lines))
        ours, theirs = boots[0][condition, "Tactus"], boots[0][condition, "cyclictest"]
        again = boots[1][condition, "Tactus"]
        for column in (0, 1, 3):
            report.aims.append(Aim(
                f"{condition}: {COLUMNS[column]} to cyclictest's", ours[column] / theirs[column], 1.05,
                detail=f"{ours[column] - theirs[column]:+,} ns; second run ÷ first {number(again[column] / ours[column])}"))
    return report


def boot(context):
    # It ends with status 1 where the gate is not passed, which this table says as well.
    output = context.processes.run(["bash", "-c", "scripts/rig --latency || true"], 900, cwd=PACKAGE.parent)
    figures = {}
    for found in LINE.finditer(output):
        # The gate measures again what is beyond a limit; this table has what was measured first.
        figures.setdefault((found[1], found[2]), [int(found[column]) for column in range(3, 8)])
    if not figures:
        raise Failed(f"scripts/rig --latency printed no figures: {output.strip()[-400:]}")
    return figures
