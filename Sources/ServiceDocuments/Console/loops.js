"use strict";
// Whether every loop is in time, in one word; under Diagnostics the loops' table. Asked over HTTP: every second with the histograms while
// somebody looks at the table, every ten seconds without them otherwise.

const unseenPeriodMs = 10000;
const firstPeriodMs = 2000; // until the second look, which is the first that there is something to compare with
const inTimeMs = 60000; // what "in time" speaks of
const toleratedShare = 0.01; // of the releases of that time; more is late

const jitter = new Map(); // loop → last 30 p99, each of one interval
const bucketsBefore = new Map(); // loop → {bound: count}

// The p99 of what has come since the last poll: differences of the loop's buckets.
function intervalP99(loop) {
  const before = bucketsBefore.get(loop.name) || {};
  bucketsBefore.set(loop.name, Object.fromEntries(loop.latencyNs.buckets));
  const fresh = loop.latencyNs.buckets.map(([bound, count]) => [bound, count - (before[bound] || 0)]);
  let left = fresh.reduce((sum, [, count]) => sum + count, 0) * 0.99;
  for (const [bound, count] of fresh) if (count > 0 && (left -= count) <= 0) return bound;
  return null;
}

function micro(ns) { return ns == null ? "–" : ns < 100000 ? (ns / 1000).toFixed(1) + " µs" : (ns / 1e6).toFixed(2) + " ms"; }

const MEMORY = { notRequested: "memory not locked", locked: "memory locked", refused: "memory lock refused" };

let before = new Map(); // loop → {ran, monotonicNs}

let isPolling = false;
let polledAt = -Infinity;
let isJudged = false;

async function poll() {
  const isSeen = view === "diagnostics";
  if (document.hidden || isPolling || !isLive || (!isSeen && performance.now() - polledAt < (isJudged ? unseenPeriodMs : firstPeriodMs))) return;
  isPolling = true;
  const { isDone, document: runtime } = await request("GET", "/api/runtime" + (isSeen ? "?histograms=1" : ""));
  isPolling = false;
  if (!isDone) return;
  polledAt = performance.now();
  byId("loops-section").hidden = false;
  if (isSeen) showLoops(runtime);
  judge(runtime);
}

const counts = new Map(); // loop → [{at, releases, late}] of the last minute

// How much of what was due in the last minute, as far as this page was there, was late or given up; null: nothing to compare with yet.
function lateShare(loop, now) {
  const newest = { at: now, releases: loop.ran + loop.skipped, late: loop.skipped + loop.deadlineMisses };
  // A daemon that was started anew counts from zero.
  const kept = (counts.get(loop.name) || []).filter((one) => one.at >= now - inTimeMs && one.releases <= newest.releases);
  counts.set(loop.name, [...kept, newest]);
  const first = kept[0];
  return first && newest.releases > first.releases ? (newest.late - first.late) / (newest.releases - first.releases) : null;
}

function judge(runtime) {
  const now = performance.now();
  const shares = runtime.loops.map((loop) => ({ name: loop.name, late: lateShare(loop, now) }));
  isJudged = shares.some((loop) => loop.late !== null);
  const late = shares.filter((loop) => loop.late > toleratedShare), worst = Math.max(0, ...shares.map((loop) => loop.late));
  const inTime = late.length ? "late: " + late.map((loop) => `${loop.name} (${(100 - loop.late * 100).toFixed(0)} % in time)`).join(", ")
    : worst > 0 ? (Math.floor(1000 - worst * 1000) / 10).toFixed(1) + " % in time" : isJudged ? "all in time" : "measuring";
  const hanging = runtime.loops.filter((loop) => loop.running && loop.overdue > 0)
    .map((loop) => loop.name + " for " + micro(runtime.monotonicNs - loop.running.sinceNs));
  const refusals = runtime.lanes.filter((lane) => lane.findings.some((finding) => finding.isRefusal)).map((lane) => lane.name);
  byId("in-time").textContent = inTime;
  mark("loops-section", hanging.length ? "down" : refusals.length || late.length ? "warn" : "up",
    [hanging.length ? "a tick runs past its deadline: " + hanging.join(", ") : "", inTime, refusals.length ? "settings refused: " + refusals.join(", ") : ""]
      .filter(Boolean).join("; "));
}

function showLoops(runtime) {
  heardAt.set("loops", performance.now());
  heardOn.set("loops", Date.now());
  byId("memory").textContent = MEMORY[runtime.memoryLock.state];
  const rows = runtime.loops.map((loop) => {
    const row = document.createElement("tr");
    const last = before.get(loop.name);
    const rate = last && runtime.monotonicNs > last.monotonicNs
      ? (loop.ran - last.ran) / (runtime.monotonicNs - last.monotonicNs) * 1e9 : null;
    before.set(loop.name, { ran: loop.ran, monotonicNs: runtime.monotonicNs });
    const history = jitter.get(loop.name) || [];
    const p99 = intervalP99(loop);
    if (p99 != null) history.push(p99);
    jitter.set(loop.name, history.slice(-30));
    // A tick that is past its deadline and runs: since when.
    const hangs = loop.overdue > 0 && loop.running;
    const ran = hangs ? "runs " + ((runtime.monotonicNs - loop.running.sinceNs) / 1e9).toFixed(1) + " s" : loop.ran;
    const cells = [loop.name, loop.lane, (rate == null ? "–" : rate.toFixed(1)) + " / " + loop.rateHz + " Hz",
      micro(loop.latencyNs.p50), micro(loop.latencyNs.p99), micro(loop.latencyNs.max), micro(loop.executionNs.p99),
      ran, loop.skipped, loop.overruns, loop.deadlineMisses, micro(loop.longestGap && loop.longestGap.lengthNs)];
    cells.forEach((text, index) => {
      const cell = document.createElement("td");
      cell.textContent = text;
      if ((index >= 8 && index <= 10 && text > 0) || (index === 7 && hangs)) cell.className = "bad";
      row.append(cell);
    });
    const cell = document.createElement("td");
    cell.append(sparkline(jitter.get(loop.name)));
    row.append(cell);
    return row;
  });
  byId("loops").replaceChildren(...rows);
  const ages = runtime.loops.flatMap((loop) => loop.ages);
  byId("ages-place").hidden = !ages.length;
  byId("ages").replaceChildren(...ages.map((age) => {
    const row = document.createElement("tr");
    const isOver = age.boundNs != null && age.ageNs.max > age.boundNs;
    const cells = [age.name, age.path.join(" → "), micro(age.ageNs.p50), micro(age.ageNs.p99), micro(age.ageNs.max), micro(age.lastNs),
      age.arrival === "unknown" ? "none" : micro(age.boundNs)];
    row.append(...cells.map((text) => element("td", text)));
    if (isOver) row.children[4].className = "bad";
    return row;
  }));
  // What several lanes have in common is said once.
  const findings = new Map();
  for (const lane of runtime.lanes) {
    for (const { description } of lane.findings) findings.set(description, [...(findings.get(description) || []), lane.name]);
  }
  showTiming(runtime);
  byId("findings").replaceChildren(...[...findings].map(([description, lanes]) => element("li", lanes.join(", ") + ": " + description)));
}

function sparkline(values) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 120 20");
  svg.setAttribute("aria-hidden", "true");
  const most = Math.max(...values, 1);
  const line = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
  line.setAttribute("points", values.map((value, index) => `${index * 4},${19 - value / most * 18}`).join(" "));
  svg.append(line);
  return svg;
}

setInterval(poll, 1000);
