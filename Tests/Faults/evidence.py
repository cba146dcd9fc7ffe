"""What shows a cell: scenarios and processes are run, named tests are looked for, and run if asked to."""
import atexit
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import processes
from bench import Bench, own_environment
from hardware import COMPILER
from matrix import Process, Scenario, Test

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TITLE = re.compile(r'@Test\(\s*"((?:[^"\\]|\\.)*)".*?\bfunc (\w+)', re.DOTALL)
# How often a process is tried before its cells have failed.
TRIES = 2
SECONDS = re.compile(r"^ *([\d,]*\d\.\d{3}) s  ")


class Failed(Exception):
    """What a cell says is not so."""


class Skipped(Exception):
    """This machine cannot show it."""


@cache
def swift_tests():
    """Titles of Swift Testing, each with the expression that `--filter` takes."""
    found = {}
    for file in sorted(ROOT.glob("Tests/**/*.swift")):
        module = file.relative_to(ROOT / "Tests").parts[0]
        for title, function in TITLE.findall(file.read_text()):
            found.setdefault(title.replace('\\"', '"'), []).append(rf"^{module}\.(.*/)?{function}\(")
    return found


def exists(test):
    if "::" not in test.name:
        return test.name in swift_tests()
    name, function = test.name.split("::")
    if "/" in name:
        # A check of a script's, by its words.
        return f'check "{function}"' in (ROOT / name).read_text()
    file = ROOT / "Tests/Service" / name
    return file.exists() and re.search(rf"^(async )?def {function}\(", file.read_text(), re.MULTILINE) is not None


def key(scenario):
    return f"{scenario.name}: {scenario.begin} → {scenario.end}"


class Runner:
    """Runs each thing once, however many cells it shows. `simulated` and `measured`: what came of it."""

    def __init__(self, program, recorded, is_timed=False):
        """`is_timed`: how long a process takes is measured, as it is configured usually, and judged; otherwise only that the safe state comes."""
        self.program, self.recorded, self.is_timed = Path(program), recorded, is_timed
        self.simulated, self.measured, self.notes = {}, {}, {}
        self.outputs, self.failures = {}, {}
        self.tries = {}

    def show(self, cell, evidence):
        match evidence:
            case Test():
                if not exists(evidence):
                    raise Failed(f"there is no test “{evidence.name}”")
            case Scenario():
                self.show_scenario(evidence)
            case Process():
                self.show_process(cell, evidence)

    def show_scenario(self, scenario):
        lines = self.play(scenario.name)
        if not scenario.begin:
            return
        times = []
        for pattern in (scenario.begin, scenario.end):
            line = next((line for line in lines if re.search(pattern, line) and SECONDS.match(line)
                         and (not times or instant(line) >= times[0])), None)
            if line is None:
                raise Failed(f"scenario {scenario.name}: no line “{pattern}”")
            times.append(instant(line))
        took = round((times[1] - times[0]) * 1000)
        self.simulated[key(scenario)] = took
        if took > scenario.bound_ms:
            raise Failed(f"scenario {scenario.name}: safe after {took} ms of simulated time, more than {scenario.bound_ms:.0f}")

    @cache
    def folder(self):
        """For whatever a scenario keeps by itself; it goes with this program."""
        path = tempfile.mkdtemp(prefix="tactus-scenarios-")
        atexit.register(shutil.rmtree, path, ignore_errors=True)
        return path

    def play(self, name):
        if name not in self.outputs:
            self.outputs[name] = subprocess.run(
                [self.program, "sim", HERE / "scenarios" / f"{name}.yaml"], env=own_environment(self.folder()), capture_output=True, text=True,
                timeout=1200)
        result = self.outputs[name]
        if result.returncode != 0:
            wrong = [line.strip() for line in result.stdout.split("\n") if "FAILED" in line] or [result.stderr.strip()]
            raise Failed(f"scenario {name}: {'; '.join(wrong)}")
        return result.stdout.split("\n")

    def show_process(self, cell, process):
        """A machine that is shared may pause where no bound is generous enough: what failed is tried once more, from its start. What is broken
        fails twice; both are printed."""
        try:
            self.look_at_process(cell, process)
        except Failed as failure:
            if self.tries[process.name] == TRIES:
                raise
            print(f"note    {cell.system}/{cell.fault}: is tried once more, since {failure}", flush=True)
            self.failures.pop(process.name, None)
            self.measured.pop(process.name, None)
            self.show_process(cell, process)

    def look_at_process(self, cell, process):
        times, notes = self.try_process(process.name)
        took = times[cell.system]
        if took is None:
            raise Failed(f"{process.name}: still on")
        if self.is_timed and process.bound_ms and took > process.bound_ms:
            raise Failed(f"{process.name}: safe after {took:.0f} ms, more than {process.bound_ms:.0f}")
        comes_on_again = cell.system in notes.get("again", ())
        if comes_on_again and not process.again:
            raise Failed(f"{process.name}: it comes on again by itself")
        if process.again and not comes_on_again:
            # No regression, and no reason to fail.
            print(f"note    {cell.system}/{cell.fault}: it stays off: the cell may say so")
        for name, expected in process.notes.items():
            found = notes[name][cell.system] if isinstance(notes[name], dict) else notes[name]
            if found != expected:
                raise Failed(f"{process.name}: {name} is {found}, not {expected} as the cell says")

    def try_process(self, name):
        if COMPILER is None:
            raise Skipped("no C compiler: the hardware is a library that is compiled")
        if name in self.failures:
            raise Failed(self.failures[name])
        if name not in self.measured:
            self.tries[name] = self.tries.get(name, 0) + 1
            try:
                with tempfile.TemporaryDirectory(prefix="tactus-faults-") as folder:
                    options = processes.OPTIONS.get(name, {}) if self.is_timed else processes.PATIENT_OPTIONS[name]
                    with Bench(self.program, Path(folder) / "bench", is_timed=self.is_timed, **options) as bench:
                        self.measured[name], self.notes[name] = getattr(processes, name)(bench)
            except Exception as error:  # A run that breaks off fails its cells and no others.
                print(error, file=sys.stderr)
                self.failures[name] = f"{name}: {type(error).__name__}: {str(error).split(chr(10))[0]}"
                raise Failed(self.failures[name]) from error
        return self.measured[name], self.notes[name]


def instant(line):
    return float(SECONDS.match(line)[1].replace(",", ""))
