"""How fast simulated time runs."""
import statistics

from ..report import Aim, Report, Table, number

TITLE = "Simulated time"
METHOD = """
The production scheduler on the simulated clock, one lane, one loop at 1 kHz. Empty: a tick that only counts. Robot: the
robot's motor loop with its simulated sender, board and wheels, closed. Ticks for each second of real time, medians over
the rounds.
"""
KINDS = {"empty": ("empty ticks", 20e6), "robot": ("closed-loop robot ticks", 2e6)}


def run(context):
    report = Report("simulated", TITLE, METHOD)
    lines = []
    for kind, (title, aim) in KINDS.items():
        ticks = context.long_or_quick({"empty": 50_000_000, "robot": 5_000_000}[kind], 500_000)
        rounds = [context.processes.run_json([context.bench, "simulate", kind, ticks], 120)
                  for _ in range(context.rounds)]
        report.raw[kind] = rounds
        rates = [run["ticks_per_second"] for run in rounds]
        median = statistics.median(rates)
        lines.append([title, number(median / 1e6), number(min(rates) / 1e6), number(max(rates) / 1e6)])
        report.aims.append(Aim(title, median / 1e6, aim / 1e6, "million/s", at_least=True))
    report.tables.append(Table("Ticks, million/s", ["", "median", "least", "most"], lines))
    return report
