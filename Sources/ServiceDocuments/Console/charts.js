"use strict";
// What is drawn over time: a chart with both axes, and a time line of what was and will be on.

const niceSteps = [1, 2, 2.5, 5, 10];
const timeSteps = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10080, 43200, 86400].map((minutes) => minutes * 60000);

// A step that divides `span` into at most `parts`.
function stepFor(span, parts) {
  const rough = Math.max(span, 1e-9) / parts, power = 10 ** Math.floor(Math.log10(rough));
  return niceSteps.find((step) => step * power >= rough * 0.9999) * power;
}

// Draws into `svg`, as wide as it is on the page. series: [{points: [[milliseconds since 1970, value or null]]}], of which null is a gap;
// from, to: of the time axis; low, high: at least of the other axis; unit; bands: [{low, high}] where values are good;
// active: [{from, to}] while something was on; events: [{at, text}] of single moments.
function drawChart(svg, { series, from, to, low, high, unit, bands = [], active = [], events = [] }) {
  const width = svg.clientWidth || 600, height = svg.clientHeight || 200;
  const values = series.flatMap(({ points }) => points.map((point) => point[1])).filter((value) => value != null);
  const step = stepFor(Math.max(high, ...values) - Math.min(low, ...values), Math.max(2, Math.floor(height / 45)));
  const bottom = Math.floor(Math.min(low, ...values) / step) * step, top = Math.ceil(Math.max(high, ...values) / step) * step;
  const left = 58, right = width - 14, above = 14, below = height - 26;
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
      drawing("text", { x: x(at), y: height - 8, "text-anchor": "middle" }, tick >= 86400000 ? dayOf(at) : timeOfDay(at)));
  }
  for (const { at, text } of events) {
    if (at < from || at > to) continue;
    const line = drawing("line", { x1: x(at), x2: x(at), y1: above, y2: below, class: "event" });
    line.append(drawing("title", {}, text));
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

// Rows of `lanes`: [{name, blocks: [{from, to, look, text}]}], between `from` and `to`, a line at `now`. look: "" for what was, planned, skipped.
function drawTimeline(place, { lanes, from, to, now }) {
  const share = (at) => (Math.min(Math.max(at, from), to) - from) / (to - from) * 100 + "%";
  const days = element("div", null, { className: "days" });
  const dayMs = 86400000;
  const hourNow = Number(inZone(now, { hour: "2-digit", hour12: false })) % 24, minuteNow = Number(inZone(now, { minute: "2-digit" }));
  const midnight = now - (hourNow * 60 + minuteNow) * 60000;
  const starts = Array.from({ length: 15 }, (_, index) => midnight + (index - 7) * dayMs).filter((at) => at >= from && at < to);
  for (const at of starts) {
    const day = element("span", inZone(at + dayMs / 2, { weekday: "short" }) + " ");
    day.append(element("small", inZone(at + dayMs / 2, { day: "numeric" })));
    day.style.left = share(at);
    days.append(day);
  }
  place.replaceChildren(element("div"), days, ...lanes.flatMap(({ name, blocks }) => {
    const lane = element("div", null, { className: "lane" });
    for (const block of blocks) {
      if (block.to < from || block.from > to) continue;
      const bar = element("i", null, { className: block.look, title: block.text });
      bar.style.left = share(block.from);
      bar.style.width = `calc(${share(block.to)} - ${share(block.from)})`;
      lane.append(bar);
    }
    const line = element("b", null, { title: "now" });
    line.style.left = share(now);
    lane.append(line);
    return [element("div", name, { className: "name", title: name }), lane];
  }));
}
