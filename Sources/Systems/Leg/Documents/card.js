"use strict";
// The legs' cards: state, ARM and DISARM, the pulse. LegCtrl frames in binary frames of console.js's socket; for leg k the
// byte 0x80 + k comes before the frame.

const legPeriodMs = 20; // 50 Hz
const legPingMs = 40; // four may be lost before a deadman of 200 ms
const legs = []; // by index: {parts, held, mine, state, sender}; mine: armed here, and kept alive and moved from here

function legFrame(index, type, ...payload) {
  sendBytes(new Uint8Array([0x80 + index, 0x01, type, payload.length, 0x00, ...payload]));
}
const legTypes = { arm: 1, disarm: 2, ping: 4 };

function legCard(index, leg) {
  const card = byId("leg").content.firstElementChild.cloneNode(true);
  const parts = Object.fromEntries([...card.querySelectorAll("[data-of]")].map((part) => [part.dataset.of, part]));
  const entry = { parts, held: false, mine: false, asked: 0, state: leg.state, arm: card.querySelector("[data-do=arm]") };
  const { slider, hold, want } = parts;
  slider.min = 500;
  slider.max = 2500;
  slider.value = entry.value = leg.settings.centreUs;
  parts.name.textContent = leg.name;
  slider.setAttribute("aria-label", "Pulse of " + leg.name + " in microseconds");
  parts.scroll.setAttribute("aria-label", "Links of " + leg.name);
  for (const one of card.querySelectorAll("[data-do]")) one.setAttribute("aria-label", one.textContent + " " + leg.name);
  const soft = leg.settings;
  const label = () => {
    const beyond = slider.value < soft.lowestUs || slider.value > soft.highestUs;
    want.textContent = slider.value + " µs" + (beyond ? `, limited to ${soft.lowestUs}…${soft.highestUs}` : "");
  };
  label();
  slider.oninput = () => {
    if (isTheirs(entry)) slider.value = entry.value; else entry.value = slider.value;
    label();
  };
  slider.onpointerdown = () => { entry.held = isOurs(entry, slider); };
  slider.onpointerup = slider.onpointercancel = () => { entry.held = false; };
  slider.onkeydown = (event) => { if (event.key.startsWith("Arrow")) entry.held = isOurs(entry, slider); };
  slider.onkeyup = slider.onblur = () => { entry.held = false; };
  hold.onchange = () => { hold.checked = hold.checked && isOurs(entry, hold); };
  for (const button of card.querySelectorAll("[data-do]")) {
    button.onclick = () => {
      unsay(entry.arm);
      const does = button.dataset.do;
      // An arm feeds nothing: only what was not armed before is this page's afterwards.
      if (does === "arm" && entry.state === "disarmed") { entry.mine = true; entry.asked = performance.now(); }
      if (does === "disarm") entry.mine = entry.held = hold.checked = false;
      if (does === "ping" && !isOurs(entry, button)) return;
      legFrame(index, legTypes[does]);
    };
  }
  byId("leg-list").append(card);
  return entry;
}

const isTheirs = (entry) => entry.state === "armed" && !entry.mine;

// A pulse or a ping takes a leg over, whoever has armed it; one touch of a slider must not.
function isOurs(entry, control) {
  unsay(control);
  if (!isTheirs(entry)) return true;
  say(control, sentence((entry.sender ? ours(entry.sender) : "somebody else") + " has armed this leg: disarm it before you move it from here"));
  return false;
}

// By the leg's number; null: of no leg in particular.
function legRefused(index, event) {
  const entry = legs[index ?? 0];
  if (!entry) return;
  if (event.code === "ALREADY_ARMED") entry.mine = false;
  say(entry.arm, sentence(event.message));
}

function showLegs(event) {
  byId("legs").hidden = false;
  byId("legs-chip").textContent = event.chip.ready ? "" : "the chip fails: " + (event.chip.lastFailure || "it has not answered yet");
  event.legs.forEach((leg, index) => {
    const entry = legs[index] || (legs[index] = legCard(index, leg));
    const { parts } = entry;
    parts.state.textContent = plain(leg.state);
    parts.pulse.textContent = leg.pulseUs == null ? "no pulse" : leg.pulseUs + " µs";
    parts.age.textContent = leg.ageMs == null ? "–" : ageOf(leg.ageMs);
    entry.sender = leg.lastSender;
    parts.sender.textContent = leg.lastSender ? "by " + ours(leg.lastSender) : "by nobody";
    parts.battery.textContent = leg.batteryMv == null ? "" : " · battery " + (leg.batteryMv / 1000).toFixed(2) + " V";
    showLinks(parts.links, leg.links);
    entry.arm.disabled = leg.state === "armed";
    parts.fault.hidden = leg.state !== "fault";
    parts.fault.textContent = leg.state === "fault" ? "FAULT: " + leg.fault + ". DISARM first." : "";
    // What was held before a fault must neither move the leg nor keep it alive when somebody else arms it.
    if (leg.state !== "armed" && performance.now() - entry.asked > 300) parts.hold.checked = entry.mine = entry.held = false;
    entry.state = leg.state;
  });
  driving.set("leg", event.legs.some((leg) => leg.state === "armed"));
  const states = event.legs.map((leg) => leg.state);
  const armed = event.legs.filter((leg) => leg.state === "armed");
  tile("leg", {
    now: event.legs.map((leg) => leg.pulseUs == null ? "no pulse" : leg.pulseUs + " µs").join(", "), next: armed.length ? "armed: " + armed.map((leg) => leg.name).join(", ") : "none is armed",
    action: armed.length ? { words: "DISARM", look: "halt", act: () => armed.forEach((leg) => legs[event.legs.indexOf(leg)].parts.disarm.click()) }
      : { words: "Move", look: "primary", act: () => { location.hash = "#/leg"; } },
  });
  const isHeld = states.includes("fault") || states.includes("emergencyStopped");
  mark("legs", isHeld ? "down" : !event.chip.ready ? "warn" : states.includes("armed") ? "up" : "idle", states.map(plain).join(", "));
  const first = event.legs.find((leg) => leg.state === "emergencyStopped");
  stopped("leg", first ? sentence("legs: " + first.reason) + (first.wayOut ? " To go on: " + first.wayOut + "." : "") : null, true);
}

// One row for each way to the leg, whether somebody uses it or not.
function showLinks(body, links) {
  while (body.rows.length < links.length) {
    const row = body.insertRow();
    for (let cell = 0; cell < 6; cell++) row.insertCell();
  }
  links.forEach((link, index) => {
    const row = body.rows[index];
    const errors = link.framesMalformed + link.framesLost + link.sendFailures;
    const texts = [
      link.kind + (link.device ? " " + link.device : ""), link.state, link.peer ? ours(link.peer) : "–",
      link.framesReceived, link.framesSent, errors,
    ];
    texts.forEach((text, cell) => { row.cells[cell].textContent = text; });
    row.className = link.reason ? "bad" : "";
    row.title = link.reason || `${link.framesMalformed} malformed, ${link.framesLost} lost, ${link.sendFailures} not sent`;
    if (link.reason) row.cells[1].textContent = link.state + ": " + link.reason;
  });
}

// Nobody looks any more: what was armed here is disarmed, and if that does not arrive the deadman ends the pulse.
function releaseLegs() {
  legs.forEach((entry, index) => {
    if (entry.mine) for (let repeat = 0; repeat < 3; repeat++) legFrame(index, legTypes.disarm);
    entry.mine = entry.held = entry.parts.hold.checked = false;
  });
}

setInterval(() => {
  legs.forEach((entry, index) => {
    if (!isLive || entry.state !== "armed" || !entry.mine || !(entry.held || entry.parts.hold.checked)) return;
    const pulse = Number(entry.parts.slider.value);
    legFrame(index, 3, pulse & 0xff, pulse >> 8);
  });
}, legPeriodMs);

setInterval(() => {
  legs.forEach((entry, index) => {
    if (isLive && entry.mine && !entry.held && !entry.parts.hold.checked) legFrame(index, legTypes.ping);
  });
}, legPingMs);

addOwnCard("leg", {
  section: "legs", title: "Legs", release: releaseLegs, icon: "M9 3v8l6 5v5M15 21h4M7 3h4M9 11a1.5 1.5 0 1 0 0 .01M15 16a1.5 1.5 0 1 0 0 .01",
  take(event) {
    if (event.legs) showLegs(event);
    else if (event.state) note(event, event.name + ": " + event.reason, event.fault ? "error" : "");
    else return false;
    return true;
  },
  refused(event) {
    const leg = /^leg (\d+): |^the leg's loop/.exec(event.message || "");
    if (leg) legRefused(leg[1] === undefined ? null : Number(leg[1]), event);
    return leg !== null;
  },
});
