"use strict";
// Where WebSockets are blocked on the way, as by a proxy that refuses them or passes nothing on: the states are asked for over HTTP every few
// seconds, until a socket says something. What is driven over the socket cannot be driven then; E-STOP and all that is a request can.

const pollPeriodMs = 4000;
const polledSilentMs = 2.5 * pollPeriodMs;
const blockedWords = "WebSockets are blocked on the way to the daemon: it is asked every 4 s instead. What is driven over one cannot be driven from here.";
const unknownSystems = new Set(); // those that the daemon does not have
let isPolled = false;
let rounds = 0; // of questions, since it began
let pollTimer = 0;

// The daemon answers over HTTP, and no socket says anything.
function beginPolling() {
  if (isPolled) return;
  isPolled = true;
  rounds = 0;
  lock(false);
  if (isWhole) askStates();
}

function endPolling() {
  if (!isPolled) return;
  isPolled = isLive = false;
  clearTimeout(pollTimer);
  alarm("polling", null);
  byId("link").title = "";
}

// Where it is asked over HTTP: not only at the next turn.
function askSoon(ms) {
  if (!isPolled || !isWhole) return;
  clearTimeout(pollTimer);
  pollTimer = setTimeout(askStates, ms);
}

// What this token may do is told by a socket; over HTTP the door does.
async function askScope() {
  const { status } = await request("GET", "/api/tokens");
  if (!isPolled || !status) return;
  mayAdminister = status !== 401 && status !== 403;
  showSystemView();
}

async function askStates() {
  clearTimeout(pollTimer);
  if (!rounds) {
    loadSystems();
    askScope();
  }
  const begun = performance.now();
  const names = [...ownCards.keys(), ...cards.keys()].filter((name) => !unknownSystems.has(name));
  const answers = await Promise.all(names.map(async (name) => ({ name, ...await request("GET", "/api/" + name) })));
  if (!isPolled) return;
  if (answers.some(({ status }) => status)) {
    answeredAt = begun;
    byId("round-trip").textContent = "";
    byId("link").title = blockedWords;
    const wasLive = isLive;
    isLive = true;
    show("up", "connected, slower");
    alarm("link", null);
    // The first time it may be a daemon that has just begun to answer, and the next socket opens.
    if (++rounds === 2) alarm("polling", blockedWords, () => {});
    if (!wasLive) hands();
  }
  for (const { name, isDone, status, document } of answers) {
    if (status === 404) unknownSystems.add(name);
    if (isDone) take({ ...document, type: "state", system: name }, begun);
  }
  showAbsent();
  clearTimeout(pollTimer);
  pollTimer = setTimeout(askStates, pollPeriodMs);
}
