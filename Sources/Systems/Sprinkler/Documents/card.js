"use strict";
// The sprinkler's card: zones, now and next, rain delay, schedules, preview, log. State comes over console.js's socket,
// commands go over HTTP: each is answered when the valves' loop has taken it.

const sprinkler = { zones: [], schedules: [], starts: [], runs: [], opened: new Set(), polled: false, settings: null };
const weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];

// As `command`; the time it took is shown.
async function water(control, method, path, body) {
  const began = performance.now(), answer = await command(control, method, path, body);
  byId("sprinkler-latency").textContent = (performance.now() - began).toFixed(0) + " ms";
  return answer;
}

function said(text) { Object.assign(byId("sprinkler-said"), { textContent: text, hidden: !text }); }

function zoneName(id) {
  const zone = sprinkler.zones.find((zone) => zone.id === id);
  return zone ? zone.name : "zone " + id;
}

// ---- state

function showSprinkler(event) {
  byId("sprinkler").hidden = false;
  if (!sprinkler.polled && event.store.open) { sprinkler.polled = true; loadSchedules(); }
  sprinkler.zones = event.zones;
  setTimeZone(event.timeZone);
  byId("sprinkler-state").textContent = plain(event.state) + (event.pausedRemainingSec ? ", goes on in " + clock(event.pausedRemainingSec) : "");
  const isHeld = event.state === "fault" || event.state === "emergencyStopped";
  mark("sprinkler", isHeld || !event.store.writable ? "down" : event.rainDelay.active || event.state === "paused" ? "warn" : event.state === "watering" ? "up" : "idle",
    plain(event.state) + (event.rainDelay.active ? ", rain delay" : ""));
  const open = event.zones.filter((zone) => zone.isOn);
  byId("sprinkler-next").textContent = event.nextRun
    ? zoneName(event.nextRun.zoneId) + ", " + dayAndTime(event.nextRun.startISO) + (event.queueCount > 1 ? " (" + event.queueCount + " wait)" : "") : "nothing";
  byId("sprinkler-clock").textContent = event.clock.isBelieved ? "" : "The time of day is not confirmed yet: what is due waits until it is.";
  byId("rain-state").textContent = event.rainDelay.active
    ? "until " + dayAndTime(event.rainDelay.until) + (event.rainDelay.detail ? ": " + event.rainDelay.detail : "") : "off";
  byId("sprinkler-weather").textContent = !event.weather ? "" : !event.weather.isOn ? "forecast switched off" : event.weather.failure
    ? "weather unknown: " + event.weather.failure : event.weather.millimetres != null
      ? (event.weather.isLowerBound ? "at least " : "") + event.weather.millimetres.toFixed(1) + " mm expected"
      : event.weather.answeredISO ? "weather unknown: the provider has no value" : "";
  const paused = event.state === "paused";
  tile("sprinkler", {
    now: !open.length ? "no water runs" : open.map((zone) => zone.name + " " + clock(zone.remainingSec)).join(", "),
    next: event.rainDelay.active ? "rain delay until " + dayAndTime(event.rainDelay.until) : event.nextRun ? "next " + byId("sprinkler-next").textContent : "nothing planned",
    action: open.length ? { words: "Stop all", look: "halt", act: (control) => water(control, "POST", "/api/stop") }
      : { words: "Water", look: "primary", act: () => { location.hash = "#/sprinkler"; } },
  });
  byId("sprinkler-pause").hidden = paused;
  byId("sprinkler-resume").hidden = !paused;
  byId("sprinkler-skip").disabled = !open.length;
  showZones(event.zones);
  stopped("sprinkler", isHeld
    ? sentence("sprinkler: " + event.reason) + (event.wayOut ? " To go on: " + event.wayOut + "." : "") : null, event.state === "emergencyStopped");
}

// Every place that shows a countdown is written at once: by the state, by the zone's own event.
// Rows are kept: a number that somebody types must not be replaced ten times a second.
function showZones(zones) {
  const list = byId("zone-list");
  if (list.children.length !== zones.length || zones.some((zone, index) => list.children[index].dataset.zone !== String(zone.id))) {
    list.replaceChildren(...zones.map(zoneRow));
    byId("zone-leds").replaceChildren(...zones.map((zone) => element("span", zone.name, { className: "led" })));
    const choices = () => zones.map((zone) => element("option", zone.name, { value: zone.id }));
    for (const select of document.querySelectorAll("select.zone")) select.replaceChildren(...choices());
  }
  const known = JSON.stringify(zones.map((zone) => [zone.id, zone.name, zone.isEnabled]));
  if (known !== sprinkler.known) showDraftZones(zones);
  sprinkler.known = known;
  byId("sprinkler-now").textContent = zones.filter((zone) => zone.isOn).map((zone) => zone.name + " " + clock(zone.remainingSec)).join(", ") || "nothing";
  zones.forEach((zone, index) => {
    const row = list.children[index];
    row.querySelector("[data-of=name]").textContent = zone.name;
    row.classList.toggle("on", zone.isOn);
    row.querySelector("[data-of=state]").textContent = !zone.isEnabled ? "disabled" : zone.isOn ? clock(zone.remainingSec) + " left" : "off";
    row.querySelector("[data-of=on]").disabled = !zone.isEnabled;
    byId("zone-leds").children[index].textContent = zone.name;
    byId("zone-leds").children[index].className = "led " + (zone.isOn ? "up" : zone.isEnabled ? "idle" : "off");
  });
}

function zoneRow(zone) {
  const outer = element("div", null, { className: "zone panel" }), row = element("div", null, { className: "row" });
  Object.assign(outer.dataset, { zone: zone.id, say: "" });
  const minutes = element("input", null, { type: "number", min: 1, max: 1440, step: 1, value: zone.defaultMinutes });
  minutes.setAttribute("aria-label", "Minutes of " + zone.name);
  const on = (control, mode) => openZone(control, zone.id, { minutes: Number(minutes.value), mode: mode });
  const name = element("b"), state = element("span");
  name.dataset.of = "name";
  state.dataset.of = "state";
  const run = button("Run", () => on(run, "set"), { className: "go", ariaLabel: "Run " + zone.name });
  run.dataset.of = "on";
  row.append(name, state, together(minutes, element("span", "min"), run, button("+", () => on(run, "extend"), { title: "that much longer", ariaLabel: "+ longer, " + zone.name }),
    button("Off", ({ target }) => water(target, "POST", `/api/zone/${zone.id}/off`), { className: "halt", ariaLabel: "Off, " + zone.name })));
  outer.append(row);
  return outer;
}

// Where no more valves may be open, ON ends the run that has been open longest: not without a word.
function openZone(control, id, run) {
  const zone = sprinkler.zones.find((zone) => zone.id === id), limits = sprinkler.settings;
  const open = sprinkler.zones.filter((other) => other.isOn && other.id !== id), group = open.filter((other) => other.group === zone.group);
  const full = zone.isOn ? [] : limits && zone.group && group.length >= limits.groups[zone.group - 1] ? group : open.length >= (limits ? limits.maxOpen : 1) ? open : [];
  const now = () => water(control, "POST", `/api/zone/${id}/on`, run);
  if (!full.length) return now();
  const left = full.map((other) => other.name + " (" + clock(other.remainingSec) + " left)").join(", ");
  const ended = full.length === 1 ? full[0].name : "the longest open";
  ask(control, left + (full.length === 1 ? " is open" : " are open") + ", and no more may be.",
    [`Water ${zone.name} after it`, () => water(control, "POST", "/api/queue", { zones: [{ zoneId: id, minutes: run.minutes }] })],
    [`End ${ended}, water ${zone.name} now`, now]);
}

// An edge or the second of a zone: quicker than the next state.
function zoneEvent(event) {
  const zone = sprinkler.zones.find((zone) => zone.id === event.id);
  if (!zone) return;
  Object.assign(zone, { isOn: event.isOn, remainingSec: event.isOn ? event.remainingSec : null });
  showZones(sprinkler.zones);
}

for (const choice of document.querySelectorAll("[data-rain]")) {
  choice.onclick = () => choice.dataset.rain === "0"
    ? water(choice, "DELETE", "/api/rain-delay") : water(choice, "POST", "/api/rain-delay", { hours: Number(choice.dataset.rain) });
}
for (const [word, path, body] of [["stop", "stop"], ["skip", "queue/skip"], ["pause", "pause", { minutes: 30 }], ["resume", "resume"]]) {
  byId("sprinkler-" + word).onclick = ({ target }) => water(target, "POST", "/api/" + path, body);
}

// ---- schedules

async function loadSchedules() {
  sprinkler.settings ??= await look("/api/sprinkler/settings");
  const answer = await look("/api/schedules");
  if (!answer || !answer.schedules) return;
  sprinkler.schedules = answer.schedules;
  byId("schedule-list").replaceChildren(...answer.schedules.map(scheduleCard));
  const preview = await look("/api/schedules/preview?count=60");
  sprinkler.starts = preview && preview.starts || [];
  fill(byId("schedule-preview"), sprinkler.starts.slice(0, 5).map((start) =>
    element("li", dayAndTime(start.startISO) + "  " + start.scheduleName + (start.inRainDelay ? "  (rain delay)" : "") + "  "
      + start.runs.map((run) => zoneName(run.zoneId) + " " + clock(run.seconds)).join(", "))), "nothing planned");
  loadLog();
}

// A refusal stays on the card, with what was typed; only what a person did not type goes back.
async function changeSchedule(control, id, change) {
  if (await water(control, "PUT", "/api/schedules/" + id, change)) return loadSchedules();
  if (control.type === "checkbox") control.checked = !control.checked;
}

const nextOf = (schedule) => schedule.nextStartISO ? "next " + dayAndTime(schedule.nextStartISO) : "no start to come";

function scheduleCard(schedule) {
  // Cards are made anew after every change; an open one stays open.
  const outer = element("div", null, { className: "schedule panel" + (schedule.isEnabled ? "" : " off") });
  const card = element("details", null, { open: sprinkler.opened.has(schedule.id) });
  outer.dataset.say = "";
  card.ontoggle = () => card.open ? sprinkler.opened.add(schedule.id) : sprinkler.opened.delete(schedule.id);
  const enabled = element("input", null, { type: "checkbox", checked: schedule.isEnabled });
  enabled.setAttribute("aria-label", schedule.name + " enabled");
  enabled.onchange = () => changeSchedule(enabled, schedule.id, { isEnabled: enabled.checked });
  const rule = schedule.days ? schedule.days.join(" ") || "no day" : schedule.intervalDays ? "every " + schedule.intervalDays + " days" : schedule.dayParity + " days";
  const title = element("summary");
  const more = [schedule.season && schedule.season.from + " to " + schedule.season.to,
    schedule.cycleAndSoak && "cycles of " + schedule.cycleAndSoak.cycleMinutes + " min, soak " + schedule.cycleAndSoak.soakMinutes + " min"];
  title.append(element("b", schedule.name),
    element("small", [schedule.isEnabled ? "" : "  off", rule, schedule.startTimes.join(" "), ...more, schedule.isEnabled ? nextOf(schedule) : null].filter((part) => part != null).join("  ")));
  card.append(title);
  outer.append(element("label"), card);
  outer.firstChild.append(enabled);

  // A schedule by interval or parity has no weekdays: a chip would turn it into another one.
  const chips = element("div", null, { className: "row" });
  for (const day of schedule.days ? weekdays : []) {
    const chip = chipOf(day, schedule.days.includes(day), (chip) => {
      const days = weekdays.filter((other) => schedule.days.includes(other) !== (other === day));
      if (days.length) changeSchedule(chip, schedule.id, { days: days });
    });
    chips.append(chip);
  }
  card.append(chips);

  const starts = element("input", null, { value: schedule.startTimes.join(" "), title: "HH:MM, sunrise-20, sunset+10" });
  starts.setAttribute("aria-label", "Start times");
  starts.onchange = () => changeSchedule(starts, schedule.id, { startTimes: starts.value.trim().split(/[\s,]+/) });
  const rain = element("input", null, { type: "checkbox", checked: schedule.skipIfRain });
  rain.onchange = () => changeSchedule(rain, schedule.id, { skipIfRain: rain.checked });
  const line = element("div", null, { className: "row" });
  const label = element("label", " skip if rain delay");
  label.prepend(rain);
  line.append(element("span", "starts"), starts, label);
  card.append(line);

  schedule.zones.forEach((step, index) => {
    const row = element("div", null, { className: "row" });
    const minutes = element("input", null, { type: "number", min: 0.1, max: 1440, step: "any", value: step.minutes });
    minutes.setAttribute("aria-label", "Minutes of " + zoneName(step.zoneId));
    const steps = (change) => changeSchedule(minutes, schedule.id, { zones: change(schedule.zones.map((step) => ({ ...step }))) });
    minutes.onchange = () => steps((zones) => { zones[index].minutes = Number(minutes.value); return zones; });
    const remove = button("×", () => steps((zones) => zones.filter((_, other) => other !== index)), { title: "leave it out", className: "drop" });
    remove.disabled = schedule.zones.length === 1;
    row.append(element("span", zoneName(step.zoneId)), minutes, element("span", "min"), remove);
    card.append(row);
  });

  const actions = element("div", null, { className: "row" });
  const choice = element("select", null, { className: "zone" });
  choice.append(...sprinkler.zones.map((zone) => element("option", zone.name, { value: zone.id })));
  choice.setAttribute("aria-label", "Zone to add");
  actions.append(choice,
    button("Add zone", ({ target }) => changeSchedule(target, schedule.id, { zones: [...schedule.zones, { zoneId: Number(choice.value), minutes: 10 }] })),
    button("Run now", ({ target }) => water(target, "POST", `/api/schedules/${schedule.id}/run`), { className: "go" }),
    button("Duplicate", async ({ target }) => { if (await water(target, "POST", `/api/schedules/${schedule.id}/duplicate`)) loadSchedules(); }),
    button("Remove", ({ target }) => ask(target, "Remove " + schedule.name + "?", ["Remove it", async () => {
      if (await water(target, "DELETE", "/api/schedules/" + schedule.id)) loadSchedules();
    }]), { className: "drop" }));
  card.append(actions);
  return outer;
}

// ---- a new schedule: nothing is chosen until somebody chooses it, and it is on unless they say otherwise

byId("schedule-days").append(...weekdays.map((day) => chipOf(day, false, (chip) => {
  chip.setAttribute("aria-pressed", String(!isPressed(chip)));
  checkDraft();
})));

// A name that nobody has to think of; it is typed over where somebody has a better one.
const nameDraft = () => { byId("schedule-name").value ||= "Schedule " + (sprinkler.schedules.length + 1); };
byId("schedule-draft").ontoggle = nameDraft;

function showDraftZones(zones) {
  byId("schedule-zones").replaceChildren(...zones.filter((zone) => zone.isEnabled).map((zone) => {
    const minutes = element("input", null, { type: "number", min: 0.1, max: 1440, step: "any", value: zone.defaultMinutes });
    minutes.setAttribute("aria-label", "Minutes of " + zone.name);
    const label = element("label", " " + zone.name), row = element("div", null, { className: "row" });
    label.prepend(element("input", null, { type: "checkbox", value: zone.id, onchange: checkDraft }));
    row.append(label, minutes, element("span", "min"));
    return row;
  }));
  checkDraft();
}

const draftDays = () => [...byId("schedule-days").children].filter(isPressed).map((chip) => chip.textContent);
const draftSteps = () => [...byId("schedule-zones").children].filter((row) => row.querySelector("[type=checkbox]").checked)
  .map((row) => ({ zoneId: Number(row.querySelector("[type=checkbox]").value), minutes: Number(row.querySelector("[type=number]").value) }));

function checkDraft() {
  const lacks = [draftDays().length ? "" : "its days", draftSteps().length ? "" : "its zones"].filter(Boolean);
  byId("schedule-add").disabled = lacks.length > 0;
  byId("schedule-lacks").textContent = lacks.length ? "choose " + lacks.join(" and ") : "";
}

byId("schedule-new").onsubmit = async (event) => {
  event.preventDefault();
  const made = await water(event.target, "POST", "/api/schedules", {
    name: byId("schedule-name").value, days: draftDays(), startTimes: byId("schedule-start").value.trim().split(/[\s,]+/), zones: draftSteps(),
    isEnabled: byId("schedule-enabled").checked,
  });
  if (!made) return;
  say(event.target, made.name + (made.isEnabled ? " is on: " + nextOf(made) : " is off") + ".", "notice");
  event.target.reset();
  for (const chip of byId("schedule-days").children) chip.setAttribute("aria-pressed", "false");
  showDraftZones(sprinkler.zones);
  await loadSchedules();
  nameDraft();
};

saves(byId("schedule-export"), "/api/schedules/export", "schedules.json");
saves(byId("sprinkler-csv"), "/api/log.csv", "watering-log.csv");
byId("schedule-import").onchange = async (event) => {
  const control = event.target, file = control.files[0];
  control.value = "";
  if (!file) return;
  let document;
  try { document = JSON.parse(await file.text()); } catch { return say(control, file.name + " is no JSON"); }
  if (await water(control, "POST", "/api/schedules/import", document)) loadSchedules();
};

async function loadLog() {
  const answer = await look("/api/log?limit=200");
  if (!answer || !answer.runs) return;
  sprinkler.runs = answer.runs;
  drawWeek();
  fill(byId("sprinkler-log"), answer.runs.slice(0, 20).map((run) =>
    element("li", dayAndTime(run.startISO) + "  " + run.zoneName + "  " + clock(run.ranSec) + " of " + clock(run.askedSec) + "  " + plain(run.outcome)
      + (run.scheduleName ? "  " + run.scheduleName : ""))), "nothing watered yet");
}

// Three days of the log and four of what is planned, a row a zone.
function drawWeek() {
  if (view !== "sprinkler") return;
  const now = Date.now(), day = 86400000;
  const past = sprinkler.runs.map((run) => {
    const from = Date.parse(run.startISO);
    return { zone: run.zoneName, from, to: from + Math.max(run.ranSec, 60) * 1000, look: run.ranSec ? "" : "skipped",
      text: `${dayAndTime(run.startISO)} ${clock(run.ranSec)} of ${clock(run.askedSec)}, ${plain(run.outcome)}` };
  });
  const planned = sprinkler.starts.flatMap((start) => {
    let from = Date.parse(start.startISO);
    return start.runs.map((run) => {
      const block = { zone: zoneName(run.zoneId), from, to: from += run.seconds * 1000, look: start.inRainDelay ? "skipped" : "planned" };
      return { ...block, text: `${dayAndTime(block.from)} ${clock(run.seconds)}, ${start.scheduleName}${start.inRainDelay ? " (rain delay)" : ""}` };
    });
  });
  const lanes = sprinkler.zones.map(({ name }) => ({ name, blocks: [...past, ...planned].filter((block) => block.zone === name) }));
  drawTimeline(byId("sprinkler-week"), { lanes, from: now - 3 * day, to: now + 4 * day, now });
}

// ---- zones as they are wired and named, the seasonal level, the store as a file

byId("sprinkler-more").ontoggle = () => { if (byId("sprinkler-more").open) loadSettings(); };

async function loadSettings() {
  const [settings, zones, level] = await Promise.all(["/api/sprinkler/settings", "/api/zones", "/api/seasonal"].map(look));
  if (!settings?.pins || !zones?.zones || !level) return;
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
  const remove = button("×", () => { sprinkler.draft.splice(place, 1); showDraft(); }, { title: "remove this zone", className: "drop" });
  remove.disabled = sprinkler.draft.length === 1;
  row.append(together(name, pin), together(number("defaultMinutes", "Minutes"), element("span", "min, at most"), number("maxMinutes", "Longest run"), on),
    together(up, remove));
  return row;
}

byId("zone-add").onclick = ({ target }) => {
  const id = Array.from({ length: 64 }, (_, index) => index + 1).find((id) => !sprinkler.draft.some((zone) => zone.id === id));
  const pin = sprinkler.pins.find((pin) => !sprinkler.draft.some((zone) => zone.gpioPin === pin));
  if (id === undefined || pin === undefined) return say(target, "every pin of the configuration has a zone");
  sprinkler.draft.push({ id: id, name: "Zone " + id, gpioPin: pin, isEnabled: true, defaultMinutes: 10, maxMinutes: 120 });
  showDraft();
};
byId("zones-save").onclick = async ({ target }) => {
  const saved = await water(target, "PUT", "/api/zones", { zones: sprinkler.draft });
  if (!saved) return;
  said("saved");
  sprinkler.draft = saved.zones;
  showDraft();
  loadSchedules();
};
byId("seasonal").onchange = async ({ target }) => {
  if (await water(target, "PUT", "/api/seasonal", { percent: Number(target.value) })) loadSchedules();
};
byId("sprinkler-backup").onclick = ({ target }) => save(target, "/api/sprinkler/backup", "tactus-sprinkler.sqlite");
byId("sprinkler-restore").onchange = ({ target }) => {
  const file = target.files[0];
  if (!file) return;
  ask(target, "Every valve closes, and zones and schedules become those of " + file.name + ".", ["Restore them", async () => {
    if (!await water(target, "POST", "/api/sprinkler/restore", file)) return;
    said("restored");
    loadSchedules();
    loadSettings();
  }]);
  target.value = "";
};

addOwnCard("sprinkler", {
  section: "sprinkler", title: "Sprinkler", icon: "M12 10v11M8 21h8M12 10l-5-3M12 10l5-3M12 10V4M4 4.5l.01 0M20 4.5l.01 0M3 9h.01M21 9h.01",
  viewed() { if (sprinkler.polled) loadSchedules(); },
  take(event) {
    if (event.zones) { showSprinkler(event); return true; }
    if (event.type !== "zone") return false;
    zoneEvent(event);
    if (event.isOn) return true;
    loadLog();
    note(event, zoneName(event.id) + " off");
    return true;
  },
});
