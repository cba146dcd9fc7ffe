"""results/README.md: one line for every aim of every recorded row."""
import json
from pathlib import Path

from .report import Table, number


def write_summary(folder, all_rows):
    lines = []
    for name in all_rows:
        path = Path(folder, f"{name}.json")
        if not path.exists():
            continue
        for aim in json.loads(path.read_text())["aims"]:
            sign = "≥" if aim["at_least"] else "≤"
            lines.append([
                f"[{name}]({name}.md)", aim["what"], f"{number(aim['value'])} {aim['unit']}",
                f"{sign} {number(aim['bound'])} {aim['unit']}", "yes" if aim["reached"] else "**no**"])
    table = Table("Every aim", ["row", "what", "measured", "aim", "reached"], lines).markdown()
    Path(folder, "README.md").write_text(
        "# Measured\n\nWritten by `scripts/bench --record`; the method, the machine and the full tables are in each"
        " row's file, the raw data beside it.\n\n" + table)
