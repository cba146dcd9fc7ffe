"use strict";
// What was watered, what will be and why something was not: the week as a time line whose planned starts can be dragged, the month, water by zone
// and month, and the log.

// Why a run ended when it did, or why nothing was watered.
const outcomeWords = {
  completed: "watered as asked", stopped: "stopped by hand", replaced: "ended by another run", rainDelay: "not watered: rain delay",
  emergencyStop: "ended by an emergency stop", fault: "ended by a fault", shutdown: "ended when the daemon was shut down", powerCut: "ended by a power cut",
  crash: "ended when the daemon crashed", dayLimit: "not watered: the zone has had its water of the day", disabled: "not watered: the zone is switched off",
  seasonalLevel: "not watered: the seasonal level is 0 %", missed: "missed: the daemon did not run at that time, or its clock was not confirmed",
  overlap: "not watered: it already waited or ran", runLimit: "ended at the longest run that the zone may have", externalStop: "ended from outside, or because the program hung",
  wrongClock: "started by a clock that was wrong", wetSoil: "not watered, or ended: the soil is wet",
  noDeficit: "not watered: the zone's deficit is small", timeLimit: "ended at its longest time, before it had its litres",
};
const why = (outcome) => outcomeWords[outcome] || plain(outcome);
const ranOf = (run) => clock(run.ranSec) + (run.askedLitres == null ? " of " + clock(run.askedSec) : "")
  + (run.litres == null ? "" : ", " + run.litres.toFixed(1) + (run.askedLitres == null ? "" : " of " + run.askedLitres.toFixed(1)) + " l");
const planOf = (run) => run.litres == null ? clock(run.seconds) : run.litres.toFixed(1) + " l";

// The runs of the log between two instants, the newest first, `pages` thousands of them at most; null: no answer.
async function runsBetween(since, until, pages = 5) {
  const runs = [];
  let after = "";
  for (let page = 0; page < pages; page++) {
    const answer = await look(`/api/log?limit=1000&since=${new Date(since).toISOString()}&until=${new Date(until).toISOString()}${after}`);
    if (!answer?.runs) return null;
    runs.push(...answer.runs);
    if (!answer.next) break;
    after = "&after=" + answer.next;
  }
  return runs;
}

async function loadWater() {
  await Promise.all([loadNewest(), view === "sprinkler" && loadWeek()]);
  if (view !== "sprinkler") return;
  loadMonth();
  loadLog();
  loadYear();
}

// ---- the week

const week = { by: 0, of: "", runs: [] }; // by: weeks from the present one; of: the Monday whose runs are there
const mondayShown = (today = dateOf(Date.now())) => dateAfter(today, 7 * week.by - weekdayOf(today));

async function loadWeek() {
  drawWeek();
  const monday = mondayShown(), runs = await runsBetween(startOf(monday) - dayMs, startOf(dateAfter(monday, 7)));
  if (!runs || monday !== mondayShown()) return;
  Object.assign(week, { of: monday, runs });
  drawWeek();
}

for (const [name, by] of [["before", -1], ["today", 0], ["after", 1]]) byId("week-" + name).onclick = () => { week.by = by && week.by + by; closeBar(); loadWeek(); };

// What was dragged and is not saved yet: schedule → {startTimes, days: {weekday: the one that it becomes}, after: where the daemon's answer to it stands,
// showStarts: asks for it}.
const moves = new Map();
const localOf = (start) => start.startLocal.slice(11, 16); // HH:MM
const minutesOf = (time) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
const timeOf = (minutes) => String(Math.floor(minutes / 60)).padStart(2, "0") + ":" + String(minutes % 60).padStart(2, "0");
const within = (most, number) => Math.min(most, Math.max(0, number));

// Where a start would be that is moved by so many milliseconds: on its day at another time, in steps of five minutes; on another of its week, where
// its rule has weekdays, at its own time.
function movedTo({ schedule, index, day, time }, by) {
  const at = minutesOf(time) + by / 60000, days = Math.floor(at / 1440);
  if (days && schedule.days) return { day: weekdays[within(6, weekdays.indexOf(day) + days)], time };
  return { day, time: index < 0 ? time : timeOf(within(1435, Math.round(at / 5) * 5)) };
}

// A time moves on every day of the schedule, a day with all that the schedule starts on it. A start by the sun has no time of its own.
function goesWith(block, by, other) {
  const { schedule, index, day } = block;
  if (!schedule || other.schedule !== schedule || (index < 0 && !schedule.days)) return false;
  return index >= 0 && movedTo(block, by).day === day ? other.index === index : other.day === day;
}

// What was watered and what is planned, a row a zone.
function weekBlocks() {
  const past = week.runs.map((run) => {
    const from = Date.parse(run.startISO);
    return { run, zone: run.zoneName, from, to: from + Math.max(run.ranSec, 60) * 1000, look: run.ranSec ? "" : "skipped",
      text: `${dayAndTime(run.startISO)} ${ranOf(run)}, ${plain(run.outcome)}` };
  });
  const planned = sprinkler.starts.flatMap((start) => {
    const schedule = sprinkler.schedules.find(({ id }) => id === start.scheduleId), local = localOf(start), index = schedule ? schedule.startTimes.indexOf(local) : -1;
    const own = weekdayOf(start.startLocal.slice(0, 10)), draft = moves.get(start.scheduleId), time = draft && index >= 0 ? draft.startTimes[index] : local, day = draft?.days[weekdays[own]] || weekdays[own];
    const by = (minutesOf(time) - minutesOf(local)) * 60000 + (weekdays.indexOf(day) - own) * dayMs;
    return start.runs.map((run) => {
      const from = Date.parse(run.startISO) + by, isDropped = start.inRainDelay || run.skipped;
      return { start, step: run, schedule, index, day, time, zone: zoneName(run.zoneId), from, to: from + run.seconds * 1000, look: by ? "moved" : isDropped ? "skipped" : "planned",
        text: `${dayAndTime(from)} ${planOf(run)}, ${start.scheduleName}${start.inRainDelay ? " (rain delay)" : run.skipped ? ` (${why(run.skipped)})` : ""}` };
    });
  });
  return [...past, ...planned];
}

function drawWeek() {
  if (view !== "sprinkler") return;
  const monday = mondayShown(), blocks = weekBlocks();
  byId("week-range").textContent = [0, 6].map((days) => inWordsOf(dateAfter(monday, days), { day: "numeric", month: "short", ...withYear(noonOf(dateAfter(monday, days))) })).join(" – ");
  byId("week-loading").hidden = week.of === monday;
  drawTimeline(byId("sprinkler-week"), {
    lanes: sprinkler.zones.map(({ name }) => ({ name, blocks: blocks.filter((block) => block.zone === name) })), from: startOf(monday), to: startOf(dateAfter(monday, 7)), now: Date.now(), open: openBar,
    move: byId("sprinkler-week").closest("fieldset").disabled ? null : {
      goes: goesWith,
      says(block, by) {
        const { day, time } = movedTo(block, by);
        return (day === block.day ? "" : inWordsOf(dateAfter(monday, weekdays.indexOf(day)), { weekday: "short" }) + " ") + time;
      },
      done: (block, by) => moveStart(block, movedTo(block, by)),
    },
  });
}

// What a draft changes of its schedule.
function changeOf(schedule, { startTimes, days }) {
  const moved = schedule.days && weekdays.filter((day) => schedule.days.some((one) => (days[one] || one) === day));
  return { ...startTimes.join() === schedule.startTimes.join() ? {} : { startTimes }, ...moved?.join() === schedule.days?.join() ? {} : { days: moved } };
}

// Drafts another time of one start, on every day of the schedule, or another day of its rule. What is as it was needs no draft.
function moveStart(block, { day, time }) {
  const { schedule, index } = block, before = moves.get(schedule.id), after = before?.after ?? element("div", null, { className: "hint" });
  const draft = { startTimes: [...before?.startTimes || schedule.startTimes], days: { ...before?.days }, after, showStarts: before?.showStarts ?? draftStarts(after, schedule) };
  if (index >= 0) draft.startTimes[index] = time;
  for (const one of schedule.days || []) if ((draft.days[one] || one) === block.day) draft.days[one] = day;
  if (Object.keys(changeOf(schedule, draft)).length) moves.set(schedule.id, draft); else moves.delete(schedule.id);
  drawWeek();
  showMoves();
  checkMoves(schedule.id);
  const moved = weekBlocks().find((one) => one.start === block.start);
  if (moved) openBar(moved, false);
}

// Asks the daemon what a schedule would do that is moved, or each of them.
function checkMoves(only = null) {
  for (const [id, draft] of moves) {
    const schedule = sprinkler.schedules.find((one) => one.id === id);
    if (schedule && (only === null || only === id)) draft.showStarts({ ...schedule, ...changeOf(schedule, draft) });
  }
}

// What is moved and not saved, with what it would do, Save and Undo.
function showMoves() {
  byId("week-moves").replaceChildren(...[...moves].map(([id, draft]) => {
    const schedule = sprinkler.schedules.find((one) => one.id === id), line = element("div", null, { className: "panel" }), row = element("div", null, { className: "row" });
    if (!schedule) return line;
    const changes = [...draft.startTimes.map((time, index) => [schedule.startTimes[index], time]), ...Object.entries(draft.days)].filter(([from, to]) => from !== to).map((both) => both.join(" → "));
    line.dataset.say = "";
    row.append(element("span", `${schedule.name}: ${changes.join(", ")} (${ruleOf(schedule)}), not saved yet`),
      button("Save", ({ target }) => saveMove(target, schedule, changeOf(schedule, draft)), { className: "primary", ariaLabel: "Save " + schedule.name }),
      button("Undo", () => { moves.delete(id); showMoves(); drawWeek(); closeBar(); }, { ariaLabel: "Undo " + schedule.name }));
    line.append(row, draft.after);
    return line;
  }));
}

async function saveMove(control, schedule, change) {
  const before = Object.fromEntries(Object.keys(change).map((name) => [name, schedule[name]])), made = await water(control, "PUT", "/api/schedules/" + schedule.id, change);
  if (!made) return;
  moves.delete(schedule.id);
  showMoves();
  closeBar();
  say(byId("week-moves"), `${made.name} starts at ${made.startTimes.map(startInWords).join(", ")} (${ruleOf(made)}).`, "notice", [["Undo", async () => {
    if (await water(byId("week-moves"), "PUT", "/api/schedules/" + schedule.id, before)) loadSchedules();
  }]]);
  loadSchedules();
}

const closeBar = () => byId("week-bar").replaceChildren();

// What a bar is, and why.
function openBar(block, isEntered = true) {
  const place = byId("week-bar"), close = button("×", () => { closeBar(); byId("sprinkler-week").focus(); }, { ariaLabel: "Close" });
  const words = block.run
    ? [block.run.zoneName, dayAndTime(block.from), ranOf(block.run), why(block.run.outcome), block.run.why, block.run.scheduleName || "asked by hand", block.run.caller && "asked by " + whoAsked(block.run.caller)]
    : [block.zone, dayAndTime(block.from), planOf(block.step), block.start.scheduleName,
      block.start.inRainDelay ? why("rainDelay") : block.step.skipped ? why(block.step.skipped) : "planned", block.step.why];
  const panel = element("div", null, { className: "row panel" });
  panel.append(element("span", words.filter(Boolean).join(" · ")));
  if (block.index >= 0 && block.schedule) {
    const time = element("input", null, { type: "time", step: 300, value: block.time, ariaLabel: "Start of " + block.schedule.name });
    time.onchange = () => { if (time.value) moveStart(block, { day: block.day, time: time.value }); };
    const label = element("label", "starts ");
    label.append(time);
    panel.append(label);
  } else if (block.start) panel.append(element("small", "starts by the sun: change it in the schedule"));
  if (block.schedule?.days) {
    const day = element("select", null, { ariaLabel: "Weekday, " + block.schedule.name, onchange: () => moveStart(block, { day: day.value, time: block.time }) });
    day.append(...weekdays.map((one) => element("option", one, { value: one })));
    day.value = block.day;
    panel.append(day);
  }
  panel.append(close);
  const held = place.contains(document.activeElement) && document.activeElement.localName; // the control that was used is made anew
  place.replaceChildren(panel);
  (isEntered ? panel.querySelector("input, select") || close : held && panel.querySelector(held))?.focus?.({ preventScroll: true });
}

// ---- the month: why was nothing watered?

const month = { chosen: null, of: "", runs: [] }; // of: the one whose runs are there

async function loadMonth() {
  showMonth();
  const of = month.chosen.slice(0, 7), first = noonOf(of + "-01"), runs = await runsBetween(first - 2 * dayMs, first + 33 * dayMs);
  if (!runs || of !== month.chosen.slice(0, 7)) return;
  month.of = of;
  month.runs = runs.map((run) => ({ ...run, date: dateOf(run.startISO) }));
  showMonth();
}

function showMonth() {
  month.chosen ??= dateOf(Date.now());
  if (view !== "sprinkler") return;
  const planned = sprinkler.starts.map((start) => ({ ...start, date: start.startLocal.slice(0, 10) }));
  const of = (date) => ({ runs: month.runs.filter((run) => run.date === date), starts: planned.filter((start) => start.date === date) });
  const minutes = (seconds) => seconds ? Math.max(1, Math.round(seconds / 60)) : 0;
  const plannedSeconds = (starts) => starts.filter((start) => !start.inRainDelay).flatMap(({ runs }) => runs).filter((run) => !run.skipped).reduce((sum, run) => sum + run.seconds, 0);
  const wateredSeconds = (runs) => runs.reduce((sum, run) => sum + run.ranSec, 0);
  drawMonth(byId("sprinkler-month"), {
    shown: month.chosen, today: dateOf(Date.now()), chosen: month.chosen, choose: chooseDay,
    sumOf: (date) => { const { runs, starts } = of(date), sum = minutes(wateredSeconds(runs)) || minutes(plannedSeconds(starts)); return !sum ? "" : sum < 100 ? sum + " min" : (sum / 60).toFixed(1) + " h"; },
    marksOf: (date) => {
      const { runs, starts } = of(date), dropped = [...runs.filter((run) => !run.ranSec).map((run) => run.outcome), ...starts.filter((start) => start.inRainDelay).map(() => "rainDelay")];
      const isRain = dropped.includes("rainDelay");
      return [
        wateredSeconds(runs) && { look: "", text: minutes(wateredSeconds(runs)) + " min watered" }, plannedSeconds(starts) && { look: "planned", text: minutes(plannedSeconds(starts)) + " min planned" },
        dropped.length && { look: isRain ? "skipped rain" : "skipped", text: isRain ? "rain delay" : dropped.length + " not watered" },
      ].filter(Boolean);
    },
  });
  showDay(month.chosen, of(month.chosen));
}

function chooseDay(date) {
  const isOther = date.slice(0, 7) !== month.chosen.slice(0, 7);
  month.chosen = date;
  showMonth();
  if (isOther) loadMonth();
}

function showDay(date, { runs, starts }) {
  const lines = [...runs].reverse().map((run) => timeOfDay(run.startISO) + "  " + run.zoneName + "  " + (run.ranSec ? ranOf(run) + ", " : "") + why(run.outcome) + (run.why ? "  " + run.why : "") + (run.scheduleName ? "  " + run.scheduleName : "  asked by hand"));
  const plans = starts.flatMap((start) => start.runs.map((run) => timeOfDay(run.startISO) + "  " + zoneName(run.zoneId) + "  " + planOf(run) + " "
    + (start.inRainDelay ? why("rainDelay") : run.skipped ? why(run.skipped) : "planned") + "  " + (run.why ? run.why + "  " : "") + start.scheduleName));
  const isFar = starts.length === 0 && sprinkler.isCut && date > sprinkler.starts.at(-1).startLocal.slice(0, 10);
  byId("day-title").textContent = inWordsOf(date, { weekday: "long", day: "numeric", month: "long", ...withYear(noonOf(date)) });
  fill(byId("sprinkler-day"), [...lines, ...plans].map((text) => element("li", text)), month.of !== date.slice(0, 7) ? "loading…" : date < dateOf(Date.now())
    ? "Nothing ran: the log has no run of that day, and no start that was left out." : isFar ? "The plan does not reach that far." : "Nothing is planned: no schedule is on for this day.");
}

const monthBy = (months) => () => {
  const [year, number] = month.chosen.split("-").map(Number);
  chooseDay(new Date(Date.UTC(year, number - 1 + months, 1, 12)).toISOString().slice(0, 10));
};
byId("month-before").onclick = monthBy(-1);
byId("month-after").onclick = monthBy(1);
byId("month-today").onclick = () => chooseDay(dateOf(Date.now()));

// ---- water by zone and month

let yearAsked = -Infinity;
const yearPeriodMs = 60000; // a year of runs is much to ask for

async function loadYear() {
  if (performance.now() - yearAsked < yearPeriodMs) return;
  yearAsked = performance.now();
  const [year, number] = dateOf(Date.now()).split("-").map(Number);
  const months = Array.from({ length: 12 }, (_, index) => new Date(Date.UTC(year, number - 12 + index, 1, 12)).toISOString().slice(0, 7));
  const runs = await runsBetween(noonOf(months[0] + "-01") - dayMs, Date.now() + dayMs, 20);
  if (!runs) { yearAsked = -Infinity; return; }
  const sums = new Map();
  for (const run of runs) {
    const index = months.indexOf(dateOf(run.startISO).slice(0, 7));
    if (!run.ranSec || index < 0) continue;
    if (!sums.has(run.zoneId)) sums.set(run.zoneId, months.map(() => 0));
    sums.get(run.zoneId)[index] += run.ranSec / 60;
  }
  drawBars(byId("sprinkler-year"), { columns: months.map((one) => inWordsOf(one + "-01", { month: "short" })), things: [...sums].map(([id, values]) => ({ name: zoneName(id), values })),
    unit: "min", caption: "Minutes of water of each zone in the last twelve months" });
}

// ---- the log

let logNext = null;
const logStart = "/api/log?limit=50";
const logPath = () => logStart + ["zone", "schedule"].map((name) => byId("log-" + name).value && `&${name}=${byId("log-" + name).value}`).join("")
  + (byId("log-day").value ? `&since=${new Date(noonOf(byId("log-day").value) - 1.2 * dayMs).toISOString()}&until=${new Date(noonOf(byId("log-day").value) + 1.2 * dayMs).toISOString()}` : "");

function showLogChoices() {
  for (const [select, all, things] of [["log-zone", "every zone", sprinkler.zones], ["log-schedule", "every schedule", sprinkler.schedules]]) {
    const { value } = byId(select);
    byId(select).replaceChildren(element("option", all, { value: "" }), ...things.map(({ id, name }) => element("option", name, { value: id })));
    byId(select).value = things.some(({ id }) => String(id) === value) ? value : "";
  }
}

// The names of the tokens by their ids, which only who may change the daemon may ask for; null: it is no token's, as a system's name.
const tokenNames = new Map();
const tokenOf = (caller) => /^(.+)@/.exec(caller ?? "")?.[1]; // 3f2a9c1d@192.168.1.7 → 3f2a9c1d

// Whether names have come that were not known.
async function learnTokens(runs) {
  const ids = new Set(runs.map(({ caller }) => tokenOf(caller)).filter((id) => id && !tokenNames.has(id)));
  const { tokens } = mayAdminister && ids.size && await look("/api/tokens") || {};
  if (!tokens) return false;
  for (const id of ids) tokenNames.set(id, tokens.find((one) => one.id === id)?.name ?? null);
  return [...ids].some((id) => tokenNames.get(id));
}

function whoAsked(caller) {
  const id = tokenOf(caller), name = tokenNames.get(id);
  return name ? `${name} (${caller.slice(id.length + 1)})` : ours(caller);
}

const logLine = (run) => element("li", dayAndTime(run.startISO) + "  " + run.zoneName + "  " + ranOf(run) + "  " + plain(run.outcome) + (run.why ? "  " + run.why : "")
  + (run.scheduleName ? "  " + run.scheduleName : "") + (run.caller ? "  by " + whoAsked(run.caller) : ""));

async function loadLog(after = "") {
  const path = logPath() + (after && "&after=" + after), asked = ++sprinkler.asked, answer = await look(path);
  if (!answer || !answer.runs) return;
  if (path === logStart) takeNewest(answer.runs, asked);
  logNext = answer.next;
  const outcome = byId("log-outcome").value, day = byId("log-day").value;
  const runs = answer.runs.filter((run) => (!outcome || (outcome === "watered") === run.ranSec > 0) && (!day || dateOf(run.startISO) === day)), lines = runs.map(logLine);
  if (after) byId("sprinkler-log").append(...lines); else fill(byId("sprinkler-log"), lines, logNext ? "none among the newest: More" : "Nothing watered yet: press 5 min at a zone, or add a schedule.");
  byId("log-more").hidden = !logNext;
  if (await learnTokens(runs)) lines.forEach((line, index) => line.replaceWith(logLine(runs[index])));
}
for (const one of ["log-zone", "log-schedule", "log-outcome", "log-day"]) byId(one).onchange = () => loadLog();
byId("log-more").onclick = () => loadLog(logNext);
saves(byId("sprinkler-csv"), "/api/log.csv", "watering-log.csv");
