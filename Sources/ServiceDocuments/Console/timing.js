"use strict";
// Under Diagnostics, while somebody looks: the loops' table; how late each loop's ticks start, as a histogram; what became of its releases in the last minute;
// and what each lane has asked the kernel for beside what it has. Every declared loop is there, whoever declared it. Colours: `judge` in loops.js.

const releasesKeptNs = 60e9;
const barsPerDecade = 8;
const timings = new Map(); // loop → {panel, histogram, releases, said, past: [{ns, ran, skipped, late, overruns}], of which each counts since the start}

const jitter = new Map(); // loop → last 30 p99, each of one interval
const bucketsBefore = new Map(); // loop → {bound: count}

// The p99 of what has come since the last histogram: differences of the loop's buckets.
function intervalP99(loop) {
  const before = bucketsBefore.get(loop.name) || {};
  bucketsBefore.set(loop.name, Object.fromEntries(loop.latencyNs.buckets));
  const fresh = loop.latencyNs.buckets.map(([bound, count]) => [bound, count - (before[bound] || 0)]);
  let left = fresh.reduce((sum, [, count]) => sum + count, 0) * 0.99;
  for (const [bound, count] of fresh) if (count > 0 && (left -= count) <= 0) return bound;
  return null;
}

const MEMORY = { notRequested: "memory not locked", locked: "memory locked", refused: "memory lock refused" };

let before = new Map(); // loop → {ran, monotonicNs}

function showLoops(runtime, late) {
  byId("memory").textContent = MEMORY[runtime.memoryLock.state];
  const rows = runtime.loops.map((loop) => {
    const row = element("tr"), last = before.get(loop.name);
    const rate = last && runtime.monotonicNs > last.monotonicNs
      ? (loop.ran - last.ran) / (runtime.monotonicNs - last.monotonicNs) * 1e9 : null;
    before.set(loop.name, { ran: loop.ran, monotonicNs: runtime.monotonicNs });
    const history = jitter.get(loop.name) || [], p99 = loop.latencyNs.buckets ? intervalP99(loop) : null;
    if (p99 != null) history.push(p99);
    jitter.set(loop.name, history.slice(-30));
    // A tick that is past its deadline and runs: since when.
    const hangs = loop.overdue > 0 && loop.running;
    const ran = hangs ? "runs " + ((runtime.monotonicNs - loop.running.sinceNs) / 1e9).toFixed(1) + " s" : loop.ran;
    const cells = [loop.name, loop.lane, (rate == null ? "–" : rate.toFixed(1)) + " / " + loop.rateHz + " Hz",
      micro(loop.latencyNs.p50), micro(loop.latencyNs.p99), micro(loop.latencyNs.max), micro(loop.executionNs.p99),
      ran, loop.skipped, loop.overruns, loop.deadlineMisses, micro(loop.longestGap && loop.longestGap.lengthNs)];
    row.append(...cells.map((text, index) => element("td", text, {
      className: index === 7 && hangs ? "bad" : index >= 8 && index <= 10 && text > 0 && late.has(loop.name) ? "warned" : "",
    })));
    const cell = element("td");
    cell.append(sparkline(jitter.get(loop.name)));
    row.append(cell);
    return row;
  });
  byId("loops").replaceChildren(...rows);
  const ages = runtime.loops.flatMap((loop) => loop.ages.map((age) => ({ ...age, isLate: late.has(loop.name) })));
  byId("ages-place").hidden = !ages.length;
  byId("ages").replaceChildren(...ages.map((age) => {
    const row = element("tr");
    const cells = [age.name, age.path.join(" → "), micro(age.ageNs.p50), micro(age.ageNs.p99), micro(age.ageNs.max), micro(age.lastNs),
      age.arrival === "unknown" ? "none" : micro(age.boundNs)];
    row.append(...cells.map((text) => element("td", text)));
    if (age.isLate && age.boundNs != null && age.ageNs.max > age.boundNs) row.children[4].className = "warned";
    return row;
  }));
  showTiming(runtime, late);
  // What several lanes have in common is said once.
  const findings = new Map();
  for (const [name, found] of findingsOf(runtime)) {
    for (const { description, isRefusal } of found) {
      if (!findings.has(description)) findings.set(description, { isRefusal, names: [] });
      findings.get(description).names.push(name);
    }
  }
  byId("findings").replaceChildren(...[...findings].map(([description, { isRefusal, names }]) =>
    element("li", names.join(", ") + ": " + description, { className: isRefusal ? "warned" : "" })));
}

function sparkline(values) {
  const svg = drawing("svg", { viewBox: "0 0 120 20", "aria-hidden": "true" }), most = Math.max(...values, 1);
  svg.append(drawing("polyline", { points: values.map((value, index) => `${index * 4},${19 - value / most * 18}`).join(" ") }));
  return svg;
}

function showTiming(runtime, late) {
  for (const [name, { panel }] of timings) {
    if (runtime.loops.some((loop) => loop.name === name)) continue;
    panel.remove();
    timings.delete(name);
  }
  for (const loop of runtime.loops) {
    const timing = timings.get(loop.name) || addTiming(loop.name);
    timing.panel.classList.toggle("slow", late.has(loop.name));
    put(timing.percentiles, [["p50", "p50"], ["p90", "p90"], ["p99", "p99"], ["p99.9", "p999"], ["max", "max"]].map(([word, key]) => word + " " + micro(loop.latencyNs[key])).join(" · "));
    if (loop.latencyNs.buckets) drawLateness(timing.histogram, loop);
    const spans = followReleases(timing, loop, runtime.monotonicNs);
    drawReleases(timing, loop.name, spans, runtime.monotonicNs);
  }
  showScheduling(runtime.lanes);
}

function addTiming(name) {
  const timing = {
    panel: element("article", null, { className: "panel" }), histogram: drawing("svg", { class: "chart", role: "img" }),
    releases: drawing("svg", { class: "releases", role: "img" }), said: element("p", null, { className: "hint" }), past: [],
    percentiles: element("p", null, { className: "percentiles", translate: false }),
  };
  timing.panel.append(element("h3", name, { translate: false }), timing.histogram, timing.percentiles, timing.releases, timing.said);
  timing.panel.dataset.loop = name;
  byId("timing").append(timing.panel);
  timings.set(name, timing);
  return timing;
}

// 10 µs, of a power of ten of nanoseconds.
function decade(power) {
  const unit = Math.min(3, Math.floor(power / 3));
  return 10 ** (power - 3 * unit) + " " + ["ns", "µs", "ms", "s"][unit];
}

const leastNs = 1000; // on the axis; what is less is in the first column

// The columns of a histogram over the logarithm of its values. buckets: [[largest value, count]], the smallest first.
// Returns {first, last: powers of ten at the ends, counts: of each column}.
function columnsOf(buckets, max) {
  const power = (value) => Math.log10(Math.max(leastNs, Math.min(value, max)));
  const first = Math.floor(power(buckets[0][0])), last = Math.max(first + 1, Math.ceil(power(max))), counts = Array((last - first) * barsPerDecade).fill(0);
  for (const [bound, count] of buckets) counts[Math.min(counts.length - 1, Math.floor((power(bound) - first) * barsPerDecade))] += count;
  return { first, last, counts };
}

// Both axes are logarithmic: one release of a million that was late is seen. The lines are p50, p99 and the longest, whose numbers are below the chart.
function drawLateness(svg, { name, latencyNs: { buckets, p50, p99, max } }) {
  const width = svg.clientWidth || 360, height = svg.clientHeight || 170, left = 16, right = width - 16, above = 8, below = height - 24;
  svg.setAttribute("aria-label", buckets.length ? `Lateness of ${name}: p50 ${micro(p50)}, p99 ${micro(p99)}, max ${micro(max)}` : `Lateness of ${name}: no tick yet`);
  if (!buckets.length) return svg.replaceChildren(drawing("text", { x: width / 2, y: height / 2, "text-anchor": "middle" }, "no tick yet"));
  const { first, last, counts } = columnsOf(buckets, max), most = Math.log1p(Math.max(...counts)), wide = (right - left) / counts.length;
  const x = (value) => left + (Math.log10(Math.max(leastNs, value)) - first) / (last - first) * (right - left);
  const parts = [];
  for (let power = first; power <= last; power++) {
    const at = x(10 ** power), anchor = power === first ? "start" : power === last ? "end" : "middle";
    parts.push(drawing("line", { x1: at, x2: at, y1: above, y2: below }), drawing("text", { x: at, y: height - 8, "text-anchor": anchor }, (10 ** power === leastNs ? "≤ " : "") + decade(power)));
  }
  counts.forEach((count, index) => {
    const high = count && Math.max(2, Math.log1p(count) / most * (below - above));
    if (count) parts.push(drawing("rect", { x: left + index * wide, width: Math.max(1, wide - 1), y: below - high, height: high, class: "fill-0" }));
  });
  for (const value of [p50, p99, max]) parts.push(drawing("line", { x1: x(value), x2: x(value), y1: above, y2: below, class: "percentile" }));
  svg.replaceChildren(...parts);
}

// What has become of the releases between two looks, for each of the last minute.
function followReleases(timing, loop, ns) {
  const { ran, skipped, overruns, deadlineMisses: late } = loop;
  // A daemon that was started anew counts from zero.
  if (timing.past.length && timing.past.at(-1).ran > ran) timing.past = [];
  timing.past.push({ ns, ran, skipped, late, overruns });
  while (timing.past.length > 2 && timing.past[1].ns < ns - releasesKeptNs) timing.past.shift();
  return timing.past.slice(1).map((one, index) => {
    const before = timing.past[index], since = (name) => one[name] - before[name];
    return { from: before.ns, to: one.ns, ran: since("ran"), skipped: since("skipped"), late: since("late"), overruns: since("overruns") };
  });
}

// A column for each look: from below what ran in time, ran late, was given up. A tick that took longer than the period is a dot above.
function drawReleases({ releases: svg, said }, name, spans, now) {
  const width = svg.clientWidth || 360, height = svg.clientHeight || 64, above = 12, below = height - 16;
  const x = (ns) => Math.max(0, width - (now - ns) / releasesKeptNs * width);
  svg.replaceChildren(...spans.flatMap(({ from, to, ran, skipped, late, overruns }) => {
    const due = ran + skipped, at = { x: x(from), width: Math.max(1, x(to) - x(from) - 1) };
    let under = below;
    const shares = [["on-time", Math.max(0, ran - late)], ["late", Math.min(late, ran)], ["given-up", skipped]].filter(([, count]) => count > 0);
    const made = shares.map(([look, count]) => {
      const high = Math.max(3, count / due * (below - above));
      under -= high;
      return drawing("rect", { ...at, y: Math.max(above, under), height: high, class: look });
    });
    if (overruns) made.push(drawing("circle", { cx: at.x + at.width / 2, cy: 6, r: 4, class: "given-up" }));
    return made;
  }), ...[60, 45, 30, 15, 0].map((seconds, index) =>
    drawing("text", { x: width * index / 4, y: height - 3, "text-anchor": ["start", "middle", "middle", "middle", "end"][index] }, seconds ? `−${seconds} s` : "now")));
  const sum = (key) => spans.reduce((all, one) => all + one[key], 0);
  const seconds = spans.length ? Math.round((now - spans[0].from) / 1e9) : 0;
  const words = spans.length
    ? `last ${seconds} s: ${sum("ran")} ran, ${sum("late")} late, ${sum("skipped")} given up, ${sum("overruns")} longer than the period` : "measuring";
  put(said, words);
  svg.setAttribute("aria-label", `Releases of ${name}`);
}

// Made anew only when it has changed: somebody may be reading it.
function showScheduling(lanes) {
  const place = byId("lanes-place"), words = JSON.stringify(lanes);
  if (place.dataset.words === words) return;
  place.dataset.words = words;
  const rows = lanes.map((lane) => {
    const row = element("tr"), technical = (text) => element("td", text ?? "any", { translate: false });
    row.append(technical(lane.name), technical(lane.requested), technical(lane.effective), technical(lane.requestedCPUs), technical(lane.effectiveCPUs),
      element("td", lane.isAsRequested ? "as asked" : "refused", { className: lane.isAsRequested ? "" : "warned" }));
    return row;
  });
  place.replaceChildren(tableOf("Scheduling of the lanes", ["lane", "asked for", "in effect", "CPUs asked for", "CPUs in effect", "kernel"], rows));
}
