"use strict";
// The view #/parts: every part that a card can be made of, made by the code that is shown beside it. Fetched only where somebody asks for it.

addLanguage("de", {
  "Parts": "Teile", "Parts of a card": "Teile einer Karte", "Tile": "Kachel", "Switch": "Schalter", "Buttons": "Knöpfe", "Slider": "Schieber", "Gauge": "Anzeige",
  "Input of a command": "Eingabe eines Befehls", "Chart": "Verlauf", "Columns": "Säulen", "Table": "Tabelle", "Time line": "Zeitleiste",
  "What a card of yours can be made of, and the lines that make it. The made cards, ours and this page use the same. Nothing here drives anything.":
    "Woraus eine eigene Karte bestehen kann, mit den Zeilen, die es machen. Die gemachten Karten, unsere und diese Seite nutzen dieselben. Hier wird nichts angesteuert.",
  "The lines": "Die Zeilen", "What is on and what comes, on the overview.": "Was an ist und was kommt, in der Übersicht.", "On or off.": "An oder aus.",
  "What starts, what stops, what is most wanted. What was refused is said beside the button.": "Was startet, was anhält, was meist gewollt ist. Eine Ablehnung steht neben dem Knopf.",
  "A value by the thumb, said beside it.": "Ein Wert mit dem Daumen, daneben gesagt.", "A value with its unit, and how much of its range it is.": "Ein Wert mit Einheit, und wie viel seines Bereichs er ist.",
  "As a declared command's parameter is asked for: its range is told while it is typed.": "So wird nach einem Parameter eines Befehls gefragt: den Bereich sagt das Feld.",
  "Values over time with both axes, a good band, a limit and a moment.": "Werte über die Zeit mit beiden Achsen, gutem Bereich, Grenze und einem Augenblick.",
  "Sums side by side, and the same as a table.": "Summen nebeneinander, und dasselbe als Tabelle.", "Scrolls by itself where the screen is narrow.": "Rollt für sich, wo der Schirm schmal ist.",
  "What was and what will be.": "Was war und was sein wird.", "The newest first, and a line that says so when there is none.": "Das Neueste zuerst, und eine Zeile, die es sagt, wenn es nichts gibt.",
}, []);

// The time of every example: the same picture each time.
const partsNow = Date.UTC(2026, 5, 15, 12);

// Each: [title, what it is for, what makes it in `place`].
const partExamples = [
  ["Tile", "What is on and what comes, on the overview.", (place) => {
    const fan = tileOf("parts", "Fan", icons.other);
    fan.state.className = "led up";
    fan.state.textContent = "running";
    fan.now.textContent = "Temperature 31.3 °C";
    fan.next.textContent = "off at 14:30";
    fan.element.hidden = false;
    place.append(fan.element);
  }],
  ["Switch", "On or off.", (place) => {
    const night = chipOf("Quiet at night", true, (chip) => chip.setAttribute("aria-pressed", String(!isPressed(chip))));
    const label = element("label");
    label.append(element("input", null, { type: "checkbox", checked: true }), " Grille on");
    place.append(together(night, label));
  }],
  ["Buttons", "What starts, what stops, what is most wanted. What was refused is said beside the button.", (place) => {
    const start = button("Start", () => say(start, "the grille is off; put it on, then start"), { className: "go" });
    place.append(together(start, button("Stop", () => unsay(start), { className: "halt" }), button("Save", () => unsay(start), { className: "primary" })));
  }],
  ["Slider", "A value by the thumb, said beside it.", (place) => {
    const said = element("output", "40 %");
    const speed = element("input", null, { type: "range", min: 0, max: 100, value: 40, ariaLabel: "Speed in percent" });
    speed.oninput = () => { said.textContent = speed.value + " %"; };
    place.append(together(speed, said));
  }],
  ["Gauge", "A value with its unit, and how much of its range it is.", (place) => {
    const list = element("dl"), value = element("dd", inUnit(31.26, "°C", (number) => number.toFixed(1)) + " ");
    value.append(element("meter", null, { min: 0, max: 80, value: 31.26, ariaLabel: "Temperature" }));
    list.append(element("dt", titleOf("temperatureCelsius", "°C")), value);
    place.append(list);
  }],
  ["Input of a command", "As a declared command's parameter is asked for: its range is told while it is typed.", (place) => {
    const target = inputOf({ name: "targetCelsius", meaning: "Temperature to hold.", type: "number", minimum: 20, maximum: 80, unit: "°C" });
    const send = button("Set", () => target.input.checkValidity() ? unsay(send) : say(send, sentence(target.title + " must be " + target.expected)));
    const row = element("div", null, { className: "row" });
    row.append(target.label, send);
    place.append(row);
  }],
  ["Chart", "Values over time with both axes, a good band, a limit and a moment.", (place) => {
    const svg = drawing("svg", { class: "chart", role: "img", "aria-label": "Temperature of the last hour" }), from = partsNow - 3600000;
    const points = Array.from({ length: 61 }, (_, minute) => [from + minute * 60000, 40 + 12 * Math.sin(minute / 9)]);
    place.append(svg);
    drawChart(svg, {
      series: [{ points }], from, to: partsNow, low: 20, high: 60, unit: "°C", bands: [{ low: 35, high: 45 }],
      limits: [{ at: 55, text: "too hot" }], events: [{ at: partsNow - 1200000, text: "grille off" }],
    });
  }],
  ["Columns", "Sums side by side, and the same as a table.", (place) => {
    drawBars(place, {
      columns: ["Apr", "May", "Jun"], unit: "h", caption: "Hours by month",
      things: [{ name: "Left fan", values: [12, 30, 41] }, { name: "Right fan", values: [8, 22, 44] }],
    });
  }],
  ["Table", "Scrolls by itself where the screen is narrow.", (place) => {
    const rows = [["Left fan", "1,210 rpm", "in time"], ["Right fan", "–", "stalled"]].map((texts) => {
      const row = element("tr");
      row.append(...texts.map((text) => element("td", text)));
      return row;
    });
    rows[1].className = "bad";
    place.append(tableOf("Fans", ["fan", "speed", "state"], rows));
  }],
  ["Time line", "What was and what will be.", (place) => {
    const hour = 3600000, line = element("div", null, { className: "timeline", id: "parts-line", ariaLabel: "Runs of the fans" });
    place.append(line);
    drawTimeline(line, {
      from: partsNow - 48 * hour, to: partsNow + 48 * hour, now: partsNow, open: (block) => say(line, block.text, "notice"),
      lanes: [
        { name: "Left fan", blocks: [{ from: partsNow - 40 * hour, to: partsNow - 31 * hour, look: "", text: "ran 9 h" }, { from: partsNow + 9 * hour, to: partsNow + 18 * hour, look: "planned", text: "planned, 9 h" }] },
        { name: "Right fan", blocks: [{ from: partsNow - 16 * hour, to: partsNow - 9 * hour, look: "skipped", text: "left out: the grille was off" }] },
      ],
    });
  }],
  ["Log", "The newest first, and a line that says so when there is none.", (place) => {
    const log = element("ol", null, { className: "lines" });
    fill(log, ["11:58  Fan  running", "11:42  Fan  the grille is off"].map((text) => element("li", text)), "nothing yet");
    place.append(log);
  }],
];

// The lines of a function without its head, its end and what it is indented by.
const linesOf = (make) => String(make).split("\n").slice(1, -1).map((line) => line.replace(/^ {4}/, "")).join("\n");

function showParts() {
  const section = element("section", null, { id: "parts" }), all = element("div", null, { className: "parts" });
  section.dataset.view = "parts";
  section.setAttribute("aria-labelledby", "parts-title");
  section.append(element("h2", "Parts of a card", { id: "parts-title" }),
    element("p", "What a card of yours can be made of, and the lines that make it. The made cards, ours and this page use the same. Nothing here drives anything.", { className: "hint" }), all);
  byId("diagnostics").before(section);
  addView("parts", "Parts", "parts", icons.other, false);
  for (const [title, words, make] of partExamples) {
    const panel = element("article", null, { className: "panel" }), place = element("div", null, { translate: false, className: "example" });
    const code = element("pre", linesOf(make), { translate: false, className: "scroll", tabIndex: 0, ariaLabel: title });
    code.setAttribute("role", "region");
    const lines = element("details");
    lines.append(element("summary", "The lines"), code);
    panel.append(element("h3", title), element("p", words, { className: "hint" }), place, lines);
    all.append(panel);
    make(place);
  }
}

if (document.readyState === "loading") addEventListener("DOMContentLoaded", showParts); else showParts();
