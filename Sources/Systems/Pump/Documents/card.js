"use strict";
// The cooling pump's card: state and the way out of it, speed, temperatures as a chart, sessions. State comes over
// console.js's socket once a second; commands go over HTTP: each is answered when the loop has taken it.

const pumpChartSeconds = 600;
const pump = { history: [], held: false, asks: false, wanted: null, last: null };

const askPump = (word, body) => command(byId("pump-" + word), "POST", "/api/pump/" + word, body);

const pumpDegrees = (celsius, trouble = null) => celsius == null ? "–" + (trouble ? " (" + trouble + ")" : "") : celsius.toFixed(1) + " °C";
const pumpTime = (seconds) => Math.floor(seconds / 60) + ":" + String(Math.floor(seconds % 60)).padStart(2, "0");

// ---- state

function showPump(event) {
  byId("pump").hidden = false;
  if (!pump.last) loadSessions();
  pump.last = event;
  const isOn = event.state === "on" || event.state === "starting";
  byId("pump-state").textContent = plain(event.state) + (event.source && event.source !== "host" ? ", by " + { app: "the app", manual: "its button", device: "the pump itself" }[event.source] : "");
  const isHeld = event.state === "fault" || event.state === "emergencyStopped";
  mark("pump", isHeld ? "down" : isOn ? "up" : event.state === "off" ? "idle" : "warn", plain(event.state));
  byId("pump-why").hidden = !event.wayOut;
  byId("pump-why").textContent = event.wayOut ? sentence(event.reason) + " To go on: " + event.wayOut + "." : "";
  stopped("pump", isHeld ? "Pump: " + event.reason + "." : null, event.state === "emergencyStopped");
  byId("pump-reset").hidden = !isHeld;
  byId("pump-on").disabled = isOn || isHeld || event.contact !== "answering";
  const way = event.links.map((link) => (link.device || link.kind) + (link.state ? " " + link.state : "") + (link.reason ? ": " + link.reason : "")).join("; ");
  byId("pump-contact").textContent = event.role === "device" ? way || "no way in but this service" : event.contact + (event.contact === "answering" ? "" : way ? " (" + way + ")" : "");
  // While it is off the slider is the speed that ON will ask for.
  if (!pump.held && isOn && event.speedPercent) byId("pump-speed").value = event.speedPercent;
  byId("pump-speed-text").textContent = byId("pump-speed").value + " %";
  byId("pump-speed").disabled = isHeld;
  const skin = event.skinCelsius ?? event.temperatureCelsius;
  byId("pump-water").textContent = pumpDegrees(event.waterCelsius, event.waterTrouble);
  byId("pump-skin").textContent = pumpDegrees(skin, event.skinTrouble ?? event.temperatureTrouble);
  // What is left is rounded up, as every countdown is: 0:00 is the end.
  byId("pump-pumped").textContent = pumpTime(event.pumpedS) + (event.leftS == null ? "" : ", " + pumpTime(Math.ceil(event.leftS)) + " left")
    + (event.restS ? ", rested in " + pumpTime(Math.ceil(event.restS)) : "");
  byId("pump-bar").hidden = event.leftS == null;
  if (event.leftS != null) byId("pump-bar").value = event.pumpedS / (event.pumpedS + event.leftS);
  const now = event.monotonicNs / 1e9;
  pump.history.push({ at: now, water: event.waterCelsius, skin: skin, isOn: isOn });
  while (pump.history[0].at < now - pumpChartSeconds) pump.history.shift();
  drawPump(now);
}

// Water and skin over the last minutes, on one scale; shaded while it pumps.
function drawPump(now) {
  const values = pump.history.flatMap((point) => [point.water, point.skin]).filter((value) => value != null);
  const low = Math.floor(Math.min(10, ...values) / 5) * 5, high = Math.ceil(Math.max(40, ...values) / 5) * 5;
  // As wide as it is on the page, so that its texts are not stretched.
  const width = byId("pump-chart").clientWidth || 600;
  byId("pump-chart").setAttribute("viewBox", `0 0 ${width} 120`);
  const x = (at) => width - (now - at) / pumpChartSeconds * width, y = (value) => 118 - (value - low) / (high - low) * 116;
  const make = (name, properties, text) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(properties)) made.setAttribute(key, value);
    if (text != null) made.textContent = text;
    return made;
  };
  const parts = [];
  pump.history.forEach((point, index) => {
    const next = pump.history[index + 1];
    if (point.isOn && next) parts.push(make("rect", { x: x(point.at), y: 0, width: x(next.at) - x(point.at), height: 120, class: "pumping" }));
  });
  for (let value = low; value <= high; value += 10) {
    parts.push(make("line", { x1: 0, x2: width, y1: y(value), y2: y(value), class: "grid" }), make("text", { x: 2, y: y(value) - 2 }, value + " °C"));
  }
  for (const name of ["water", "skin"]) {
    const points = pump.history.filter((point) => point[name] != null).map((point) => x(point.at).toFixed(1) + "," + y(point[name]).toFixed(1));
    parts.push(make("polyline", { points: points.join(" "), class: name }));
  }
  byId("pump-chart").replaceChildren(...parts);
}

// ---- commands

byId("pump-on").onclick = () => askPump("on", { speedPercent: Number(byId("pump-speed").value) || 70 });
byId("pump-off").onclick = () => askPump("off");
byId("pump-reset").onclick = () => askPump("reset");
byId("pump-speed").oninput = () => {
  pump.held = true;
  byId("pump-speed-text").textContent = byId("pump-speed").value + " %";
  if (pump.last && pump.last.state === "on") pump.wanted = Number(byId("pump-speed").value);
};
byId("pump-speed").onchange = () => { pump.held = false; };
// Ten a second at most while the slider is dragged; the last one always goes out. One that is refused ends the drag: the slider goes back to what the pump does.
setInterval(async () => {
  if (pump.wanted == null || pump.asks) return;
  const wanted = pump.wanted;
  pump.wanted = null;
  pump.asks = true;
  const answer = await askPump("speed", { speedPercent: wanted });
  pump.asks = false;
  if (!answer) pump.held = false;
}, 100);

// Somebody looks: the pump is asked every second.
setInterval(() => {
  if (isLive && pump.last && pump.last.role === "operator" && !document.hidden) request("GET", "/api/pump");
}, 5000);

// ---- sessions

async function loadSessions() {
  const answer = await request("GET", "/api/pump/sessions?limit=20");
  if (!answer.status) return;
  byId("pump-sessions").hidden = !answer.isDone;
  if (!answer.isDone) return;
  fill(byId("pump-log"), answer.document.sessions.map((session) => element("li", [new Date(session.start).toLocaleString(), pumpTime(session.seconds), session.end || "goes on",
      session.speedPercent == null ? "" : Math.round(session.speedPercent) + " %",
      session.skinFirstCelsius == null ? "" : "skin " + pumpDegrees(session.skinFirstCelsius) + " → " + pumpDegrees(session.skinLastCelsius)].filter(Boolean).join("  "))), "none yet");
}

saves(byId("pump-csv"), "/api/pump/sessions.csv", "pump-sessions.csv");

addOwnCard("pump", {
  section: "pump", title: "Pump",
  take(event) {
    if (event.contact && event.counters) showPump(event);
    else if (event.type === "pump.session") loadSessions();
    else return false;
    return true;
  },
});
