"use strict";
// The plants' card: moisture, alerts, the last day's readings, adding and removing. State comes over console.js's socket,
// commands go over HTTP.

const plants = { known: "", rows: new Map(), drawn: 0, list: [], events: [] };
const historyPeriodMs = 60000;

// ---- state

function showPlants(event) {
  byId("plants").hidden = false;
  const silent = event.sensors.filter((sensor) => !sensor.isFresh).map((sensor) => sensor.id);
  byId("plants-state").textContent = event.plantCount + (event.plantCount === 1 ? " plant" : " plants")
    + (event.plantCount > event.plants.length ? ", the first " + event.plants.length + " shown" : "")
    + (silent.length ? "; not read lately: " + silent.join(", ") : "");
  const alerts = event.plants.flatMap((plant) => plant.alerts.map((alert) => plant.name + " " + alert));
  mark("plants", !event.store.writable ? "down" : alerts.length || silent.length ? "warn" : event.plantCount ? "up" : "idle",
    alerts.join(", ") || byId("plants-state").textContent);
  const driest = event.plants.filter((plant) => plant.moisturePercent != null).sort((one, other) => one.moisturePercent - other.moisturePercent)[0];
  tile("plants", {
    now: driest ? `${driest.name} ${driest.moisturePercent.toFixed(0)} %` : event.plantCount ? "–" : "no plant yet",
    next: alerts.join(", ") || (event.plants.length > 1 ? "the driest of " + event.plants.length : ""),
    action: { words: event.plantCount ? "Look" : "Add a plant", look: "primary", act: () => { location.hash = "#/plants"; } },
  });
  byId("plants-said").hidden = event.store.writable;
  byId("plants-said").textContent = event.store.writable ? "" : "Nothing is kept: " + event.store.failure;
  const known = JSON.stringify([event.plants.map((plant) => plant.id), event.sensors.map((sensor) => sensor.id)]);
  if (known !== plants.known) {
    plants.known = known;
    plants.rows = new Map(event.plants.map((plant) => [plant.id, plantRow(plant)]));
    byId("plant-list").replaceChildren(...[...plants.rows.values()].map((row) => row.element));
    byId("plants-empty").hidden = event.plants.length > 0;
    showProbeChoices(event.sensors);
    plants.drawn = 0;
  }
  for (const plant of event.plants) showPlant(plants.rows.get(plant.id), plant);
  showProbes(event.sensors);
  if (performance.now() - plants.drawn > historyPeriodMs || !plants.drawn) drawHistories(event.plants);
}

function showPlant(row, plant) {
  const moisture = plant.moisturePercent;
  row.name.textContent = plant.name;
  row.bar.style.width = (moisture ?? 0) + "%";
  row.bar.className = plant.alerts.includes("dry") ? "dry" : plant.alerts.includes("wet") ? "wet" : "";
  row.mark.style.left = (plant.dryPercent ?? 0) + "%";
  row.mark.hidden = plant.dryPercent == null;
  row.percent.textContent = moisture == null ? "unknown" : moisture.toFixed(0) + " %";
  row.celsius.textContent = plant.temperatureCelsius == null ? "" : plant.temperatureCelsius.toFixed(1) + " °C";
  row.alerts.replaceChildren(...plant.alerts.map((alert) => element("span", alert, { className: "alert" })));
  const watered = plant.lastWateredISO ? "watered " + ago(plant.lastWateredISO) : "not seen watered yet";
  const link = plant.watering ? " · asks zone " + plant.watering.zone + " for water"
    + (plant.watering.askedISO ? ", last " + ago(plant.watering.askedISO) : "") : "";
  const waits = plant.watering && plant.watering.waitsFor;
  row.confirm.hidden = !waits;
  row.waits.hidden = !waits;
  row.waits.textContent = waits ? `It is not watered yet: its probes have said nothing but dry since it was added or calibrated. If it is dry, confirm that zone ${plant.watering.zone} may water it; if not, calibrate its probes.` : "";
  row.rest.textContent = plant.sensors.join(", ") + " · " + watered + link + (plant.user === "tactus" ? "" : " · of " + plant.user);
}

function plantRow(plant) {
  const article = element("article", null, { className: "plant panel" });
  const row = { element: article };
  const title = element("h3");
  row.name = element("span");
  row.alerts = element("span", null, { className: "alerts" });
  title.append(row.name, " ", row.alerts);
  article.dataset.say = "";
  const line = element("div", null, { className: "row" });
  const bar = element("span", null, { className: "moisture", ariaHidden: "true" });
  row.bar = element("i");
  row.mark = element("b", null, { title: "dry below this" });
  bar.append(row.bar, row.mark);
  row.percent = element("output");
  row.celsius = element("output");
  row.history = drawing("svg", { class: "chart history", role: "img" });
  const csv = element("a", "CSV", { href: at(`/api/plants/${plant.id}/history.csv`), className: "csv", ariaLabel: "CSV, history of " + plant.name });
  saves(csv, `/api/plants/${plant.id}/history.csv`, `plant-${plant.id}.csv`);
  row.confirm = button("It may be watered", (event) => command(event.target, "POST", `/api/plants/${plant.id}/confirm-watering`), { className: "go", hidden: true });
  row.waits = element("p", null, { className: "waits", hidden: true });
  const measured = element("div", null, { className: "row" });
  measured.append(bar, row.percent, row.celsius);
  line.append(row.confirm, button("Watered", (event) => command(event.target, "POST", `/api/plants/${plant.id}/watered`), { title: "somebody has watered it", ariaLabel: "Watered: " + plant.name }),
    button("Limits", (event) => limits(event.target, plant.id), { ariaLabel: "Limits of " + plant.name }), csv,
    button("Remove", ({ target }) => ask(target, "Remove " + row.name.textContent + "? Its alerts are forgotten.",
      ["Remove it", () => command(target, "DELETE", "/api/plants/" + plant.id)]), { className: "drop", ariaLabel: "Remove " + plant.name }));
  row.rest = element("p", null, { className: "hint" });
  row.limits = element("div", null, { className: "row", hidden: true });
  article.append(title, row.waits, measured, row.history, line, row.rest, row.limits);
  return row;
}

// The four limits, as a form that is made when it is asked for.
async function limits(control, id) {
  const row = plants.rows.get(id);
  row.limits.hidden = !row.limits.hidden;
  if (row.limits.hidden) return;
  const answer = await command(control, "GET", "/api/plants/" + id);
  if (!answer) return;
  const fields = [["dryPercent", "dry below", "%"], ["wetPercent", "wet above", "%"], ["coldCelsius", "cold below", "°C"], ["hotCelsius", "hot above", "°C"]];
  const inputs = fields.map(([key]) => element("input", null, { type: "number", step: "any", value: answer.plant[key] ?? "" }));
  row.limits.replaceChildren(...fields.map(([, text, unit], index) => {
    const label = element("label", text + " ");
    label.append(inputs[index], " " + unit);
    return label;
  }), button("Save", async ({ target }) => {
    const change = Object.fromEntries(fields.map(([key], index) => [key, inputs[index].value === "" ? null : Number(inputs[index].value)]));
    if (await command(target, "PUT", "/api/plants/" + id, change)) row.limits.hidden = true;
  }));
}

const ago = (iso) => ageOf(Date.now() - new Date(iso));

// ---- history

async function drawHistories(list) {
  plants.drawn = performance.now();
  plants.list = list;
  if (view !== "plants") return;
  const days = Number(byId("plant-span").value), since = new Date(Date.now() - days * 86400000).toISOString();
  await loadAlerts();
  for (const plant of list) {
    const { isDone, status, document } = await request("GET", `/api/plants/${plant.id}/history?points=192&since=${since}`);
    if (!status) return;
    const row = plants.rows.get(plant.id);
    if (isDone && row) drawHistory(row, plant, document);
    // Of a new plant the first reading is waited for, and no minute.
    if (isDone && !document.sensors.some(({ rows }) => rows.length)) plants.drawn = performance.now() - historyPeriodMs + 5000;
  }
}

// Moisture from 0 to 100 %, a line a probe; between dry and wet is good; each watering is a line. What was not read for long is a gap.
function drawHistory(row, plant, history) {
  const from = Date.parse(history.sinceISO), to = Date.parse(history.untilISO), gap = (to - from) / 24;
  const series = history.sensors.map(({ rows }) => ({
    points: rows.flatMap((one, index) => {
      const at = Date.parse(one.startISO), next = rows[index + 1] && Date.parse(rows[index + 1].startISO);
      return next - at > gap ? [[at, one.meanPercent], [at + 1, null]] : [[at, one.meanPercent]];
    }),
  }));
  const events = plants.events.filter((event) => event.kind === "watered" && event.name === plant.name)
    .map((event) => ({ at: Date.parse(event.atISO), text: "watered " + event.detail }));
  row.history.setAttribute("aria-label", `Moisture of ${plant.name} since ${dayAndTime(from)}`);
  drawChart(row.history, { series, from, to, low: 0, high: 100, unit: "%", events, bands: [{ low: plant.dryPercent, high: plant.wetPercent }] });
}
byId("plant-span").onchange = () => drawHistories(plants.list);

async function loadAlerts() {
  const { isDone, document } = await request("GET", "/api/plants/alerts?limit=100");
  if (!isDone) return;
  plants.events = document.events;
  const words = { raised: "alert:", cleared: "no longer", watered: "watered,", asked: "asks", refused: "was refused:" };
  fill(byId("plant-log"), document.events.map((event) =>
    element("li", dayAndTime(event.atISO) + "  " + event.name + "  " + words[event.kind] + " " + event.detail)), "nothing yet");
}

// ---- adding, probes

function showProbeChoices(sensors) {
  byId("plant-probes").replaceChildren(...sensors.map((sensor, index) => {
    const label = element("label", " " + sensor.id);
    label.prepend(element("input", null, { type: "checkbox", name: "probe", value: sensor.id, checked: sensors.length === 1 && index === 0 }));
    return label;
  }));
}

byId("plant-new").onsubmit = async (event) => {
  event.preventDefault();
  const form = byId("plant-new");
  const chosen = [...document.querySelectorAll("#plant-probes input:checked")].map((input) => input.value);
  if (!chosen.length) return say(form, "choose one to four probes");
  if (!await command(form, "POST", "/api/plants", { name: byId("plant-name").value, sensors: chosen })) return;
  byId("plant-name").value = "";
  for (const input of document.querySelectorAll("#plant-probes input")) input.checked = false;
};

const probes = new Map(); // name → the newest of it
const reading = (sensor) => sensor.raw == null ? "–" : sensor.raw.toFixed(0) + " " + sensor.unit;

// What it was is kept beside the button until somebody dismisses it.
async function setPoint(control, before, point) {
  const path = `/api/plants/sensors/${before.id}/calibrate`;
  if (!await command(control, "POST", path, { point: point })) return;
  const { dry, wet, isSet } = before.calibration;
  say(control, `${before.id}: ${point} was ${before.calibration[point].toFixed(0)} ${before.unit}.`, "notice",
    [["Undo", () => isSet ? command(control, "POST", path, { dry, wet }) : command(control, "DELETE", path)]]);
}

function showProbes(sensors) {
  for (const sensor of sensors) probes.set(sensor.id, sensor);
  const list = byId("probe-list");
  if (list.children.length !== sensors.length) {
    list.replaceChildren(...sensors.map((sensor) => {
      const row = element("tr");
      const now = () => probes.get(sensor.id);
      const calibrate = ({ target }, point) => ask(target,
        `${sensor.id}: ${point} is ${now().calibration[point].toFixed(0)} ${sensor.unit} so far. Shall it be what it reads now, ${reading(now())}?`,
        ["It is " + point, () => setPoint(target, now(), point)]);
      const cells = Array.from({ length: 7 }, () => element("td"));
      const actions = element("td");
      actions.append(button("is dry", (event) => calibrate(event, "dry"), { title: "what it reads now is dry soil", ariaLabel: sensor.id + " is dry" }), " ",
        button("is wet", (event) => calibrate(event, "wet"), { title: "what it reads now is wet soil", ariaLabel: sensor.id + " is wet" }));
      row.append(...cells, actions);
      return row;
    }));
  }
  sensors.forEach((sensor, index) => {
    const texts = [sensor.id, sensor.chip, reading(sensor),
      sensor.moisturePercent == null ? "–" : sensor.moisturePercent.toFixed(0) + " %", sensor.temperatureCelsius == null ? "–" : sensor.temperatureCelsius.toFixed(1) + " °C",
      sensor.ageMs == null ? "never" : ageOf(sensor.ageMs), sensor.lastFailure || (sensor.failures ? sensor.failures + " failures" : "")];
    texts.forEach((text, column) => {
      const cell = list.children[index].children[column];
      cell.textContent = text;
      cell.className = column === 6 && sensor.lastFailure ? "bad" : "";
    });
  });
}

addOwnCard("plants", {
  section: "plants", title: "Plants", icon: "M12 21v-9M12 12c0-4-3-6-8-6 0 4 3 6 8 6zM12 10c0-4 3-7 8-7 0 4-3 7-8 7",
  viewed(now) { if (now === "plants") drawHistories(plants.list); },
  take(event) {
    if (event.plants) { showPlants(event); return true; }
    // News of a plant: the next state shows it, the log tells it.
    loadAlerts();
    return false;
  },
});
