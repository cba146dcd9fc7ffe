"use strict";
// The sprinkler's card: zones, now and next, rain delay, schedules, preview, log. State comes over console.js's socket,
// commands go over HTTP: each is answered when the valves' loop has taken it.

const sprinkler = { zones: [], schedules: [], opened: new Set(), polled: false };
const weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

async function ask(method, path, body) {
  const options = { method: method, headers: headers() };
  if (body !== undefined) {
    options.headers = { ...headers(), "Content-Type": "application/json" };
    options.body = JSON.stringify(body);
  }
  const began = performance.now();
  let answer;
  try { answer = await fetch(path, options); } catch { return said("not delivered"), null; }
  byId("sprinkler-latency").textContent = (performance.now() - began).toFixed(0) + " ms";
  const document = await answer.json().catch(() => ({}));
  if (!answer.ok) { said(document.message || answer.statusText); return null; }
  // A look in the background takes no warning away that somebody has yet to read.
  if (method !== "GET") said(document.warning || "");
  return document;
}

function said(text) {
  byId("sprinkler-said").textContent = text;
  byId("sprinkler-said").hidden = !text;
}

// What a narrow screen does not tear apart.
function together(...parts) {
  const group = element("span", null, { className: "row" });
  group.append(...parts);
  return group;
}

function clock(seconds) {
  const whole = Math.max(0, Math.round(seconds)), hours = Math.floor(whole / 3600);
  const rest = String(Math.floor(whole / 60) % 60).padStart(2, "0") + ":" + String(whole % 60).padStart(2, "0");
  return hours ? hours + ":" + rest : rest;
}

// In the controller's time zone, which is the schedules', wherever the page is looked at.
function when(iso) {
  const options = { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", timeZone: sprinkler.timeZone };
  try { return new Date(iso).toLocaleString(undefined, options); } catch { return iso; }
}

function zoneName(id) {
  const zone = sprinkler.zones.find((zone) => zone.id === id);
  return zone ? zone.name : "zone " + id;
}

// ---- state

function showSprinkler(event) {
  byId("sprinkler").hidden = false;
  if (!sprinkler.polled && event.store.open) { sprinkler.polled = true; loadSchedules(); }
  sprinkler.zones = event.zones;
  sprinkler.timeZone = event.timeZone;
  byId("sprinkler-state").textContent = plain(event.state) + (event.pausedRemainingSec ? ", goes on in " + clock(event.pausedRemainingSec) : "");
  const isHeld = event.state === "fault" || event.state === "emergencyStopped";
  mark("sprinkler", isHeld || !event.store.writable ? "down" : event.rainDelay.active || event.state === "paused" ? "warn" : event.state === "watering" ? "up" : "idle",
    plain(event.state) + (event.rainDelay.active ? ", rain delay" : ""));
  const open = event.zones.filter((zone) => zone.isOn);
  byId("sprinkler-now").textContent = open.length
    ? open.map((zone) => zone.name + " " + clock(zone.remainingSec)).join(", ") : "nothing";
  byId("sprinkler-next").textContent = event.nextRun
    ? zoneName(event.nextRun.zoneId) + ", " + when(event.nextRun.startISO) + (event.queueCount > 1 ? " (" + event.queueCount + " wait)" : "") : "nothing";
  byId("rain-state").textContent = event.rainDelay.active
    ? "until " + when(event.rainDelay.until) + (event.rainDelay.detail ? ": " + event.rainDelay.detail : "") : "off";
  byId("sprinkler-weather").textContent = !event.weather ? "" : event.weather.failure
    ? "weather unknown: " + event.weather.failure : event.weather.millimetres != null ? event.weather.millimetres.toFixed(1) + " mm expected" : "";
  const paused = event.state === "paused";
  byId("sprinkler-pause").hidden = paused;
  byId("sprinkler-resume").hidden = !paused;
  byId("sprinkler-skip").disabled = !open.length;
  showZones(event.zones);
  stopped("sprinkler", isHeld
    ? sentence("sprinkler: " + event.reason) + (event.wayOut ? " To go on: " + event.wayOut + "." : "") : null);
}

// Rows are kept: a number that somebody types must not be replaced ten times a second.
function showZones(zones) {
  const list = byId("zone-list");
  if (list.children.length !== zones.length || zones.some((zone, index) => list.children[index].dataset.zone !== String(zone.id))) {
    list.replaceChildren(...zones.map(zoneRow));
    byId("zone-leds").replaceChildren(...zones.map((zone) => element("span", zone.name, { className: "led" })));
    const choices = () => zones.map((zone) => element("option", zone.name, { value: zone.id }));
    for (const select of document.querySelectorAll("select.zone")) select.replaceChildren(...choices());
  }
  zones.forEach((zone, index) => {
    const row = list.children[index];
    row.querySelector("[data-of=name]").textContent = zone.name;
    row.querySelector("[data-of=state]").textContent = !zone.isEnabled ? "disabled" : zone.isOn ? clock(zone.remainingSec) + " left" : "off";
    row.querySelector("[data-of=on]").disabled = !zone.isEnabled;
    byId("zone-leds").children[index].textContent = zone.name;
    byId("zone-leds").children[index].className = "led " + (zone.isOn ? "up" : zone.isEnabled ? "idle" : "off");
  });
}

function zoneRow(zone) {
  const row = element("div", null, { className: "row zone" });
  row.dataset.zone = zone.id;
  const minutes = element("input", null, { type: "number", min: 1, max: 1440, step: 1, value: zone.defaultMinutes });
  minutes.setAttribute("aria-label", "Minutes of " + zone.name);
  const on = (mode) => ask("POST", `/api/zone/${zone.id}/on`, { minutes: Number(minutes.value), mode: mode });
  const name = element("b"), state = element("span");
  name.dataset.of = "name";
  state.dataset.of = "state";
  const run = button("Run", () => on("set"));
  run.dataset.of = "on";
  row.append(name, state, together(minutes, element("span", "min"), run, button("+", () => on("extend"), { title: "that much longer" }),
    button("Off", () => ask("POST", `/api/zone/${zone.id}/off`))));
  return row;
}

// An edge or the second of a zone: quicker than the next state.
function zoneEvent(event) {
  const zone = sprinkler.zones.find((zone) => zone.id === event.id);
  if (!zone) return;
  zone.isOn = event.isOn;
  zone.remainingSec = event.isOn ? event.remainingSec : null;
  showZones(sprinkler.zones);
}

for (const choice of document.querySelectorAll("[data-rain]")) {
  choice.onclick = () => choice.dataset.rain === "0"
    ? ask("DELETE", "/api/rain-delay") : ask("POST", "/api/rain-delay", { hours: Number(choice.dataset.rain) });
}
byId("sprinkler-stop").onclick = () => ask("POST", "/api/stop");
byId("sprinkler-skip").onclick = () => ask("POST", "/api/queue/skip");
byId("sprinkler-pause").onclick = () => ask("POST", "/api/pause", { minutes: 30 });
byId("sprinkler-resume").onclick = () => ask("POST", "/api/resume");

// ---- schedules

async function loadSchedules() {
  const answer = await ask("GET", "/api/schedules");
  if (!answer) return;
  sprinkler.schedules = answer.schedules;
  byId("schedule-list").replaceChildren(...answer.schedules.map(scheduleCard));
  const preview = await ask("GET", "/api/schedules/preview?count=5");
  if (preview) fill(byId("schedule-preview"), preview.starts.map((start) =>
    element("li", when(start.startISO) + "  " + start.scheduleName + (start.inRainDelay ? "  (rain delay)" : "") + "  "
      + start.runs.map((run) => zoneName(run.zoneId) + " " + clock(run.seconds)).join(", "))), "nothing planned");
  loadLog();
}

async function changeSchedule(id, change) {
  await ask("PUT", "/api/schedules/" + id, change);
  loadSchedules();
}

function scheduleCard(schedule) {
  // Cards are made anew after every change; an open one stays open.
  const card = element("details", null, { className: "schedule", open: sprinkler.opened.has(schedule.id) });
  card.ontoggle = () => card.open ? sprinkler.opened.add(schedule.id) : sprinkler.opened.delete(schedule.id);
  const enabled = element("input", null, { type: "checkbox", checked: schedule.isEnabled });
  enabled.setAttribute("aria-label", schedule.name + " enabled");
  enabled.onclick = (event) => event.stopPropagation();
  enabled.onchange = () => changeSchedule(schedule.id, { isEnabled: enabled.checked });
  const rule = schedule.days ? schedule.days.join(" ") : schedule.intervalDays ? "every " + schedule.intervalDays + " days" : schedule.dayParity + " days";
  const title = element("summary");
  const more = [schedule.season && schedule.season.from + " to " + schedule.season.to,
    schedule.cycleAndSoak && "cycles of " + schedule.cycleAndSoak.cycleMinutes + " min, soak " + schedule.cycleAndSoak.soakMinutes + " min"];
  title.append(enabled, " ", element("b", schedule.name),
    element("small", ["", rule, schedule.startTimes.join(" "), ...more].filter((part) => part != null).join("  ")));
  card.append(title);

  // A schedule by interval or parity has no weekdays: a chip would turn it into another one.
  const chips = element("div", null, { className: "row" });
  for (const day of schedule.days ? weekdays : []) {
    const has = schedule.days.includes(day);
    const chip = button(day, () => {
      const days = weekdays.filter((other) => schedule.days.includes(other) !== (other === day));
      if (days.length) changeSchedule(schedule.id, { days: days });
    }, { className: "chip" });
    chip.setAttribute("aria-pressed", String(has));
    chips.append(chip);
  }
  card.append(chips);

  const starts = element("input", null, { value: schedule.startTimes.join(" "), title: "HH:MM, sunrise-20, sunset+10" });
  starts.setAttribute("aria-label", "Start times");
  starts.onchange = () => changeSchedule(schedule.id, { startTimes: starts.value.trim().split(/[\s,]+/) });
  const rain = element("input", null, { type: "checkbox", checked: schedule.skipIfRain });
  rain.onchange = () => changeSchedule(schedule.id, { skipIfRain: rain.checked });
  const line = element("div", null, { className: "row" });
  const label = element("label", " skip if rain delay");
  label.prepend(rain);
  line.append(element("span", "starts"), starts, label);
  card.append(line);

  schedule.zones.forEach((step, index) => {
    const row = element("div", null, { className: "row" });
    const minutes = element("input", null, { type: "number", min: 0.1, max: 1440, step: "any", value: step.minutes });
    minutes.setAttribute("aria-label", "Minutes of " + zoneName(step.zoneId));
    const steps = (change) => changeSchedule(schedule.id, { zones: change(schedule.zones.map((step) => ({ ...step }))) });
    minutes.onchange = () => steps((zones) => { zones[index].minutes = Number(minutes.value); return zones; });
    const remove = button("×", () => steps((zones) => zones.filter((_, other) => other !== index)), { title: "leave it out" });
    remove.disabled = schedule.zones.length === 1;
    row.append(element("span", zoneName(step.zoneId)), minutes, element("span", "min"), remove);
    card.append(row);
  });

  const actions = element("div", null, { className: "row" });
  const choice = element("select", null, { className: "zone" });
  choice.append(...sprinkler.zones.map((zone) => element("option", zone.name, { value: zone.id })));
  choice.setAttribute("aria-label", "Zone to add");
  actions.append(choice,
    button("Add zone", () => changeSchedule(schedule.id, { zones: [...schedule.zones, { zoneId: Number(choice.value), minutes: 10 }] })),
    button("Run now", () => ask("POST", `/api/schedules/${schedule.id}/run`)),
    button("Duplicate", async () => { await ask("POST", `/api/schedules/${schedule.id}/duplicate`); loadSchedules(); }),
    button("Remove", async () => {
      if (!confirm("Remove " + schedule.name + "?")) return;
      await ask("DELETE", "/api/schedules/" + schedule.id);
      loadSchedules();
    }));
  card.append(actions);
  return card;
}

byId("schedule-new").onsubmit = async (event) => {
  event.preventDefault();
  const made = await ask("POST", "/api/schedules", {
    name: byId("schedule-name").value, days: weekdays, startTimes: [byId("schedule-start").value],
    zones: sprinkler.zones.filter((zone) => zone.isEnabled).map((zone) => ({ zoneId: zone.id, minutes: zone.defaultMinutes })),
  });
  if (made) byId("schedule-name").value = "";
  loadSchedules();
};

// A token does not go into an address: what is saved is fetched first.
async function save(path, name) {
  const answer = await fetch(path, { headers: headers() });
  if (!answer.ok) return said((await answer.json()).message);
  const link = element("a", null, { href: URL.createObjectURL(await answer.blob()), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
byId("schedule-export").onclick = () => save("/api/schedules/export", "schedules.json");
byId("sprinkler-csv").onclick = (event) => { event.preventDefault(); save("/api/log.csv", "watering-log.csv"); };
byId("schedule-import").onchange = async (event) => {
  const file = event.target.files[0];
  event.target.value = "";
  if (!file) return;
  let document;
  try { document = JSON.parse(await file.text()); } catch { return said(file.name + " is no JSON"); }
  if (await ask("POST", "/api/schedules/import", document)) loadSchedules();
};

async function loadLog() {
  const answer = await ask("GET", "/api/log?limit=20");
  if (answer) fill(byId("sprinkler-log"), answer.runs.map((run) =>
    element("li", when(run.startISO) + "  " + run.zoneName + "  " + clock(run.ranSec) + " of " + clock(run.askedSec) + "  " + plain(run.outcome)
      + (run.scheduleName ? "  " + run.scheduleName : ""))), "nothing watered yet");
}

// ---- zones as they are wired and named, the seasonal level, the store as a file

byId("sprinkler-more").ontoggle = () => { if (byId("sprinkler-more").open) loadSettings(); };

async function loadSettings() {
  const [settings, zones, level] = await Promise.all(["/api/sprinkler/settings", "/api/zones", "/api/seasonal"].map((path) => ask("GET", path)));
  if (!settings || !zones || !level) return;
  sprinkler.pins = settings.pins.map((pin) => pin.pin);
  sprinkler.draft = zones.zones;
  byId("seasonal").value = level.percent;
  byId("seasonal-note").textContent = level.monthlyPercent.length ? "the months have levels of their own: " + level.effectivePercent + " % now" : "";
  showDraft();
}

function showDraft() {
  byId("zone-settings").replaceChildren(...sprinkler.draft.map(draftRow));
  byId("zone-add").disabled = sprinkler.draft.length >= sprinkler.pins.length;
}

// What is changed here is only in the page until it is saved.
function draftRow(zone, place) {
  const row = element("div", null, { className: "row" });
  const field = (input, label, set) => {
    input.setAttribute("aria-label", label + " of zone " + zone.id);
    input.onchange = () => set(input);
    return input;
  };
  const name = field(element("input", null, { value: zone.name, maxLength: 40 }), "Name", (input) => { zone.name = input.value; });
  const pin = element("select");
  pin.append(...sprinkler.pins.map((number) => element("option", "GPIO " + number, { value: number, selected: number === zone.gpioPin })));
  if (!sprinkler.pins.includes(zone.gpioPin)) pin.prepend(element("option", "GPIO " + zone.gpioPin + " (not configured)", { value: zone.gpioPin, selected: true }));
  field(pin, "Pin", (input) => { zone.gpioPin = Number(input.value); });
  const number = (member, label) =>
    field(element("input", null, { type: "number", min: 0.1, max: 1440, step: "any", value: zone[member] }), label, (input) => { zone[member] = Number(input.value); });
  const enabled = field(element("input", null, { type: "checkbox", checked: zone.isEnabled }), "Enabled", (input) => { zone.isEnabled = input.checked; });
  const on = element("label", " on");
  on.prepend(enabled);
  const up = button("↑", () => { sprinkler.draft.splice(place - 1, 0, ...sprinkler.draft.splice(place, 1)); showDraft(); }, { title: "one place up" });
  up.disabled = place === 0;
  const remove = button("×", () => { sprinkler.draft.splice(place, 1); showDraft(); }, { title: "remove this zone" });
  remove.disabled = sprinkler.draft.length === 1;
  row.append(together(name, pin), together(number("defaultMinutes", "Minutes"), element("span", "min, at most"), number("maxMinutes", "Longest run"), on),
    together(up, remove));
  return row;
}

byId("zone-add").onclick = () => {
  const id = Array.from({ length: 64 }, (_, index) => index + 1).find((id) => !sprinkler.draft.some((zone) => zone.id === id));
  const pin = sprinkler.pins.find((pin) => !sprinkler.draft.some((zone) => zone.gpioPin === pin));
  if (id === undefined || pin === undefined) return said("every pin of the configuration has a zone");
  sprinkler.draft.push({ id: id, name: "Zone " + id, gpioPin: pin, isEnabled: true, defaultMinutes: 10, maxMinutes: 120 });
  showDraft();
};
byId("zones-save").onclick = async () => {
  const saved = await ask("PUT", "/api/zones", { zones: sprinkler.draft });
  if (!saved) return;
  said("saved");
  sprinkler.draft = saved.zones;
  showDraft();
  loadSchedules();
};
byId("seasonal").onchange = async () => {
  if (await ask("PUT", "/api/seasonal", { percent: Number(byId("seasonal").value) })) loadSchedules();
};
byId("sprinkler-backup").onclick = () => save("/api/sprinkler/backup", "tactus-sprinkler.sqlite");
byId("sprinkler-restore").onchange = async (event) => {
  const file = event.target.files[0];
  event.target.value = "";
  if (!file || !confirm("Every valve closes, and zones and schedules become those of " + file.name + ". Restore?")) return;
  const options = { method: "POST", headers: { ...headers(), "Content-Type": "application/vnd.sqlite3" }, body: file };
  let answer;
  try { answer = await fetch("/api/sprinkler/restore", options); } catch { return said("not delivered"); }
  const document = await answer.json().catch(() => ({}));
  said(answer.ok ? "restored" : document.message || answer.statusText);
  loadSchedules();
  loadSettings();
};
