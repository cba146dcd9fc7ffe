"use strict";
// The view #/logs: the daemon's newest lines, the newest first, followed while somebody looks. Fetched only where somebody asks for it.

addLanguage("de", {
  "From level": "Ab Stufe", "all systems": "alle Geräte", "Find": "Suchen", "Follow": "Mitlaufen", "New lines come as they are written": "Neue Zeilen kommen, wie sie geschrieben werden",
  "Save as a file": "Als Datei sichern", "no line says that": "keine Zeile sagt das",
}, []);

const logPeriodMs = 1000;
const mostLogLines = 500; // that are kept here; the file has all of them
const log = {
  lines: [], next: null, // what was read, and the number to go on from
  question: 0, isAsking: false, // another level or system is another question
  level: element("select", null, { translate: false }), system: element("select"), find: element("input", null, { type: "search", autocomplete: "off" }),
  why: element("p"), list: element("ol", null, { className: "lines", translate: false, lang: "en" }),
};

async function askLog() {
  if (view !== "logs" || document.hidden || !isLive || log.isAsking || !isPressed(log.follow)) return;
  log.isAsking = true;
  const question = log.question, query = new URLSearchParams({ level: log.level.value, limit: mostLogLines });
  if (log.system.value) query.set("system", log.system.value);
  if (log.next !== null) query.set("since", log.next);
  const { isDone, document: page, message } = await request("GET", "/api/logs?" + query);
  log.isAsking = false;
  put(log.why, isDone ? "" : sentence(message));
  if (question !== log.question) return askLog();
  if (!isDone) return;
  // A daemon that was started again counts from 0.
  if (page.next < log.next) return askAnew();
  const isFirst = log.next === null;
  log.next = page.next;
  log.lines = [...log.lines, ...page.lines].slice(-mostLogLines);
  if (isFirst || page.lines.length) showLog();
  if (page.lines.length === mostLogLines && !isFirst) askLog(); // more was written meanwhile
}

function askAnew() {
  Object.assign(log, { lines: [], next: null, question: log.question + 1 });
  askLog();
}

function showLog() {
  for (const { system, label } of log.lines) addLogSystem(system ?? label);
  const sought = log.find.value.toLowerCase(), found = [];
  for (const line of log.lines) {
    const text = wordsOfLog(line);
    if (text.toLowerCase().includes(sought)) found.unshift(element("li", text, { className: line.level }));
  }
  fill(log.list, found, translated("no line says that"));
}

// As `tactus logs` prints it, with the controller's time.
function wordsOfLog({ seq, ts, level, label, msg, message, ...rest }) {
  const told = Object.entries(rest).map(([name, value]) => ` ${name}=${typeof value === "object" ? JSON.stringify(value) : value}`);
  const time = inZone(ts, { day: "numeric", month: "short", ...withYear(ts), hour: "2-digit", minute: "2-digit", second: "2-digit" });
  return `${time}  ${(level ?? "").toUpperCase()}  ${label ?? ""}: ${msg ?? message ?? ""}${told.join("")}`;
}

function addLogSystem(name) {
  if (name && ![...log.system.options].some(({ value }) => value === name)) log.system.append(element("option", name, { value: name, translate: false }));
}

function labelled(words, control) {
  const label = element("label", words + " ");
  label.append(control);
  return label;
}

for (const level of ["error", "warning", "notice", "info", "debug", "trace"]) log.level.append(element("option", level, { selected: level === "info" }));
log.system.append(element("option", "all systems", { value: "" }));
log.follow = chipOf("Follow", true, (chip) => { chip.setAttribute("aria-pressed", String(!isPressed(chip))); askLog(); });
log.follow.title = "New lines come as they are written";
log.why.setAttribute("role", "status");
log.list.setAttribute("aria-labelledby", "logs-title");
log.level.onchange = log.system.onchange = askAnew;
log.find.oninput = showLog;
const logRow = element("div", null, { className: "row" });
logRow.append(labelled("From level", log.level), labelled("System", log.system), labelled("Find", log.find), log.follow,
  button("Save as a file", ({ target }) => save(target, "/api/logs/export", "tactus.log")));
byId("logs").append(logRow, log.why, log.list);
setInterval(askLog, logPeriodMs);
addEventListener("hashchange", askLog);
askLog();
