"use strict";
// A chart over time with both axes. Time lines are timeline.js, columns bars.js, months calendar.js.

const chartLeft = 58, chartRight = 14; // pixels beside the plot
const niceSteps = [1, 2, 2.5, 5, 10];
const timeSteps = [5, 10, 15, 20, 30, 60, 120, 180, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800, 1209600].map((seconds) => seconds * 1000);
const monthSteps = [1, 2, 3, 6, 12];

// How far the controller's clocks are ahead of UTC at an instant, in milliseconds.
function aheadOf(at) {
  const { year, month, day, hour, minute } = numbersOf(at);
  return Date.UTC(year, month - 1, day, hour, minute) - Math.floor(at / 60000) * 60000;
}

// Where a time axis of so many pixels has its ticks: [[instant, its name]], at round times of the controller's clocks and as close as the names leave room for.
function ticksOf(from, to, pixels) {
  const span = to - from, ahead = aheadOf(from), ticks = [];
  const dated = (at) => inZone(at, { day: "numeric", month: "short" }), monthOf = (at, year) => inZone(at, { month: "short", year });
  const nameOf = (step) => step < 60000 ? timeWithSeconds : step < dayMs ? timeOfDay : span > 8 * dayMs ? dated : dayOf;
  const fits = (step, name) => span / step * (name.length * 6.5 + 12) <= pixels;
  const step = timeSteps.find((one) => fits(one, nameOf(one)(from))), months = monthSteps.find((one) => fits(one * 30.4 * dayMs, monthOf(from))) ?? 12;
  const monday = step % (7 * dayMs) ? 0 : 4 * dayMs, first = new Date(from + ahead);
  let count = step ? Math.ceil((from + ahead - monday) / step) : Math.ceil(((first.getUTCFullYear() - 1970) * 12 + first.getUTCMonth()) / months);
  for (;; count++) {
    const wall = step ? monday + count * step : Date.UTC(1970, count * months), at = wall - aheadOf(wall - ahead);
    if (at > to) return ticks;
    // A midnight among hours of several days is named by its day.
    const name = !step ? monthOf(at, count * months % 12 ? undefined : "2-digit") : span > dayMs && step < dayMs && wall % dayMs === 0 ? dayOf(at) : nameOf(step)(at);
    if (at >= from) ticks.push([at, name]);
  }
}

// A step that divides `span` into at most `parts`.
function stepFor(span, parts) {
  const rough = Math.max(span, 1e-9) / parts, power = 10 ** Math.floor(Math.log10(rough));
  return niceSteps.find((step) => step * power >= rough * 0.9999) * power;
}

// Draws into `svg`, as wide as it is on the page. series: [{name, points: [[milliseconds since 1970, value or null]]}], of which null is a gap;
// from, to: of the time axis; low, high: at least of the other axis; unit; bands: [{low, high}] where values are good; limits: [{at: value, text}] as lines;
// active: [{from, to}] while something was on; events: [{at, text, look: "" or other}] of single moments.
function drawChart(svg, { series, from, to, low, high, unit, bands = [], limits = [], active = [], events = [] }) {
  const width = svg.clientWidth || 600, height = svg.clientHeight || 200;
  const values = series.flatMap(({ points }) => points.map((point) => point[1])).filter((value) => value != null);
  const step = stepFor(Math.max(high, ...values) - Math.min(low, ...values), Math.max(2, Math.floor(height / 45)));
  const bottom = Math.floor(Math.min(low, ...values) / step) * step, top = Math.ceil(Math.max(high, ...values) / step) * step;
  const left = chartLeft, right = width - chartRight, above = 14, below = height - 26;
  const x = (at) => left + (Math.min(Math.max(at, from), to) - from) / (to - from) * (right - left);
  const y = (value) => below - (value - bottom) / (top - bottom) * (below - above);
  const parts = [];
  for (const band of bands) {
    const [high, low] = [Math.min(band.high ?? top, top), Math.max(band.low ?? bottom, bottom)];
    if (high > low) parts.push(drawing("rect", { x: left, width: right - left, y: y(high), height: y(low) - y(high), class: "band" }));
  }
  for (const one of active) parts.push(drawing("rect", { x: x(one.from), width: Math.max(1, x(one.to) - x(one.from)), y: above, height: below - above, class: "active" }));
  for (let value = bottom; value <= top + step / 2; value += step) {
    parts.push(drawing("line", { x1: left, x2: right, y1: y(value), y2: y(value) }),
      drawing("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, Number(value.toFixed(2)) + " " + unit));
  }
  for (const [at, name] of ticksOf(from, to, right - left)) {
    parts.push(drawing("line", { x1: x(at), x2: x(at), y1: above, y2: below }));
    if (x(at) >= left + 16 && x(at) <= right - 16) parts.push(drawing("text", { x: x(at), y: height - 8, "text-anchor": "middle" }, name));
  }
  for (const { at, text } of limits) {
    if (at < bottom || at > top) continue;
    parts.push(drawing("line", { x1: left, x2: right, y1: y(at), y2: y(at), class: "limit" }), drawing("text", { x: right - 4, y: y(at) - 4, "text-anchor": "end", class: "limit" }, text));
  }
  for (const { at, text, look = "" } of events) {
    if (at < from || at > to) continue;
    const line = drawing("g", { class: "event " + look });
    line.append(drawing("line", { x1: x(at), x2: x(at), y1: above, y2: below, class: "event" }), drawing("circle", { cx: x(at), cy: above, r: 4 }), drawing("title", {}, text));
    parts.push(line);
  }
  series.forEach(({ points, className = "" }, index) => {
    let run = [];
    const end = () => {
      // One reading alone is a short line.
      if (run.length === 1) run.push([run[0][0] + 2, run[0][1]]);
      if (run.length) parts.push(drawing("polyline", { points: run.map((one) => one.map((number) => number.toFixed(1)).join(",")).join(" "), class: `series-${index} ${className}` }));
      run = [];
    };
    for (const [at, value] of points) if (value == null) end(); else if (at >= from && at <= to) run.push([x(at), y(value)]);
    end();
  });
  svg.replaceChildren(...parts);
  if (!svg.said) readable(svg);
  svg.shown = { series, from, to, unit, events, x, above, below };
  drawReading(svg);
}

// ---- its values: a line at the reading that the pointer, a finger or the arrow keys have come to, and what was read then in words below the chart

const sayingMs = 120; // between two sayings, while the line follows the pointer at once

function readable(svg) {
  svg.tabIndex = 0;
  svg.spoken = "";
  svg.said = element("p", null, { className: "hint reading", ariaLive: "polite" });
  svg.after(svg.said);
  const read = (at) => { svg.readAt = at; drawReading(svg); };
  for (const kind of ["blur", "pointercancel"]) svg.addEventListener(kind, () => read(null));
  svg.addEventListener("pointerleave", ({ pointerType }) => { if (pointerType === "mouse") read(null); });
  for (const kind of ["pointermove", "pointerdown"]) {
    svg.addEventListener(kind, ({ clientX }) => {
      const box = svg.getBoundingClientRect(), { from, to } = svg.shown;
      read(from + (clientX - box.left - chartLeft) / (box.width - chartLeft - chartRight) * (to - from));
    });
  }
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key], times = timesOf(svg);
    if (!step || event.shiftKey || hasModifier(event) || !times.length) return;
    event.preventDefault();
    const now = times.indexOf(nearestOf(times, svg.readAt ?? svg.shown.to)) + (svg.readAt == null ? 0 : step);
    read(times[Math.min(Math.max(now, 0), times.length - 1)]);
  });
}

// When something was read of what is shown, the first first.
function timesOf({ shown: { series, from, to } }) {
  const read = series.flatMap(({ points }) => points.filter(([at, value]) => value != null && at >= from && at <= to).map(([at]) => at));
  return [...new Set(read)].sort((one, other) => one - other);
}

const nearestOf = (times, at) => times.reduce((best, one) => Math.abs(one - at) < Math.abs(best - at) ? one : best);

function drawReading(svg) {
  svg.querySelector(".cross")?.remove();
  const { series, from, to, unit, events, x, above, below } = svg.shown, times = svg.readAt == null ? [] : timesOf(svg);
  const words = []; // in groups
  if (times.length) {
    const at = nearestOf(times, svg.readAt);
    svg.append(drawing("line", { x1: x(at), x2: x(at), y1: above, y2: below, class: "cross" }));
    words.push([to - from > 300 * dayMs ? inZone(at, { dateStyle: "medium" }) : to - from > dayMs / 2 ? dayAndTime(at) : timeWithSeconds(at)]);
    for (const { name, className, points } of series) {
      const read = points.filter(([when, value]) => value != null && Math.abs(when - at) <= (to - from) / 100);
      const value = read.length ? read.reduce((best, one) => Math.abs(one[0] - at) < Math.abs(best[0] - at) ? one : best)[1] : null;
      words.push([name ?? className ?? "", value == null ? "–" : Number(value.toFixed(1)) + " " + unit]);
    }
    words.push(...events.filter((event) => Math.abs(x(event.at) - x(at)) < 6).map(({ text }) => [text]));
  }
  svg.words = words;
  svg.saying ||= setTimeout(() => {
    svg.saying = 0;
    if (svg.spoken === svg.words.join()) return;
    svg.spoken = svg.words.join();
    svg.said.replaceChildren(...svg.words.flatMap((group, index) => [index ? "· " : "", ...group.flatMap((text) => [element("span", text), " "])]));
  }, sayingMs);
}
