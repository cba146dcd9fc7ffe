"""How fast simulated time runs."""
import statistics

from ..report import Aim, Report, Table, number

TITLE = "Simulated time"
METHOD = """
The production scheduler on the simulated clock. Empty: one lane, one loop at 1 kHz whose tick only counts. Robot, closed:
the operator's loop sends JSON at 20 Hz over a simulated network, the robot's loop (released by its period and by arrival)
drives a simulated I2C board with wheels under it, and replies; every tick of both loops counts. Ticks for each second of
real time, medians over the rounds.
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
