"""What the program shows outside, as text that can be kept and compared: values that move are masked, field by field."""
import difflib
import json
import re
from pathlib import Path

FOLDER = Path(__file__).parent / "recorded"
WIDTH = 140

NUMBER, TEXT, LIST, NUMBER_OR_NULL, TEXT_OR_NULL = "number", "text", "list", "number or null", "text or null"

# Fields whose values are others in each run, and the types that they have. A field is named by the end of its path; `[]` is an item of a list.
MOVING = {
    # Time.
    "monotonicNs": NUMBER, "expectedISO": TEXT_OR_NULL, "epochNs": NUMBER, "ageMs": NUMBER_OR_NULL, "localTime": TEXT, "last_updated": TEXT,
    "ts": TEXT,
    "atISO": TEXT, "startISO": TEXT_OR_NULL, "sinceISO": TEXT, "untilISO": TEXT, "lastWateredISO": TEXT_OR_NULL, "answeredISO": TEXT_OR_NULL,
    "rainDelay.until": TEXT_OR_NULL, "rain.ends_at": TEXT_OR_NULL, "sessions[].start": TEXT, "sessions[].seconds": NUMBER, "sessions[].speedPercent": NUMBER_OR_NULL,
    "clock.state": TEXT, "clock.isBelieved": "boolean", "clock.lastJumpISO": TEXT_OR_NULL, "clock.lastJumpSec": NUMBER_OR_NULL,
    # The daemon.
    "contents[].count": NUMBER, "contents[].newestISO": TEXT_OR_NULL,
    "timeZone.name": TEXT_OR_NULL, "timeZone.text": TEXT, "timeZone.source": TEXT, "timeZone.offsetSeconds": NUMBER,
    "timeZone.nextChange": "object or null", "timeZone.remark": TEXT_OR_NULL,
    "tokens.tokens": LIST, "logs.lines": LIST, "logs.next": NUMBER, "mqtt.received": NUMBER, "mqtt.sent": NUMBER, "seq": NUMBER,
    "buses[].transactions": NUMBER,
    # The runtime: what the machine grants, and what loops took.
    "lanes[].budgetsUsedUp": NUMBER_OR_NULL, "lanes[].effective": TEXT, "lanes[].effectiveCPU": NUMBER_OR_NULL,
    "lanes[].effectiveCPUs": "list or null", "lanes[].findings": LIST, "lanes[].isAsRequested": "boolean",
    "loops[].byDeadline": NUMBER, "loops[].byInput": NUMBER, "loops[].deadlineMisses": NUMBER, "loops[].overdue": NUMBER,
    "loops[].overruns": NUMBER, "loops[].oversleeps": NUMBER, "loops[].pending": NUMBER, "loops[].ran": NUMBER, "loops[].released": NUMBER,
    "loops[].running": "object or null", "loops[].safeStates": NUMBER, "loops[].skipped": NUMBER,
    "longestGap.lengthNs": NUMBER, "longestGap.sinceNs": NUMBER,
    **{f"{what}.{which}": NUMBER_OR_NULL
       for what in ("ageNs", "executionNs", "latencyNs") for which in ("max", "min", "p50", "p90", "p99", "p999")},
    "ages[].boundNs": NUMBER_OR_NULL, "ages[].isBoundMeasured": "boolean", "ages[].lastNs": NUMBER_OR_NULL, "ages[].nowNs": NUMBER_OR_NULL,
    "ages[].unsampled": NUMBER, "planner[].executionTimeNs": NUMBER_OR_NULL,
    "planner[].responseTimeNs": NUMBER_OR_NULL, "planner[].meetsDeadline": "boolean or null", "planner[].isMeasured": "boolean",
    # Robot, leg.
    "robot.counters.writes": NUMBER, "sim/robot.commands": NUMBER, "sim/robot.pose.headingRad": NUMBER, "sim/robot.pose.xM": NUMBER,
    "sim/robot.pose.yM": NUMBER, "battery.readings": NUMBER, "legs[].batteryMv": NUMBER_OR_NULL, "sim/leg.legs[].positionDegrees": NUMBER,
    "sim/leg.legs[].pulses": NUMBER, "sim/leg.legs[].cutPulses": NUMBER, "sim/leg.legs[].targetDegrees": NUMBER_OR_NULL,
    # Sprinkler.
    "weather.failure": TEXT_OR_NULL, "nextStartISO": TEXT_OR_NULL, "startLocal": TEXT, "runs[].ranSec": NUMBER, "inSec": NUMBER, "zones[].remainingSec": NUMBER_OR_NULL,
    "activeRemainingSec": NUMBER_OR_NULL,
    # Pump.
    "pump.counters.accepted": NUMBER, "pump.counters.lines": NUMBER, "pump.counters.sent": NUMBER, "leftS": NUMBER_OR_NULL,
    "remainingMinutes": NUMBER_OR_NULL, "runtimeMinutes": NUMBER_OR_NULL, "pumpedS": NUMBER_OR_NULL, "restS": NUMBER_OR_NULL, "statusAgeMs": NUMBER_OR_NULL, "temperaturesAgeMs": NUMBER_OR_NULL,
    "skinCelsius": NUMBER_OR_NULL, "waterCelsius": NUMBER_OR_NULL, "skinLastCelsius": NUMBER_OR_NULL, "waterFirstCelsius": NUMBER_OR_NULL, "waterLastCelsius": NUMBER_OR_NULL,
    "skinHighestCelsius": NUMBER_OR_NULL, "waterHighestCelsius": NUMBER_OR_NULL,
    "pump/history.rows": LIST,
    # Plants.
    "sensors[].moisturePercent": NUMBER_OR_NULL, "sensors[].raw": NUMBER_OR_NULL, "sensors[].readings": NUMBER,
    "sensors[].temperatureCelsius": NUMBER_OR_NULL, "sensors[].isFresh": "boolean",
    "sensor.moisturePercent": NUMBER_OR_NULL, "sensor.raw": NUMBER_OR_NULL, "sensor.readings": NUMBER,
    "plants[].moisturePercent": NUMBER_OR_NULL, "plant.moisturePercent": NUMBER_OR_NULL, "sensors[].rows": LIST,
    "moisturePercent": NUMBER_OR_NULL, "soils[].moisturePercent": NUMBER,
    # Video.
    "process.id": NUMBER_OR_NULL, "video/cameras.cameras": LIST,
}

# Metrics that have samples only while something is known that one run knows and another does not.
MOVING_METRICS = {"tactus_loop_age_bound_seconds"}


def kind(value):
    return {bool: "boolean", int: NUMBER, float: NUMBER, str: TEXT, list: LIST, dict: "object"}.get(type(value), "null")


def moving(path):
    """What is known of a field that moves; None for one that does not."""
    parts = path.split(".")
    return next((found for start in range(len(parts)) if (found := MOVING.get(".".join(parts[start:])))), None)


def masked(value, path=""):
    """The value without what moves. A field of another type than it should have is shown as it is."""
    types = moving(path)
    if types and kind(value) in types.split(" or "):
        return f"‹{types}›"
    if isinstance(value, dict):
        return {name: masked(member, f"{path}.{name}" if path else name) for name, member in value.items()}
    if isinstance(value, list):
        return [masked(item, f"{path}[]") for item in value]
    return value


def pretty(value, indent=""):
    """JSON with what fits into a line in one."""
    line = json.dumps(value, ensure_ascii=False, sort_keys=True)
    if len(indent) + len(line) <= WIDTH or not isinstance(value, (dict, list)) or not value:
        return line
    inner = indent + " "
    if isinstance(value, dict):
        members = [f"{inner}{json.dumps(name, ensure_ascii=False)}: {pretty(value[name], inner)}" for name in sorted(value)]
        return "{\n" + ",\n".join(members) + f"\n{indent}}}"
    return "[\n" + ",\n".join(inner + pretty(item, inner) for item in value) + f"\n{indent}]"


class Recording:
    """The documents of one file: kept in `recorded/NAME`, or compared with what is kept there.

    `words` are texts of this run, ports for instance, by what stands for them."""

    def __init__(self, name, writes, words=()):
        self.name, self.writes = name, writes
        self.words = {str(text): sign for text, sign in dict(words).items()}
        self.documents = {}

    def add(self, document, text):
        assert document not in self.documents, document
        # What is longest goes first: a folder, then what is a part of it.
        for word in sorted(self.words, key=len, reverse=True):
            text = re.sub(rf"(?<![\w.]){re.escape(word)}(?!\w)", self.words[word], text)
        self.documents[document] = text.rstrip("\n")

    def add_json(self, document, value, root=""):
        self.add(document, pretty(masked(value, root)))

    def finish(self):
        """Writes what has been added, or returns how it differs from what was written: by its title, a unified diff of each document that does."""
        path = FOLDER / self.name
        if self.writes:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n\n".join(f"== {name}\n{text}" for name, text in self.documents.items()) + "\n")
            return {}
        before = {}
        if path.exists():
            for part in re.split(r"^== ", path.read_text(), flags=re.MULTILINE)[1:]:
                name, _, text = part.partition("\n")
                before[name] = text.rstrip("\n")
        differences = {}
        for name in dict.fromkeys([*before, *self.documents]):
            old, new = before.get(name), self.documents.get(name)
            if old != new:
                title = f"recorded/{self.name}: {name}"
                differences[title] = "\n".join(difflib.unified_diff(
                    (old or "").splitlines(), (new or "").splitlines(), title,
                    f"now: {name}" + ("" if new is not None else " (gone)"), lineterm=""))
        return differences
