"""scripts/bench [ROW…] [--rounds N] [--quick] [--record] [--list]"""
import argparse
import shutil
import signal
import sys
import time

from . import machine, rows
from .context import PACKAGE, Context
from .processes import Failed
from .report import Report
from .summary import write_summary


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Measures Tactus beside its peers.")
    parser.add_argument("rows", nargs="*", metavar="ROW", help=f"{', '.join(rows.ALL)}; all of them by default")
    parser.add_argument("--rounds", type=int, default=5, help="how often each peer runs (default: 5)")
    parser.add_argument("--quick", action="store_true", help="short runs: does it work, not how fast is it")
    parser.add_argument("--record", action="store_true", help="write the tables to Benchmarks/results")
    parser.add_argument("--list", action="store_true", help="name the rows and stop")
    options = parser.parse_args()
    if options.list:
        for name, row in rows.ALL.items():
            print(f"{name:14} {row.TITLE}")
        return 0
    unknown = [name for name in options.rows if name not in rows.ALL]
    if unknown or options.rounds < 1:
        parser.error(f"no row {', '.join(unknown)}" if unknown else "--rounds must be at least 1")
    if options.record and options.quick:
        parser.error("--record wants full runs: leave out --quick")

    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, lambda number, frame: sys.exit(128 + number))
    context = Context(rounds=options.rounds, quick=options.quick)
    try:
        # As cyclictest and our runtime do, but for every peer: no deep processor idle states while we measure.
        context.hold_latency()
        return measure(options, context)
    finally:
        context.processes.close()
        shutil.rmtree(context.scratch, ignore_errors=True)
        context.release_latency()


def measure(options, context):
    about = machine.describe()
    settings = {
        "taken": f"{options.rounds} rounds, peers alternating, machine {machine.busy_share():.0%} busy before"
        + (", quick" if options.quick else ""),
    }
    failures = missed = 0
    for name in options.rows or rows.ALL:
        started = time.monotonic()
        try:
            report: Report = rows.ALL[name].run(context)
        except Failed as failure:
            print(f"# {name}: not measured: {failure}\n", flush=True)
            failures += 1
            continue
        note = PACKAGE / "notes" / f"{name}.md"
        note = note.read_text() if note.exists() else None
        print(report.markdown(about, settings, note))
        print(f"({name}: {time.monotonic() - started:.0f} s)\n", flush=True)
        missed += sum(not aim.reached for aim in report.aims)
        if options.record:
            report.write(PACKAGE / "results", about, settings, note)
    if options.record:
        write_summary(PACKAGE / "results", rows.ALL)
    print(f"aims missed: {missed}, rows not measured: {failures}")
    return 1 if failures else 0


sys.exit(main())
