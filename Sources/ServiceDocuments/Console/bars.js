"use strict";
// Columns that are stacked of several things, with their names, and the same numbers as a table for who wants to read them.

// Draws into `place`. columns: their names; things: [{name, values: one for each column}]; unit; digits after the point; caption: what it is.
function drawBars(place, { columns, things, unit, digits = 0, caption }) {
  const sums = columns.map((_, index) => things.reduce((sum, { values }) => sum + values[index], 0));
  const isOpen = place.querySelector("details")?.open;
  if (!sums.some(Boolean)) return place.replaceChildren(element("p", "nothing yet", { className: "none panel" }));
  const svg = drawing("svg", { class: "chart bars", role: "img", "aria-label": caption });
  const names = element("p", null, { className: "hint names" });
  things.forEach(({ name }, index) => names.append(element("i", null, { className: "fill-" + index % 6 }), element("span", name)));
  const table = element("details");
  table.open = Boolean(isOpen);
  table.append(element("summary", "As a table"), barTable({ columns, things, sums, unit, digits, caption }));
  place.replaceChildren(svg, names, table);
  const width = svg.clientWidth || 600, height = svg.clientHeight || 200, left = 58, right = width - 14, above = 22, below = height - 26;
  const most = Math.max(4, ...sums), step = stepFor(most, Math.max(2, Math.floor(height / 45))), top = Math.ceil(most / step) * step;
  const y = (value) => below - value / top * (below - above), slot = (right - left) / columns.length;
  for (let value = 0; value <= top + step / 2; value += step) {
    svg.append(drawing("line", { x1: left, x2: right, y1: y(value), y2: y(value) }),
      drawing("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, Number(value.toFixed(2)) + " " + unit));
  }
  columns.forEach((column, index) => {
    let under = 0;
    things.forEach(({ values }, number) => {
      if (!values[index]) return;
      svg.append(drawing("rect", { x: left + slot * (index + 0.2), width: slot * 0.6, y: y(under + values[index]), height: y(under) - y(under + values[index]), class: "fill-" + number % 6 }));
      under += values[index];
    });
    if (under && slot > 34) svg.append(drawing("text", { x: left + slot * (index + 0.5), y: y(under) - 5, "text-anchor": "middle" }, under.toFixed(digits)));
    // Names that would touch each other: every other one, from the last.
    if (slot > 34 || (columns.length - index) % 2) svg.append(drawing("text", { x: left + slot * (index + 0.5), y: height - 8, "text-anchor": "middle" }, column));
  });
}

function barTable({ columns, things, sums, unit, digits, caption }) {
  const scroll = element("div", null, { className: "scroll", tabIndex: 0, ariaLabel: caption }), table = element("table"), head = element("tr"), body = element("tbody");
  scroll.setAttribute("role", "region");
  head.append(element("td"), ...columns.map((text) => element("th", text, { scope: "col" })));
  const row = (name, values) => {
    const made = element("tr");
    made.append(element("th", name, { scope: "row" }), ...values.map((value) => element("td", value ? value.toFixed(digits) + " " + unit : "–")));
    return made;
  };
  body.append(...things.map(({ name, values }) => row(name, values)), row("all", sums));
  const top = element("thead");
  top.append(head);
  table.append(top, body);
  scroll.append(table);
  return scroll;
}
