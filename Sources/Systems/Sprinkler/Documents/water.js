"use strict";
// What was watered, what will be and why something was not: the week as a time line whose planned starts can be dragged, the month, water by zone
// and month, and the log.

// Why a run ended when it did, or why nothing was watered.
const outcomeWords = {
  completed: "watered as asked", stopped: "stopped by hand", replaced: "ended by another run", rainDelay: "not watered: rain delay",
  emergencyStop: "ended by an emergency stop", fault: "ended by a fault", shutdown: "ended when the daemon was shut down", powerCut: "ended by a power cut",
  crash: "ended when the daemon crashed", dayLimit: "not watered: the zone has had its water of the day", disabled: "not watered: the zone is switched off",
  seasonalLevel: "not watered: the seasonal level is 0 %", missed: "missed: the daemon did not run at that time, or its clock was not confirmed",
  overlap: "not watered: it already waited or ran", runLimit: "ended at the longest run that the zone may have", externalStop: "ended by the guard or from outside",
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
  loadNewest();
  if (view !== "sprinkler") return;
  const runs = await runsBetween(Date.now() - 4 * dayMs, Date.now() + dayMs);
  if (!runs) return;
  sprinkler.runs = runs;
  drawWeek();
  loadMonth();
  loadLog();
  loadYear();
}

// ---- the week

const moves = new Map(); // schedule → its start times as they were dragged and are not saved yet
const localOf = (start) => start.startLocal.slice(11, 16); // HH:MM
const minutesOf = (time) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));
const timeOf = (minutes) => String(Math.floor(minutes / 60)).padStart(2, "0") + ":" + String(minutes % 60).padStart(2, "0");

// Where a start would be that is moved by so many milliseconds: five minutes are a step, and it stays on its day.
const movedTo = (block, by) => timeOf(Math.min(1435, Math.max(0, Math.round((minutesOf(block.time) + by / 60000) / 5) * 5)));

// Three days of the log and four of what is planned, a row a zone.
function weekBlocks() {
  const past = sprinkler.runs.map((run) => {
    const from = Date.parse(run.startISO);
    return { run, zone: run.zoneName, from, to: from + Math.max(run.ranSec, 60) * 1000, look: run.ranSec ? "" : "skipped",
      text: `${dayAndTime(run.startISO)} ${ranOf(run)}, ${plain(run.outcome)}` };
  });
  const planned = sprinkler.starts.flatMap((start) => {
    const schedule = sprinkler.schedules.find(({ id }) => id === start.scheduleId), local = localOf(start), index = schedule ? schedule.startTimes.indexOf(local) : -1;
    const draft = moves.get(start.scheduleId), time = draft && index >= 0 ? draft[index] : local, by = (minutesOf(time) - minutesOf(local)) * 60000;
    return start.runs.map((run) => {
      const from = Date.parse(run.startISO) + by, isDropped = start.inRainDelay || run.skipped;
      return { start, step: run, schedule, index, time, zone: zoneName(run.zoneId), from, to: from + run.seconds * 1000, look: by ? "moved" : isDropped ? "skipped" : "planned",
        text: `${dayAndTime(from)} ${planOf(run)}, ${start.scheduleName}${start.inRainDelay ? " (rain delay)" : run.skipped ? ` (${why(run.skipped)})` : ""}` };
    });
  });
  return [...past, ...planned];
}

function drawWeek() {
  if (view !== "sprinkler") return;
  const now = Date.now(), blocks = weekBlocks();
  const lanes = sprinkler.zones.map(({ name }) => ({ name, blocks: blocks.filter((block) => block.zone === name) }));
  drawTimeline(byId("sprinkler-week"), {
    lanes, from: now - 3 * dayMs, to: now + 4 * dayMs, now, open: openBar,
    move: byId("sprinkler-week").closest("fieldset").disabled ? null : {
      group: (block) => block.index >= 0 ? block.schedule.id + " " + block.index : null, // a start by the sun has no time of its own
      says: (block, by) => movedTo(block, by),
      done: (block, by) => moveStart(block, movedTo(block, by)),
    },
  });
}

// Drafts one start of a schedule, on every day of it. A start that is where it was needs no draft.
function moveStart({ schedule, index }, time) {
  const draft = [...moves.get(schedule.id) || schedule.startTimes];
  draft[index] = time;
  if (draft.join() === schedule.startTimes.join()) moves.delete(schedule.id); else moves.set(schedule.id, draft);
  drawWeek();
  showMoves();
  const block = weekBlocks().find((one) => one.schedule === schedule && one.index === index);
  if (block) openBar(block, false);
}

// What is moved and not saved, with Save and Undo.
function showMoves() {
  byId("week-moves").replaceChildren(...[...moves].map(([id, draft]) => {
    const schedule = sprinkler.schedules.find((one) => one.id === id), line = element("div", null, { className: "row panel" });
    if (!schedule) return line;
    const changes = draft.flatMap((time, index) => time === schedule.startTimes[index] ? [] : [schedule.startTimes[index] + " → " + time]);
    line.dataset.say = "";
    line.append(element("span", `${schedule.name}: ${changes.join(", ")} (${ruleOf(schedule)}), not saved yet`),
      button("Save", ({ target }) => saveMove(target, schedule, draft), { className: "primary", ariaLabel: "Save " + schedule.name }),
      button("Undo", () => { moves.delete(id); showMoves(); drawWeek(); closeBar(); }, { ariaLabel: "Undo " + schedule.name }));
    return line;
  }));
}

async function saveMove(control, schedule, startTimes) {
  const before = schedule.startTimes;
  if (!await water(control, "PUT", "/api/schedules/" + schedule.id, { startTimes })) return;
  moves.delete(schedule.id);
  showMoves();
  closeBar();
  say(byId("week-moves"), `${schedule.name} starts at ${startTimes.join(", ")}.`, "notice", [["Undo", async () => {
    if (await water(byId("week-moves"), "PUT", "/api/schedules/" + schedule.id, { startTimes: before })) loadSchedules();
  }]]);
  loadSchedules();
}

const closeBar = () => byId("week-bar").replaceChildren();

// What a bar is, and why.
function openBar(block, isEntered = true) {
  const place = byId("week-bar"), close = button("×", () => { closeBar(); byId("sprinkler-week").focus(); }, { ariaLabel: "Close" });
  const words = block.run
    ? [block.run.zoneName, dayAndTime(block.from), ranOf(block.run), why(block.run.outcome), block.run.why, block.run.scheduleName || "asked by hand", block.run.caller && "asked by " + ours(block.run.caller)]
    : [block.zone, dayAndTime(block.from), planOf(block.step), block.start.scheduleName,
      block.start.inRainDelay ? why("rainDelay") : block.step.skipped ? why(block.step.skipped) : "planned", block.step.why];
  const panel = element("div", null, { className: "row panel" });
  panel.append(element("span", words.filter(Boolean).join(" · ")));
  if (block.index >= 0 && block.schedule) {
    const time = element("input", null, { type: "time", step: 300, value: block.time, ariaLabel: "Start of " + block.schedule.name });
    time.onchange = () => { if (time.value) moveStart(block, time.value); };
    const label = element("label", "starts ");
    label.append(time);
    panel.append(label);
  } else if (block.start) panel.append(element("small", "starts by the sun: its offset stands in the schedule"));
  panel.append(close);
  place.replaceChildren(panel);
  if (isEntered) (panel.querySelector("input") || close).focus({ preventScroll: true });
}

// ---- the month: why was nothing watered?

const month = { chosen: null, runs: [] };

async function loadMonth() {
  month.chosen ??= dateOf(Date.now());
  const first = noonOf(month.chosen.slice(0, 8) + "01");
  const runs = await runsBetween(first - 2 * dayMs, first + 33 * dayMs);
  if (!runs) return;
  month.runs = runs.map((run) => ({ ...run, date: dateOf(run.startISO) }));
  showMonth();
}

function showMonth() {
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
  const isFar = starts.length === 0 && sprinkler.starts.length === previewCount && date > sprinkler.starts.at(-1).startLocal.slice(0, 10);
  byId("day-title").textContent = inWordsOf(date, { weekday: "long", day: "numeric", month: "long" });
  fill(byId("sprinkler-day"), [...lines, ...plans].map((text) => element("li", text)), date < dateOf(Date.now())
    ? "Nothing was watered: no schedule was due, and nobody asked for water." : isFar ? "So far ahead is not reckoned." : "Nothing is planned.");
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
const logPath = () => "/api/log?limit=50" + ["zone", "schedule"].map((name) => byId("log-" + name).value && `&${name}=${byId("log-" + name).value}`).join("")
  + (byId("log-day").value ? `&since=${new Date(noonOf(byId("log-day").value) - 1.2 * dayMs).toISOString()}&until=${new Date(noonOf(byId("log-day").value) + 1.2 * dayMs).toISOString()}` : "");

function showLogChoices() {
  for (const [select, all, things] of [["log-zone", "every zone", sprinkler.zones], ["log-schedule", "every schedule", sprinkler.schedules]]) {
    const { value } = byId(select);
    byId(select).replaceChildren(element("option", all, { value: "" }), ...things.map(({ id, name }) => element("option", name, { value: id })));
    byId(select).value = things.some(({ id }) => String(id) === value) ? value : "";
  }
}

async function loadLog(after = "") {
  const answer = await look(logPath() + (after && "&after=" + after));
  if (!answer || !answer.runs) return;
  logNext = answer.next;
  const outcome = byId("log-outcome").value, day = byId("log-day").value;
  const lines = answer.runs.filter((run) => (!outcome || (outcome === "watered") === run.ranSec > 0) && (!day || dateOf(run.startISO) === day)).map((run) =>
    element("li", dayAndTime(run.startISO) + "  " + run.zoneName + "  " + ranOf(run) + "  " + plain(run.outcome) + (run.why ? "  " + run.why : "") + (run.scheduleName ? "  " + run.scheduleName : "")
      + (run.caller ? "  by " + ours(run.caller) : "")));
  if (after) byId("sprinkler-log").append(...lines); else fill(byId("sprinkler-log"), lines, logNext ? "none among the newest: More" : "nothing watered yet");
  byId("log-more").hidden = !logNext;
}
for (const one of ["log-zone", "log-schedule", "log-outcome", "log-day"]) byId(one).onchange = () => loadLog();
byId("log-more").onclick = () => loadLog(logNext);
saves(byId("sprinkler-csv"), "/api/log.csv", "watering-log.csv");
