"use strict";
// Cards of the systems that GET /api/systems describes: state, commands, settings, simulated faults. What a system is called, what
// it counts and how it is asked all come from the description; systems that have a card of their own are left out.

const traceSeconds = 120;
const unconfirmedMs = 3000; // how long a value that was taken may not yet be in the state
const cards = new Map(); // system → its card
const early = new Map(); // system → state that came before the description
const atRest = new Set(["off", "idle", "stopped", "disarmed", "ready", "closed", "emergencyStopped"]);
let areSystemsKnown = false;

async function loadSystems() {
  const answer = await request("GET", "/api/systems");
  // Another e-stop or a lost connection drops what only looks.
  if (!answer.status) return setTimeout(() => { if (isLive) loadSystems(); }, 1000);
  areSystemsKnown = true;
  const own = new Set(Object.values(sectionSystems));
  const described = (answer.isDone ? answer.document.systems || [] : []).filter((system) => cards.has(system.name) || !own.has(system.name));
  for (const name of cards.keys()) if (!described.some((system) => system.name === name)) removeCard(name);
  for (const system of described) {
    const shape = shapeOf(system);
    if (cards.has(system.name) && cards.get(system.name).shape !== shape) removeCard(system.name);
    if (!cards.has(system.name)) addCard(system, shape);
    showDescribed(cards.get(system.name), system);
    if (early.has(system.name)) showSystem(cards.get(system.name), early.get(system.name));
  }
  early.clear();
  hands();
}

// The description without what changes while the daemon runs.
function shapeOf(system) {
  return JSON.stringify([system, mayAdminister], (key, value) => key === "active" || key === "value" ? undefined : value);
}

function showDescribed(card, system) {
  for (const setting of system.settings) {
    const shown = card.settings.get(setting.name);
    if (shown) shown.textContent = inUnit(setting.value, setting.unit, String);
  }
  for (const fault of system.faults) {
    const box = card.faults.get(fault.name);
    if (!box.ariaBusy) box.checked = fault.active;
  }
}

// The first one after the connection is made is of type "state".
const isState = (event) => event.type === event.system || event.type === "state";

// Returns whether the event is one of these systems' and was shown.
function takenByCard(event) {
  const card = cards.get(event.system);
  if (card && event.type === event.system + ".notice") showNotice(card, event);
  else if (card) showSystem(card, event);
  else if (!areSystemsKnown && isState(event) && !Object.values(sectionSystems).includes(event.system)) early.set(event.system, event);
  else return false;
  return true;
}

// ---- state

function showSystem(card, event) {
  const word = typeof event.state === "string" ? event.state : null;
  const isStopped = word === "emergencyStopped";
  // Trouble lasts as long as the state that it has brought.
  if (card.trouble && card.trouble.state === undefined) card.trouble.state = word;
  if (card.trouble && card.trouble.state !== word) card.trouble = null;
  const isTrouble = card.trouble !== null || card.troubles.has(word) || /stall|fault|fail|error|jam|block|lost/i.test(word || "");
  card.state.textContent = word === null ? "" : plain(word);
  mark(card.section.id, isStopped || isTrouble ? "down" : word === null || !atRest.has(word) ? "up" : "idle", word === null ? "live" : plain(word));
  stopped(card.name, isStopped ? card.title + " is emergency-stopped. To go on: Reset." : null, isStopped);
  card.reset.classList.toggle("wanted", isStopped || isTrouble);
  showTrouble(card);
  if (card.own) showOwn(card, event);
  for (const field of card.fields) {
    const value = valueAt(event, field.name);
    // What telemetry does not have stays as the state said it.
    if (value !== undefined) showField(field, value, event.monotonicNs / 1e9);
  }
  followCurves(card, event);
  showTile(card, event, isStopped);
  for (const input of card.inputs) follow(input, event[input.name]);
}

// Its first two measurements, and the control that matters.
function showTile(card, event, isStopped) {
  const measured = card.fields.filter((field) => field.trace).slice(0, 2);
  const now = measured.map((field) => field.title + " " + fieldText(field, valueAt(event, field.name))).join(", ");
  const reset = { words: "Reset", look: "wanted", act: (control) => askSystem(card, control, "reset") };
  tile(card.name, { now, next: card.trouble ? sentence(card.trouble.text) : "", action: isStopped || card.trouble ? reset : card.action });
}

const fieldText = (field, value) => inUnit(value, field.unit, (number) => field.isInteger ? String(number) : number.toFixed(1));

// "legs[0].pulseUs": null if a part on the way is null.
function valueAt(event, path) {
  return path.split(/[.[\]]+/).reduce((value, name) => value == null ? value : value[name], event);
}

function showNotice(card, event) {
  note(event, event.message, event.trouble ? "error" : "");
  card.trouble = event.trouble ? { text: event.message, state: undefined } : null;
  showTrouble(card);
}

function showTrouble(card) {
  const text = card.trouble ? sentence(card.trouble.text) : "";
  put(card.why, text);
  card.why.hidden = !text;
}

function showField(field, value, now) {
  const text = fieldText(field, value);
  put(field.output, text);
  field.output.title = value == null ? "unknown" : typeof value === "number" ? String(value) : "";
  if (!field.trace) return;
  const last = field.history.at(-1);
  if (last && now - last.at < 1) return;
  field.history.push({ at: now, value: typeof value === "number" ? value : null });
  while (field.history[0].at < now - traceSeconds) field.history.shift();
  drawTrace(field, now);
}

// Between its own least and most, but noise in the last digit is a flat line.
function drawTrace(field, now) {
  const points = field.history.filter((point) => point.value !== null), values = points.map((point) => point.value);
  const low = Math.min(...values), high = Math.max(...values);
  const span = Math.max(high - low, Math.abs(high) / 50, 0.1), middle = (low + high) / 2;
  field.trace.setAttribute("points", points.map(({ at, value }) =>
    (120 - (now - at) / traceSeconds * 120).toFixed(1) + "," + (10 - (value - middle) / span * 18).toFixed(1)).join(" "));
}

// An input shows what the state says until somebody edits it; one that was sent, when the state says the same or has had its time.
function follow(one, value) {
  if (one.asked) {
    if (value !== undefined && value !== one.asked.value && performance.now() - one.asked.at < unconfirmedMs) return;
    one.asked = null;
    one.input.classList.remove("asked");
  }
  if (one.isEdited || value == null || document.activeElement === one.input) return;
  if (one.type === "boolean") one.input.checked = value;
  else one.input.value = typeof value === "number" ? Math.round(value * 1000) / 1000 : value;
}

// ---- names and numbers

const unitEndings = {
  "%": "percent", "°C": "celsius", rpm: "rpm", Hz: "hertz", h: "hours", min: "minutes", s: "seconds", ms: "ms", "µs": "us", V: "volts", A: "amperes", mA: "milliamperes",
  W: "watts", m: "metres", mm: "millimetres", "°": "degrees", L: "litres", "L/min": "litres per minute", bar: "bar", hPa: "hectopascals", g: "grams",
};

// temperatureCelsius in °C → Temperature; least_percent in % → Least; doseMl in ml, a unit of somebody's own → Dose
function titleOf(name, unit = "") {
  const words = plain(name).replaceAll(/[_.[\]-]+/g, " ").trim(), ending = " " + (unitEndings[unit] ?? unit.toLowerCase());
  const stem = words.endsWith(ending) ? words.slice(0, -ending.length) : words;
  return stem.charAt(0).toUpperCase() + stem.slice(1);
}

function inUnit(value, unit, inDigits) {
  if (value == null) return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return (typeof value === "number" ? inDigits(value) : plain(String(value))) + (unit ? " " + unit : "");
}

function rangeOf({ minimum, maximum, unit }) {
  const end = unit ? " " + unit : "";
  if (minimum == null && maximum == null) return "";
  return minimum == null ? "at most " + maximum + end : maximum == null ? "at least " + minimum + end : "from " + minimum + " to " + maximum + end;
}
