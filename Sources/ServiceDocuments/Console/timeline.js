"use strict";
// A time line of what was and will be on: a lane for each thing, bars that say what they are when somebody chooses one, and that can be
// dragged to another time. One stop of the Tab key: the arrows go from bar to bar, Enter opens the one that is marked.

const nearPx = 22; // half a fingertip: so far beside a bar still means the bar
const dragsFromPx = 6; // less is a click

// Draws `lanes`: [{name, blocks: [{from, to, look, text}]}], between `from` and `to`, with a line at `now` if that is there. look: "" for what
// was, planned, skipped, moved. open(block) is called for a bar that is clicked, tapped or entered. move, for bars that can be dragged by so many
// milliseconds: {goes(block, by, other): whether the other bar goes with it; one that does not go with itself stays, says(block, by): where it
// would be, done(block, by)}.
function drawTimeline(place, { lanes, from, to, now, open = null, move = null }) {
  const share = (at) => (Math.min(Math.max(at, from), to) - from) / (to - from) * 100 + "%";
  const bars = [];
  place.replaceChildren(element("div"), daysOf(from, to, share), ...lanes.flatMap(({ name, blocks }, row) => {
    const lane = element("div", null, { className: "lane" });
    lane.setAttribute("role", "group");
    lane.setAttribute("aria-label", name);
    for (const block of [...blocks].sort((one, other) => one.from - other.from)) {
      if (block.to < from || block.from > to) continue;
      const bar = element("i", null, { className: block.look, title: block.text, id: place.id + "-bar-" + bars.length });
      bar.setAttribute("role", "option");
      bar.setAttribute("aria-label", name + ", " + block.text);
      bar.setAttribute("aria-selected", "false");
      bar.style.left = share(block.from);
      bar.style.width = `calc(${share(block.to)} - ${share(block.from)})`;
      bars.push({ block, bar, row, lane });
      lane.append(bar);
    }
    if (now >= from && now < to) {
      const line = element("b", null, { title: "now" });
      line.style.left = share(now);
      lane.append(line);
    }
    return [element("div", name, { className: "name", title: name, ariaHidden: "true" }), lane];
  }));
  place.setAttribute("role", bars.length && open ? "listbox" : "img");
  if (!open) return;
  place.tabIndex = 0;
  const marked = markedBar(place, bars);
  byPointer(place, bars, { msPerPx: () => (to - from) / (bars[0]?.lane.clientWidth || 1), open, move, marked });
  byArrows(place, bars, { open, marked });
}

// Each where it begins in the controller's time zone: one of a change of its clock is an hour longer or shorter.
function daysOf(from, to, share) {
  const days = element("div", null, { className: "days", ariaHidden: "true" });
  for (let date = dateOf(from); date <= dateOf(to); date = dateAfter(date, 1)) {
    const at = startOf(date);
    if (at < from || at >= to) continue;
    const day = element("span", inWordsOf(date, { weekday: "short" }) + " ");
    day.append(element("small", inWordsOf(date, { day: "numeric" })));
    day.style.left = share(at);
    days.append(day);
  }
  return days;
}

// The bar that is marked stays so when the line is drawn anew.
function markedBar(place, bars) {
  const same = ({ block, row }) => place.dataset.marked === row + " " + block.text;
  const set = (one) => {
    for (const { bar } of bars) bar.setAttribute("aria-selected", String(bar === one?.bar));
    if (!one) return place.removeAttribute("aria-activedescendant");
    place.dataset.marked = one.row + " " + one.block.text;
    place.setAttribute("aria-activedescendant", one.bar.id);
  };
  set(bars.find(same));
  return { get: () => bars.find(({ bar }) => bar.ariaSelected === "true"), set };
}

function barAt(bars, event) {
  let nearest = null, least = nearPx;
  for (const one of bars) {
    const lane = one.lane.getBoundingClientRect(), box = one.bar.getBoundingClientRect();
    if (event.clientY < lane.top || event.clientY > lane.bottom) continue;
    const distance = Math.max(box.left - event.clientX, event.clientX - box.right, 0);
    if (distance < least || (distance === 0 && least === 0)) [nearest, least] = [one, distance];
  }
  return nearest;
}

function byPointer(place, bars, { msPerPx, open, move, marked }) {
  let held = null; // {one, x: where it was taken, by: pixels, moves: whether it may}
  const drop = () => {
    for (const { bar } of bars) { bar.style.transform = ""; bar.classList.remove("dragged"); }
    place.querySelector(".where")?.remove();
    held = null;
  };
  place.onpointerdown = (event) => {
    const one = event.button === 0 ? barAt(bars, event) : null;
    if (!one) return;
    held = { one, x: event.clientX, by: 0, moves: move?.goes(one.block, 0, one.block) };
    place.setPointerCapture(event.pointerId);
  };
  place.onpointermove = (event) => {
    if (!held?.moves) return;
    const by = event.clientX - held.x;
    if (!held.by && Math.abs(by) < dragsFromPx) return;
    held.by = by;
    for (const { block, bar } of bars) {
      const goes = move.goes(held.one.block, by * msPerPx(), block);
      bar.style.transform = goes ? `translateX(${by}px)` : "";
      bar.classList.toggle("dragged", goes);
    }
    const where = place.querySelector(".where") || place.appendChild(element("span", null, { className: "where" }));
    where.textContent = move.says(held.one.block, by * msPerPx());
    where.style.left = Math.min(event.clientX - place.getBoundingClientRect().left, place.clientWidth - 90) + "px";
  };
  place.onpointerup = () => {
    if (!held) return;
    const { one, by } = held;
    drop();
    marked.set(one);
    if (by) move.done(one.block, by * msPerPx()); else open(one.block);
  };
  place.onpointercancel = drop;
}

function byArrows(place, bars, { open, marked }) {
  place.onkeydown = (event) => {
    const now = marked.get(), row = now ? now.row : 0;
    const next = {
      ArrowRight: () => bars[bars.indexOf(now) + 1] || now, ArrowLeft: () => bars[bars.indexOf(now) - 1] || bars[0],
      ArrowDown: () => bars.find((one) => one.row > row) || now, ArrowUp: () => bars.filter((one) => one.row < row).at(-1) || now,
      Home: () => bars[0], End: () => bars.at(-1),
    }[event.key];
    if (next) marked.set(now ? next() : bars[0]); else if (event.key === "Enter" && now) open(now.block); else return;
    event.preventDefault();
  };
}
