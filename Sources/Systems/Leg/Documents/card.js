"use strict";
// The legs' cards: state, ARM and DISARM, the pulse. LegCtrl frames in binary frames of console.js's socket; for leg k the
// byte 0x80 + k comes before the frame.

const legPeriodMs = 20; // 50 Hz
const legPingMs = 40; // four may be lost before a deadman of 200 ms
const legs = []; // by index: {parts, held, mine, state, sender}; mine: armed here, and kept alive and moved from here

function legFrame(index, type, ...payload) {
  sendBytes(new Uint8Array([0x80 + index, 0x01, type, payload.length, 0x00, ...payload]));
}
const legFrameOf = (index, pulse) => legFrame(index, 3, pulse & 0xff, pulse >> 8);
const legTypes = { arm: 1, disarm: 2, ping: 4 };

function legCard(index, leg) {
  const card = byId("leg").content.firstElementChild.cloneNode(true);
  const parts = Object.fromEntries([...card.querySelectorAll("[data-of]")].map((part) => [part.dataset.of, part]));
  const entry = { parts, group: leg.group, held: false, mine: false, asked: 0, state: leg.state, arm: card.querySelector("[data-do=arm]") };
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
  parts.chart.setAttribute("aria-label", "Pulse of " + leg.name + " in the last minute");
  legSteps(card, index, entry, label);
  legPoints(card, index, entry);
  hold.onchange = () => { hold.checked = hold.checked && isOurs(entry, hold); };
  for (const button of card.querySelectorAll("[data-do]")) {
    button.onclick = () => {
      unsay(entry.arm);
      const does = button.dataset.do;
      // An arm feeds nothing: only what was not armed before is this page's afterwards.
      if (does === "arm" && entry.state === "disarmed") for (const one of matesOf(entry)) { one.mine = true; one.asked = performance.now(); }
      if (does === "disarm") for (const one of matesOf(entry)) one.mine = one.held = one.parts.hold.checked = false;
      if (does === "ping" && !isOurs(entry, button)) return;
      legFrame(index, legTypes[does]);
    };
  }
  byId("leg-list").append(card);
  return entry;
}

// The legs that one arm, one disarm and one deadman are for: those of the leg's group, or the leg alone.
const matesOf = (entry) => entry.group == null ? [entry] : legs.filter((one) => one.group === entry.group);
// One leg of each group among these: what is sent to it is for all of them.
const oneOfEach = (entries) => entries.filter((entry) => entries.find((one) => matesOf(entry).includes(one)) === entry);

// Steps of the wanted pulse, and one command of it.
function legSteps(card, index, entry, label) {
  const { slider, once } = entry.parts, name = entry.parts.name.textContent;
  for (const step of card.querySelectorAll("[data-by]")) {
    step.setAttribute("aria-label", step.textContent + " microseconds, " + name);
    step.onclick = () => {
      if (!isOurs(entry, step)) return;
      slider.value = entry.value = Number(slider.value) + Number(step.dataset.by);
      label();
      if (entry.mine && entry.state === "armed") legFrameOf(index, Number(slider.value));
    };
  }
  once.setAttribute("aria-label", "Send once, " + name);
  once.onclick = () => {
    if (!isOurs(entry, once)) return;
    if (entry.state !== "armed") return say(once, "ARM it first: a leg that is not armed has no pulse.");
    legFrameOf(index, Number(slider.value));
  };
}

// What somebody has found by hand, as lines for the configuration file.
function legPoints(card, index, entry) {
  const points = {}, name = entry.parts.name.textContent;
  const show = () => {
    const lines = Object.entries(points).map(([key, pulse]) => `    ${key}: ${pulse}`);
    entry.parts.points.textContent = lines.length ? `legs:\n  - # ${name}\n` + lines.join("\n") + "\n# counts from the next start of the daemon" : "nothing found yet: move the leg, then say which place it is";
  };
  entry.parts.points.setAttribute("aria-label", "Calibration of " + name);
  for (const point of card.querySelectorAll("[data-point]")) {
    point.setAttribute("aria-label", point.textContent + " of " + name);
    point.onclick = () => {
      unsay(point);
      if (entry.pulse == null) return say(point, "The leg has no pulse: ARM it and move it first.");
      points[point.dataset.point] = entry.pulse;
      show();
    };
  }
  show();
}

// ---- the last minute of each leg; it is still there after a reload

const legChartMs = 60000;
const legPast = JSON.parse(ofTab.get("legs") || "[]"); // by index: [{at, pulse, target}]
addEventListener("pagehide", () => ofTab.set("legs", JSON.stringify(legPast)));

function followLeg(index, leg) {
  const past = legPast[index] ??= [], now = Date.now();
  if (!past.length || now - past.at(-1).at >= 90) past.push({ at: now, pulse: leg.pulseUs, target: leg.targetUs });
  while (past[0].at < now - legChartMs) past.shift();
  if (view !== "leg") return;
  const { lowestUs, highestUs } = leg.settings, series = ["pulse", "target"].map((name) => ({ name, points: past.map((one) => [one.at, one[name]]) }));
  drawChart(legs[index].parts.chart, { series, from: now - legChartMs, to: now, low: Math.min(lowestUs, 1000), high: Math.max(highestUs, 2000), unit: "µs",
    limits: [{ at: lowestUs, text: "lowest" }, { at: highestUs, text: "highest" }] });
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
  say(entry.arm, sentence(inPlainWords(event)));
}

function showLegs(event) {
  byId("legs").hidden = false;
  byId("legs-chip").textContent = event.chip.ready ? "" : "the chip fails: " + (event.chip.lastFailure || "it has not answered yet");
  event.legs.forEach((leg, index) => {
    const entry = legs[index] || (legs[index] = legCard(index, leg));
    const { parts } = entry;
    parts.state.textContent = plain(leg.state);
    parts.pulse.textContent = leg.pulseUs == null ? "no pulse" : leg.pulseUs + " µs";
    entry.pulse = leg.pulseUs;
    if (parts.reason.textContent !== ours(leg.reason)) parts.reason.textContent = ours(leg.reason);
    parts.once.disabled = leg.state !== "armed";
    followLeg(index, leg);
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
  showSequence(event.sequence);
  byId("leg-all").hidden = event.legs.length < 2;
  byId("leg-arm-all").disabled = event.legs.every((leg) => leg.state !== "disarmed");
  byId("leg-disarm-all").disabled = event.legs.every((leg) => leg.state === "disarmed");
  driving.set("leg", event.legs.some((leg) => leg.state === "armed"));
  const states = event.legs.map((leg) => leg.state);
  const armed = event.legs.filter((leg) => leg.state === "armed");
  tile("leg", {
    now: event.legs.map((leg) => leg.pulseUs == null ? "no pulse" : leg.pulseUs + " µs").join(", "), next: armed.length ? "armed: " + armed.map((leg) => leg.name).join(", ") : "Not armed",
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

byId("leg-arm-all").onclick = () => { for (const entry of oneOfEach(legs.filter((one) => one.state === "disarmed"))) entry.arm.click(); };
byId("leg-disarm-all").onclick = () => { for (const entry of oneOfEach(legs)) entry.parts.disarm.click(); };

// ---- a sequence: the daemon plays it, and this page keeps its legs armed by its pings

function showSequence({ playing, step, steps, round, repeat, ended }) {
  const where = playing ? `step ${step} of ${steps}, round ${round}` + (repeat ? ` of ${repeat}` : "") : ended ? plain(ended) : "";
  byId("leg-sequence-now").textContent = where;
  byId("leg-sequence-stop").disabled = !playing;
}

byId("leg-sequence-start").onclick = async ({ currentTarget: button }) => {
  unsay(button);
  const file = byId("leg-sequence-file").files[0];
  if (!file) return say(button, "Choose a file first.");
  if (legs.some(isTheirs)) return say(button, "Somebody else has armed a leg: disarm it before you move it from here.");
  let sequence;
  try { sequence = JSON.parse(await file.text()); } catch { return say(button, "This file is no JSON."); }
  await command(button, "POST", "/api/leg/sequence", sequence);
};
byId("leg-sequence-stop").onclick = ({ currentTarget: button }) => command(button, "POST", "/api/leg/stop-sequence");

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
    legFrameOf(index, pulse);
  });
}, legPeriodMs);

setInterval(() => {
  for (const entry of isLive ? oneOfEach(legs.filter((one) => one.mine)) : [])
    if (!entry.held && !entry.parts.hold.checked) legFrame(legs.indexOf(entry), legTypes.ping);
}, legPingMs);

addOwnCard("leg", {
  section: "legs", release: releaseLegs,
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
