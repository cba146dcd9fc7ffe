"use strict";
// One view a system, each with an address of its own (#/robot), an overview of them all, and the sheet of keys. A section of the
// page belongs to the view that its data-view names; the bar has a link for each view, below on a phone, at the side on a wide screen. A phone's has
// four, and "More" for the rest.

const icons = {
  overview: "M3 11 12 4l9 7M6 9.5V20h12V9.5M10 20v-6h4v6",
  diagnostics: "M3 12h4l2.5-7 5 14L17 12h4",
  logs: "M4 6h16M4 10h10M4 14h16M4 18h12",
  other: "M7 7h10v10H7zM9.5 3v4M14.5 3v4M9.5 17v4M14.5 17v4M3 9.5h4M3 14.5h4M17 9.5h4M17 14.5h4",
};
const views = new Map(); // name → {title, link, tile, section: id of the one that `mark` speaks of}
let view = "overview";

function drawing(name, properties = {}, text = null) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(properties)) made.setAttribute(key, value);
  if (text != null) made.textContent = text;
  return made;
}

function iconOf(path) {
  const icon = drawing("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" });
  icon.append(drawing("path", { d: path }));
  return icon;
}

// A link in the bar, before Diagnostics; of a system a tile in the overview as well. `mark`, `tile` and `removeView` find it by its name or its
// section's.
function addView(name, title, section, icon, hasTile = true) {
  const link = element("a", null, { href: name === "overview" ? "#/" : "#/" + name, hidden: hasTile });
  link.append(iconOf(icon || icons.other), element("span", title));
  link.dataset.title = title;
  byId("systems").insertBefore(link, views.get("diagnostics")?.link || null);
  const made = { title, link, section, tile: hasTile ? tileOf(name, title, icon || icons.other) : null };
  if (made.tile) byId("tiles").append(made.tile.element);
  views.set(name, made);
  if (byId(section)) byId(section).dataset.view ||= name;
  if (name === asked()) showView();
}

function removeView(name) {
  const { link, tile, section } = views.get(name);
  link.remove();
  tile.element.remove();
  marks.delete(section);
  views.delete(name);
  showWell();
  showView();
}

// ---- which one is shown

// #/plants/12: the view, and what is sought in it. A view's name may have a slash, too: kettle/left.
function wholeAsked() {
  try { return decodeURIComponent(location.hash.replace(/^#\/?/, "")) || "overview"; } catch { return "overview"; } // a lone %
}
function asked() {
  const whole = wholeAsked(), parent = whole.slice(0, whole.lastIndexOf("/"));
  return !views.has(whole) && views.has(parent) ? parent : whole;
}
const sought = () => wholeAsked().slice(asked().length + 1);

// Help, the log, the view of the parts for who writes a card, and what Diagnostics shows: their scripts are fetched only where somebody asks for them.
const seldom = new Map(); // view → when its script is there
function loadSeldom() {
  const name = asked(), file = { help: "help", logs: "logs", parts: "parts", diagnostics: "timing" }[name];
  if (isWhole && file && !seldom.has(name)) seldom.set(name, loadScript(fileOf(file)));
}

function showView() {
  loadSeldom();
  const before = view;
  view = views.has(asked()) ? asked() : "overview";
  for (const part of document.querySelectorAll("main > [data-view]")) part.toggleAttribute("data-shown", part.dataset.view === view);
  for (const [name, { link }] of views) if (name === view) link.ariaCurrent = "page"; else link.ariaCurrent = null;
  document.body.dataset.shows = view;
  nameWindow();
  showAbsent();
  for (const card of ownCards.values()) if (card.viewed) card.viewed(view, sought());
  if (view === before) return;
  forgetRefusals(document);
  views.get(view).link.scrollIntoView({ block: "nearest" }); // a long bar at the side scrolls
  // What is driven is looked at.
  releaseAll();
  watch();
  scrollTo(0, 0);
}

// To what is sought in a view, when the view stands.
function goTo(part) {
  requestAnimationFrame(() => { part.scrollIntoView({ block: "center" }); part.focus({ preventScroll: true }); });
}

// Where somebody goes by a link, a screen reader reads on there, and the keys are that system's.
function readOn() {
  const title = document.querySelector("main > [data-shown] h2");
  if (!title || sought()) return; // the card goes to what is sought
  title.tabIndex = -1;
  title.focus({ preventScroll: true });
}
addEventListener("hashchange", () => {
  showView();
  if (views.has(asked())) readOn(); else seldom.get(asked())?.then(readOn);
});

let program = document.title;
function nameWindow() {
  const trouble = holds.size ? "⚠ " : "";
  const title = trouble + (view === "overview" ? program : translated(views.get(view).title) + " · " + program);
  if (document.title !== title) document.title = title;
}

// A view of which the daemon has not said anything, which may be because it has no such system.
function showAbsent() {
  const { section, title } = views.get(view) || {};
  const isAbsent = isLive && isWhole && view !== "overview" && view !== "diagnostics" && byId(section).hidden;
  byId("absent").hidden = !isAbsent;
  byId("absent").textContent = isAbsent ? title + ": nothing is known of it yet. The controller runs only what its configuration file names." : "";
  const key = isAbsent && byId(section).querySelector(".guide")?.dataset.key;
  if (key) byId("absent").append(" ", "This line in the file adds it, after the next start:", " ", element("code", key), " ", element("a", "Help", { href: "#/help" }));
}

// ---- states: the bar, the tiles and what they come to

const marks = new Map(); // section → {level, text, cause, title, name}

// level: up (something is going on), idle, warn, down. What is wrong with the system by what its state says goes before what its card makes of it.
function mark(section, level, text) {
  const hazard = hazards.get(sectionSystems[section]), cause = hazard?.cause ?? "";
  if (hazard) [level, text] = ["down", hazard.words];
  const found = [...views].find(([, one]) => one.section === section);
  if (!found) return;
  const [name, { title }] = found;
  const last = marks.get(section);
  if (last && last.level === level && last.text === text && last.cause === cause) return;
  marks.set(section, { level, text, cause, title, name });
  showMark(section);
  showAbsent();
  showWell();
  watch();
}

// In the bar and on the tile.
function showMark(section) {
  if (!marks.has(section)) return;
  const { level, text, cause, title, name } = marks.get(section), { link, tile } = views.get(name);
  const since = oldSince.get(sectionSystems[section]), told = since ? `${text}, old since ${since}` : text;
  const whole = cause ? told + ": " + cause : told, look = "led " + level;
  link.hidden = false;
  link.className = look;
  link.toggleAttribute("data-old", Boolean(since));
  link.title = whole;
  link.setAttribute("aria-label", title + ": " + whole);
  if (!tile) return;
  tile.element.hidden = false;
  tile.element.classList.toggle("stale", Boolean(since));
  tile.state.className = look;
  tile.state.toggleAttribute("data-old", Boolean(since));
  put(tile.state, told);
}

// Well is only what has been heard just now: of a daemon that is silent the summary says since when. What is no system's stands above, of the daemon's health, or
// in the banner.
function showWell() {
  const isSilent = !isLive && heardOn.size > 0, lines = [];
  if (isSilent) lines.push({ text: `No word from the daemon since ${whenOf(Math.max(...heardOn.values()))}: what is shown is old.`, level: "stale" });
  for (const [section, { level, text, cause, title, name }] of marks) {
    const since = isSilent ? undefined : oldSince.get(sectionSystems[section]);
    if (level === "down" || level === "warn" || since) lines.push({ title, name, text: text + (since ? `, old since ${since}` : "") + (cause ? ": " + cause : ""), level: level === "down" ? level : "warn" });
  }
  const isAbove = !byId("degraded").hidden;
  if (!lines.length && marks.size && (isAbove || !byId("banner").hidden)) lines.push({ text: isAbove ? "Not all is well: see above." : "Not all is well: see below.", level: "warn" });
  const words = JSON.stringify([lines, marks.size === 0]);
  if (byId("well").dataset.words === words) return;
  byId("well").dataset.words = words;
  byId("well").className = lines.length ? ["down", "stale", "warn"].find((look) => lines.some(({ level }) => level === look)) : marks.size ? "up" : "stale";
  byId("well").replaceChildren(...(lines.length ? lines.map(({ title, name, text }) => {
    const line = element("p");
    if (name) line.append(element("a", title, { href: "#/" + name }), " " + text); else line.append(text);
    return line;
  }) : [element("p", marks.size ? "All is well." : "Connecting to the controller…")]));
}

function tileOf(name, title, icon) {
  const made = { element: element("article", null, { className: "tile", hidden: true }), action: null };
  const head = element("h3"), link = element("a", null, { href: "#/" + name });
  link.append(iconOf(icon), title);
  head.append(link);
  made.state = element("p", null, { className: "led" });
  made.now = element("p", null, { className: "now" });
  made.next = element("p", null, { className: "next" });
  const hands = element("fieldset", null, { className: "hands" });
  hands.dataset.say = "";
  made.button = button("", () => made.action && made.action(made.button), { hidden: true });
  hands.append(made.button);
  made.element.append(head, made.state, made.now, made.next, hands);
  return made;
}

// What a system's tile says. now: what is on or measured; next: what comes; action: {words, look: a class of buttons, act(control)}, the one
// control that matters. While something is wrong with the system the tile says what, and what to do; nothing is offered then but what makes safe or resets.
function tile(name, { now = "", next = "", action = null }) {
  const shown = views.get(name)?.tile, hazard = hazards.get(name);
  if (!shown) return;
  if (hazard) {
    now = hazard.cause || hazard.words;
    if (hazard.wayOut) next = "to go on: " + hazard.wayOut;
    if (!["halt", "wanted"].includes(action?.look)) action = null;
  }
  put(shown.now, now);
  put(shown.next, next);
  shown.action = action && action.act;
  shown.button.hidden = !action;
  if (!action) return;
  put(shown.button, action.words);
  shown.button.className = action.look || "";
  shown.button.setAttribute("aria-label", action.words + ", " + views.get(name).title);
}

// ---- telemetry: ten times a second of what is in view and does something, or drives; of the rest the state that every client gets once a
// second

let watched = "";
function watch() {
  const systems = [...heardAt.keys()].filter((system) => system !== "loops"
    && (driving.get(system) || !isQuiet(system) && (viewOfSystem(system) === view || ownCards.get(system)?.drives && ownCards.get(view)?.stage)));
  if (!isLive || watched === systems.join()) return;
  watched = systems.join();
  send({ type: "unsubscribe" });
  if (systems.length) send({ type: "subscribe", systems, rateHz: 10 });
}

const sectionOf = (system) => Object.keys(sectionSystems).find((id) => sectionSystems[id] === system);
const isQuiet = (system) => marks.get(sectionOf(system))?.level === "idle";

function viewOfSystem(system) {
  const section = sectionOf(system);
  return section && byId(section) ? byId(section).dataset.view : null;
}

// ---- the sheet of keys

const keyWords = [
  ["Esc, Space", "emergency stop of what drives or is armed and of what this view drives; everything else goes on. Space that is typed into a field is a space."],
  [stopKey, "E-STOP of everything, in every view"],
]; // cards add theirs
function showKeys(isShown) {
  byId("keys").hidden = !isShown;
  byId("keys-open").ariaExpanded = String(isShown);
  if (!isShown) return byId("keys-open").focus();
  const lines = [...keyWords, ["?", "this sheet"], ["g, then a digit", "the view at that place in the bar"]];
  byId("key-list").replaceChildren(...lines.flatMap(([key, does]) => [element("dt", key), element("dd", does)]));
  byId("keys-close").focus();
}
byId("keys-open").onclick = () => showKeys(byId("keys").hidden);
byId("keys-close").onclick = () => showKeys(false);

let isGoing = false; // g was pressed
addEventListener("keydown", (event) => {
  if (isTyping(event) || hasModifier(event) || event.repeat) return;
  if (event.key === "?") showKeys(byId("keys").hidden);
  if (event.key === "Escape" && !byId("keys").hidden) showKeys(false);
  if (event.key === "Escape" && isMoreOpen()) { openMore(false); more.focus(); }
  if (isGoing && /^[1-9]$/.test(event.key)) {
    const link = barLinks()[Number(event.key) - 1];
    if (link) link.click();
    event.stopImmediatePropagation(); // it is no speed
  }
  isGoing = event.key === "g";
});

// ---- "More" of a phone's bar: the views beyond the fourth, and the worst mark among them

const barPlaces = 4;
const barLinks = () => [...byId("systems").querySelectorAll("a:not([hidden])")];
const more = button("", () => openMore(!isMoreOpen()), { id: "more", ariaExpanded: "false" });
more.append(iconOf("M5 12h.1M12 12h.1M19 12h.1"), element("span", "More"));

const isMoreOpen = () => more.ariaExpanded === "true";
function openMore(opens) {
  byId("systems").toggleAttribute("data-open", opens);
  more.ariaExpanded = String(opens);
  if (opens) barLinks()[barPlaces].focus();
}

function shareBar() {
  const links = barLinks(), rest = links.length > barPlaces + 1 ? links.slice(barPlaces) : [];
  for (const link of links) link.toggleAttribute("data-more", rest.includes(link));
  const hidden = [...marks.values()].filter(({ name }) => rest.includes(views.get(name).link));
  const worst = hidden.find(({ level }) => level === "down") ?? hidden.find(({ level }) => level === "warn"), look = worst ? "led " + worst.level : "";
  if (more.className !== look) more.className = look;
  more.ariaLabel = worst ? `More: ${worst.title}: ${worst.text}` : "More";
  more.toggleAttribute("hidden", !rest.length);
  more.toggleAttribute("data-current", rest.some((link) => link.ariaCurrent));
  if (byId("systems").lastChild !== more) byId("systems").append(more);
}
new MutationObserver(shareBar).observe(byId("systems"), { childList: true, subtree: true, attributeFilter: ["hidden", "class", "aria-current"] });
addEventListener("click", ({ target }) => { if (isMoreOpen() && !more.contains(target)) openMore(false); });

// ---- a second finger: browsers make clicks of the first alone, and whoever holds a stick or a slider with it presses with another

const otherFingers = new Map(); // pointer → the button under it

addEventListener("pointerdown", ({ isPrimary, pointerType, pointerId, target }) => {
  const pressed = target.closest("button, input[type=checkbox]");
  if (!isPrimary && pointerType === "touch" && pressed) otherFingers.set(pointerId, pressed);
});
addEventListener("pointercancel", ({ pointerId }) => { otherFingers.delete(pointerId); }); // the browser scrolls or zooms
addEventListener("pointerup", ({ pointerId, clientX, clientY }) => {
  const pressed = otherFingers.get(pointerId);
  otherFingers.delete(pointerId);
  if (pressed?.contains(document.elementFromPoint(clientX, clientY))) pressed.click();
});

addView("overview", "Overview", "overview", icons.overview, false);
for (const { id, dataset, firstElementChild } of document.querySelectorAll("section[data-system]")) {
  sectionSystems[id] = dataset.system;
  addView(dataset.system, firstElementChild.firstChild.data.trim(), id, dataset.icon);
}
addView("diagnostics", "Diagnostics", "loops-section", icons.diagnostics, false);
addView("logs", "Log", "logs", icons.logs, false);
views.get("diagnostics").link.after(views.get("logs").link);
showWell();
showView();
