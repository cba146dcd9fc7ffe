"use strict";
// A chart over time with both axes. Time lines are timeline.js, columns bars.js, months calendar.js.

const chartLeft = 58, chartRight = 14; // pixels beside the plot
const niceSteps = [1, 2, 2.5, 5, 10];
const timeSteps = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10080, 43200, 86400, 259200].map((minutes) => minutes * 60000);

const monthOf = (date) => inZone(date, { month: "short", year: "2-digit" });

// A step that divides `span` into at most `parts`.
function stepFor(span, parts) {
  const rough = Math.max(span, 1e-9) / parts, power = 10 ** Math.floor(Math.log10(rough));
  return niceSteps.find((step) => step * power >= rough * 0.9999) * power;
}

// Draws into `svg`, as wide as it is on the page. series: [{points: [[milliseconds since 1970, value or null]]}], of which null is a gap;
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
  const tick = timeSteps.find((one) => (to - from) / one <= (right - left) / 80) || timeSteps.at(-1);
  const offset = new Date(from).getTimezoneOffset() * 60000;
  for (let at = Math.ceil((from - offset) / tick) * tick + offset; at <= to; at += tick) {
    if (x(at) < left + 16 || x(at) > right - 16) continue;
    parts.push(drawing("line", { x1: x(at), x2: x(at), y1: above, y2: below }),
      drawing("text", { x: x(at), y: height - 8, "text-anchor": "middle" }, tick >= 28 * 86400000 ? monthOf(at) : tick >= 86400000 ? dayOf(at) : timeOfDay(at)));
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
}
