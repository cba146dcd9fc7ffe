"use strict";
// Schedules: a card for each, and the draft of one, new or old, that is sent when somebody saves it. What is typed is nobody's until then.

const weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const previewCount = 500;
const previewAgainMs = 5000;
const editors = new Map(); // schedule → its draft while it is open
let previewsAsked = 0;

async function loadSchedules() {
  sprinkler.settings ??= await look("/api/sprinkler/settings");
  const answer = await look("/api/schedules");
  if (!answer || !answer.schedules) return;
  sprinkler.schedules = answer.schedules;
  const kept = byId("schedule-list").contains(document.activeElement) ? document.activeElement.id : "";
  byId("schedule-list").replaceChildren(...answer.schedules.length ? answer.schedules.map(scheduleCard) : nothingYet("No schedule yet: one waters the zones that you choose, on its days and at its times."));
  byId(kept)?.focus();
  await loadPreview();
  showLogChoices();
  loadWater();
  // What was saved or set meanwhile concerns what drafts would do.
  for (const one of [fresh, ...editors.values()]) one?.check();
  checkMoves();
}

// What is planned; while it is not known, nothing is said of it but that.
async function loadPreview() {
  const asked = ++previewsAsked, preview = await look("/api/schedules/preview?count=" + previewCount);
  if (asked !== previewsAsked) return; // What was asked later is newer.
  if (!preview?.starts) {
    fill(byId("schedule-preview"), [], "What is planned is not known: the daemon did not answer. It is asked again.");
    setTimeout(() => asked === previewsAsked && view === "sprinkler" && loadPreview().then(loadWater), previewAgainMs);
    return;
  }
  sprinkler.starts = preview.starts;
  sprinkler.isCut = Boolean(preview.isCut);
  fill(byId("schedule-preview"), sprinkler.starts.slice(0, 5).map((start) =>
    element("li", dayAndTime(start.startISO) + "  " + start.scheduleName + (start.inRainDelay ? "  (rain delay)" : "") + "  "
      + start.runs.map((run) => zoneName(run.zoneId) + " " + planOf(run)).join(", "))), "Nothing is planned: add a schedule above, or switch one on.");
}

// sunset-20 → 20 min before sunset
const startInWords = (start) => start.replace(/^(sunrise|sunset)(?:([+-])(\d+))?$/, (_, sun, sign, minutes) => !Number(minutes) ? sun : minutes + (sign === "-" ? " min before " : " min after ") + sun);
const startsOf = ({ startTimes }) => startTimes.map(startInWords).join(startTimes.some((start) => start.startsWith("sun")) ? ", " : " ");
const nextOf = (schedule) => schedule.nextStartISO ? "next " + dayAndTime(schedule.nextStartISO) : "no start to come";
const ruleOf = (schedule) => schedule.days ? schedule.days.join(" ") || "no day" : schedule.intervalDays ? "every " + schedule.intervalDays + " days" : schedule.dayParity + " days";

// Cards are made anew after every change; a draft that is open stays as it is.
function scheduleCard(schedule) {
  const outer = element("div", null, { className: "schedule panel" + (schedule.isEnabled ? "" : " off") }), card = element("details");
  outer.dataset.say = "";
  const enabled = element("input", null, { type: "checkbox", checked: schedule.isEnabled, ariaLabel: schedule.name + " enabled", id: "schedule-on-" + schedule.id });
  enabled.onchange = async () => {
    if (await water(enabled, "PUT", "/api/schedules/" + schedule.id, { isEnabled: enabled.checked })) loadSchedules(); else enabled.checked = !enabled.checked;
  };
  const title = element("summary"), label = element("label");
  label.append(enabled);
  const more = [schedule.season && schedule.season.from + " to " + schedule.season.to,
    schedule.cycleAndSoak && "cycles of " + schedule.cycleAndSoak.cycleMinutes + " min, soak " + schedule.cycleAndSoak.soakMinutes + " min"];
  title.append(element("b", schedule.name), element("small",
    [schedule.isEnabled ? "" : "  off", ruleOf(schedule), startsOf(schedule), ...more, schedule.isEnabled ? nextOf(schedule) : null].filter((part) => part != null).join("  ")));
  const place = element("div");
  const begin = () => {
    if (!editors.has(schedule.id)) editors.set(schedule.id, scheduleEditor(schedule));
    place.replaceChildren(editors.get(schedule.id).form);
  };
  card.open = editors.has(schedule.id);
  if (card.open) begin();
  card.ontoggle = () => card.open ? begin() : editors.get(schedule.id)?.isChanged() || editors.delete(schedule.id);
  card.append(title, place, actionsOf(schedule));
  outer.append(label, card);
  return outer;
}

function actionsOf(schedule) {
  const actions = element("div", null, { className: "row" }), index = sprinkler.schedules.indexOf(schedule);
  const up = button("↑", async ({ target }) => {
    const ids = sprinkler.schedules.map(({ id }) => id);
    ids.splice(index - 1, 0, ...ids.splice(index, 1));
    if (await water(target, "POST", "/api/schedules/reorder", { ids })) loadSchedules();
  }, { title: "one place up", ariaLabel: "One place up: " + schedule.name, disabled: index === 0 });
  actions.append(button("Run now", ({ target }) => water(target, "POST", `/api/schedules/${schedule.id}/run`), { className: "go" }),
    button("Duplicate", async ({ target }) => { if (await water(target, "POST", `/api/schedules/${schedule.id}/duplicate`)) loadSchedules(); }), up,
    button("Remove", ({ target }) => ask(target, "Remove " + schedule.name + "?", ["Remove it", async () => {
      if (!await water(target, "DELETE", "/api/schedules/" + schedule.id)) return;
      editors.delete(schedule.id);
      await loadSchedules();
      say(byId("schedule-list"), schedule.name + " is removed.", "notice", [["Undo", () => putBack(schedule, index)]]);
    }]), { className: "drop" }));
  return actions;
}

// As it was, in its place; its number is another.
async function putBack({ id, nextStartISO, ...body }, index) {
  const list = byId("schedule-list"), made = await water(list, "POST", "/api/schedules", body);
  if (!made) return;
  const ids = sprinkler.schedules.map((schedule) => schedule.id);
  ids.splice(index, 0, made.id);
  await water(list, "POST", "/api/schedules/reorder", { ids });
  loadSchedules();
}

// ---- a draft

// A form for a schedule, or for a new one: {form, isChanged(), check(): other things have changed, showZones(): the zones have other names}.
function scheduleEditor(schedule) {
  const of = (name) => schedule ? `schedule-${schedule.id}-${name}` : "schedule-" + name;
  const form = element("form", null, { id: of(schedule ? "edit" : "new"), className: "editor", noValidate: true });
  form.dataset.say = "";
  const parts = editorParts(schedule, of), { lacks, save } = parts, showStarts = draftStarts(parts.after, schedule);
  let isChanged = false;
  const check = () => {
    const draft = parts.read(), missing = [draft.days && !draft.days.length ? "its days" : "", draft.zones.length ? "" : "its zones"].filter(Boolean);
    lacks.textContent = missing.length ? "choose " + missing.join(" and ") : "";
    save.disabled = missing.length > 0 || (schedule && !isChanged);
    showStarts(missing.length ? null : draft);
  };
  const changed = () => { isChanged = true; check(); };
  form.oninput = form.onchange = changed;
  const showZones = () => { parts.showZones(); check(); };
  form.append(...parts.rows(changed));
  if (schedule) parts.undo.onclick = () => { editors.set(schedule.id, scheduleEditor(schedule)); loadSchedules(); };
  form.onsubmit = (event) => {
    event.preventDefault();
    saveDraft(form, schedule, parts.read());
  };
  showZones();
  return { form, isChanged: () => isChanged, check, showZones };
}

async function saveDraft(form, schedule, draft) {
  const { isEnabled, ...before } = sprinkler.schedules.find(({ id }) => id === schedule?.id) || {}; // whether it is on is no part of a draft
  const made = await water(form, schedule ? "PUT" : "POST", "/api/schedules" + (schedule ? "/" + schedule.id : ""), draft);
  if (!made) return;
  if (schedule) editors.set(schedule.id, scheduleEditor(made));
  await loadSchedules();
  // The editor is away if somebody has closed it meanwhile.
  const place = () => editors.get(schedule.id)?.form ?? byId("schedule-new");
  if (schedule) return say(place(), made.name + " is saved.", "notice", [["Undo", () => saveDraft(place(), made, before)]]);
  newDraft();
  say(byId("schedule-new"), made.name + (made.isEnabled ? " is on: " + nextOf(made) : " is off") + ".", "notice");
}

// The controls of a draft, and `read`, which makes of them what the API takes.
function editorParts(schedule, of) {
  const input = (name, properties, text = "") => element("input", null, { id: of(name), ...properties, ...(text ? { ariaLabel: text } : {}) });
  const is = schedule || { days: [], startTimes: ["06:00"], zones: [], skipIfRain: true, followsSeason: true, priority: 0 };
  const name = input("name", { required: true, maxLength: 60, value: schedule ? schedule.name : "Schedule " + (sprinkler.schedules.length + 1) }, "Name");
  const starts = input("start", { required: true, size: 14, value: is.startTimes.join(" "), title: "HH:MM, sunrise-20, sunset+10; up to eight" });
  const rule = rulePart(is, of), steps = stepsPart(is, of);
  const rain = input("rain", { type: "checkbox", checked: is.skipIfRain }), level = input("level", { type: "checkbox", checked: is.followsSeason });
  const deficit = input("deficit", { type: "checkbox", checked: is.adjustment === "deficit" });
  const first = input("priority", { type: "number", min: -100, max: 100, value: is.priority });
  const from = input("from", { size: 5, placeholder: "MM-DD", value: is.season?.from || "" }), to = input("to", { size: 5, placeholder: "MM-DD", value: is.season?.to || "" });
  const cycle = input("cycle", { type: "number", min: 1, max: 1440, step: "any", value: is.cycleAndSoak?.cycleMinutes ?? "" });
  const soak = input("soak", { type: "number", min: 0, max: 1440, step: "any", value: is.cycleAndSoak?.soakMinutes ?? "" });
  const alias = input("alias", { size: 14, maxLength: 64, value: is.alias ?? "", title: "what an app of the original backend calls it" });
  const enabled = input("enabled", { type: "checkbox", checked: true });
  const save = element("button", schedule ? "Save" : "Add", { id: of(schedule ? "save" : "add"), className: "primary" }), undo = button("Undo", null, { ariaLabel: "Undo the changes of " + (schedule?.name || "the draft") });
  const lacks = element("small", null, { id: of("lacks") }), after = element("div", null, { className: "hint", id: of("after") });
  const label = (words, control, unit = "") => { const made = element("label"); made.append(...control.type === "checkbox" ? [control, " " + words] : [words + " ", control, unit]); return made; };
  const line = (...parts) => { const row = element("div", null, { className: "row" }); row.append(...parts); return row; };
  const rows = (changed) => {
    const more = element("details");
    more.append(element("summary", "Rain, season, cycles, order"), line(label("skip in a rain delay", rain), label("follows the seasonal level", level), label("waters only what is missing", deficit), label("priority", first), label("alias", alias)),
      line(label("only from", from), label("to", to), element("small", "month and day; empty: all year")), line(label("no run longer than", cycle, " min"), label("then soak for", soak, " min")));
    return [line(label("name", name), label("starts", starts)), rule.element(changed), steps.element, more, after,
      line(save, ...schedule ? [undo] : [label("and enable it", enabled)], lacks)];
  };
  const numberOf = (control) => control.value === "" ? null : Number(control.value);
  const read = () => ({
    name: name.value, startTimes: starts.value.trim().split(/[\s,]+/), zones: steps.read(), ...rule.read(), skipIfRain: rain.checked, followsSeason: level.checked,
    adjustment: deficit.checked ? "deficit" : null, alias: alias.value.trim() || null,
    priority: numberOf(first) ?? 0, season: from.value || to.value ? { from: from.value.trim(), to: to.value.trim() } : null,
    cycleAndSoak: cycle.value === "" ? null : { cycleMinutes: Number(cycle.value), soakMinutes: numberOf(soak) ?? 0 }, ...schedule ? {} : { isEnabled: enabled.checked },
  });
  return { rows, read, showZones: steps.show, save, undo, lacks, after };
}

// On which days: weekdays, every so many days, odd or even days of the month.
function rulePart(is, of) {
  const kind = element("select", null, { ariaLabel: "Which days" });
  kind.append(...[["days", "weekdays"], ["interval", "every so many days"], ["odd", "odd days"], ["even", "even days"]].map(([value, text]) => element("option", text, { value })));
  kind.value = is.days ? "days" : is.intervalDays ? "interval" : is.dayParity;
  const chips = element("span", null, { className: "row days", id: of("days") });
  chips.setAttribute("role", "group");
  chips.setAttribute("aria-label", "Its days");
  const each = element("input", null, { type: "number", min: 1, max: 365, value: is.intervalDays || 2, ariaLabel: "Every so many days" });
  const from = element("input", null, { type: "date", value: is.intervalFrom || dateOf(Date.now()), ariaLabel: "Counted from" });
  const interval = together(each, element("span", "days from"), from);
  const show = () => { chips.hidden = presets.hidden = kind.value !== "days"; interval.hidden = kind.value !== "interval"; };
  const pressed = () => [...chips.children].filter(isPressed).map((chip) => chip.value);
  const presets = element("span", null, { className: "row presets" });
  return {
    element(changed) {
      const set = (chip, on) => chip.setAttribute("aria-pressed", String(on));
      chips.append(...weekdays.map((day) => Object.assign(chipOf(day, Boolean(is.days?.includes(day)), (chip) => { set(chip, !isPressed(chip)); changed(); }), { value: day })));
      presets.append(...[["Every day", weekdays], ["Mon Wed Fri", ["Mon", "Wed", "Fri"]], ["Weekend", ["Sat", "Sun"]]].map(([text, days]) =>
        button(text, () => { for (const chip of chips.children) set(chip, days.includes(chip.value)); changed(); }, { className: "quiet" })));
      kind.onchange = show;
      show();
      const row = element("div", null, { className: "row" });
      row.append(kind, chips, presets, interval);
      return row;
    },
    // A schedule has one rule: with this one it loses the one that it had.
    read: () => kind.value === "days" ? { days: pressed() } : kind.value === "interval" ? { intervalDays: Number(each.value), intervalFrom: from.value } : { dayParity: kind.value },
  };
}

// Minutes or litres; the latter where there is a flow sensor.
function unitPart(member, name, changed) {
  const unit = element("select", null, { ariaLabel: "Unit of " + name });
  unit.append(element("option", "min", { value: "minutes" }), element("option", "l", { value: "litres" }));
  unit.value = member;
  unit.onchange = () => changed(unit.value);
  return unit;
}

// Which zones, in which order, for how long: those that it has, then the rest.
function stepsPart(is, of) {
  const list = element("div", null, { id: of("zones"), className: "steps" });
  list.setAttribute("role", "group");
  list.setAttribute("aria-label", "Its zones");
  let steps = is.zones.map((step) => ({ ...step, isOn: true }));
  const draw = () => {
    list.replaceChildren(...steps.map((step, index) => {
      const row = element("div", null, { className: "row" }), name = zoneName(step.zoneId), label = element("label", " " + name);
      label.prepend(element("input", null, { type: "checkbox", checked: step.isOn, onchange: ({ target }) => { step.isOn = target.checked; } }));
      const member = step.litres == null ? "minutes" : "litres";
      const amount = element("input", null, { type: "number", min: 0.1, max: 1440, step: "any", value: step[member], ariaLabel: "Minutes of " + name, oninput: ({ target }) => { step[member] = Number(target.value); } });
      if (member === "litres") Object.assign(amount, { max: 100000, ariaLabel: "Litres of " + name });
      // By litres a step lasts at most for the zone's longest run, unless it has minutes of its own.
      const unit = sprinkler.hasFlow || member === "litres" ? unitPart(member, name, (now) => {
        Object.assign(step, now === "litres" ? { litres: step.minutes, minutes: 1440 } : { litres: null, minutes: sprinkler.zones.find(({ id }) => id === step.zoneId)?.defaultMinutes ?? 10 });
        draw();
      }) : element("span", "min");
      row.append(label, together(amount, unit, button("↑", ({ target }) => {
        steps.splice(index - 1, 0, ...steps.splice(index, 1));
        target.dispatchEvent(new Event("change", { bubbles: true }));
        draw();
      }, { title: "earlier", ariaLabel: "Earlier: " + name, className: "quiet", disabled: index === 0 })));
      return row;
    }));
  };
  const show = () => {
    steps = steps.filter(({ isOn, zoneId }) => isOn || sprinkler.zones.some(({ id, isEnabled }) => id === zoneId && isEnabled));
    const others = sprinkler.zones.filter(({ id, isEnabled }) => isEnabled && !steps.some(({ zoneId }) => zoneId === id));
    steps.push(...others.map(({ id, defaultMinutes }) => ({ zoneId: id, minutes: defaultMinutes, isOn: false })));
    draw();
  };
  return { element: list, show, read: () => steps.filter(({ isOn }) => isOn).map(({ zoneId, minutes, litres }) => litres == null ? { zoneId, minutes } : { zoneId, minutes, litres }) };
}

// ---- when a draft would start: the daemon's answer, which is asked for once nobody has changed it for a moment

const draftRestMs = 300;

// Returns a function that shows in `place` the next starts of a draft, with `schedule` in its place if there is one; null: a draft that is not whole. An
// answer to an older draft is dropped. Whether it is on is left out: what is asked is when it would start if it were.
function draftStarts(place, schedule) {
  let newest = null, timer = 0;
  const ask = async (draft) => {
    const body = { ...draft, ...schedule && { id: schedule.id }, isEnabled: true };
    const { isDone, document: answer, message } = await request("POST", "/api/schedules/preview?only=draft&count=4", body, requestLimitMs, true);
    if (draft !== newest) return;
    place.classList.remove("asking");
    place.replaceChildren(...isDone ? startsInWords(answer) : ["No preview: " + (answer ? message : "no answer")]);
  };
  return (draft) => {
    newest = draft;
    clearTimeout(timer);
    place.classList.toggle("asking", draft !== null);
    if (!draft) return place.replaceChildren();
    if (!place.textContent) place.textContent = "loading…";
    timer = setTimeout(ask, draftRestMs, draft);
  };
}

// What the daemon has answered to a draft.
function startsInWords({ starts, isCut, schedule }) {
  if (!starts.length) return [schedule.nextStartISO ? "Would start: " + dayAndTime(schedule.nextStartISO) + "." : isCut ? "Its next start is too far away to be shown." : "Would not start in the next ten years."];
  const list = element("ol");
  list.append(...starts.map((start) => {
    const line = element("li", dayAndTime(start.startISO)), first = start.runs.find(({ skipped }) => !skipped);
    if (first && Date.parse(first.startISO) - Date.parse(start.startISO) >= 60000) line.append("  ", element("span", "may wait until " + timeOfDay(first.startISO)));
    for (const run of start.runs) line.append("  ", element("span", zoneName(run.zoneId) + " " + (run.skipped ? why(run.skipped) : planOf(run)), { title: run.why ?? "" }));
    return line;
  }));
  return ["Would start:", list];
}

// ---- the new one: nothing is chosen until somebody chooses it, and it is on unless they say otherwise

let fresh = null;
function newDraft() {
  fresh = scheduleEditor(null);
  byId("schedule-place").replaceChildren(fresh.form);
}

// Its name counts the schedules that there are when it is opened.
byId("schedule-draft").ontoggle = () => { if (fresh && byId("schedule-draft").open && !fresh.isChanged()) newDraft(); };

saves(byId("schedule-export"), "/api/schedules/export", "schedules.json");
byId("schedule-import").onchange = async (event) => {
  const control = event.target, file = control.files[0];
  control.value = "";
  if (!file) return;
  let document;
  try { document = JSON.parse(await file.text()); } catch { return say(control, file.name + " is no JSON"); }
  if (await water(control, "POST", "/api/schedules/import", document, longRequestLimitMs)) loadSchedules();
};
