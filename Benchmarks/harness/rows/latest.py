"""The latest-value mailbox beside a sequence lock and a triple buffer in C++."""
from ..report import Report, Table
from .ring import compare

TITLE = "Latest value: write and read"
METHOD = """
The peers are a sequence lock of `std::atomic` words (Boehm's form), which the aim is about, and a triple buffer, which
serves one reader only; both g++ -O3. Alone: one thread, nobody else about. Shared:
writer and reader on two processors; the write is timed with both at full speed, the read with a write every microsecond
(a sequence lock's reader starves under more). Figures are ns for each call, medians over the rounds; ratios are the
median of the rounds' ratios.
"""
FIGURES = {
    "write_alone_ns": "write, alone", "read_alone_ns": "read, alone",
    "write_shared_ns": "write, shared", "read_shared_ns": "read, shared",
}


def run(context):
    count = context.long_or_quick(50_000_000, 2_000_000)
    report = Report("latest", TITLE, METHOD)
    lines = []
    for size in (8, 64):
        arguments = [size, count, context.other_cpu, context.cpu]
        commands = {"Tactus": [context.bench, "latest", *arguments], "seqlock": [context.peer("latest"), "seqlock", *arguments],
                    "triple buffer": [context.peer("latest"), "triple", *arguments]}
        compare(context, report, f"{size} bytes", commands, FIGURES, lines)
    report.tables.append(Table("Latest value, ns", ["", "Tactus", "seqlock", "triple buffer", "ratio to the seqlock"], lines))
    return report
