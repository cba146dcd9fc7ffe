"use strict";
// E-STOP and Reset: over the socket, over HTTP too when the socket says nothing, until the daemon has answered; it is confirmed when the states say so. A key
// stops what its view drives in the same way, and that alone.

const stopRepeatMs = 1000;
const socketAloneMs = 300; // how long the socket has before HTTP is tried as well
const stopSettleMs = 300; // a state that comes sooner after the answer may be from before the stop
const stopOpenMs = 2000; // how long outputs have to confirm, and states to say so
// since: it was asked for or, isTaken, the daemon has answered. openAt: since when the states have not confirmed it, or null. systems: those that it stops, or null for all
const eStop = { phase: "idle", number: 0, since: 0, isTaken: false, openAt: null, message: null, socket: null, overHTTP: false, timer: 0, systems: null };

const stopWords = { idle: "stops everything", asked: "sending…", taken: "stopping…", confirmed: "confirmed", unconfirmed: "NOT CONFIRMED", refused: "REFUSED", failed: "FAILED" };

function stopPhase(phase, text = null) {
  eStop.phase = phase;
  if (phase === "idle") eStop.isTaken = false;
  byId("e-stop").dataset.phase = phase;
  byId("e-stop-said").textContent = phase === "idle" && isLocked ? "log in first" : phase === "idle" && isReadOnly ? "not by this token"
    : phase === "confirmed" && eStop.systems ? nameOfStopped() + ": " + stopWords[phase] : stopWords[phase];
  if (phase === "confirmed" && navigator.vibrate) navigator.vibrate(80);
  alarm("e-stop", text, text && (() => { clearTimeout(eStop.timer); if (eStop.phase !== "confirmed") stopPhase("idle"); }));
}

const nameOfStopped = () => eStop.systems.length > 1 ? "what drives" : views.get(eStop.systems[0])?.title ?? eStop.systems[0];

// systems: those to stop, or null for all. Of a stop that is on its way nothing is taken back.
function emergencyStop(systems = null) {
  if ((isAsked() || eStop.phase === "taken" || eStop.phase === "unconfirmed") && systems) systems = eStop.systems && [...new Set([...eStop.systems, ...systems])];
  eStop.systems = systems;
  releaseAll();
  dropLooks();
  eStop.number += 1;
  eStop.since = performance.now();
  eStop.isTaken = false;
  eStop.openAt = eStop.message = null;
  eStop.socket = null;
  stopPhase("asked");
  tryStop();
}

// Of the daemon, which has not answered yet.
const isAsked = () => eStop.phase === "asked" || eStop.phase === "unconfirmed" && !eStop.isTaken;

// A socket delivers what it was given or ends, so each is told once; HTTP has one request at a time.
function tryStop() {
  clearTimeout(eStop.timer);
  const waits = performance.now() - eStop.since;
  if (socket && socket.readyState === WebSocket.OPEN && eStop.socket !== socket) {
    eStop.socket = socket;
    send({ type: "e-stop", id: "e-stop " + eStop.number, ...(eStop.systems && { systems: eStop.systems }) });
  }
  if (!isLive || isPolled || waits >= socketAloneMs) stopOverHTTP(eStop.number);
  if (waits >= (isLive ? stopRepeatMs : socketAloneMs)) stopPhase("unconfirmed", "E-STOP is NOT CONFIRMED: the daemon does not answer. It is tried again until it does. What still moves can only be stopped by its power switch.");
  eStop.timer = setTimeout(tryStop, waits < socketAloneMs ? socketAloneMs : stopRepeatMs);
}

// A new socket, while nobody has answered yet. The states that come with it at once are no answer.
function stopAgain() {
  if (isAsked()) tryStop(); else if (eStop.isTaken) eStop.since = performance.now();
}

async function stopOverHTTP(number) {
  if (eStop.overHTTP) return;
  eStop.overHTTP = true;
  const answers = await Promise.all((eStop.systems ?? [null]).map((system) => request("POST", system ? `/api/${system}/e-stop` : "/api/e-stop")));
  eStop.overHTTP = false;
  if (number !== eStop.number) return;
  // An error without a code is a proxy's, for a daemon that is down: nobody has refused, and it is tried again.
  const refused = answers.find((answer) => !answer.isDone && answer.document?.code);
  if (answers.every((answer) => answer.isDone)) stopTaken(); else if (refused) stopFailed(refused.status === 401 || refused.status === 403, refused.message);
}

// The daemon has answered, which tells nothing of the outputs yet. message: why more was stopped than was asked for, or null.
function stopTaken(message = null) {
  if (isAsked()) stopPhase("taken");
  eStop.since = performance.now();
  eStop.isTaken = true;
  if (message) {
    eStop.systems = null;
    eStop.message = `E-STOP of everything: ${message}.`;
  }
  askSoon(stopSettleMs);
  judgeStop();
}

// The rule of `tactus call e-stop`: an output is not known to be off if a member …Confirmed is false, at any depth.
const isOpenIn = (value) => value !== null && typeof value === "object" && Object.entries(value).some(([name, one]) => one === false && name.endsWith("Confirmed") || isOpenIn(one));

// What has not confirmed the stop, and what its state says.
function openStops() {
  const stops = eStop.systems ?? [...statedAt.keys()];
  if (!stops.length) return ["every system: nothing heard of it"];
  return stops.map((system) => {
    const state = states.get(system), isHeard = statedAt.get(system) >= eStop.since + stopSettleMs, hazard = hazards.get(system);
    if (isHeard && !isOpenIn(state)) return null;
    const said = !isHeard ? "nothing heard of it" : hazard ? hazard.words + (hazard.cause ? ": " + hazard.cause : "") : plain(String(state.state));
    return (views.get(system)?.title ?? system) + ": " + said;
  }).filter(Boolean);
}

// Whenever a state has come, and when the time for it is over.
function judgeStop() {
  if (!eStop.isTaken) return;
  clearTimeout(eStop.timer);
  const open = openStops(), now = performance.now();
  if (!open.length) {
    eStop.openAt = null;
    if (eStop.phase !== "confirmed") stopPhase("confirmed", eStop.message);
    eStop.message = null;
    return;
  }
  eStop.openAt ??= now;
  const left = eStop.openAt + stopOpenMs + (isPolled ? pollPeriodMs : 0) - now;
  if (left > 0) eStop.timer = setTimeout(judgeStop, left);
  else stopPhase("unconfirmed", `E-STOP is NOT CONFIRMED: ${open.join("; ")}, turn off ${open.length > 1 ? "their" : "its"} power.`);
}

// The daemon has answered, so there is nothing to try again. One that has taken it is believed.
function stopFailed(isRefusal, message) {
  if (!isAsked()) return;
  clearTimeout(eStop.timer);
  stopPhase(isRefusal ? "refused" : "failed", `E-STOP was ${isRefusal ? "REFUSED" : "NOT CARRIED OUT by every system"}: ${message}. What still moves can only be stopped elsewhere.`);
}

// Reset was pressed, here or elsewhere: nothing is held any more.
function stopEnded() {
  if (eStop.phase === "confirmed" && holds.size === 0 && performance.now() - eStop.since > 2000) stopPhase("idle");
}

// ---- what the socket answers

function taken(event) {
  if (event.id === "e-stop " + eStop.number) stopTaken(event.message);
  if (event.action === "reset") alarm("reset", null);
}

function refused(event) {
  if (event.id === "e-stop " + eStop.number) return stopFailed(event.code === "SCOPE_DENIED", inPlainWords(event));
  if (event.id === "reset") return alarm("reset", "Reset was refused: " + inPlainWords(event) + ".", () => {});
  const own = [...ownCards.values()];
  if (own.some((card) => card.refused && card.refused(event)) || event.id !== undefined) return;
  for (const card of own) if (card.refusedUnnamed) card.refusedUnnamed(event);
}

// At the first touch, whatever other fingers do; a click without one comes from a keyboard or a screen reader.
let stopTouched = -Infinity;
byId("e-stop").onpointerdown = () => { stopTouched = performance.now(); emergencyStop(); };
byId("e-stop").onclick = () => { if (performance.now() - stopTouched > 2000) emergencyStop(); };
byId("reset").onclick = async () => {
  alarm("reset", null);
  if (!isPolled) return send({ type: "reset", id: "reset" });
  const answer = await request("POST", "/api/reset");
  if (!answer.isDone) alarm("reset", "Reset was refused: " + answer.message + ".", () => {});
};

// ---- keys. Space is how people scroll, and water runs for hours: Space and Esc stop what drives, wherever the focus is, and what is driven from the
// card, or seen in the picture, that has the focus; nothing else. One key is E-STOP of everything.

const isTyped = "textarea, select, input:not([type=checkbox], [type=radio], [type=range], [type=file])";
const stopKey = "!";
const whatDrives = () => [...driving.keys()].filter((system) => driving.get(system));
const drivenFrom = (target) => [...ownCards.values()].filter(({ drives, section }) => drives && states.has(drives) && byId(section).contains(target)).map(({ drives }) => drives);
let spaceStopped = false;

const keyTarget = (event) => event.target instanceof Element ? event.target : document.body;
const isTyping = (event) => keyTarget(event).matches(isTyped) || keyTarget(event).isContentEditable;
const hasModifier = (event) => event.ctrlKey || event.altKey || event.metaKey;

addEventListener("keydown", (event) => {
  if (event.key === stopKey && !isTyping(event) && !hasModifier(event)) {
    event.preventDefault();
    if (!event.repeat) emergencyStop();
    return;
  }
  const target = keyTarget(event), moving = whatDrives(), mayDrive = moving.length > 0;
  const stops = [...new Set([...moving, ...(isTyping(event) ? [] : drivenFrom(target))])];
  if (!stops.length) return;
  if (event.key === "Escape" && !event.repeat) emergencyStop(stops);
  if (event.key !== " " || isTyping(event) || hasModifier(event)) return;
  // Somebody who goes through the page by keys may press what they have come to, while nothing drives.
  if (!mayDrive && target.matches("button, a, summary, input") && target.matches(":focus-visible")) return;
  event.preventDefault();
  spaceStopped = true;
  if (!event.repeat) emergencyStop(stops);
});
addEventListener("keyup", (event) => {
  if (event.key === " " && spaceStopped) { event.preventDefault(); spaceStopped = false; }
});
