"use strict";
// The page behind http://HOST:8000/: its link to the daemon, what comes over it, the banner. No library; talks to /ws and /api.

const pingPeriodMs = 500;
const silentAfterMs = 1500; // since the newest ping that was answered went out: two pongs are missing
const abandonedAfterMs = 5000; // a socket that says nothing for so long is given up for a new one
const oldAfterMs = 2500; // values are told once a second at least

// The token lives as long as the tab, or on this device until somebody logs out if they ask for that; never in an address.
let token = ofTab.get("token") || ofDevice.get("token") || "";
// What an address of the page may end in, in place of a view: exchanged for a token once. It does not stay in the address.
let ticket = /^#\/ticket\/([\w-]{1,64})$/.exec(location.hash)?.[1] ?? null;
const tokenBefore = token; // goes on where a ticket is good no more
if (ticket) {
  token = "";
  history.replaceState(null, "", location.pathname + location.search);
}
let isLocked = false; // the daemon wants a token that this page does not have
let socket = null;
let retryMs = 500;
let isLive = false; // the daemon answers, and what is shown is of now
let answeredAt = 0; // when the newest ping that was answered went out
let begunAt = 0; // the socket, or this page after a sleep
let isHeard = false; // the socket has said something: one that a proxy has accepted may never
let watchedAt = 0;
let pings = new Map(); // number → when it went out
let pingNumber = 0;
let ownName = null; // how the daemon calls this page
let isReadOnly = false;
let mayAdminister = false;
const heardAt = new Map(); // system → when its values came
const heardOn = new Map(); // the same by the time of day, which goes on while this page sleeps
const driving = new Map(); // system → whether somebody may be driving something with it: it moves, or it is armed

function headers() { return token ? { Authorization: "Bearer " + token } : {}; }

// ---- the link

function connect() {
  begunAt = performance.now();
  isHeard = false;
  pings.clear();
  const begun = begunSocket?.token === token ? begunSocket : null;
  clearInterval(begunSocket?.timer);
  if (!begun) begunSocket?.socket.close();
  begunSocket = null;
  try {
    socket = begun ? begun.socket : openSocket(token);
  } catch {
    return askForToken("This is no token: one has only the letters a to z and A to Z, digits, and signs such as - and _.");
  }
  socket.onopen = ping;
  socket.onmessage = (message) => {
    if (!isHeard) {
      isHeard = true;
      retryMs = 500;
      endPolling();
      lock(false);
      watched = "";
    }
    if (typeof message.data === "string") take(JSON.parse(message.data)); else takeBytes(new Uint8Array(message.data));
  };
  socket.onclose = async (event) => {
    if (!isPolled) lose(event.reason || "no connection");
    if (!isHeard && await isRefused()) return;
    if (event.code === 4001) return askForToken("This token has expired or was revoked.");
    setTimeout(connect, retryMs);
    retryMs = Math.min(retryMs * 2, 5000);
  };
  if (!begun) return;
  // What has come before.
  if (begun.pings.size) socket.onopen();
  for (const [id, sent] of begun.pings) pings.set(id, sent);
  for (const message of begun.messages) socket.onmessage(message);
  if (begun.closed) socket.onclose(begun.closed);
}

// A browser does not say why a WebSocket was refused; the same door over HTTP does.
async function isRefused() {
  loadLater();
  const answer = await request("GET", "/api/status");
  if (answer.isDone && !isHeard) beginPolling();
  // A page that a browser had kept, of a daemon that is down.
  if (!answer.isDone && !answer.document?.code && !isLive && !heardAt.size) alarm("link", "Not connected: nothing is known of the daemon now, and the controls are off. E-STOP still tries.");
  if (![401, 403, 429].includes(answer.status)) return false;
  endPolling();
  askForToken(reasons[answer.document.code] || answer.message, answer.document.message);
  return true;
}

// Why there is no way in, for who has never heard of header fields.
const reasons = {
  TOKEN_MISSING: "This page needs a token.",
  TOKEN_INVALID: "This token does not work here. Was all of it copied? It may also be revoked, or another computer's.",
  TOKEN_EXPIRED: "This token has expired. Make a new one.",
  TICKET_INVALID: "This address is not good any more: it works once, within 5 minutes. Have a new one made.",
};

// message: the daemon's, which has the command between backquotes
function askForToken(why, message = "") {
  const command = message.split("`")[1];
  if (command) byId("token-command").textContent = command;
  byId("door-why").textContent = why;
  alarm("link", null); // it does answer
  isReadOnly = false; // nobody is in
  hands();
  lock(true);
  show("down", "locked");
  byId("token").focus();
}

function lock(locks) {
  const isNew = isLocked !== locks;
  isLocked = locks;
  byId("door").hidden = !locks || ticket !== null;
  byId("ticket-door").hidden = !locks || ticket === null;
  document.body.classList.toggle("locked", locks);
  byId("log-out").hidden = locks || !token;
  if (locks) loadLater();
  // What was refused for want of a token was refused to somebody who had not logged in.
  if (isNew && (eStop.phase === "idle" || eStop.phase === "refused")) stopPhase("idle");
}

function enter(text, remembers) {
  token = text;
  ofTab.set("token", token);
  if (remembers) ofDevice.set("token", token);
  connect();
}

byId("door").onsubmit = (event) => {
  event.preventDefault();
  const text = byId("token").value.trim();
  byId("token").value = "";
  enter(text, byId("remember").checked);
};

// Only when somebody presses it: what looks at an address before a person does would use the ticket up.
byId("ticket-door").onsubmit = async (event) => {
  event.preventDefault();
  const { isDone, status, document: answer, message } = await request("POST", "/api/ticket", { ticket });
  if (!isDone && status !== 404) return put(byId("ticket-why"), sentence(message));
  ticket = null;
  if (isDone) return enter(answer.token, byId("ticket-remember").checked);
  if (!tokenBefore) return askForToken(reasons[answer.code] || message);
  token = tokenBefore;
  lock(false);
  alarm("ticket", reasons[answer.code] || message, () => alarm("ticket", null));
  connect();
};

// Another ticket, in a page that is open already.
addEventListener("hashchange", () => { if (location.hash.startsWith("#/ticket/")) location.reload(); });

// What this page drives is let go before its token is forgotten.
byId("log-out").onclick = () => {
  releaseAll();
  ofTab.remove("token");
  ofDevice.remove("token");
  location.reload();
};

function show(state, text) {
  byId("link").className = "led " + state;
  byId("link").textContent = text;
}

function send(message) {
  if (socket && socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
}

function ping() {
  if (!socket || socket.readyState !== WebSocket.OPEN) return;
  pings.set(++pingNumber, performance.now());
  send({ type: "ping", id: pingNumber });
}
setInterval(ping, pingPeriodMs);

function answered(id) {
  const sent = pings.get(id), now = performance.now();
  if (sent === undefined) return;
  pings.delete(id);
  if (sent > answeredAt) answeredAt = sent;
  if (now - answeredAt >= silentAfterMs) return; // it comes from before the silence
  if (id > 0) byId("round-trip").textContent = (now - sent).toFixed(1) + " ms"; // what `early.js` has asked waited for the scripts
  if (isLive) return;
  isLive = true;
  show("up", "live");
  alarm("link", null);
  watch();
  showAbsent();
  hands();
  if (isWhole) lookAtHealth(); // of what may be another daemon
  loadLater();
}

// Nobody answers: what is shown is the past, and what is asked for might be carried out at any time or never.
function lose(why) {
  const wasLive = isLive;
  pings.clear();
  endPolling();
  show("down", why);
  byId("round-trip").textContent = "";
  if (!wasLive) return;
  releaseAll();
  isLive = false;
  dropLooks();
  hands();
  alarm("link", "No answer from the daemon: what is shown is old, and the controls are off. E-STOP still tries.");
}

setInterval(() => {
  const now = performance.now();
  // This page has slept, as in the background: that is no silence of the daemon's.
  if (now - watchedAt > 1000) {
    begunAt = now;
    ping();
  }
  watchedAt = now;
  if (isLive && now - answeredAt > (isPolled ? polledSilentMs : silentAfterMs)) lose("no answer");
  // Open or on its way, and nobody there: a new socket may find a way.
  if ((!isLive || isPolled) && socket && socket.readyState < WebSocket.CLOSING && now - Math.max(isPolled ? 0 : answeredAt, begunAt) > abandonedAfterMs) {
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
    const wasPolled = isPolled;
    if (!wasPolled) {
      lose("no answer");
      dropSavings();
    }
    connect();
    if (!wasPolled) isRefused();
  }
  showAges(now);
}, 100);

// Whether the controls work: a look-only token's never do, nobody's do while nobody answers. E-STOP always does.
function hands() {
  if (eStop.phase === "idle") stopPhase("idle");
  const mayAct = isLive && !isReadOnly, work = mayAct && isWhole;
  const driven = [...ownCards.values()].filter((card) => card.release); // over the socket
  for (const set of document.querySelectorAll("fieldset.hands")) {
    set.disabled = !work || (isPolled && driven.some((card) => byId(card.section).contains(set)));
  }
  for (const card of ownCards.values()) if (card.hands) card.hands(work && !(isPolled && card.release));
  byId("reset").disabled = !mayAct;
  document.body.classList.toggle("silent", !isLive);
  byId("read-only").hidden = !isReadOnly;
  showAges(performance.now());
  showWell();
}

const sectionSystems = { "loops-section": "loops" }; // section → the system that it shows
const ownCards = new Map(); // system → its card, for a system that has written its own

// What a system's own script has to call once; what its view is called and drawn as is in its HTML. card: {section: its id,
// take(event): shows it, and returns whether nothing is left to be said of it; and, if it has something to do there,
// takeBytes(bytes): of a binary frame, refused(error): returns whether it was about this system, refusedUnnamed(error): it has
// no number, and no system has claimed it, hands(work): its controls work or do not, release(): nobody looks any more,
// reads(event): the event as people say it, before anything of it is shown,
// drives: the system that is driven from here, or seen while it is driven, viewed(view, sought): another view is shown now, or something is sought in it (#/plants/12),
// stage: where a camera's picture lies in its view}
function addOwnCard(system, card) {
  ownCards.set(system, card);
}

const ownShapes = new Map(); // kind of a system → what its own script shows of a state

// What a declared system's own script has to call once: show(root, event, system) puts a state into the card's copy of its HTML.
function ownCard(kind, show) { ownShapes.set(kind, show); }

// Whoever moves something from here lets go of it. An e-stop comes after this, so no card's mistake may end it.
function releaseAll() {
  for (const card of ownCards.values()) {
    try { if (card.release) card.release(); } catch (error) { console.error(error); }
  }
}
addEventListener("blur", releaseAll);
addEventListener("pagehide", releaseAll);
document.addEventListener("visibilitychange", () => { if (document.hidden) releaseAll(); });

const oldSince = new Map(); // system → the time of day of its newest values, which are old

// Old values are dim, and say how old they are. What stands for them elsewhere says since when.
function showAges(now) {
  for (const [id, system] of Object.entries(sectionSystems)) {
    const age = now - heardAt.get(system), section = byId(id);
    const isOld = age > oldAfterMs + (isPolled ? pollPeriodMs : 0) || (!isLive && age >= 0);
    section.classList.toggle("old", isOld);
    const words = isOld ? ageOf(age).replace("ago", "old") : "";
    if (section.querySelector("h2").dataset.age !== words) section.querySelector("h2").dataset.age = words;
    const since = isOld ? whenOf(heardOn.get(system)) : undefined;
    if (oldSince.get(system) === since) continue;
    if (isOld) oldSince.set(system, since); else oldSince.delete(system);
    showMark(id);
    showWell();
  }
}

// ---- what is wrong with a system, by one rule for all of them: what its state says of a fault, of an emergency stop, and of what has not confirmed that it is off

const unconfirmedAfterMs = 900; // what was told to stop a moment ago has not confirmed it yet
const wholes = new Map(); // system → its newest state, with what telemetry has said since
const unconfirmedAt = new Map(); // system → when it was first said that something is not confirmed
const hazards = new Map(); // system → {words: of the state, cause, wayOut}

function findHazard(event) {
  if (typeof event.state !== "string" || event.index !== undefined || (event.type !== "state" && event.type !== event.system)) return;
  const { system } = event, whole = { ...wholes.get(system), ...event };
  wholes.set(system, whole);
  const hazard = hazardOf(system, whole);
  if (hazard) hazards.set(system, hazard); else hazards.delete(system);
}

const isStopOf = (part) => part.emergencyStopped === true || part.state === "emergencyStopped";
const isFaultOf = (part) => part.state === "fault" || typeof part.fault === "string";
const unconfirmedOf = (part) => Object.keys(part).filter((name) => /.Confirmed$/.test(name) && part[name] === false);

// null: nothing is wrong. A system of several parts, as legs, is as bad as the worst of them.
function hazardOf(system, state) {
  const parts = [state, ...Object.values(state).filter(Array.isArray).flat().filter((part) => typeof part?.state === "string")];
  const unconfirmed = new Set(parts.flatMap(unconfirmedOf)), isFault = parts.some(isFaultOf), isStop = parts.some(isStopOf);
  if (!unconfirmed.size) unconfirmedAt.delete(system);
  else if (!unconfirmedAt.has(system)) unconfirmedAt.set(system, performance.now());
  const isUnconfirmed = unconfirmed.size > 0 && (isFault || performance.now() - unconfirmedAt.get(system) >= unconfirmedAfterMs);
  if (!isFault && !isStop && !isUnconfirmed) return null;
  const words = [isStop && "emergency stopped", isFault && "fault", ...(isUnconfirmed ? [...unconfirmed].map((name) => plain(name.replace("Confirmed", "")) + " not confirmed") : [])];
  const wrong = parts.filter((part) => isFaultOf(part) || isStopOf(part) || unconfirmedOf(part).length);
  const of = (part, text) => part === state || !part.name ? text : part.name + ": " + text;
  const causes = wrong.filter((part) => isFaultOf(part) || !isStop).map((part) => [part, causeOf(part)]).filter(([, cause]) => cause);
  return {
    words: words.filter(Boolean).join(", "), cause: causes.map(([part, cause]) => of(part, cause)).join("; "),
    wayOut: [...new Set(wrong.map((part) => part.wayOut).filter(Boolean))].join("; "),
  };
}

// In words, without what counts on: a word such as run-limit is for programs.
function causeOf({ fault, reason }) {
  return ours(/\s/.test(fault || "") ? fault : (reason || fault || "").replace(/^fault: /, "").replace(/ \(.*\)$/, ""));
}

// ---- events

const states = new Map(); // system → its newest state, as the daemon tells it once a second
const statedAt = new Map(); // system → when that came or, over HTTP, was asked for: those that the present daemon has
function keepState(event, at) {
  states.set(event.system, event);
  statedAt.set(event.system, at);
  queueMicrotask(judgeStop); // after it was shown, which no card's mistake may prevent
}

// The state before with what has changed. A copy, since cards may have kept the one before.
function changed(state, changes) {
  if (changes === null || typeof changes !== "object" || Array.isArray(changes)) return changes;
  const made = Array.isArray(state) ? [...state] : { ...state };
  for (const [name, value] of Object.entries(changes)) made[name] = changed(made[name], value);
  return made;
}

function take(event, at = performance.now()) {
  if (event.type === "pong") return answered(event.id);
  learnNames(event);
  if (event.type === "state") keepState(event, at);
  if (event.type === "changes") {
    const { changes, ...head } = event;
    event = { ...changed(states.get(event.system), changes), ...head, type: event.system };
    keepState(event, at);
  }
  if (event.type === "hello") {
    byId("version").textContent = "version " + event.version;
    if (ownName) formerNames.add(ownName);
    ownName = "local client " + event.client;
    isReadOnly = event.scope === "read";
    mayAdminister = event.scope === "admin";
    statedAt.clear(); // it may be another daemon, with other systems
    hands();
    stopAgain();
    send({ type: "changes" });
    if (isWhole) greeted();
    return note(event, "connected");
  }
  if (event.type === "ack") return taken(event);
  if (event.type === "error") {
    note(event, event.message, "error");
    return refused(event);
  }
  heardAt.set(event.system, performance.now());
  heardOn.set(event.system, Date.now());
  watch();
  if (isWhole) shown(event); else preview(event);
}

// What this token may see, and the systems that there are.
function greeted() {
  showSystemView();
  loadSystems();
}

function shown(event) {
  const own = ownCards.get(event.system);
  if (own?.reads) event = own.reads(event);
  findHazard(event);
  if (takenByCard(event)) return;
  if (own && own.take(event)) return;
  note(event, inWords(event));
}

// Of what has no words of its own: its name and what it carries.
function inWords(event) {
  const { type, system, seq, monotonicNs, ...rest } = event;
  if (rest.state) return plain(rest.state) + (rest.reason && rest.reason !== rest.state ? ": " + rest.reason : "");
  const value = (value) => typeof value === "number" ? Math.round(value * 1000) / 1000 : typeof value === "object" ? JSON.stringify(value) : value;
  const parts = Object.entries(rest).filter(([, one]) => one != null).map(([name, one]) => plain(name) + " " + value(one));
  return plain(type.replace(system + ".", "").replace(".", " ")) + (parts.length ? ": " + parts.join(", ") : "");
}

// emergencyStopped → emergency stopped
function plain(word) { return word.replace(/[A-Z]/g, (letter) => " " + letter.toLowerCase()); }

// What is said again and again is one line that counts.
function note(event, text, kind = "") {
  const last = byId("events").firstChild, words = event.system + "  " + text;
  const again = last && last.dataset.words === words ? Number(last.dataset.times) + 1 : 1;
  const line = again > 1 ? last : element("li");
  line.className = kind;
  Object.assign(line.dataset, { words: words, times: again });
  line.textContent = timeWithSeconds(Date.now()) + "  " + words + (again > 1 ? "  (" + again + " times)" : "");
  line.title = (event.monotonicNs / 1e9).toFixed(3) + " s on the daemon's clock";
  byId("events").prepend(line);
  while (byId("events").children.length > 100) byId("events").lastChild.remove();
}

const holds = new Map(); // system → why it must be reset
const alarms = new Map(); // what is wrong with this page's own doings → {text, dismissed: what else dismissing does; null: it cannot be}

// mayReset: a reset is not refused as long as what is wrong lasts
function stopped(system, why, isEmergency = false, mayReset = true) {
  if (why) holds.set(system, { text: why, isEmergency, mayReset }); else holds.delete(system);
  byId("reset").classList.toggle("away", ![...holds.values()].some((hold) => hold.mayReset));
  stopEnded();
  showBanner();
}

function alarm(key, text, dismissed = null) {
  if (text) alarms.set(key, { text: text, dismissed: dismissed }); else alarms.delete(key);
  showBanner();
}

// At the foot of the window, whatever the page shows: nothing moves when it comes. The same words are not said twice.
function showBanner() {
  const lines = [...alarms].sort(([one]) => one === "e-stop" ? -1 : 0).map(([key, { text, dismissed }]) => ({ key, text, dismissed }));
  const [first, ...others] = [...holds].filter(([, hold]) => hold.isEmergency);
  if (first) lines.push({ text: first[1].text + (others.length ? " Also stopped: " + others.map(([system]) => views.get(system)?.title ?? system).join(", ") + "." : "") });
  for (const hold of holds.values()) if (!hold.isEmergency) lines.push({ text: hold.text });
  const words = JSON.stringify(lines);
  if (byId("banner").dataset.words === words) return;
  byId("banner").dataset.words = words;
  byId("banner").hidden = lines.length === 0;
  nameWindow();
  showWell();
  byId("banner").replaceChildren(...lines.map(({ key, text, dismissed }) => {
    const line = element("p", text);
    if (dismissed) line.append(button("×", () => { alarm(key, null); dismissed(); }, { ariaLabel: "Dismiss" }));
    return line;
  }));
}

// What does not work although every loop ticks: a store or a token file that cannot be used, a broker that is gone. Asked of the door, since any system may
// be absent, and it needs no token.
async function lookAtHealth() {
  if (document.hidden) return;
  const { document: health } = await request("GET", "/api/health");
  if (!health || !health.status) return;
  const told = (health.warnings ?? []).map(({ message }) => message), place = byId("degraded");
  if (health.status === "degraded") told.unshift(health.message);
  const words = JSON.stringify(told);
  if (place.dataset.words === words) return;
  place.dataset.words = words;
  place.hidden = told.length === 0;
  place.replaceChildren(...told.map((text) => element("p", sentence(text))));
  showWell();
}

// Lines of a list; one that says so when there are none.
function fill(list, lines, none) {
  list.replaceChildren(...(lines.length ? lines : [element("li", none, { className: "none" })]));
}

function sentence(text) { return text.charAt(0).toUpperCase() + text.slice(1) + "."; }

function takeBytes(bytes) { for (const card of ownCards.values()) if (card.takeBytes) card.takeBytes(bytes); }

function sendBytes(bytes) {
  if (socket && socket.readyState === WebSocket.OPEN) socket.send(bytes);
}

// When the other files are there, too.
addEventListener("DOMContentLoaded", () => { byId("e-stop").disabled = false; hands(); if (ticket) { lock(true); show("down", "locked"); } else connect(); });
