"use strict";
// The plants' card: moisture, alerts, the last day's readings, adding and removing. State comes over console.js's socket,
// commands go over HTTP.

const plants = { known: "", rows: new Map(), drawn: 0 };
const historyPeriodMs = 60000;

async function askPlants(method, path, body) {
  const options = { method: method, headers: headers() };
  if (body !== undefined) {
    options.headers = { ...headers(), "Content-Type": "application/json" };
    options.body = JSON.stringify(body);
  }
  let answer;
  try { answer = await fetch(path, options); } catch { return plantsSaid("not delivered"), null; }
  const document = await answer.json().catch(() => ({}));
  plantsSaid(answer.ok ? "" : document.message || answer.statusText);
  return answer.ok ? document : null;
}

function plantsSaid(text) {
  byId("plants-said").textContent = text;
  byId("plants-said").hidden = !text;
}

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
  if (!event.store.writable) plantsSaid("nothing is kept: " + event.store.failure);
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
  row.rest.textContent = plant.sensors.join(", ") + " · " + watered + link + (plant.user === "tactus" ? "" : " · of " + plant.user);
}

function plantRow(plant) {
  const article = element("article", null, { className: "plant" });
  const row = { element: article };
  const title = element("h3");
  row.name = element("span");
  row.alerts = element("span", null, { className: "alerts" });
  title.append(row.name, " ", row.alerts);
  const line = element("div", null, { className: "row" });
  const bar = element("span", null, { className: "moisture", role: "img" });
  row.bar = element("i");
  row.mark = element("b", null, { title: "dry below this" });
  bar.append(row.bar, row.mark);
  row.percent = element("output");
  row.celsius = element("output");
  row.history = element("span", null, { className: "history", title: "moisture of the last 24 hours" });
  line.append(bar, row.percent, row.celsius, row.history,
    button("Watered", () => askPlants("POST", `/api/plants/${plant.id}/watered`), { title: "somebody has watered it" }),
    button("Limits", () => limits(plant.id)),
    button("CSV", () => save(`/api/plants/${plant.id}/history.csv`, `plant-${plant.id}.csv`)),
    button("Remove", async () => {
      if (confirm("Remove " + row.name.textContent + "? Its alerts are forgotten.")) await askPlants("DELETE", "/api/plants/" + plant.id);
    }));
  row.rest = element("p", null, { className: "hint" });
  row.limits = element("div", null, { className: "row", hidden: true });
  article.append(title, line, row.rest, row.limits);
  return row;
}

// The four limits, as a form that is made when it is asked for.
async function limits(id) {
  const row = plants.rows.get(id);
  row.limits.hidden = !row.limits.hidden;
  if (row.limits.hidden) return;
  const answer = await askPlants("GET", "/api/plants/" + id);
  if (!answer) return;
  const fields = [["dryPercent", "dry below", "%"], ["wetPercent", "wet above", "%"], ["coldCelsius", "cold below", "°C"], ["hotCelsius", "hot above", "°C"]];
  const inputs = fields.map(([key]) => element("input", null, { type: "number", step: "any", value: answer.plant[key] ?? "" }));
  row.limits.replaceChildren(...fields.map(([, text, unit], index) => {
    const label = element("label", text + " ");
    label.append(inputs[index], " " + unit);
    return label;
  }), button("Save", async () => {
    const change = Object.fromEntries(fields.map(([key], index) => [key, inputs[index].value === "" ? null : Number(inputs[index].value)]));
    if (await askPlants("PUT", "/api/plants/" + id, change)) row.limits.hidden = true;
  }));
}

function ago(iso) {
  const minutes = Math.max(0, Math.round((Date.now() - new Date(iso)) / 60000));
  return minutes < 1 ? "just now" : minutes < 60 ? minutes + " min ago" : minutes < 48 * 60 ? Math.round(minutes / 60) + " h ago" : Math.round(minutes / 1440) + " days ago";
}

// ---- history

async function drawHistories(list) {
  plants.drawn = performance.now();
  for (const plant of list) {
    let answer;
    try { answer = await fetch(`/api/plants/${plant.id}/history?points=96`, { headers: headers() }); } catch { return; }
    if (!answer.ok) continue;
    const document = await answer.json();
    const row = plants.rows.get(plant.id);
    if (row) row.history.replaceChildren(chart(document));
  }
  loadAlerts();
}

// Moisture from 0 to 100 % over the day, a line a probe.
function chart(history) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 240 32");
  svg.setAttribute("preserveAspectRatio", "none");
  const since = new Date(history.sinceISO), span = new Date(history.untilISO) - since;
  for (const sensor of history.sensors) {
    const points = sensor.rows.map((row) => [(new Date(row.startISO) - since) / span * 240, 31 - row.meanPercent * 0.3]);
    // One reading alone is a short line.
    if (points.length === 1) points.push([points[0][0] + 2, points[0][1]]);
    const line = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
    line.setAttribute("points", points.map(([x, y]) => x.toFixed(1) + "," + y.toFixed(1)).join(" "));
    svg.append(line);
  }
  return svg;
}

async function loadAlerts() {
  const answer = await fetch("/api/plants/alerts?limit=20", { headers: headers() }).then((answer) => answer.ok ? answer.json() : null).catch(() => null);
  if (!answer) return;
  const words = { raised: "alert:", cleared: "no longer", watered: "watered,", asked: "asks", refused: "was refused:" };
  fill(byId("plant-log"), answer.events.map((event) =>
    element("li", new Date(event.atISO).toLocaleString() + "  " + event.name + "  " + words[event.kind] + " " + event.detail)), "nothing yet");
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
  const chosen = [...document.querySelectorAll("#plant-probes input:checked")].map((input) => input.value);
  if (!chosen.length) return plantsSaid("choose one to four probes");
  if (!await askPlants("POST", "/api/plants", { name: byId("plant-name").value, sensors: chosen })) return;
  byId("plant-name").value = "";
  for (const input of document.querySelectorAll("#plant-probes input")) input.checked = false;
};

function showProbes(sensors) {
  const list = byId("probe-list");
  if (list.children.length !== sensors.length) {
    list.replaceChildren(...sensors.map((sensor) => {
      const row = element("tr");
      const calibrate = (point) => askPlants("POST", `/api/plants/sensors/${sensor.id}/calibrate`, { point: point });
      const cells = Array.from({ length: 7 }, () => element("td"));
      const actions = element("td");
      actions.append(button("is dry", () => calibrate("dry"), { title: "what it reads now is dry soil" }), " ",
        button("is wet", () => calibrate("wet"), { title: "what it reads now is wet soil" }));
      row.append(...cells, actions);
      return row;
    }));
  }
  sensors.forEach((sensor, index) => {
    const texts = [sensor.id, sensor.chip, sensor.raw == null ? "–" : sensor.raw.toFixed(0) + " " + sensor.unit,
      sensor.moisturePercent == null ? "–" : sensor.moisturePercent.toFixed(0) + " %", sensor.temperatureCelsius == null ? "–" : sensor.temperatureCelsius.toFixed(1) + " °C",
      sensor.ageMs == null ? "never" : (sensor.ageMs / 1000).toFixed(0) + " s ago", sensor.lastFailure || (sensor.failures ? sensor.failures + " failures" : "")];
    texts.forEach((text, column) => {
      const cell = list.children[index].children[column];
      cell.textContent = text;
      cell.className = column === 6 && sensor.lastFailure ? "bad" : "";
    });
  });
}

// News of a plant: the next state shows it, the log tells it.
function plantEvent() { loadAlerts(); }
