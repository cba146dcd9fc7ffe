"""What the page shows in English, and what becomes of it in German: read from the scripts, the HTML and the Swift sources, without a browser.

`known` is `inOther` of language.js and `worded` is that of words.js; the browser's tests hold that both agree (browser/test_language.py)."""
import html.parser
import itertools
import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
CONSOLE = ROOT / "Sources/ServiceDocuments/Console"
SYSTEMS = ROOT / "Sources/Systems"
ALL = [*sorted(CONSOLE.glob("*.js")), *sorted(SYSTEMS.glob("*/Documents/*.js"))]
# A script that is seldom fetched has its German with it.
GERMAN = [one for one in ALL if 'addLanguage("de", {' in one.read_text()]
SCRIPTS = [one for one in ALL if one.name != "german.js"]
PAGES = [CONSOLE / "index.html", *sorted(SYSTEMS.glob("*/Documents/card.html"))]
# What stands for a value in a text.
HOLE = "\0"
# A value is a number, a name that somebody has given, or nothing.
NAMES = {"Rose", "adc-0", "adc-1", "Unlikely"}
# Days and months, which the browser writes: some of them.
DAYS = {"Mo", "So", "Nov", "Dez"}
VALUES = ("7", "Rose", "")

# ---- JavaScript


def tokens(text):
    """Yields (kind, value, beginning, end) of strings, templates and expressions of a script; a hole of a template is HOLE, and what is in it comes first."""
    at, before = 0, "("
    while at < len(text):
        one = text[at]
        if text.startswith("//", at):
            at = text.find("\n", at) if "\n" in text[at:] else len(text)
        elif one == '"':
            end = at + 1
            while text[end] != '"':
                end += 2 if text[end] == "\\" else 1
            yield "string", json.loads(text[at:end + 1].replace("\\'", "'")), at, end + 1
            at, before = end + 1, '"'
        elif one == "`":
            made, end = "", at + 1
            while text[end] != "`":
                if text.startswith("${", end):
                    depth, inner = 1, end + 2
                    while depth:
                        if text[inner] == "`":  # of a template in a hole
                            inner = text.index("`", inner + 1)
                        depth += {"{": 1, "}": -1}.get(text[inner], 0)
                        inner += 1
                    yield from tokens(text[end + 2:inner - 1])
                    made, end = made + HOLE, inner
                else:
                    made, end = made + text[end], end + 1
            yield "template", made, at, end + 1
            at, before = end + 1, '"'
        elif one == "/" and before in "(,=:[!&|?{};+>":
            end, isSet = at + 1, False
            while text[end] != "/" or isSet:
                isSet = isSet and text[end] != "]" or text[end] == "["
                end += 2 if text[end] == "\\" else 1
            yield "expression", text[at + 1:end], at, end + 1
            at, before = end + 1, "/"
        else:
            before = one if not one.isspace() else before
            at += 1


def dictionary_of(file):
    """Returns ([(English, German)], [(expression, German)]) of what `file` gives to addLanguage."""
    text = file.read_text()
    begin = text.index('addLanguage("de", ') + len('addLanguage("de", ')
    end = text.index("\n}, [", begin)
    strings = [value for kind, value, *_ in tokens(text[begin:end]) if kind == "string"]
    last = re.compile(r"^\]\);|\[\]\);", re.M).search(text, end).start()
    rest = [(kind, value) for kind, value, *_ in tokens(text[end + 3:last])]
    return list(zip(strings[::2], strings[1::2])), [(one, other) for (_, one), (_, other) in zip(rest[::2], rest[1::2])]


class Page:
    """The dictionaries of every part of the page."""

    def __init__(self):
        language, words = (CONSOLE / "language.js").read_text(), (CONSOLE / "words.js").read_text()
        self.entries = {file: dictionary_of(file) for file in GERMAN}
        self.dictionary = {english: german for texts, _ in self.entries.values() for english, german in texts}
        self.patterns = [(re.compile(expression.replace("\\/", "/")), german) for _, patterns in self.entries.values() for expression, german in patterns]
        self.same = DAYS | set(re.search(r'sameWords = new Set\("([^"]*)"', language)[1].split())
        self.separators = json.loads(re.search(r"separators = (\[.*\]);", language)[1])
        begin = words.index("const wordings = [")
        found = [(kind, value) for kind, value, *_ in tokens(words[begin:words.index("\n];", begin)])]
        self.wordings = [(re.compile(one.replace("\\/", "/") if kind == "expression" else "^" + re.escape(one) + "$"), other) for (kind, one), (_, other) in zip(found[::2], found[1::2])]
        self.made = {}

    def worded(self, text):
        for expression, words in self.wordings:
            found = expression.search(text)
            if found:
                return re.sub(r"\$(\d)|\{(\d)\}", lambda place: self.worded(found[int(place[2])]) if place[2] else found[int(place[1])] or "", words)
        return text

    def in_plain_words(self, message, field):
        if not field or not message.startswith(field + ": expected "):
            return self.worded(message)
        title = re.sub(r"\[(\d+)\]", lambda found: f" {int(found[1]) + 1}", field)
        title = re.sub(r"_|(?:Percent|Celsius|Us|Mm)$", " ", title).replace(".", ", ")
        said = plain(title).strip() + ": " + self.worded(re.sub(r", got .*$", "", message[len(field) + 11:], flags=re.S))
        return said[0].upper() + said[1:]

    def known(self, text):
        """Returns the text in German, or None: something of it is not known."""
        if text not in self.made:
            self.made[text] = None  # while it is looked for
            self.made[text] = self._known(text)
        return self.made[text]

    def _known(self, text):
        if text in self.dictionary:
            return self.dictionary[text]
        if text + "." in self.dictionary:
            return self.dictionary[text + "."][:-1]
        if self.is_same(text):
            return text
        for expression, german in self.patterns:
            found = expression.search(text)
            parts = found and {number: self.known(found[number] or "") for number in range(1, (expression.groups or 0) + 1) if "{%d}" % number in german}
            if found and None not in parts.values() and all(self.is_value(found[int(number)] or "") for number in re.findall(r"\$(\d)", german)):
                return re.sub(r"([${<])(\d)[}>]?", lambda place: parts[int(place[2])] if place[1] == "{" else found[int(place[2])] or "", german)
        for name in NAMES:
            if text.startswith(name + " ") and (rest := self.known(text[len(name) + 1:])) is not None:
                return name + " " + rest
        first = re.match(r"[A-Z]\w*", text)
        if first and not (first[0] in self.dictionary and first[0].lower() in NAMES) and (lower := self.known(text[0].lower() + text[1:])) is not None:
            return lower[:1].upper() + lower[1:]
        if text[-1:] in ".:?!…)" and len(text) > 3 and (rest := self.known(text[:-1])) is not None:
            return rest + text[-1]
        for separator in self.separators:
            if separator in text:
                others = [self.known(part) for part in text.split(separator)]
                if None not in others:
                    return self.dictionary.get(separator, separator).join(others)
        return None

    def is_same(self, text):
        return text in NAMES or all(word in self.same for word in re.findall("[A-Za-zÀ-ž]{2,}", re.sub(r"\S*(?:[0-9]|://|_|\w\.\w)\S*", "", text)))

    def is_value(self, text):
        return all(" " not in part or self.is_same(part) for part in text.split(", "))

    def lacks(self, text):
        """Returns whether a text with holes is not known, whatever stands in them, nor a part of a whole sentence that is."""
        text = text.strip()
        parts = [part for part in text.split(HOLE) if part]
        within = re.compile(".*".join(map(re.escape, parts)) if HOLE in text else rf"\b{re.escape(text)}(?!\w)")
        if (HOLE in text or len(text) > 7) and any(within.search(whole) and self.known(whole) is not None for whole in WHOLES):
            return False
        return all(self.known(re.sub(" +$", "", fill(text, values).strip())) is None for values in itertools.product(VALUES, repeat=min(text.count(HOLE), 4)))


def fill(text, values):
    values = iter([*values, *["7"] * 9])
    return re.sub(HOLE, lambda _: next(values), text)


def plain(word):
    return re.sub("[A-Z]", lambda letter: " " + letter[0].lower(), word)


# ---- what is shown

# A word alone is shown where it is given to one of these.
SHOWN = re.compile(
    r"""(?:element\("\w+",|button\(|say\(\w+,|chipOf\(|put\([^"`]*,|sentence\(|(?:title|ariaLabel|placeholder|words|now|next|caption|text|unit)\s*[:=]|textContent\s*=|says:.*=>)\s*$""")
# Of programs: paths, selectors, names of files, media types, codes, paths of icons, properties.
TECHNICAL = re.compile(
    r"""^(?:[/#.\[:&?]|use strict|https?:|wss?:|M-?\d|data:|Bearer |rtsp:)|/api/|^[\w.-]+\.\w{2,12}$|^[\w-]+/[\w.+-]+$|^[A-Z][A-Z_]+$|^[A-Z][a-z]+(?:-[A-Z][a-z]+)+$|^Arrow\w+$|"""
    r"""[=\[\]<>{}]|^[a-z]+[A-Z]|^\w+\(|^(?:Escape|Enter|Tab|End|Home|Authorization|Location|Event|Tactus|tactus)\b|^(?:led|row|chart|series|fill|hint|day|schedule|log|plant|robot|system|rain|week|month)-?[ \0]|^\0[-.]""")
# Words of CSS, of the DOM and of the API, which only look like sentences.
NOT_SHOWN = {
    "none panel", "2-digit", "of at", "thead th:last-child", "local client \0", "Tactus", "DOMContentLoaded", "button, a, summary, input", "input, select", "true or false", "litres per minute", "fieldset:disabled *", "zone panel",
    "bold 14px sans-serif", "MM-DD", "English", "Deutsch", "legs:\\n  - # \0\\n\0", "\n# counts from the next start of the daemon", "width: \0%; transform: translateX(\0)",
    "bearer.", "-title", "-bar-", "-script", "-name", "-text", "Arrow",
}
# Whole sentences that scripts put together: a literal that is a part of one is looked at in it.
WHOLES = [
    "Temperature must be a number from 20 to 80.", "Revoke Rose? It is refused from now on. What it drives stops.", "Revoke Rose? It is refused from now on. This page uses it: it is logged out.",
    "Emergency stop by this page (stop not yet confirmed by the motors). To go on: let go of every stick for a second, then reset. Also stopped: Legs, Pump.",
    "Emergency stop by another page or program. To go on: let go of every stick for a second, then reset.", "Emergency stop by a page or program. To go on: let go of every stick for a second, then reset.",
    "Emergency stop by somebody. To go on: let go of every stick for a second, then reset.", "driven by a page or program", "A page or program has armed this leg: disarm it before you move it from here.",
    "A page or program drives the robot; it is free when they have let go for a second.", "Somebody has armed this leg: disarm it before you move it from here.", "Legs: emergency stop (off not yet confirmed by the chip). To go on: reset, then arm it.",
    "Mon  06:30, 20 min before sunrise, 600 min after sunset", "sunrise", "12 min after sunset", "Mornings starts at 06:30, 20 min before sunset (Mon Wed).",
    "Sprinkler: emergency stop. To go on: reset.", "Pump: emergency stop (off not yet confirmed). To go on: remove the cause, then reset.", "Pump: emergency stop.", "Rose is emergency-stopped. To go on: Reset.",
    "E-STOP was REFUSED: This device may only look. Log in with one that may control. What still moves can only be stopped elsewhere.",
    "E-STOP was REFUSED: Log in first. What still moves can only be stopped elsewhere.", "Reset was refused: a stick is held: send zero speeds, or nothing for the failsafe timeout, first.",
    "E-STOP is NOT CONFIRMED: Pump: emergency stopped, off not confirmed, turn off its power.",
    "No connection to the MQTT broker 127.0.0.1:1883: Connection refused; it is tried again, and until then nothing is said or heard over MQTT.",
    "E-STOP is NOT CONFIRMED: Robot: fault, stop not confirmed: the bus is stuck; every system: nothing heard of it, turn off their power.",
    "E-STOP was NOT CARRIED OUT by every system: the pump: the pump does not answer. What still moves can only be stopped elsewhere.",
    "idle, old since 19:56:21", "idle, old since Mo., 30. Nov., 19:56: fault", "Times are those of Europe/Berlin.", "Times are those of this browser, Europe/Berlin.",
    "Pulse of Rose in microseconds", "step 1 of 3, round 1 of 2", "This is the lowest of Rose", "adc-0 is not in soil, or the wire is broken", "adc-0, adc-1 are not in soil, or the wire is broken",
    "Rose will be read by adc-0, now 40 % (read for Rose as well). It warns by the configuration's limits until you change them.", "It is dry", "It is wet",
    "adc-0: dry was 300 counts.", "adc-0: dry is 300 counts so far. Shall it be what it reads now, 312 counts?", "Moisture of Rose from Mo., 30. Nov., 06:30 to now", "Moisture of Rose from Mo., 30. Nov., 06:30 to So., 6. Dez., 06:30",
    "Mo., 30. Nov., 06:30  Rose  watered, 300 s", "Mo., 30. Nov., 06:30  Rose  calibrated, adc-0: dry 300, wet 1900", "Temperatures from 06:30 to now", "Temperatures from 06:30 to 06:40",
    "Gamepad: Rose; its left stick drives, B is the robot's emergency stop.", "Rose is on but should be off", "Rose, Rose are on but should be off", "Rose was on but should be off", "Rose is off but should be on",
    "at least 7.0, at most 9.0 l/min", "at least 4.5 mm expected", "Litres of Rose", "Minutes of Rose", "Name of zone 7", "Longest run of zone 7", "Mo., 30. Nov., 06:30  Rose  (rain delay)  Rose 05:00, Rose 10:00",
    "off  Mon Wed  06:30 18:00  05-01 to 09-30  cycles of 5 min, soak 10 min  next Mo., 30. Nov., 06:30", "Rose is on: next Mo., 30. Nov., 06:30.", "Rose is off.", "Mo., 30. Nov., 06:30 05:00, Rose (rain delay)",
    "Rose: 06:30 → 07:00 (Mon Wed), not saved yet", "Rose: 06:30 → 07:00 (every 3 days), not saved yet", "Rose 05:00 (04:10 left) is open, and no more may be.", "Mo., 30. Nov., 06:30  Rose  05:00 of 10:00, 3.2 of 5.0 l  completed  by another page or program", "Mo., 30. Nov., 06:30  Rose  05:00 of 10:00  completed  by Rose (192.168.1.20)", "Rose · asked by Rose (192.168.1.20)",
    "running, by its button", "disarmed, by this page", "1 plant; not read lately: adc-0; not in soil, or a broken wire: adc-1", "adc-0 · watered 5 min ago · watered by zone 7, last asked yesterday", "stopped: by this page",
    "stopped: the remote control stopped sending (stop not yet confirmed by the motors)", "fault: the bus is stuck (errno 110), 3 failed writes in a row (stop not confirmed by the motors, 7 failed)", "Rose dry, Rose silent",
    "driving by this page; no forward motion: an obstacle at 80 mm", "driving by 192.168.1.20:50000; slowing down: the battery is at 9 %", "fault: skin too warm, 41.0 °C (off not yet confirmed)", "the water sensor reads 300.1 °C: a short circuit",
    "leg 0: it is armed already; an arm feeds nothing, send a pulse or a ping", "zone 7: it is paused; resume first", "the pump: it does not run", "zone 7 is disabled", "there is a rain delay until Mo., 30. Nov., 06:30",
    "zone 3 (Rose) is open and less water flows than it should: 4.0 l/min, at least 7.0 (learnt Mo., 30. Nov., 06:30 from 5 runs)", "usually 4.0 l/min, learnt Mo., 30. Nov., 06:30 from 5 runs", "Minutes: from 0.02 to 1440", "Zones 3, minutes: from 0.1 to 1440",
    "fault, stop not confirmed: leg 0: the link is lost", "rain delay until Mo., 30. Nov., 06:30", "until Mo., 30. Nov., 06:30: by hand", "armed: Rose", "driven by another page or program", "by WebRTC", "by pictures",
    "good: 12 ms, at most 40 ms, 0 % late", "0.00 m, 1.25 m from the start, 90° to the left", "2 watching", "1 watching", "640×480 · 15 frames/s · 1.20 Mbit/s · 2 viewers · x264enc · rtsp://robot.local:8554/camera · sees nothing it knows, in 40 ms", "running /var/rec/2026-11-30.mp4 1.2 MB",
    "a tick runs past its deadline: Rose for 1.2 ms; late: Rose (98 % in time)", "Times are those of America/New York.", "E-STOP of everything: systems: expected a name or more, got none: everything was stopped.",
]


def literals(script):
    """Yields each text of a script that a person may read, with a hole where a value is put in."""
    text = script.read_text()
    if script in GERMAN:  # its own dictionary is none
        text = text[:text.index('addLanguage("de"')] + text[re.compile(r"^\]\);|^\}, \[\]\);", re.M).search(text).end():]
    if script.name == "words.js":  # what they say is looked at as messages are
        text = text[:text.index("const wordings")] + text[text.index("function worded"):]
    for kind, value, begin, end in tokens(text):
        if script.name == "parts.js" and re.search(r"\n    [^\n]*$", text[:begin]):  # an example's, in the language of who writes cards
            continue
        if kind == "expression" or not re.search("[A-Za-z]{2}", value.replace(HOLE, "")):
            continue
        before, after = text[max(0, begin - 60):begin], text[end:end + 4]
        whole = (HOLE if re.search(r"\+\s*$", before) else "") + value + (HOLE if re.match(r"\s*\+", after) else "")
        isWord = re.fullmatch(r"[a-z][\w-]*|[A-Z]+", value.strip())
        if TECHNICAL.search(value) or value in NOT_SHOWN or whole in NOT_SHOWN or isWord and not SHOWN.search(before):
            continue
        yield whole


class Texts(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.found, self.kept = [], []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag not in ("meta", "link", "input", "br", "img"):
            self.kept.append(bool(self.kept and self.kept[-1]) or tag in ("script", "style", "code") or attributes.get("translate") == "no")
        self.found += [value for name, value in attributes.items() if name in ("title", "aria-label", "placeholder", "alt") and value]

    def handle_endtag(self, tag):
        self.kept.pop()

    def handle_data(self, text):
        if text.strip() and not (self.kept and self.kept[-1]):
            self.found.append(text.strip())


def shown():
    """Returns {text: where} of every script and every HTML."""
    found = {}
    for page in PAGES:
        parser = Texts()
        parser.feed(page.read_text())
        for text in parser.found:
            if text not in NOT_SHOWN:
                found.setdefault(text, page.relative_to(ROOT))
    for script in SCRIPTS:
        for text in literals(script):
            found.setdefault(text, script.relative_to(ROOT))
    return found


# Files of a system that say in words what it does, what is wrong, what leads out of it, and why something is refused.
# Of the terminal and of Home Assistant.
UNSEEN = re.compile(r"twoDigits|^(?:a run (?:that|ended by)|Bluetooth as|Pump state|pump (?:on|of|by)|simulated pump|, reached by)|\\|{")
SAID = ("*Words.swift", "*+State.swift", "*State.swift", "*StateSeen.swift", "*Refusal*.swift", "*Notices.swift", "MotorFailure.swift", "LineSeen.swift")


def sentences():
    """Returns {sentence: where} of refusals, notices, states and their ways out, which the systems' Swift has as the values of cases."""
    found = {}
    for file in sorted({file for name in SAID for part in ("Control", "Daemon") for file in SYSTEMS.glob(f"*/{part}/**/{name}") if file.parent.name != "Scenario"}):
        for place in re.finditer(r'(?:case [^"\n]*:|\?|:)\s*\n?\s*(?:return )?"((?:[^"\\]|\\.)*)"', file.read_text()):
            text = re.sub(r"\\\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)", HOLE, place[1])
            if " " in text.strip() and "expected" not in text and not UNSEEN.search(text) and re.search("[a-z]{3}", text):
                found.setdefault(text, file.relative_to(ROOT))
    return found


def refusals():
    """Returns {(message, field): where} of what the recorded requests were refused with."""
    found = {}
    for file in sorted((ROOT / "Tests/Service/recorded").glob("*/refusals.txt")):
        text, decoder, at = file.read_text(), json.JSONDecoder(), 0
        while (at := text.find("{", at)) >= 0:
            try:
                document, end = decoder.raw_decode(text, at)
            except ValueError:
                at += 1
                continue
            at = end
            if isinstance(document, dict) and document.get("message"):
                found.setdefault((document["message"], document.get("field")), file.relative_to(ROOT))
    return found


def sources():
    """Returns all that may say something on the page, as one text: a key of a dictionary that is not in it is said by nobody."""
    swift = [file for part in ("Systems", "TactusDaemon", "TactusControl", "Store", "Service", "Tactus", "WallTime") for file in (ROOT / "Sources" / part).glob("**/*.swift")]
    own = []
    for script in GERMAN:
        if script.name != "german.js":
            text = script.read_text()
            own.append(text[re.compile(r"^\]\);|^\}, \[\]\);", re.M).search(text).end():])
    return "\n".join([*(file.read_text() for file in [*(one for one in SCRIPTS if one not in GERMAN), *PAGES, *swift]), *own])
