"use strict";
// The cooling pump's card: state and the way out of it, speed, temperatures as a chart, sessions. State comes over
// console.js's socket once a second; commands go over HTTP: each is answered when the loop has taken it.

const pumpKeptMs = 3600000; // of what this page has seen itself
const pumpStoredMs = 30 * 86400000; // of what the daemon keeps
const pumpAskMs = 60000; // between two looks at it
const pumpMinuteMs = 60000; // the shortest of its spans
const pumpHotCelsius = 40; // above it the skin is too hot: the requirement's, the same in every configuration
const pumpAxis = timeAxis({ span: 600000, least: 60000, most: pumpStoredMs, kept: "pump", changed: () => pumpAxisChanged() });
const showPumpSpan = axisButtons(byId("pump-axis"), pumpAxis, [["minute", 60000], ["10 min", 600000], ["hour", pumpKeptMs], ["day", 86400000], ["week", 7 * 86400000], ["month", pumpStoredMs]]);
zoomable(byId("pump-chart"), pumpAxis);
showPumpSpan();
const pump = { history: JSON.parse(ofTab.get("pump") || "[]"), held: false, asks: false, wanted: null, last: null,
  kept: { rows: [], spanMs: pumpMinuteMs, until: 0 }, asked: -Infinity, timer: 0 };

const pumpMinutes = [...byId("pump").querySelectorAll("[data-minutes]")];
const askPump = (word, body) => command(byId("pump-" + word), "POST", "/api/pump/" + word, body);

const pumpDegrees = (celsius, trouble = null) => celsius == null ? "–" + (trouble ? " (" + trouble + ")" : "") : celsius.toFixed(1) + " °C";
const pumpTime = (seconds) => Math.floor(seconds / 60) + ":" + String(Math.floor(seconds % 60)).padStart(2, "0");

// ---- state

function showPump(event) {
  byId("pump").hidden = false;
  if (!pump.last || (isPolled && pump.last.state !== event.state)) loadSessions(); // the socket tells each session
  pump.last = event;
  const isOn = event.state === "on" || event.state === "starting";
  byId("pump-state").textContent = plain(event.state) + (event.source && event.source !== "host" ? ", by " + { app: "the app", manual: "its button", device: "the pump itself" }[event.source] : "");
  const isHeld = event.state === "fault" || event.state === "emergencyStopped";
  byId("pump-word").textContent = plain(event.state);
  byId("pump-reason").textContent = event.reason === plain(event.state) ? "" : ours(event.reason);
  mark("pump", isHeld ? "down" : isOn ? "up" : event.state === "off" ? "idle" : "warn", plain(event.state));
  byId("pump-why").hidden = !event.wayOut;
  byId("pump-why").textContent = event.wayOut ? sentence(event.reason) + " To go on: " + event.wayOut + "." : "";
  stopped("pump", isHeld ? "Pump: " + event.reason + "." : null, event.state === "emergencyStopped");
  byId("pump-reset").hidden = !isHeld;
  byId("pump-on").disabled = isOn || isHeld || event.contact !== "answering";
  // A time is for a run that begins and for one that goes on; one that the run limit forbids is not offered.
  for (const button of pumpMinutes) button.disabled = isHeld || event.contact !== "answering" || event.leftS != null && event.leftS < button.dataset.minutes * 60;
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
  const ends = event.untilOffS == null ? null : "off in " + pumpTime(Math.ceil(event.untilOffS));
  byId("pump-pumped").textContent = pumpTime(event.pumpedS) + (ends ? ", " + ends : "") + (event.leftS == null ? "" : ", " + pumpTime(Math.ceil(event.leftS)) + " left")
    + (event.restS ? ", rested in " + pumpTime(Math.ceil(event.restS)) : "");
  byId("pump-bar").hidden = event.leftS == null;
  if (event.leftS != null) byId("pump-bar").value = event.pumpedS / (event.pumpedS + event.leftS);
  const measured = [event.waterCelsius == null ? "" : "water " + pumpDegrees(event.waterCelsius), skin == null ? "" : "skin " + pumpDegrees(skin)].filter(Boolean).join(", ");
  tile("pump", {
    now: measured || "–", next: event.wayOut ? "to go on: " + event.wayOut : ends ? ends : isOn && event.leftS != null ? pumpTime(Math.ceil(event.leftS)) + " left" : "",
    action: isHeld ? { words: "Reset", look: "wanted", act: (control) => command(control, "POST", "/api/pump/reset") }
      : isOn ? { words: "OFF", look: "halt", act: (control) => command(control, "POST", "/api/pump/off") }
      : { words: "ON", look: "go", act: (control) => command(control, "POST", "/api/pump/on", { speedPercent: Number(byId("pump-speed").value) || 70 }) },
  });
  const now = Date.now();
  if (pump.history.length && now - pump.history.at(-1).at < 900) return;
  pump.history.push({ at: now, water: event.waterCelsius, skin: skin, isOn: isOn });
  while (pump.history[0].at < now - pumpKeptMs) pump.history.shift();
  if (performance.now() - pump.asked > pumpAskMs) loadPump();
  drawPump();
}

// What the daemon has kept of the time that is shown. Asked for when the view is opened, when the axis rests, and once a minute; after a failure again in five seconds.
async function loadPump() {
  // What comes of the pump after a login asks for it.
  if (view !== "pump" || !isLive) return;
  const asked = pump.asked = performance.now();
  const since = new Date(pumpAxis.from()).toISOString(), until = pumpAxis.end ? "&until=" + new Date(pumpAxis.to()).toISOString() : "";
  const { isDone, status, document, message } = await request("GET", `/api/pump/history?points=288&since=${since}${until}`);
  if (asked !== pump.asked) return; // asked for again meanwhile
  byId("pump-kept").hidden = isDone;
  put(byId("pump-kept"), isDone ? "" : "What has been kept did not come: " + (status ? message : "no answer"));
  if (isDone) {
    const end = Date.parse(document.untilISO), spanMs = document.spanSec * 1000;
    const rows = document.rows.map((row) => {
      const from = Date.parse(row.startISO);
      return { from, to: Math.min(from + spanMs, end), water: row.waterMeanCelsius, skin: row.skinMeanCelsius, hottest: row.skinHighestCelsius, running: row.runningSamples / row.samples };
    });
    pump.kept = { rows, spanMs, until: end };
  } else {
    pump.asked += 5000 - pumpAskMs;
  }
  drawPump();
}

// Drawn at once of what is known; asked for when the axis rests.
function pumpAxisChanged() {
  showPumpSpan();
  drawPump();
  clearTimeout(pump.timer);
  pump.timer = setTimeout(loadPump, 150);
}

// What is known, oldest first: of each minute what this page has seen itself, otherwise what the daemon has kept. Longer spans go before what the page has seen.
function pumpPast() {
  const { rows, spanMs, until } = pump.kept, seen = spanMs > pumpMinuteMs ? pump.history.filter(({ at }) => at >= until) : pump.history;
  let next = 0;
  const others = rows.filter(({ from, to }) => {
    while (next < seen.length && seen[next].at < from) next++;
    return !(next < seen.length && seen[next].at < to);
  });
  return [...others, ...seen.map((point) => ({ ...point, from: point.at, to: point.at }))].sort((one, other) => one.from - other.from);
}

// Water and skin on one scale; shaded while it pumps. Where neither the page nor the daemon knows anything is a gap.
function drawPump() {
  if (view !== "pump") return;
  const past = pumpPast(), { spanMs } = pump.kept, active = [], points = { water: [], skin: [], hottest: [] };
  past.forEach((one, index) => {
    const next = past[index + 1], rows = [one, next].filter((each) => each && each.running != null).length;
    const isGap = next && next.from - one.to > [10000, pumpMinuteMs - 1, spanMs - 1][rows];
    if (one.running) active.push({ from: one.from, to: one.from + one.running * (one.to - one.from) });
    if (one.isOn && next && !isGap) active.push({ from: one.from, to: next.from });
    const at = (one.from + one.to) / 2;
    for (const name of ["water", "skin"]) points[name].push([at, one[name]], ...isGap ? [[at + 1, null]] : []);
    points.hottest.push([at, spanMs > pumpMinuteMs && one.hottest != null ? one.hottest : null], ...isGap ? [[at + 1, null]] : []);
  });
  const [from, to] = [pumpAxis.from(), pumpAxis.to()], series = ["water", "skin"].map((name) => ({ className: name, points: points[name] }));
  if (points.hottest.some(([, value]) => value != null)) series.push({ name: "hottest skin", className: "hottest", points: points.hottest });
  const said = pumpAxis.span > dayMs / 2 ? dayAndTime : timeOfDay;
  byId("pump-chart").setAttribute("aria-label", `Temperatures from ${said(from)} to ${pumpAxis.end ? said(to) : "now"}`);
  drawChart(byId("pump-chart"), { series, active: active.filter((one) => one.to > from && one.from < to), from, to, low: 10, high: 45, unit: "°C", limits: [{ at: pumpHotCelsius, text: "too hot" }] });
}

// The seconds that this page has seen are still there after a reload.
addEventListener("pagehide", () => ofTab.set("pump", JSON.stringify(pump.history)));

// ---- commands

byId("pump-on").onclick = () => askPump("on", { speedPercent: Number(byId("pump-speed").value) || 70 });
for (const button of pumpMinutes)
  button.onclick = () => command(button, "POST", "/api/pump/on", { speedPercent: Number(byId("pump-speed").value) || 70, minutes: Number(button.dataset.minutes) });
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
  if (isLive && pump.last && pump.last.role === "operator" && !document.hidden && (view === "pump" || view === "overview")) request("GET", "/api/pump");
}, 5000);

// ---- sessions

async function loadSessions() {
  const answer = await request("GET", "/api/pump/sessions?limit=20");
  if (!answer.status) return;
  byId("pump-sessions").hidden = !answer.isDone;
  if (!answer.isDone) return;
  const newest = answer.document.sessions[0];
  byId("pump-noting").hidden = !newest;
  if (newest) {
    byId("pump-noted").textContent = newest.end ? "Note on the last session" : "Note on this session";
    if (pump.noted !== newest.number) byId("pump-note").value = newest.note || "";
    pump.noted = newest.number;
  }
  fill(byId("pump-log"), answer.document.sessions.map((session) => element("li", [dayAndTime(session.start), pumpTime(session.seconds), session.end || "goes on",
      session.speedPercent == null ? "" : Math.round(session.speedPercent) + " %",
      session.skinFirstCelsius == null ? "" : "skin " + pumpDegrees(session.skinFirstCelsius) + " → " + pumpDegrees(session.skinLastCelsius), session.note].filter(Boolean).join("  "))), "No session yet: ON begins the first.");
}

byId("pump-noting").onsubmit = async (event) => {
  event.preventDefault();
  const text = byId("pump-note").value.trim();
  if (await command(event.submitter, "PUT", "/api/pump/sessions/" + pump.noted, { note: text || null })) loadSessions();
};

saves(byId("pump-csv"), "/api/pump/sessions.csv", "pump-sessions.csv");

addOwnCard("pump", {
  section: "pump",
  viewed() { drawPump(); loadPump(); },
  take(event) {
    if (event.contact && event.counters) showPump(event);
    else if (event.type === "pump.session") loadSessions();
    else return false;
    return true;
  },
});
