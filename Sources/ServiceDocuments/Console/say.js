"use strict";
// Requests over HTTP, and what is said beside the control that made them: refusals, warnings, questions. All in the page, never
// in a dialog of the browser, which would stop the pings and shut the e-stop away.

// Where the page is: the daemon may be reached below a path, behind a proxy. `path` as the API has it: /api/status.
const here = new URL(".", location.href);
const isOfThisComputer = /^(localhost|127\..*|\[::1\])$/.test(here.hostname);
const onlyHere = "This page was opened by an address that only this computer knows: open it by the computer's name or its address in the network for one that other devices reach.";
const at = (path) => new URL(path.replace(/^\//, ""), here);

const byId = (id) => document.getElementById(id);
const requestLimitMs = 10000;
const longRequestLimitMs = 680000; // what concerns the whole store: the daemon gives a file 60 s to come, 10 s to wait, and 10 min of work
const looks = new Set(); // requests that only look and are not answered yet

function element(name, text, properties = {}) {
  const made = Object.assign(document.createElement(name), properties);
  if (text != null) made.textContent = text;
  return made;
}

function button(text, action, properties = {}) { return element("button", text, { type: "button", onclick: action, ...properties }); }

// What a narrow screen does not tear apart.
function together(...parts) {
  const group = element("span", null, { className: "row" });
  group.append(...parts);
  return group;
}

// One of several that may be pressed at once.
function chipOf(text, isOn, act) {
  const chip = button(text, () => act(chip), { className: "chip" });
  chip.setAttribute("aria-pressed", String(isOn));
  return chip;
}

const isPressed = (chip) => chip.getAttribute("aria-pressed") === "true";
// Every answer, one that never came too: {isDone, document, message}.
async function request(method, path, body, limitMs = requestLimitMs, isLook = method === "GET") {
  const options = { method: method, headers: headers() };
  if (body !== undefined) {
    options.headers["Content-Type"] = body instanceof Blob ? "application/octet-stream" : "application/json";
    options.body = body instanceof Blob ? body : JSON.stringify(body);
  }
  const control = new AbortController();
  let isLate = false;
  const limit = setTimeout(() => { isLate = true; control.abort(); }, limitMs);
  options.signal = control.signal;
  if (isLook) looks.add(control);
  try {
    const answer = await fetch(at(path), options);
    // An answer without a document counts as an empty one. An answer that was cut off half-way counts as no answer.
    const document = await answer.json().catch((error) => {
      if (control.signal.aborted) throw error;
      return {};
    });
    learnNames(document);
    return { isDone: answer.ok, status: answer.status, document, message: answer.ok ? "" : inPlainWords(document) || answer.statusText };
  } catch {
    return { isDone: false, status: 0, document: null, message: isLate ? "no answer in time: it may still be going on" : "no answer: whether it was done is not known" };
  } finally {
    clearTimeout(limit);
    looks.delete(control);
  }
}

async function look(path) { return (await request("GET", path)).document; }

// A browser opens six connections: nothing that only looks may keep an e-stop waiting for one.
function dropLooks() { for (const control of looks) control.abort(); }

// What a person asked for by a control: the answer, or null and the refusal beside it. What may take long says that it is under way.
async function command(control, method, path, body, limitMs = requestLimitMs) {
  unsay(control);
  if (limitMs > requestLimitMs) say(control, "under way: it may take minutes", "notice");
  const { isDone, document, message } = await request(method, path, body, limitMs);
  unsay(control);
  if (isDone) forgetRefusals(control.closest("[data-view]") ?? document);
  if (!isDone) say(control, message);
  else if (document.warning) say(control, worded(document.warning), "notice");
  return isDone ? document : null;
}

const slowSaveMs = 1000;
const savings = new Set(); // files that are on their way

// A token does not go into an address: what is saved is fetched first. What takes longer than a moment says so.
async function save(control, path, name) {
  unsay(control);
  const stop = new AbortController(), limit = setTimeout(() => stop.abort(), longRequestLimitMs);
  const slow = setTimeout(say, slowSaveMs, control, "under way: it may take minutes", "notice");
  savings.add(stop);
  try {
    const answer = await fetch(at(path), { headers: headers(), signal: stop.signal });
    if (!answer.ok) return say(control, inPlainWords(await answer.json().catch(() => ({}))) || answer.statusText);
    const own = /filename="([^"]+)"/.exec(answer.headers.get("Content-Disposition") || "");
    const link = element("a", null, { href: URL.createObjectURL(await answer.blob()), download: own ? own[1] : name });
    unsay(control);
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  } catch {
    say(control, "no answer");
  } finally {
    clearTimeout(limit);
    clearTimeout(slow);
    savings.delete(stop);
  }
}

// The connection of a file looks open, too, when nobody is there any more.
function dropSavings() { for (const stop of savings) stop.abort(); }

function saves(link, path, name) { link.onclick = (event) => { event.preventDefault(); save(link, path, name); }; }

// ---- beside the control

const sayings = new WeakMap(); // control → the line that it has caused

function unsay(control) { sayings.get(control)?.remove(); }

// What was refused before something else was done, or in a view that somebody has left.
function forgetRefusals(place) { for (const line of place.querySelectorAll(".say.refusal")) line.remove(); }

// Stays until somebody dismisses it or uses the control again; a refusal also until `forgetRefusals`. kind: refusal, notice, question; actions: [words, what it does].
function say(control, text, kind = "refusal", actions = []) {
  unsay(control);
  const line = element("p", null, { className: "say " + kind });
  line.setAttribute("role", kind === "refusal" ? "alert" : "status");
  line.append(element("span", /\. .*\w$/.test(text) ? text + "." : text, { title: saidAs.get(text) ?? "" }));
  for (const [words, act] of actions) line.append(button(words, () => { line.remove(); act(); }));
  line.append(button(kind === "question" ? "Cancel" : "×", () => line.remove(), { ariaLabel: kind === "question" ? "Cancel" : "Dismiss" }));
  const place = control.closest("[data-say]");
  if (place) place.append(line); else (control.closest(".row") || control).after(line);
  sayings.set(control, line);
}

const ask = (control, text, ...actions) => say(control, text, "question", actions);
