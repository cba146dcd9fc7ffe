"use strict";
// The page behind http://HOST:8000/: every loop live, the robot, the e-stop. No library; talks to /ws and /api/runtime.

const byId = (id) => document.getElementById(id);
const drivePeriodMs = 50; // 20 Hz, as the robot's operators send
const neutral = { left: 0, right: 0 };

// The token lives as long as the tab, and never in an address.
let token = sessionStorage.getItem("token") || "";
let socket = null;
let retryMs = 500;
let stick = null; // {left, right} while held
let pings = new Map();
let pingNumber = 0;
let lastReason = null;
let ownName = null; // how the daemon calls this page

function element(name, text, properties = {}) {
  const made = Object.assign(document.createElement(name), properties);
  if (text != null) made.textContent = text;
  return made;
}

function button(text, action, properties = {}) { return element("button", text, { type: "button", onclick: action, ...properties }); }

function headers() { return token ? { Authorization: "Bearer " + token } : {}; }

// ---- the link

function connect() {
  const scheme = location.protocol === "https:" ? "wss://" : "ws://";
  const offers = token ? ["events.v1", "bearer." + token] : ["events.v1"];
  let opened = false;
  try {
    socket = new WebSocket(scheme + location.host + "/ws", offers);
  } catch {
    return askForToken("A token has no spaces or control characters.");
  }
  socket.onopen = () => {
    opened = true;
    retryMs = 500;
    byId("door").hidden = true;
    show("up", "live");
    send({ type: "subscribe", rateHz: 10 });
  };
  socket.onmessage = (message) => { if (typeof message.data === "string") take(JSON.parse(message.data)); };
  socket.onclose = async (event) => {
    releaseAll();
    show("down", event.reason || "no connection");
    if (!opened && await isRefused()) return;
    if (event.code === 4001) return askForToken("This token has expired or was revoked.");
    setTimeout(connect, retryMs);
    retryMs = Math.min(retryMs * 2, 5000);
  };
}

// A browser does not say why a WebSocket was refused; the same door over HTTP does.
async function isRefused() {
  try {
    const answer = await fetch("/api/status", { headers: headers() });
    if (answer.status !== 401 && answer.status !== 403 && answer.status !== 429) return false;
    askForToken((await answer.json()).message);
    return true;
  } catch {
    return false;
  }
}

function askForToken(why) {
  byId("door").hidden = false;
  show("down", why);
  byId("token").focus();
}

byId("door").onsubmit = (event) => {
  event.preventDefault();
  token = byId("token").value.trim();
  byId("token").value = "";
  sessionStorage.setItem("token", token);
  connect();
};

function show(state, text) {
  byId("link").className = "led " + state;
  byId("link").textContent = text;
}

function send(message) {
  if (socket && socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
}

setInterval(() => {
  pings.clear();
  pings.set(++pingNumber, performance.now());
  send({ type: "ping", id: pingNumber });
}, 1000);

// ---- events

function take(event) {
  if (event.type === "pong") {
    const sent = pings.get(event.id);
    if (sent !== undefined) byId("round-trip").textContent = (performance.now() - sent).toFixed(1) + " ms";
    return;
  }
  if (event.type === "hello") {
    byId("version").textContent = "tactus " + event.version;
    ownName = "local client " + event.client;
  }
  if (event.type === "ack") return;
  if (event.type === "error") return note(event, event.message, "error");
  if (event.system === "robot" && event.state !== undefined) {
    showRobot(event);
    if (event.reason === lastReason) return;
    lastReason = event.reason;
    return note(event, ours(event.reason));
  }
  if (event.system === "leg" && event.legs) return showLegs(event);
  if (event.system === "leg" && event.state) return note(event, event.name + ": " + event.reason, event.fault ? "error" : "");
  if (event.system === "sprinkler" && event.zones) return showSprinkler(event);
  if (event.system === "sprinkler" && event.type === "zone") {
    zoneEvent(event);
    if (event.isOn) return;
    loadLog();
  }
  if (event.system === "pump" && event.contact && event.counters) return showPump(event);
  if (event.type === "pump.session") return loadSessions();
  if (event.system === "plants" && event.plants) return showPlants(event);
  if (event.system === "plants") plantEvent();
  if (event.system === "video" && event.statistics) return videoKnown(event);
  if (event.system === "video" && event.type === "detections") return videoBoxes(event);
  if (event.system === "video" && event.state) return note(event, event.state + ": " + event.reason, event.state === "failed" ? "error" : "");
  note(event, inWords(event));
}

// Of what has no words of its own: its name and what it carries.
function inWords(event) {
  const { type, system, seq, monotonicNs, ...rest } = event;
  if (type === "hello") return "connected";
  if (type === "zone") return zoneName(event.id) + (event.isOn ? " on" : " off");
  if (rest.state) return plain(rest.state) + (rest.reason && rest.reason !== rest.state ? ": " + rest.reason : "");
  const value = (value) => typeof value === "number" ? Math.round(value * 1000) / 1000 : typeof value === "object" ? JSON.stringify(value) : value;
  const parts = Object.entries(rest).filter(([, one]) => one != null).map(([name, one]) => plain(name) + " " + value(one));
  return plain(type.replace(system + ".", "").replace(".", " ")) + (parts.length ? ": " + parts.join(", ") : "");
}

// emergencyStopped → emergency stopped
function plain(word) { return word.replace(/[A-Z]/g, (letter) => " " + letter.toLowerCase()); }

function ours(text) { return ownName ? text.replace(ownName, "this page") : text; }

function note(event, text, kind = "") {
  const line = document.createElement("li");
  line.className = kind;
  line.textContent = new Date().toLocaleTimeString() + "  " + event.system + "  " + text;
  line.title = (event.monotonicNs / 1e9).toFixed(3) + " s on the daemon's clock";
  byId("events").prepend(line);
  while (byId("events").children.length > 100) byId("events").lastChild.remove();
}

function showRobot(robot) {
  byId("robot").hidden = false;
  byId("robot-state").textContent = plain(robot.state);
  const isHeld = robot.emergencyStopped || robot.state === "fault";
  mark("robot", isHeld ? "down" : robot.state === "stopped" ? "idle" : "up", plain(robot.state));
  for (const side of ["left", "right"]) {
    const speed = robot.speedsPercent[side];
    byId(side).style.cssText = `width: ${Math.abs(speed) / 2}%; transform: translateX(${speed < 0 ? "-100%" : "0"})`;
    byId(side + "-text").textContent = speed.toFixed(0) + " %";
  }
  byId("holder").textContent = robot.holder ? ours(robot.holder.source) : "nobody";
  byId("age").textContent = robot.holder ? robot.holder.ageMs.toFixed(0) + " ms ago" : "–";
  byId("reason").textContent = ours(robot.reason);
  stopped("robot", isHeld
    ? sentence(ours(robot.reason)) + (robot.wayOut ? " To go on: " + robot.wayOut + "." : "") : null);
}

const banners = new Map(); // system → why it must be reset

function stopped(system, why) {
  if (why) banners.set(system, why); else banners.delete(system);
  byId("reset").hidden = byId("banner").hidden = banners.size === 0;
  byId("banner").textContent = [...banners.values()].join("\n");
}

// What does not work although every loop ticks: a store or a token file that cannot be used. Asked of the door, since any system may be
// absent, and it needs no token.
async function lookAtHealth() {
  let health;
  try { health = await (await fetch("/api/health")).json(); } catch { return; }
  const text = health.status === "degraded" ? sentence(health.message) : "";
  if (byId("degraded").textContent !== text) byId("degraded").textContent = text;
  byId("degraded").hidden = !text;
}
lookAtHealth();
setInterval(lookAtHealth, 5000);

// The system's place in the bar at the top: a dot, and for those who do not see it the word.
// level: up (something is going on), idle, warn, down.
function mark(system, level, text) {
  const link = document.querySelector(`#systems a[href="#${system}"]`);
  link.hidden = false;
  link.className = "led " + level;
  link.title = text;
  link.setAttribute("aria-label", link.textContent + ": " + text);
}

// Lines of a list; one that says so when there are none.
function fill(list, lines, none) {
  list.replaceChildren(...(lines.length ? lines : [element("li", none, { className: "none" })]));
}

function sentence(text) { return text.charAt(0).toUpperCase() + text.slice(1) + "."; }

// ---- e-stop: over the socket, and over HTTP when the socket is not there

async function command(type, path) {
  if (socket && socket.readyState === WebSocket.OPEN) return send({ type: type });
  try { await fetch(path, { method: "POST", headers: headers() }); } catch { show("down", "not delivered"); }
}
byId("e-stop").onclick = () => { releaseAll(); command("e-stop", "/api/e-stop"); };
byId("reset").onclick = () => command("reset", "/api/reset");
addEventListener("keydown", (event) => { if (event.key === "Escape") byId("e-stop").click(); });

// ---- driving

const pad = byId("pad");
const keys = new Set();

// y up is forward, x right turns right; both wheels stay within ±100 %.
function steer(x, y) {
  const left = (y + x) * 100, right = (y - x) * 100;
  const largest = Math.max(100, Math.abs(left), Math.abs(right));
  stick = { left: Math.round(left * 100 / largest), right: Math.round(right * 100 / largest) };
  pad.classList.add("held");
  byId("knob").style.transform = `translate(${x * 5.5}rem, ${-y * 5.5}rem)`;
}

// Zero and three stops: one of them will arrive.
function release() {
  keys.clear();
  if (!stick) return;
  stick = null;
  pad.classList.remove("held");
  byId("knob").style.transform = "";
  drive(neutral);
  for (let repeat = 0; repeat < 3; repeat++) sendBinary('{"command":"stop"}');
}

function sendBytes(bytes) {
  if (socket && socket.readyState === WebSocket.OPEN && socket.bufferedAmount < 4096) socket.send(bytes);
}

function sendBinary(text) { sendBytes(new TextEncoder().encode(text)); }

function drive(speeds) { sendBinary(JSON.stringify({ left: speeds.left, right: speeds.right })); }

setInterval(() => { if (stick) drive(stick); }, drivePeriodMs);

function pointed(event) {
  const box = pad.getBoundingClientRect();
  let x = (event.clientX - box.left) / box.width * 2 - 1, y = 1 - (event.clientY - box.top) / box.height * 2;
  const length = Math.hypot(x, y);
  if (length > 1) { x /= length; y /= length; }
  steer(x, y);
}
pad.onpointerdown = (event) => { pad.setPointerCapture(event.pointerId); pointed(event); };
pad.onpointermove = (event) => { if (pad.hasPointerCapture(event.pointerId)) pointed(event); };
pad.onpointerup = pad.onpointercancel = pad.onlostpointercapture = release;

const arrows = { ArrowUp: [0, 1], ArrowDown: [0, -1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
function fromKeys() {
  let x = 0, y = 0;
  for (const key of keys) { x += arrows[key][0]; y += arrows[key][1]; }
  if (x === 0 && y === 0) return release();
  const length = Math.max(1, Math.hypot(x, y));
  steer(x / length * 0.6, y / length * 0.6);
}
pad.onkeydown = (event) => {
  if (!(event.key in arrows)) return;
  event.preventDefault();
  keys.add(event.key);
  fromKeys();
};
pad.onkeyup = (event) => { if (keys.delete(event.key)) fromKeys(); };
pad.onblur = release;

// Nobody looks at the page any more.
function releaseAll() { release(); releaseLegs(); }
addEventListener("blur", releaseAll);
addEventListener("pagehide", releaseAll);
document.addEventListener("visibilitychange", () => { if (document.hidden) releaseAll(); });

// ---- loops

const jitter = new Map(); // loop → last 30 p99, each of one interval
const bucketsBefore = new Map(); // loop → {bound: count}

// The p99 of what has come since the last poll: differences of the loop's buckets.
function intervalP99(loop) {
  const before = bucketsBefore.get(loop.name) || {};
  bucketsBefore.set(loop.name, Object.fromEntries(loop.latencyNs.buckets));
  const fresh = loop.latencyNs.buckets.map(([bound, count]) => [bound, count - (before[bound] || 0)]);
  let left = fresh.reduce((sum, [, count]) => sum + count, 0) * 0.99;
  for (const [bound, count] of fresh) if (count > 0 && (left -= count) <= 0) return bound;
  return null;
}

function micro(ns) { return ns == null ? "–" : ns < 100000 ? (ns / 1000).toFixed(1) + " µs" : (ns / 1e6).toFixed(2) + " ms"; }

let before = new Map(); // loop → {ran, monotonicNs}

async function poll() {
  if (document.hidden) return;
  let runtime;
  try {
    const answer = await fetch("/api/runtime?histograms=1", { headers: headers() });
    if (!answer.ok) return;
    runtime = await answer.json();
  } catch {
    return;
  }
  byId("memory").textContent = "memory " + runtime.memoryLock.state;
  const rows = runtime.loops.map((loop) => {
    const row = document.createElement("tr");
    const last = before.get(loop.name);
    const rate = last && runtime.monotonicNs > last.monotonicNs
      ? (loop.ran - last.ran) / (runtime.monotonicNs - last.monotonicNs) * 1e9 : null;
    before.set(loop.name, { ran: loop.ran, monotonicNs: runtime.monotonicNs });
    const history = jitter.get(loop.name) || [];
    const p99 = intervalP99(loop);
    if (p99 != null) history.push(p99);
    jitter.set(loop.name, history.slice(-30));
    const cells = [loop.name, loop.lane, (rate == null ? "–" : rate.toFixed(1)) + " / " + loop.rateHz + " Hz",
      micro(loop.latencyNs.p50), micro(loop.latencyNs.p99), micro(loop.latencyNs.max), micro(loop.executionNs.p99),
      loop.ran, loop.skipped, loop.overruns, loop.deadlineMisses];
    cells.forEach((text, index) => {
      const cell = document.createElement("td");
      cell.textContent = text;
      if (index >= 8 && text > 0) cell.className = "bad";
      row.append(cell);
    });
    const cell = document.createElement("td");
    cell.append(sparkline(jitter.get(loop.name)));
    row.append(cell);
    return row;
  });
  byId("loops").replaceChildren(...rows);
  // What several lanes have in common is said once.
  const findings = new Map();
  for (const lane of runtime.lanes) {
    for (const { description } of lane.findings) findings.set(description, [...(findings.get(description) || []), lane.name]);
  }
  const refusals = runtime.lanes.filter((lane) => lane.findings.some((finding) => finding.isRefusal)).map((lane) => lane.name);
  byId("findings").replaceChildren(...[...findings].map(([description, lanes]) => element("li", lanes.join(", ") + ": " + description)));
  const late = runtime.loops.filter((loop) => loop.skipped || loop.overruns || loop.deadlineMisses).map((loop) => loop.name);
  mark("loops-section", refusals.length || late.length ? "warn" : "up", [late.length ? "not always in time: " + late.join(", ") : "in time",
    refusals.length ? "settings refused: " + refusals.join(", ") : ""].filter(Boolean).join("; "));
}

function sparkline(values) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 120 20");
  const most = Math.max(...values, 1);
  const line = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
  line.setAttribute("points", values.map((value, index) => `${index * 4},${19 - value / most * 18}`).join(" "));
  svg.append(line);
  return svg;
}

setInterval(poll, 1000);
// When legs.js is there, too.
addEventListener("DOMContentLoaded", () => { connect(); poll(); });
