"""A row's tables, aims and raw data; as text for the terminal and as Markdown for the repository."""
import json
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Table:
    title: str
    columns: list
    lines: list

    def markdown(self):
        rows = [self.columns] + [[str(cell) for cell in line] for line in self.lines]
        widths = [max(len(row[column]) for row in rows) for column in range(len(self.columns))]
        text = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows]
        text.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
        return f"### {self.title}\n\n" + "\n".join(text) + "\n"


@dataclass
class Aim:
    what: str
    value: float
    bound: float
    unit: str = "×"
    at_least: bool = False
    detail: str = ""

    @property
    def reached(self):
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    def line(self):
        sign = "≥" if self.at_least else "≤"
        return [self.what, f"{number(self.value)} {self.unit}", f"{sign} {number(self.bound)} {self.unit}",
                "yes" if self.reached else "**no**", self.detail]


@dataclass
class Report:
    row: str
    title: str
    method: str
    tables: list = field(default_factory=list)
    aims: list = field(default_factory=list)
    raw: dict = field(default_factory=dict)

    def markdown(self, machine, settings, note=None):
        head = [f"# {self.title}", "", *(f"- {key}: {value}" for key, value in {**machine, **settings}.items()), ""]
        parts = ["\n".join(head), self.method.strip() + "\n"]
        if self.aims:
            columns = ["aim", "measured", "bound", "reached", "detail"]
            parts.append(Table("Aims", columns, [aim.line() for aim in self.aims]).markdown())
        parts += [table.markdown() for table in self.tables]
        if note:
            parts.append(note.strip() + "\n")
        return "\n".join(parts)

    def write(self, folder, machine, settings, note):
        Path(folder).mkdir(exist_ok=True)
        Path(folder, f"{self.row}.md").write_text(self.markdown(machine, settings, note))
        data = {
            "row": self.row, "machine": machine, "settings": settings,
            "aims": [{"what": aim.what, "value": aim.value, "bound": aim.bound, "unit": aim.unit,
                      "at_least": aim.at_least, "reached": aim.reached} for aim in self.aims],
            "raw": self.raw,
        }
        Path(folder, f"{self.row}.json").write_text(json.dumps(data, ensure_ascii=False) + "\n")


def number(value):
    """Three significant digits, thousands grouped."""
    if value == 0:
        return "0"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def microseconds(nanoseconds):
    return f"{nanoseconds / 1000:,.1f}"
