"use strict";
// Curves of a card that is made from a description: what it measures, one chart for each unit, as far as this tab has heard of it. They are still
// there after a reload.

const curvesKeptMs = 3600000;
const curvesSpans = [["minute", 60000], ["10 min", 600000], ["hour", curvesKeptMs]];
const curvePasts = JSON.parse(ofTab.get("curves") || "{}"); // system → [{at, values: by field}]
addEventListener("pagehide", () => ofTab.set("curves", JSON.stringify(curvePasts)));

// The curves of a card's measurements, to be put into it; nothing of one that measures nothing.
function curvesOf(card) {
  const measured = card.fields.filter((field) => field.trace), units = [...new Set(measured.map(({ unit }) => unit))];
  card.curves = null;
  if (!measured.length) return [];
  const place = element("div", null, { className: "curves" }), buttons = element("div", null, { className: "row" });
  buttons.setAttribute("role", "group");
  buttons.setAttribute("aria-label", "Time that the curves show, " + card.title);
  const axis = timeAxis({ span: 600000, least: 60000, most: curvesKeptMs, kept: card.name, changed: () => { show(); drawCurves(card); } });
  const show = axisButtons(buttons, axis, curvesSpans);
  const charts = units.map((unit) => {
    const fields = measured.filter((field) => field.unit === unit), names = element("p", null, { className: "hint names" }), svg = drawing("svg", { class: "chart", role: "img" });
    fields.forEach(({ title }, index) => names.append(element("i", null, { className: "fill-" + index % 4 }), element("span", title)));
    zoomable(svg, axis);
    place.append(svg, names);
    return { unit, fields, svg };
  });
  show();
  place.append(buttons);
  card.curves = { axis, charts };
  const details = folded("Curves", place);
  details.addEventListener("toggle", () => drawCurves(card));
  card.curves.details = details;
  return [details];
}

function followCurves(card, event) {
  if (!card.curves) return;
  const past = curvePasts[card.name] ??= [], now = Date.now();
  if (past.length && now - past.at(-1).at < 900) return;
  past.push({ at: now, values: Object.fromEntries(card.curves.charts.flatMap(({ fields }) => fields).map(({ name }) => [name, valueAt(event, name) ?? null])) });
  while (past[0].at < now - curvesKeptMs) past.shift();
  drawCurves(card);
}

function drawCurves(card) {
  if (!card.curves.details.open || viewOfSystem(card.name) !== view) return;
  const { axis, charts } = card.curves, [from, to] = [axis.from(), axis.to()], past = curvePasts[card.name] || [];
  for (const { unit, fields, svg } of charts) {
    const values = past.flatMap((one) => fields.map(({ name }) => one.values[name])).filter((value) => typeof value === "number");
    const [low, high] = values.length ? [Math.min(...values), Math.max(...values)] : [0, 1], middle = (low + high) / 2, half = Math.max((high - low) / 2, Math.abs(high) / 50, 0.5);
    const series = fields.map(({ name, title }) => ({ name: title, points: past.map((one) => [one.at, typeof one.values[name] === "number" ? one.values[name] : null]) }));
    svg.setAttribute("aria-label", `${fields.map(({ title }) => title).join(", ")} from ${timeOfDay(from)} to ${axis.end ? timeOfDay(to) : "now"}`);
    drawChart(svg, { series, from, to, low: middle - half, high: middle + half, unit });
  }
}
