"use strict";
// The plants' card: moisture, alerts, adding, changing and removing; charts are history.js, the other half of this script. State comes over
// console.js's socket, commands go over HTTP.

const plants = { known: "", rows: new Map(), drawn: 0, list: [], events: [], sought: "", days: [] }; // days: the pictures, oldest first
const historyPeriodMs = 60000;
const plantAxis = timeAxis({ span: 86400000, kept: "plants", changed: () => axisChanged() });

// ---- state

function showPlants(event) {
  byId("plants").hidden = false;
  const isBroken = (sensor) => sensor.lastFailure === "notAMeasurement";
  const broken = event.sensors.filter(isBroken).map((sensor) => sensor.id), silent = event.sensors.filter((sensor) => !sensor.isFresh && !isBroken(sensor)).map((sensor) => sensor.id);
  byId("plants-state").textContent = event.plantCount + (event.plantCount === 1 ? " plant" : " plants")
    + (event.plantCount > event.plants.length ? ", the first " + event.plants.length + " shown" : "")
    + (silent.length ? "; not read lately: " + silent.join(", ") : "") + (broken.length ? "; not in soil, or a broken wire: " + broken.join(", ") : "");
  const alerts = event.plants.flatMap((plant) => plant.alerts.map((alert) => plant.name + " " + alert));
  mark("plants", !event.store.writable ? "down" : alerts.length || silent.length || broken.length ? "warn" : event.plantCount ? "up" : "idle",
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
  showProbes(event.sensors);
  plants.list = event.plants;
  for (const plant of event.plants) showPlant(plants.rows.get(plant.id), plant);
  goToSought();
  if (performance.now() - plants.drawn > historyPeriodMs || !plants.drawn) loadHistories();
}

// By the address on a plant's label.
function goToSought() {
  const row = plants.rows.get(Number(plants.sought));
  if (!plants.sought || !row || view !== "plants") return;
  plants.sought = "";
  goTo(row.element);
}

function showPlant(row, plant) {
  const moisture = plant.moisturePercent;
  row.name.textContent = plant.name;
  row.mark.style.left = (moisture ?? 0) + "%";
  row.mark.hidden = moisture == null;
  const [dry, wet] = [plant.dryPercent ?? 0, plant.wetPercent ?? 100];
  row.bands.dry.style.width = dry + "%";
  row.bands.good.style.width = wet - dry + "%";
  row.bands.wet.style.width = 100 - wet + "%";
  row.percent.textContent = moisture == null ? "unknown" : moisture.toFixed(0) + " %";
  const word = moisture == null ? "" : moisture < dry ? "dry" : moisture > wet ? "wet" : "well";
  Object.assign(row.word, { textContent: word, className: "word " + word });
  const ages = plant.sensors.map((id) => probes.get(id)?.ageMs), oldest = ages.some((age) => age == null) ? null : Math.max(...ages);
  const broken = plant.sensors.filter((id) => probes.get(id)?.lastFailure === "notAMeasurement");
  row.age.textContent = broken.length ? broken.join(", ") + (broken.length > 1 ? " are" : " is") + " not in soil, or the wire is broken" : oldest == null ? "not read yet" : "read " + ageOf(oldest);
  row.age.className = broken.length ? "bad" : "";
  row.celsius.textContent = plant.temperatureCelsius == null ? "" : plant.temperatureCelsius.toFixed(1) + " °C";
  row.alerts.replaceChildren(...plant.alerts.map((alert) => element("span", alert, { className: "alert" })));
  const watered = plant.lastWateredISO ? "watered " + ago(plant.lastWateredISO) : "no watering known yet";
  const link = plant.watering ? " · watered by zone " + plant.watering.zone
    + (plant.watering.askedISO ? ", last asked " + ago(plant.watering.askedISO) : "") : "";
  const waits = plant.watering && plant.watering.waitsFor;
  row.confirm.hidden = !waits;
  row.waits.hidden = !waits;
  row.waits.textContent = waits ? `It is not watered yet: its probes have said nothing but dry since it was added or calibrated. If it is dry, confirm that zone ${plant.watering.zone} may water it; if not, calibrate its probes.` : "";
  row.plant = plant;
  row.rest.textContent = plant.sensors.join(", ") + " · " + watered + link + (plant.user === "tactus" ? "" : " · of " + plant.user);
}

function plantRow(plant) {
  const article = element("article", null, { className: "plant panel", tabIndex: -1 });
  const row = { element: article };
  const title = element("h3");
  row.name = element("span");
  row.alerts = element("span", null, { className: "alerts" });
  title.append(row.name, " ", row.alerts);
  article.dataset.say = "";
  const line = element("div", null, { className: "row" });
  const bar = element("span", null, { className: "moisture", ariaHidden: "true" });
  row.bands = Object.fromEntries(["dry", "good", "wet"].map((name) => [name, element("i", null, { className: name })]));
  row.mark = element("b");
  bar.append(...Object.values(row.bands), row.mark);
  row.percent = element("output");
  row.word = element("span");
  row.celsius = element("output");
  row.age = element("small");
  row.history = drawing("svg", { class: "chart history", role: "img", "aria-describedby": "plant-keys" });
  zoomable(row.history, plantAxis);
  const csv = element("a", "CSV", { href: at(`/api/plants/${plant.id}/history.csv`), className: "csv", ariaLabel: "CSV, history of " + plant.name });
  saves(csv, `/api/plants/${plant.id}/history.csv`, `plant-${plant.id}.csv`);
  const label = element("a", "Label", { href: "#/plants", className: "csv", title: "to print: its name, and a QR code that opens this card", ariaLabel: "Label for " + plant.name });
  label.onclick = (event) => {
    event.preventDefault();
    if (isOfThisComputer) say(label, onlyHere); else save(label, `/api/plants/${plant.id}/label.svg?page=${encodeURIComponent(here.href)}`, `plant-${plant.id}.svg`);
  };
  row.confirm = button("It may be watered", (event) => command(event.target, "POST", `/api/plants/${plant.id}/confirm-watering`), { className: "go", hidden: true });
  row.waits = element("p", null, { className: "waits", hidden: true });
  const measured = element("div", null, { className: "row" });
  measured.append(row.percent, row.word, bar, row.celsius, row.age);
  line.append(row.confirm, button("Watered", (event) => command(event.target, "POST", `/api/plants/${plant.id}/watered`), { title: "somebody has watered it", ariaLabel: "Watered: " + plant.name }),
    button("Change", (event) => changePlant(event.target, plant.id), { ariaLabel: "Change " + plant.name }), csv, label,
    button("Remove", ({ target }) => ask(target, "Remove " + row.name.textContent + "? Its alerts are forgotten.",
      ["Remove it", () => command(target, "DELETE", "/api/plants/" + plant.id)]), { className: "drop", ariaLabel: "Remove " + plant.name }));
  row.pictures = picturesOf(plant);
  row.rest = element("p", null, { className: "hint" });
  row.limits = element("div", null, { className: "row", hidden: true });
  article.append(title, row.waits, measured, row.history, row.pictures, line, row.rest, row.limits);
  return row;
}

// Its name, its probes and its four limits, as a form that is made when it is asked for.
async function changePlant(control, id) {
  const row = plants.rows.get(id);
  row.limits.hidden = !row.limits.hidden;
  if (row.limits.hidden) return;
  const answer = await command(control, "GET", "/api/plants/" + id);
  if (!answer) return;
  const fields = [["dryPercent", "dry below", "%"], ["wetPercent", "wet above", "%"], ["coldCelsius", "cold below", "°C"], ["hotCelsius", "hot above", "°C"]];
  const inputs = fields.map(([key]) => element("input", null, { type: "number", step: "any", value: answer.plant[key] ?? "" }));
  const name = element("input", null, { maxLength: 15, value: answer.plant.name }), label = element("label", "name ");
  label.append(name);
  const boxes = [...probes.keys()].map((probe) => {
    const box = element("label", " " + probe);
    box.prepend(element("input", null, { type: "checkbox", value: probe, checked: answer.plant.sensors.includes(probe) }));
    return box;
  });
  const save = async ({ target }) => {
    const change = Object.fromEntries(fields.map(([key], index) => [key, inputs[index].value === "" ? null : Number(inputs[index].value)]));
    const sensors = boxes.map((box) => box.firstChild).filter((box) => box.checked).map((box) => box.value);
    if (!sensors.length) return say(target, "choose one to four probes");
    if (name.value !== answer.plant.name) change.name = name.value;
    if (sensors.join() !== answer.plant.sensors.join()) change.sensors = sensors;
    if (!await command(target, "PUT", "/api/plants/" + id, change)) return;
    row.limits.hidden = true;
    plants.drawn = 0; // with the next state, which has the new limits
  };
  row.limits.replaceChildren(label, ...boxes, ...fields.map(([, text, unit], index) => {
    const made = element("label", text + " ");
    made.append(inputs[index], " " + unit);
    return made;
  }), together(button("Save", save, { className: "primary" }), button("Cancel", () => { row.limits.hidden = true; })));
  name.focus();
}

// ---- the daily pictures

// A slider over the days; the picture is fetched for the day where it stands. Of a wide picture the plant's own part is shown.
function picturesOf(plant) {
  const place = element("details", null, { className: "pictures", hidden: !plants.days.length }), shown = element("div", null, { className: "picture" }), image = element("img");
  const days = element("input", null, { type: "range", min: 0, step: 1, ariaLabel: "Day of the picture of " + plant.name }), said = element("output");
  shown.append(image);
  let wanted = "";
  const show = async () => {
    const day = plants.days[Number(days.value)];
    if (!day || !place.open || wanted === day.day) return;
    put(said, inZone(day.takenISO, { day: "numeric", month: "short", year: "numeric" }));
    days.setAttribute("aria-valuetext", said.textContent);
    wanted = day.day;
    const answer = await fetch(at("/api/plants/pictures/" + day.day), { headers: headers() }).catch(() => null);
    if (wanted !== day.day) return;
    if (!answer?.ok) { wanted = ""; return; }
    const reader = new FileReader(), area = plants.rows.get(plant.id)?.plant?.pictureArea;
    image.onload = () => {
      const { left, top, width, height } = area || { left: 0, top: 0, width: 100, height: 100 };
      shown.style.aspectRatio = (image.naturalWidth * width) + " / " + (image.naturalHeight * height);
      Object.assign(image.style, { width: 10000 / width + "%", height: 10000 / height + "%", left: -100 * left / width + "%", top: -100 * top / height + "%" });
      image.alt = plants.rows.get(plant.id)?.name.textContent + ", " + said.textContent;
    };
    reader.onload = () => { if (wanted === day.day) image.src = reader.result; };
    reader.readAsDataURL(await answer.blob());
  };
  place.ontoggle = days.oninput = show;
  const controls = element("div", null, { className: "row" });
  controls.append(days, said);
  place.append(element("summary", "Pictures"), shown, controls);
  // Oldest first, the newest shown.
  place.take = () => {
    place.hidden = !plants.days.length;
    const isNewest = !image.src || Number(days.value) === Number(days.max);
    days.max = Math.max(plants.days.length - 1, 0);
    if (isNewest) { days.value = days.max; show(); }
  };
  place.take();
  return place;
}

async function loadPictures() {
  const answer = await request("GET", "/api/plants/pictures");
  if (!answer.isDone) return;
  plants.days = answer.document.pictures.reverse();
  byId("pictures-said").hidden = !answer.document.failure;
  put(byId("pictures-said"), answer.document.failure ? "No newer picture: " + answer.document.failure : "");
  for (const row of plants.rows.values()) row.pictures.take();
}

const ago = (iso) => ageOf(Date.now() - new Date(iso));

// ---- adding, probes

function showProbeChoices(sensors) {
  byId("plant-probes").replaceChildren(...sensors.map((sensor, index) => {
    const label = element("label", " " + sensor.id);
    label.prepend(element("input", null, { type: "checkbox", name: "probe", value: sensor.id, checked: sensors.length === 1 && index === 0 }));
    return label;
  }));
}

// What the plant will do, before there is one.
function showPlan() {
  const name = byId("plant-name").value.trim() || "It", chosen = [...document.querySelectorAll("#plant-probes input:checked")].map((input) => input.value);
  const readings = chosen.map((id) => { const probe = probes.get(id), now = probe?.isFresh ? probe.moisturePercent : null; return id + (now == null ? ", which does not answer now" : `, now ${now.toFixed(0)} %`); });
  const others = plants.list.filter((plant) => plant.sensors.some((id) => chosen.includes(id))).map((plant) => plant.name);
  byId("plant-plan").hidden = !chosen.length;
  byId("plant-plan").textContent = !chosen.length ? "" : `${name} will be read by ${readings.join(" and ")}${others.length ? ` (read for ${others.join(", ")} as well)` : ""}. It warns by the configuration's limits until you change them. `
    + "It waters nothing by itself, unless the configuration links it with a zone; even then not before its probes have once said something else than dry, or you have confirmed it.";
}
byId("plant-new").oninput = showPlan;

byId("plant-new").onsubmit = async (event) => {
  event.preventDefault();
  const form = byId("plant-new");
  const chosen = [...document.querySelectorAll("#plant-probes input:checked")].map((input) => input.value);
  if (!chosen.length) return say(form, "choose one to four probes");
  if (!await command(form, "POST", "/api/plants", { name: byId("plant-name").value, sensors: chosen })) return;
  byId("plant-name").value = "";
  for (const input of document.querySelectorAll("#plant-probes input")) input.checked = false;
  showPlan();
};

const failureWords = { noAnswer: "no answer", timedOut: "the bus is stuck", notAMeasurement: "not in soil, or a broken wire", wrongChip: "another chip answers" };
const probes = new Map(); // name → the newest of it
// What is old is not shown as if it were of now.
const reading = (sensor) => sensor.raw == null || !sensor.isFresh ? "–" : sensor.raw.toFixed(0) + " " + sensor.unit;

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
      sensor.moisturePercent == null || !sensor.isFresh ? "–" : sensor.moisturePercent.toFixed(0) + " %", sensor.temperatureCelsius == null || !sensor.isFresh ? "–" : sensor.temperatureCelsius.toFixed(1) + " °C",
      sensor.ageMs == null ? "never" : ageOf(sensor.ageMs), (sensor.lastFailure ? failureWords[sensor.lastFailure] ?? sensor.lastFailure : null) || (sensor.failures ? sensor.failures + " failures" : "")];
    texts.forEach((text, column) => {
      const cell = list.children[index].children[column];
      cell.textContent = text;
      cell.className = column === 6 && sensor.lastFailure ? "bad" : "";
    });
  });
}

addOwnCard("plants", {
  section: "plants",
  viewed(now, sought) {
    if (now !== "plants") return;
    plants.sought = sought;
    goToSought();
    loadHistories();
    loadPictures();
  },
  take(event) {
    if (event.plants) { showPlants(event); return true; }
    // News of a plant: the next state shows it, the log tells it.
    loadAlerts();
    return false;
  },
});
