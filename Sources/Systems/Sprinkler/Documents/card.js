"use strict";
// The sprinkler's card: zones, now and next, rain delay, settings; its schedules are schedules.js, what was and will be watered is water.js, all
// one script. State comes over console.js's socket, commands go over HTTP: each is answered when the valves' loop has taken it.

const sprinkler = { zones: [], schedules: [], starts: [], isCut: false, newest: null, newestAsked: 0, asked: 0, polled: false, settings: null, sought: "" };

// As `command`; the time it took is shown.
async function water(control, method, path, body, limitMs) {
  const began = performance.now(), answer = await command(control, method, path, body, limitMs);
  byId("sprinkler-latency").textContent = (performance.now() - began).toFixed(0) + " ms";
  return answer;
}

function said(text) { Object.assign(byId("sprinkler-said"), { textContent: text, hidden: !text }); }

function zoneName(id) {
  const zone = sprinkler.zones.find((zone) => zone.id === id);
  return zone ? zone.name : "zone " + id;
}

// ---- lines that are not as they were told, by the name of what hangs on them

const nameOfLine = (line) => line.isMaster ? "the master valve" : line.zoneId != null ? zoneName(line.zoneId) : "pin " + line.pin;

// The state has the numbers of lines and zones; people know their zones by name.
function readSprinkler(event) {
  if (!event.zones) return event;
  sprinkler.zones = event.zones;
  const stuck = event.linesDiffering.filter((line) => line.isOn), names = stuck.map(nameOfLine).join(", "), of = event.faultLine;
  const named = { ...event, stuck: names, zones: event.zones.map((zone) => ({ ...zone, isStuck: stuck.some((line) => line.zoneId === zone.id) })) };
  if (!stuck.length && !of) return named;
  const isNow = of && event.linesDiffering.some((line) => line.line === of.line);
  const cause = stuck.length ? names + (stuck.length > 1 ? " are" : " is") + " on but should be off"
    : `${nameOfLine(of)} ${isNow ? "is" : "was"} ${of.isOn ? "on" : "off"} but should be ${of.isOn ? "off" : "on"}`;
  return { ...named, fault: cause, reason: cause };
}

// ---- state

const soilWords = { dry: "dry", waits: "wet, not for long enough yet", wet: "wet" };

const rainWords = { unknown: "rain sensor: cannot be read, as scheduled", dry: "rain sensor: dry", waits: "rain sensor: wet, not for long enough yet",
  wet: "rain sensor: wet", lifted: "rain sensor: wet, the delay was ended by hand", stuck: "rain sensor: always wet, taken for a broken wire; as scheduled" };

function showSprinkler(event) {
  byId("sprinkler").hidden = false;
  if (!sprinkler.polled && event.store.open) { sprinkler.polled = true; loadView(); }
  if (sprinkler.hasFlow !== Boolean(event.flow)) { sprinkler.hasFlow = Boolean(event.flow); byId("zone-list").replaceChildren(); }
  sprinkler.zones = event.zones;
  setTimeZone(event.timeZone);
  byId("sprinkler-state").textContent = plain(event.state) + (event.pausedRemainingSec ? ", goes on in " + clock(event.pausedRemainingSec) : "");
  const isHeld = event.state === "fault" || event.state === "emergencyStopped";
  mark("sprinkler", isHeld || !event.store.writable ? "down" : event.rainDelay.active || event.state === "paused" ? "warn" : event.state === "watering" ? "up" : "idle",
    plain(event.state) + (event.rainDelay.active ? ", rain delay" : ""));
  const open = event.zones.filter((zone) => zone.isOn || zone.isStuck);
  const opened = open.map(({ id }) => id).join();
  if (isPolled && sprinkler.opened && opened !== sprinkler.opened) loadWater(); // the socket tells each end
  sprinkler.opened = opened;
  byId("sprinkler-next").textContent = event.nextRun
    ? zoneName(event.nextRun.zoneId) + ", " + dayAndTime(event.nextRun.startISO) + (event.queueCount > 1 ? " (" + event.queueCount + " wait)" : "") : "nothing";
  put(byId("sprinkler-clock"), event.clock.isBelieved ? "" : "The time of day is not confirmed yet: what is due waits until it is.");
  byId("rain-state").textContent = event.rainDelay.active
    ? "until " + dayAndTime(event.rainDelay.until) + (event.rainDelay.detail ? ": " + event.rainDelay.detail : "") : "off";
  byId("sprinkler-weather").textContent = !event.weather ? "" : !event.weather.isOn ? "forecast switched off" : event.weather.failure
    ? "weather unknown: " + event.weather.failure : event.weather.millimetres != null
      ? (event.weather.isLowerBound ? "at least " : "") + event.weather.millimetres.toFixed(1) + " mm expected"
      : event.weather.answeredISO ? "weather unknown: the provider has no value" : "";
  put(byId("rain-sensor"), event.rainSensor ? rainWords[event.rainSensor.state] : "");
  byId("soil-term").hidden = byId("sprinkler-soil").hidden = !event.soil.length;
  byId("sprinkler-soil").replaceChildren(...event.soil.map((rule) => element("div", rule.probe + ": "
    + (rule.soilState === "unknown" ? "unknown, as scheduled"
      : (rule.probe.startsWith("pin ") ? "" : rule.moisturePercent.toFixed(0) + " %, ") + soilWords[rule.soilState]))));
  showFlows(event.flows);
  byId("deficit-term").hidden = byId("sprinkler-deficits").hidden = !event.deficits.length;
  byId("sprinkler-deficits").replaceChildren(...event.deficits.map((one) => {
    const row = element("div");
    row.append(element("b", zoneName(one.zoneId)), " ", element("span", one.why));
    return row;
  }));
  const paused = event.state === "paused";
  tile("sprinkler", {
    now: !open.length ? "No zone is on" : open.map(nowOf).join(", "),
    next: event.rainDelay.active ? "rain delay until " + dayAndTime(event.rainDelay.until) : event.nextRun ? "next " + byId("sprinkler-next").textContent : "no schedule: add one",
    action: open.length ? { words: "Stop all", look: "halt", act: (control) => water(control, "POST", "/api/stop") } : null,
  });
  showPress();
  byId("sprinkler-pause").hidden = paused;
  byId("sprinkler-resume").hidden = !paused;
  byId("sprinkler-skip").disabled = !open.length;
  showZones(event.zones);
  stopped("sprinkler", isHeld
    ? sentence("sprinkler: " + ours(event.reason)) + (event.wayOut ? " To go on: " + event.wayOut + "." : "") : null, event.state === "emergencyStopped", !event.stuck);
}

// The flow of zones with limits of their own. Rows are kept: a button must not be replaced while somebody presses it.
function showFlows(flows) {
  const list = byId("sprinkler-flows"), known = JSON.stringify(flows);
  byId("flow-term").hidden = list.hidden = !flows.length;
  if (sprinkler.flows === known) return;
  sprinkler.flows = known;
  list.replaceChildren(...flows.map((one) => {
    const row = element("div"), limits = [one.minLitresPerMinute != null && "at least " + one.minLitresPerMinute, one.maxLitresPerMinute != null && "at most " + one.maxLitresPerMinute].filter(Boolean);
    row.append(element("b", zoneName(one.zoneId)), " ", element("span", worded(one.why)), " ", element("small", limits.length ? limits.join(", ") + " l/min" : "no limit yet"));
    if (one.runs) row.append(" ", button("Forget", ({ target }) => water(target, "DELETE", `/api/zone/${one.zoneId}/flow`), { ariaLabel: "Forget the flow of " + zoneName(one.zoneId), className: "quiet" }));
    return row;
  }));
}

// Every place that shows a countdown is written at once: by the state, by the zone's own event.
// Rows are kept: a number that somebody types must not be replaced ten times a second.
function showZones(zones) {
  const list = byId("zone-list");
  if (list.children.length !== zones.length || zones.some((zone, index) => list.children[index].dataset.zone !== String(zone.id))) {
    list.replaceChildren(...zones.map(zoneRow));
    const areMany = zones.length > 8; // those that are open are shown, and the one whose name was pressed
    list.classList.toggle("many", areMany);
    byId("zones-hint").hidden = !areMany;
    byId("zone-leds").replaceChildren(...zones.map((zone) => areMany ? element("a", zone.name, { href: "#/sprinkler/" + zone.id, className: "led" }) : element("span", zone.name, { className: "led" })));
    goToZone();
  }
  const known = JSON.stringify(zones.map((zone) => [zone.id, zone.name, zone.isEnabled]));
  if (known !== sprinkler.known) {
    if (!fresh) newDraft(); else for (const one of [fresh, ...editors.values()]) one.showZones();
    showLogChoices();
  }
  sprinkler.known = known;
  byId("sprinkler-now").textContent = zones.filter((zone) => zone.isOn || zone.isStuck).map(nowOf).join(", ") || "nothing";
  zones.forEach((zone, index) => {
    const row = list.children[index];
    row.querySelector("[data-of=name]").textContent = zone.name;
    row.classList.toggle("on", zone.isOn || zone.isStuck);
    row.classList.toggle("stuck", zone.isStuck);
    minutesToPress(row.querySelector("[data-of=minutes]"), zone, (minutes) => `${minutes} min of ${zone.name}`);
    const off = row.querySelector(".halt"), isOff = !zone.isOn && !zone.isStuck;
    if (isOff && off === document.activeElement) row.querySelector("[data-of=quick]").focus(); // who pressed it goes on there
    off.hidden = isOff;
    row.querySelector("[data-of=state]").textContent = zone.isStuck ? stuckWords : !zone.isEnabled ? "disabled" : zone.isOn ? leftOf(zone) : "off";
    for (const one of row.querySelectorAll("[data-of=on], [data-of=quick]")) one.disabled = !zone.isEnabled;
    byId("zone-leds").children[index].textContent = zone.name;
    byId("zone-leds").children[index].className = "led " + (zone.isStuck ? "down" : zone.isOn ? "up" : zone.isEnabled ? "idle" : "off");
  });
}

const stuckWords = "on but should be off";
const nowOf = (zone) => zone.isStuck ? zone.name + " " + stuckWords : zone.name + " " + clock(zone.remainingSec);

// By an address such as #/sprinkler/12.
function goToZone() {
  const row = sprinkler.sought && [...byId("zone-list").children].find((one) => one.dataset.zone === sprinkler.sought);
  if (!row || view !== "sprinkler") return;
  sprinkler.sought = "";
  byId("zone-list").querySelector(".chosen")?.classList.remove("chosen");
  row.classList.add("chosen");
  goTo(row);
}

// Of a run by litres how much it has had, of another how long it is still to last.
const leftOf = (zone) => zone.runLitresAsked == null ? clock(zone.remainingSec) + " left"
  : (zone.runLitres ?? 0).toFixed(1) + " of " + zone.runLitresAsked.toFixed(1) + " l";

function zoneRow(zone) {
  const outer = element("div", null, { className: "zone panel", tabIndex: -1 }), row = element("div", null, { className: "row" });
  Object.assign(outer.dataset, { zone: zone.id, say: "" });
  const amount = element("input", null, { type: "number", min: 1, max: 1440, step: 1, value: zone.defaultMinutes });
  amount.setAttribute("aria-label", "Minutes of " + zone.name);
  let member = "minutes";
  const on = (control, mode) => openZone(control, zone.id, { [member]: Number(amount.value), mode: mode });
  const longer = button("+", () => on(run, "extend"), { title: "that much longer", ariaLabel: "+ longer, " + zone.name });
  const unit = sprinkler.hasFlow ? unitPart(member, zone.name, (now) => {
    member = now;
    Object.assign(amount, { max: now === "litres" ? 100000 : 1440, ariaLabel: (now === "litres" ? "Litres of " : "Minutes of ") + zone.name });
    longer.disabled = now === "litres";
  }) : element("span", "min");
  const name = element("b"), state = element("span");
  name.dataset.of = "name";
  state.dataset.of = "state";
  const run = button("Run", () => on(run, "set"), { className: "go", ariaLabel: "Run " + zone.name });
  run.dataset.of = "on";
  const off = button("Off", ({ target }) => water(target, "POST", `/api/zone/${zone.id}/off`), { className: "halt", ariaLabel: "Off, " + zone.name });
  const minutes = element("span", null, { className: "row" }), other = together(amount, unit, run, longer);
  minutes.dataset.of = "minutes";
  other.hidden = true;
  const more = button("…", () => {
    other.hidden = !other.hidden;
    more.ariaExpanded = String(!other.hidden);
    if (!other.hidden) amount.focus();
  }, { ariaLabel: "Another time, " + zone.name, ariaExpanded: "false" });
  row.append(name, state, off, together(minutes, element("span", "min"), more), other);
  outer.append(row);
  return outer;
}

// ---- minutes to press, and what was watered last

const isWatered = (run) => run.ranSec > 0;
const inOneLine = (run) => [run.zoneName, dayAndTime(run.startISO), ranOf(run), run.outcome !== "completed" && why(run.outcome)].filter(Boolean).join(", ");

// Last time's minutes as a press gives them; undefined: it was less than half a minute.
function minutesAgain(run) {
  const minutes = (run.askedLitres == null ? run.askedSec : run.ranSec) / 60;
  return minutes < 0.5 ? undefined : minutes < 10 ? Math.round(minutes * 10) / 10 : Math.round(minutes);
}

// Last time's minutes first. Buttons are kept while they are the same: none is replaced under a finger.
function minutesToPress(place, { id, name }, labelOf) {
  const last = sprinkler.newest?.find((run) => run.zoneId === id), again = last && minutesAgain(last);
  const all = [...new Set([again || 5, 5, 10, 20])], known = [id, name, again, ...all].join();
  if (place.dataset.known === known) return;
  place.dataset.known = known;
  place.replaceChildren(...all.map((minutes) => {
    const isAgain = minutes === again;
    const made = button((isAgain ? "↻ " : "") + minutes.toLocaleString(locale, { useGrouping: false }), () => openZone(made, id, { minutes, mode: "set" }), { ariaLabel: labelOf(minutes), title: isAgain ? "as last time" : "" });
    made.dataset.of = "quick";
    return made;
  }));
}

// On the overview's tile: a zone, and minutes to press while no water runs; what was watered last.
const press = { row: element("div", null, { className: "row press" }), zone: element("select", null, { ariaLabel: "Zone to water" }), minutes: element("span", null, { className: "row" }),
  last: element("p", null, { className: "last" }) };
press.row.append(press.zone, press.minutes, "min");
press.zone.onchange = showPress;

function showPress() {
  const { row, zone, minutes, last } = press, shown = views.get("sprinkler").tile, zones = sprinkler.zones.filter(({ isEnabled }) => isEnabled), known = JSON.stringify(zones.map(({ id, name }) => [id, name]));
  if (!row.isConnected) { shown.button.before(row); shown.next.after(last); }
  const isAway = !zones.length || hazards.has("sprinkler") || sprinkler.zones.some(({ isOn, isStuck }) => isOn || isStuck);
  if (isAway && row.contains(document.activeElement)) shown.button.focus(); // who watered by the keys can stop
  row.hidden = isAway;
  const newest = sprinkler.newest?.length ? "last: " + inOneLine(sprinkler.newest[0]) : "";
  put(last, newest);
  put(byId("sprinkler-newest"), newest);
  byId("sprinkler-newest").hidden = !newest;
  if (press.known !== known) {
    const { value } = zone;
    press.known = known;
    zone.replaceChildren(...zones.map(({ id, name }) => element("option", name, { value: id })));
    if (zones.some(({ id }) => String(id) === value)) zone.value = value;
  }
  const chosen = zones.find(({ id }) => String(id) === zone.value);
  if (chosen) minutesToPress(minutes, chosen, (number) => `Water ${chosen.name} ${number} min`);
}

async function loadNewest() {
  if (!sprinkler.polled || !["overview", "sprinkler"].includes(view)) return;
  const asked = ++sprinkler.asked, answer = await look("/api/log?limit=30");
  if (answer?.runs) takeNewest(answer.runs, asked);
}

// The newest runs of the log; what was asked for later is newer.
function takeNewest(runs, asked) {
  if (asked < sprinkler.newestAsked) return;
  sprinkler.newestAsked = asked;
  const isFirst = !sprinkler.newest;
  sprinkler.newest = runs.filter(isWatered);
  const [newest] = sprinkler.newest;
  // Once: the tile's zone does not change while somebody is about to press.
  if (isFirst && newest && [...press.zone.options].some(({ value }) => value === String(newest.zoneId))) press.zone.value = newest.zoneId;
  byId("sprinkler-last").replaceChildren(...newest ? sprinkler.newest.slice(0, 3).map((run) => element("div", inOneLine(run)))
    : nothingYet("Nothing was watered yet: press minutes beside a zone, or let a schedule do it."));
  showZones(sprinkler.zones);
  showPress();
}

// The end of a run may be told before the log has its line: asked for again until the zone has a newer one.
const endAgainMs = 1000, endsAsked = 5;
async function loadEnd(id) {
  const newest = () => sprinkler.newest?.find(({ zoneId }) => zoneId === id)?.startISO, before = newest();
  await loadWater();
  for (let times = 1; times < endsAsked && newest() === before; times++) {
    await new Promise((done) => setTimeout(done, endAgainMs));
    await loadNewest();
    if (newest() !== before) loadWater();
  }
}

// Where there is nothing: what to do, and the button for it.
const nothingYet = (text) => [element("p", text, { className: "hint" }), button("Make a schedule", () => {
  byId("schedule-draft").open = true;
  goTo(byId("schedule-draft").querySelector("summary"));
})];

function loadView() {
  if (view !== "sprinkler") return loadNewest();
  // In its height at once: what comes moves nothing.
  drawWeek();
  showMonth();
  loadSchedules();
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
    [`Water ${zone.name} after it`, () => water(control, "POST", "/api/queue", { zones: [run.litres ? { zoneId: id, litres: run.litres } : { zoneId: id, minutes: run.minutes }] })],
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

// ---- zones as they are wired and named, the seasonal level

byId("sprinkler-more").ontoggle = () => {
  byId("sprinkler-store").hidden = !mayAdminister;
  if (byId("sprinkler-more").open) loadSettings();
};

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
  // Lines of expanders have the numbers from 64 on.
  const nameOfPin = (number) => (number < 64 ? "GPIO " : "Pin ") + number;
  const pin = element("select");
  pin.append(...sprinkler.pins.map((number) => element("option", nameOfPin(number), { value: number, selected: number === zone.gpioPin })));
  if (!sprinkler.pins.includes(zone.gpioPin)) pin.prepend(element("option", nameOfPin(zone.gpioPin) + " (not configured)", { value: zone.gpioPin, selected: true }));
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
  const down = button("↓", () => { sprinkler.draft.splice(place + 1, 0, ...sprinkler.draft.splice(place, 1)); showDraft(); }, { title: "one place down" });
  down.disabled = place === sprinkler.draft.length - 1;
  row.append(together(name, pin), together(number("defaultMinutes", "Minutes"), element("span", "min, at most"), number("maxMinutes", "Longest run"), on),
    together(up, down, remove));
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
byId("sprinkler-backup").onclick = ({ target }) => save(target, "/api/sprinkler/backup", "tactus-sprinkler.sqlite");
offersRestore(byId("sprinkler-restore"), byId("sprinkler-restore-look"), byId("sprinkler-store-said"), ["sprinkler"], () => {
  loadSettings();
  loadSchedules();
});
byId("seasonal").onchange = async ({ target }) => {
  if (await water(target, "PUT", "/api/seasonal", { percent: Number(target.value) })) loadSchedules();
};
addOwnCard("sprinkler", {
  section: "sprinkler",
  viewed(now, sought) {
    if (now === "sprinkler") { sprinkler.sought = sought; goToZone(); }
    if (sprinkler.polled) loadView();
  },
  reads: readSprinkler,
  hands() { if (!isLive) sprinkler.polled = false; }, // what has ended meanwhile is asked for with the next state
  take(event) {
    if (event.zones) { showSprinkler(event); return true; }
    if (event.type !== "zone") return false;
    zoneEvent(event);
    if (event.isOn) return true;
    loadEnd(event.id);
    note(event, zoneName(event.id) + " off");
    return true;
  },
});
