"use strict";
// A time axis that people move: by the wheel over a chart that has the focus or with Ctrl, by two fingers, by dragging, by buttons and by keys.

const zoomSpans = [["hour", 3600000], ["day", 86400000], ["week", 7 * 86400000], ["month", 31 * 86400000], ["year", 365 * 86400000], ["3 years", 3 * 365 * 86400000]];

// What is shown: {span: milliseconds, end: its end, or null while that is now}. kept: the name by which this browser keeps the span. changed() is called after each
// change.
function timeAxis({ span, least = 600000, most = 3 * 365 * 86400000, kept, changed }) {
  const within = (wanted) => Math.min(most, Math.max(least, wanted));
  const axis = { span: within(Number(ofDevice.get("span " + kept)) || span), end: null };
  axis.to = () => axis.end ?? Date.now();
  axis.from = () => axis.to() - axis.span;
  axis.show = (wanted, end) => {
    axis.span = within(wanted);
    ofDevice.set("span " + kept, axis.span);
    axis.end = end == null || end >= Date.now() ? null : Math.max(end, Date.now() - most + axis.span);
    changed();
  };
  // `share` of the axis, 0 at its beginning, stays where it is.
  axis.zoom = (factor, share = 1) => {
    const wanted = within(axis.span * factor), fixed = axis.from() + share * axis.span;
    axis.show(wanted, share === 1 && axis.end === null ? null : fixed + (1 - share) * wanted);
  };
  axis.move = (share) => axis.show(axis.span, axis.to() + share * axis.span);
  return axis;
}

// Buttons for an axis, into `place`; returns what has to be called when it has changed. spans: [name, milliseconds], of which the one that is shown is pressed.
function axisButtons(place, axis, spans = zoomSpans) {
  const chips = spans.map(([name, span]) => chipOf(name, false, () => axis.show(span, axis.end)));
  const now = button("Now", () => axis.show(axis.span, null));
  place.replaceChildren(...chips, together(button("−", () => axis.zoom(2), { ariaLabel: "Zoom out" }), button("+", () => axis.zoom(0.5), { ariaLabel: "Zoom in" }),
    button("‹", () => axis.move(-0.5), { ariaLabel: "Earlier" }), button("›", () => axis.move(0.5), { ariaLabel: "Later" }), now));
  return () => {
    spans.forEach(([, span], index) => chips[index].setAttribute("aria-pressed", String(Math.abs(axis.span - span) < 1000)));
    now.disabled = axis.end === null;
  };
}

// Lets somebody zoom and move the axis on a chart.
function zoomable(svg, axis) {
  const fingers = new Map(); // pointer → x
  let apart = 0;
  const shareOf = (x) => { const box = svg.getBoundingClientRect(); return Math.min(1, Math.max(0, (x - box.left - chartLeft) / (box.width - chartLeft - chartRight))); };
  svg.tabIndex = 0;
  svg.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && document.activeElement !== svg) return; // it is the page's
    event.preventDefault();
    axis.zoom(event.deltaY > 0 ? 1.25 : 0.8, shareOf(event.clientX));
  }, { passive: false });
  svg.onpointerdown = (event) => {
    if (event.button !== 0) return;
    svg.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, event.clientX);
    apart = 0;
  };
  svg.onpointermove = (event) => {
    if (!fingers.has(event.pointerId)) return;
    const before = fingers.get(event.pointerId), width = svg.clientWidth - chartLeft - chartRight;
    fingers.set(event.pointerId, event.clientX);
    if (fingers.size === 1) { if (event.clientX !== before) axis.move((before - event.clientX) / width); return; }
    const [one, other] = [...fingers.values()], distance = Math.max(10, Math.abs(one - other));
    if (apart) axis.zoom(apart / distance, shareOf((one + other) / 2));
    apart = distance;
  };
  svg.onpointerup = svg.onpointercancel = (event) => { fingers.delete(event.pointerId); apart = 0; };
  svg.onkeydown = (event) => {
    const does = { "+": () => axis.zoom(0.5, 0.5), "=": () => axis.zoom(0.5, 0.5), "-": () => axis.zoom(2, 0.5), ArrowLeft: () => event.shiftKey && axis.move(-0.25), ArrowRight: () => event.shiftKey && axis.move(0.25), End: () => axis.show(axis.span, null) }[event.key];
    if (!does || hasModifier(event)) return;
    event.preventDefault();
    does();
  };
}
