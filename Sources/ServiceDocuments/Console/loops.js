"use strict";
// Whether every loop is in time, in one word. What Diagnostics shows beside it is timing.js, which is fetched when somebody looks. Asked over HTTP: every three
// seconds while somebody looks, every ten otherwise; the histograms, which are long, every fifteen seconds, and only while somebody looks.

const seenPeriodMs = 3000; // until there is something to compare with, too
const unseenPeriodMs = 10000;
const histogramPeriodMs = 15000;
const earlyMs = 200; // a timer's second is not exact
const inTimeMs = 60000; // what "in time" speaks of
const toleratedShare = 0.01; // of the releases of that time; more is late

function micro(ns) { return ns == null ? "–" : ns < 100000 ? (ns / 1000).toFixed(1) + " µs" : (ns / 1e6).toFixed(2) + " ms"; }

let isPolling = false;
let polledAt = -Infinity;
let histogramsAt = -Infinity;
let isJudged = false;

async function poll() {
  const isSeen = view === "diagnostics", now = performance.now(), period = isSeen || !isJudged ? seenPeriodMs : unseenPeriodMs;
  const isShown = isSeen && "showLoops" in window, withHistograms = isShown && now - histogramsAt >= histogramPeriodMs - earlyMs;
  if (document.hidden || isPolling || !isLive || (now - polledAt < period - earlyMs && !withHistograms)) return;
  isPolling = true;
  const { isDone, document: runtime } = await request("GET", "/api/runtime" + (withHistograms ? "?histograms=1" : ""));
  isPolling = false;
  if (!isDone) return;
  polledAt = now;
  if (withHistograms) histogramsAt = now;
  byId("loops-section").hidden = false;
  // Nothing newer need be due before the next look, which is the later one after another view is chosen.
  heardAt.set("loops", performance.now() + unseenPeriodMs);
  heardOn.set("loops", Date.now());
  const late = judge(runtime);
  if (isShown) showLoops(runtime, late);
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

// The one rule of what is amber or red here and in the bar. Red: a tick hangs. Amber: a loop is late in the last minute, or something that was asked of the kernel
// is refused. What was late before, or less often, is told and has no colour. Returns the names of the loops that are late.
function judge(runtime) {
  const now = performance.now();
  const shares = runtime.loops.map((loop) => ({ name: loop.name, late: lateShare(loop, now) }));
  isJudged = shares.some((loop) => loop.late !== null);
  const late = shares.filter((loop) => loop.late > toleratedShare), worst = Math.max(0, ...shares.map((loop) => loop.late));
  const inTime = late.length ? "late: " + late.map((loop) => `${loop.name} (${(100 - loop.late * 100).toFixed(0)} % in time)`).join(", ")
    : worst > 0 ? (Math.floor(1000 - worst * 1000) / 10).toFixed(1) + " % in time" : isJudged ? "all in time" : "measuring";
  const hanging = runtime.loops.filter((loop) => loop.running && loop.overdue > 0)
    .map((loop) => loop.name + " for " + micro(runtime.monotonicNs - loop.running.sinceNs));
  const refusals = findingsOf(runtime).filter(([, findings]) => findings.some(({ isRefusal }) => isRefusal)).map(([name]) => name);
  const level = hanging.length ? "down" : refusals.length || late.length ? "warn" : "up";
  const told = [hanging.length ? "a tick runs past its deadline: " + hanging.join(", ") : "", inTime, refusals.length ? "settings refused: " + refusals.join(", ") : ""]
    .filter(Boolean).join("; ");
  put(byId("in-time"), hanging.length ? "hangs" : late.length ? "late" : refusals.length ? "refused" : isJudged ? "in time" : "measuring");
  byId("in-time").className = "led " + level;
  put(byId("in-time-why"), level !== "up" || worst > 0 ? told.replace(/^late: /, "") : isJudged ? runtime.loops.length + " loops in the last minute" : "");
  mark("loops-section", level, told);
  return new Set(late.map(({ name }) => name));
}

// [[whom they concern, findings]]
const findingsOf = ({ lanes, findings }) => [["process", findings], ...lanes.map((lane) => [lane.name, lane.findings])];

setInterval(poll, 1000);
