"use strict";
// What the probes have read: a chart for each plant, from the last minutes to the last years, all with one time axis.

const histories = new Map(); // plant → what the daemon has told of it
const showSpan = axisButtons(byId("plant-axis"), plantAxis);
let historyTimer = 0;

// Drawn at once of what is known; asked for when the axis rests.
function axisChanged() {
  showSpan();
  drawHistories();
  clearTimeout(historyTimer);
  historyTimer = setTimeout(loadHistories, 150);
}

async function loadHistories() {
  plants.drawn = performance.now();
  if (view !== "plants") return;
  const since = new Date(plantAxis.from()).toISOString(), until = plantAxis.end ? "&until=" + new Date(plantAxis.to()).toISOString() : "";
  await loadAlerts();
  for (const plant of plants.list) {
    const { isDone, status, document } = await request("GET", `/api/plants/${plant.id}/history?points=192&since=${since}${until}`);
    if (!status) return;
    if (isDone) histories.set(plant.id, document);
    // Of a new plant the first reading is waited for, and no minute.
    if (isDone && !document.sensors.some(({ rows }) => rows.length)) plants.drawn = performance.now() - historyPeriodMs + 5000;
  }
  drawHistories();
}

function drawHistories() { for (const plant of plants.list) if (plants.rows.has(plant.id) && histories.has(plant.id)) drawHistory(plants.rows.get(plant.id), plant, histories.get(plant.id)); }

// Moisture from 0 to 100 %, a line a probe; between dry and wet is good; each watering is a line. What was not read for long is a gap.
function drawHistory(row, plant, history) {
  const from = plantAxis.from(), to = plantAxis.to(), gap = Math.max(180000, (Date.parse(history.untilISO) - Date.parse(history.sinceISO)) / 24);
  const series = history.sensors.map(({ sensor, rows }) => ({
    name: sensor,
    points: rows.flatMap((one, index) => {
      const at = Date.parse(one.startISO), next = rows[index + 1] && Date.parse(rows[index + 1].startISO);
      return next - at > gap ? [[at, one.meanPercent], [at + 1, null]] : [[at, one.meanPercent]];
    }),
  }));
  const events = plants.events.filter((event) => (event.kind === "watered" || event.kind === "calibrated") && event.plantId === plant.id)
    .map((event) => ({ at: Date.parse(event.atISO), text: event.kind + " " + event.detail, look: event.kind === "calibrated" ? "other" : "" }));
  const limits = [[plant.dryPercent, "dry"], [plant.wetPercent, "wet"]].filter(([at]) => at != null).map(([at, text]) => ({ at, text }));
  row.history.setAttribute("aria-label", `Moisture of ${plant.name} from ${dayAndTime(from)} to ${plantAxis.end ? dayAndTime(to) : "now"}`);
  drawChart(row.history, { series, from, to, low: 0, high: 100, unit: "%", events, limits, bands: [{ low: plant.dryPercent, high: plant.wetPercent }] });
}

async function loadAlerts() {
  const { isDone, document } = await request("GET", "/api/plants/alerts?limit=300");
  if (!isDone) return;
  plants.events = document.events;
  const words = { raised: "alert:", cleared: "no longer", watered: "watered,", asked: "asks", refused: "was refused:", calibrated: "calibrated," };
  fill(byId("plant-log"), document.events.slice(0, 100).map((event) =>
    element("li", dayAndTime(event.atISO) + "  " + event.name + "  " + words[event.kind] + " " + event.detail)), "Nothing yet: alerts and waterings are listed here.");
}
showSpan();
