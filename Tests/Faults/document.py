"""The generated parts of docs/safety.md: from matrix.py and what was recorded."""
import re

from bench import SYSTEMS as MOVING
from evidence import key
from matrix import CELLS, FAULTS, MECHANISMS, NOT_APPLICABLE, SAFE, SAFE_IF, SYSTEMS, UNSAFE, Process, Scenario, Test

PROCESS_ROWS = {
    "silent": "silence: from the robot's last datagram (1 s), the leg's last command (its deadman set to 5 s)",
    "killed": "kill −9 of the daemon", "stopped": "SIGSTOP of the daemon", "tick_hangs": "a tick hangs in a driver",
    "guard_killed": "the guard is killed; then the daemon, under its successor",
    "guard_hangs": "the guard hangs; then the daemon is killed, under its successor",
    "both_killed": "both killed: from the start of the stop hook", "crash_loop": "the third death in a row",
    "without_descriptors": "kill −9 without a descriptor left", "without_memory": "an e-stop without memory left",
}


def replace(text, name, generated):
    begin, end = f"<!-- {name}: made by scripts/faults -->", f"<!-- {name}: end -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    if not pattern.search(text):
        raise SystemExit(f"docs/safety.md has no {begin} … {end}")
    return pattern.sub(lambda _: f"{begin}\n\n{generated}\n\n{end}", text)


def duration(ms):
    if ms is None:
        return "–"
    if ms >= 10_000:
        return f"{ms / 1000:,.1f} s"
    return f"{ms:,.0f} ms" if ms >= 10 else f"{ms:.1f} ms"


def table(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *("| " + " | ".join(row) + " |" for row in rows)])


def figures(cell, recorded):
    """Times of this cell: exact ones of simulated time, and measured ones."""
    found = []
    for evidence in cell.shown:
        if isinstance(evidence, Scenario) and key(evidence) in recorded["simulated"]:
            found.append(duration(recorded["simulated"][key(evidence)]) + " simulated")
        if isinstance(evidence, Process) and evidence.name in PROCESS_ROWS and evidence.name in recorded["processes"]:
            found.append(duration(recorded["processes"][evidence.name][cell.system]) + " measured")
    return found


def shown(evidence):
    match evidence:
        case Test(): return f"`{evidence.name}`"
        case Scenario(): return f"[{evidence.name}](../Tests/Faults/scenarios/{evidence.name}.yaml)"
        case Process(): return f"`{evidence.name}()`"


def row(cell, recorded):
    name = FAULTS[cell.fault][0]
    if cell.verdict == NOT_APPLICABLE:
        return [name, f"does not apply, because {cell.text}", "", "", "", "", ""]
    what = {SAFE: "safe", SAFE_IF: "**safe if** ", UNSAFE: "**not safe**: "}[cell.verdict]
    what += f"; {cell.text}" if cell.verdict == SAFE and cell.text else cell.text
    times = "; ".join([cell.promise, *figures(cell, recorded)])
    return [name, what, times, ", ".join(cell.acts) or "nothing", cell.told, cell.lost,
            ", ".join(shown(one) for one in cell.shown) or "nothing"]


def matrix(recorded):
    parts = []
    order = list(FAULTS)
    for system in SYSTEMS:
        cells = sorted((cell for cell in CELLS if cell.system == system), key=lambda cell: order.index(cell.fault))
        head = ["fault", "verdict", "to the safe state", "acts", "told", "lost", "shown by"]
        parts.append(f"### {system}\n\n" + table(head, [row(cell, recorded) for cell in cells]))
    return "\n\n".join(parts)


def overview():
    """One look at everything."""
    marks = {SAFE: "safe", SAFE_IF: "*safe if*", UNSAFE: "**not safe**", NOT_APPLICABLE: "–"}
    cells = {(cell.system, cell.fault): marks[cell.verdict] for cell in CELLS}
    rows = [[title, sentence, *(cells[system, fault] for system in SYSTEMS)] for fault, (title, sentence) in FAULTS.items()]
    return table(["fault", "what happens", *SYSTEMS], rows)


def mechanisms():
    rows = [[name, sentence, "; ".join(f"`{test}`" for test in tests)] for name, (sentence, tests) in MECHANISMS.items()]
    return table(["mechanism", "what it does", "tests"], rows)


def measured(recorded):
    rows = [[title, *(duration(recorded["processes"][name][system]) for system in MOVING)]
            for name, title in PROCESS_ROWS.items() if name in recorded["processes"]]
    kills = recorded["kills"]
    if kills:
        rows += [[f"kill −9, {label} of {kills['count']:,} kills", *(duration(kills[label][system]) for system in MOVING)]
                 for label in ("p50", "p99", "max")]
    replaced = recorded.get("replaced", {})
    after = " and ".join(f"one that {how} after {duration(replaced[name])}" for name, how in (
        ("guard_killed", "is killed"), ("guard_hangs", "hangs")) if name in replaced)
    where = f"Taken on {recorded['machine']}" + (f"; the {kills['count']:,} kills on {kills['machine']}" if kills else "")
    return (f"{where}. A guard is replaced, and its successor watches: {after}.\n\n"
            + table(["from the fault until the output is off", *MOVING], rows))


def document(text, recorded):
    for name, generated in (
        ("overview", overview()), ("mechanisms", mechanisms()), ("matrix", matrix(recorded)), ("measured", measured(recorded))):
        text = replace(text, name, generated)
    return text
