"use strict";
// What the cards of systems.js are made of, and how they ask. Every text goes in as text: a description cannot bring elements.

// The copy of a system's own HTML; null for one that has the made card.
function ownRoot(system) {
  const kind = system.name.split("/")[0], template = byId("card-" + kind);
  if (!template || !ownShapes.has(kind)) return null;
  const root = element("div");
  root.className = "own";
  root.append(template.content.cloneNode(true));
  return root;
}

function showOwn(card, event) {
  try { ownShapes.get(card.name.split("/")[0])(card.own, event, card.system); } catch (error) { console.error(error); }
}

function addCard(system, shape) {
  const id = "system-" + system.name;
  const card = {
    name: system.name, title: system.title, shape, section: element("section", null, { id }), state: element("small"),
    why: element("p", null, { className: "why", hidden: true }),
    fields: [], inputs: [], settings: new Map(), faults: new Map(), trouble: null,
    troubles: new Set((system.notices || []).filter((notice) => notice.trouble).map((notice) => notice.name)),
  };
  card.section.className = "system";
  card.section.setAttribute("aria-labelledby", id + "-title");
  card.why.setAttribute("role", "alert");
  const title = element("h2", system.title + " ", { id: id + "-title" });
  title.append(card.state);
  if (system.simulated) title.append(" ", element("small", "simulated", { className: "simulated", title: "no hardware is driven" }));
  const split = element("div", null, { className: "split" });
  card.system = system;
  card.own = ownRoot(system);
  split.append(commandsOf(card, system), card.own || fieldsOf(card, system));
  card.section.append(title, element("p", system.summary, { className: "hint" }), card.why, split, ...curvesOf(card), ...settingsOf(card, system), ...faultsOf(card, system), guideOf(system));
  byId("diagnostics").before(card.section);
  card.action = actionOf(card, system);
  addView(system.name, system.title, id, null);
  mark(id, "warn", "no state yet");
  sectionSystems[id] = system.name;
  cards.set(system.name, card);
}

function removeCard(name) {
  const { section } = cards.get(name);
  delete sectionSystems[section.id];
  section.remove();
  removeView(name);
  cards.delete(name);
  stopped(name, null);
}

// The one control on its tile: what makes safe, if it can be asked without a number; otherwise the first that can.
function actionOf(card, system) {
  const simple = system.commands.filter((one) => !one.parameters.length && (one.scope !== "admin" || mayAdminister));
  const chosen = simple.find((one) => one.makesSafe) || simple[0];
  return chosen ? { words: titleOf(chosen.name), look: chosen.makesSafe ? "halt" : "", act: (control) => askSystem(card, control, chosen.name) } : null;
}

// The word of the state stands beside the title.
function fieldsOf(card, system) {
  const list = element("dl");
  for (const { name, meaning, type, choices, unit, kind } of system.fields) {
    if (name === "state" && type === "string") continue;
    const value = element("dd"), output = element("output", "–", { title: "unknown" });
    const field = { name, title: titleOf(name, unit), unit, isInteger: type === "integer", output, history: [], trace: null };
    output.ariaLive = "off";
    value.append(output);
    if (kind === "gauge" && (type === "number" || type === "integer") && !choices) value.append(traceOf(field));
    list.append(element("dt", titleOf(name, unit), { title: meaning }), value);
    card.fields.push(field);
  }
  return list;
}

function traceOf(field) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 120 20");
  svg.setAttribute("aria-hidden", "true");
  field.trace = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
  svg.append(field.trace);
  return svg;
}

// ---- commands

// What has parameters is a line of its own; the rest are buttons side by side, and last what every system has that drives something.
function commandsOf(card, system) {
  const set = element("fieldset", null, { className: "hands" });
  for (const one of system.commands) if (one.parameters.length) set.append(formOf(card, one));
  const row = element("div", null, { className: "row" }), place = element("div");
  place.dataset.say = "";
  for (const one of system.commands) if (!one.parameters.length) row.append(buttonOf(card, one, "button", (event) => askSystem(card, event.target, one.name)));
  const stop = button("Emergency stop", (event) => askSystem(card, event.target, "e-stop"),
    { className: "stop-one", title: "Stops this system alone, until a reset. E-STOP stops everything." });
  card.reset = button("Reset", (event) => askSystem(card, event.target, "reset"), { title: "Leaves the emergency stop or the fault of this system" });
  const always = element("span", null, { className: "row" });
  always.append(stop, card.reset);
  if (system.stops !== false) row.append(always);
  place.append(row);
  set.append(place);
  return set;
}

function buttonOf(card, { name, meaning, scope, makesSafe }, type, onclick) {
  const made = element("button", titleOf(name), { type, onclick, title: meaning, className: makesSafe ? "halt" : "" });
  if (scope === "admin" && !mayAdminister) Object.assign(made, { disabled: true, title: meaning + " Only a device that may change the daemon can do this." });
  return made;
}

function formOf(card, one) {
  const place = element("div"), form = element("form", null, { className: "row", noValidate: true });
  place.dataset.say = "";
  const inputs = one.parameters.map((parameter) => inputOf(parameter));
  card.inputs.push(...inputs);
  const send = buttonOf(card, one, "submit", null);
  form.append(...inputs.map((input) => input.label), send);
  form.onsubmit = (event) => {
    event.preventDefault();
    unsay(send);
    const wrong = inputs.find(({ input }) => !input.checkValidity());
    for (const { input } of inputs) input.ariaInvalid = wrong && wrong.input === input ? "true" : null;
    if (!wrong) return askSystem(card, send, one.name, Object.fromEntries(inputs.map((input) => [input.name, input.read()])), inputs);
    say(send, sentence(wrong.title + " must be " + wrong.expected));
    wrong.input.focus();
  };
  place.append(form);
  return place;
}

function inputOf(parameter) {
  const { name, meaning, type, choices, minimum, maximum, unit, standard } = parameter;
  const isNumber = type === "number" || type === "integer", range = rangeOf(parameter);
  const one = { name, type, title: titleOf(name, unit), isEdited: false, asked: null };
  if (choices) {
    one.input = element("select");
    one.input.append(...choices.map((choice) => element("option", plain(choice), { value: choice })));
  } else {
    one.input = element("input", null, { type: type === "boolean" ? "checkbox" : isNumber ? "number" : "text" });
  }
  if (isNumber) {
    Object.assign(one.input, { min: minimum ?? "", max: maximum ?? "", step: type === "integer" ? "1" : "any", required: standard == null });
    if (minimum != null && maximum != null) one.input.placeholder = minimum + "…" + maximum;
  }
  if (type === "boolean") one.input.checked = standard === true;
  else if (standard != null) one.input.value = standard;
  one.expected = ((type === "integer" ? "a whole number " : "a number ") + range.replace(/^at/, "of at")).trim();
  // Nothing in a number's place: its default.
  const number = () => one.input.value === "" ? undefined : Number(one.input.value);
  one.read = () => type === "boolean" ? one.input.checked : isNumber ? number() : one.input.value;
  one.input.oninput = () => {
    one.isEdited = true;
    one.input.ariaInvalid = null;
  };
  one.label = element("label", null, { title: [meaning, range && sentence(range)].filter(Boolean).join(" ") });
  one.label.append(...type === "boolean" ? [one.input, " " + one.title] : [one.title + " ", one.input, unit ? " " + unit : ""]);
  return one;
}

// Asked until it is answered, which is when the loop has taken it; its inputs, until the state says so, too.
async function askSystem(card, control, word, body, inputs = []) {
  unsay(control);
  control.ariaBusy = "true";
  const { isDone, document, message } = await request("POST", "/api/" + card.name + "/" + word, body);
  control.ariaBusy = null;
  if (isDone) forgetRefusals(control.closest("[data-view]") ?? document);
  if (!isDone) {
    const named = inputs.find(({ name }) => document && name === document.field);
    if (named) named.input.ariaInvalid = "true";
    return say(control, message);
  }
  if (document.warning) say(control, worded(document.warning), "notice");
  if (word === "reset") card.trouble = null;
  for (const one of inputs) {
    one.isEdited = false;
    one.asked = { value: body[one.name], at: performance.now() };
    one.input.classList.add("asked");
  }
}

// ---- settings and faults: opened, they are asked for again

function folded(words, ...content) {
  const details = element("details");
  details.append(element("summary", words), ...content);
  details.ontoggle = () => { if (details.open) loadSystems(); };
  return details;
}

// What each command does, in the declaration's words, and what holds for every system.
function guideOf(system) {
  const guide = element("details", null, { className: "guide" }), list = element("ul");
  for (const { name, meaning } of system.commands) {
    const line = element("li");
    line.append(element("strong", titleOf(name)), " ", element("span", meaning));
    list.append(line);
  }
  list.append(element("li", "When this program ends, dies or hangs, every output goes to its safe state. E-STOP does it at once, and holds until Reset."));
  guide.append(element("summary", "How to use it, and what is safe"), list);
  return guide;
}

// A table of which the first column names what the row is about.
function tableOf(label, heads, rows) {
  const place = element("div", null, { className: "scroll", tabIndex: 0, role: "region", ariaLabel: label }), table = element("table"), head = element("thead"), body = element("tbody"), names = element("tr");
  names.append(...heads.map((text) => element("th", text, { scope: "col" })));
  head.append(names);
  body.append(...rows);
  table.append(head, body);
  place.append(table);
  return place;
}

// Those that hold until a restart are the configuration file's to tell.
function settingsOf(card, system) {
  const settings = system.settings.filter((setting) => setting.mayChange);
  if (!settings.length) return [];
  const titles = settings.map((setting) => titleOf(setting.name, setting.unit));
  const rows = settings.map((setting, index) => {
    // mostCelsius and mostMinutes are both Most without their units.
    const title = titles.indexOf(titles[index]) === titles.lastIndexOf(titles[index]) ? titles[index] : titleOf(setting.name);
    const row = element("tr"), value = element("td");
    card.settings.set(setting.name, value);
    row.append(element("td", title, { title: setting.name }), value, element("td", rangeOf(setting)),
      element("td", inUnit(setting.standard, setting.unit, String)), element("td", setting.meaning));
    return row;
  });
  return [folded("Settings", tableOf("Settings of " + card.title, ["setting", "value", "range", "unless set", "meaning"], rows))];
}

function faultsOf(card, system) {
  if (!system.simulated || !system.faults.length) return [];
  const set = element("fieldset", null, { className: "hands" });
  for (const fault of system.faults) {
    const place = element("div"), label = element("label"), box = element("input", null, { type: "checkbox", disabled: !mayAdminister });
    place.dataset.say = "";
    box.onchange = () => askFault(card, box, fault.name);
    label.append(box, " " + titleOf(fault.name) + " ", element("small", fault.meaning));
    place.append(label);
    card.faults.set(fault.name, box);
    set.append(place);
  }
  if (!mayAdminister) set.append(element("p", "Only a device that may change the daemon switches faults.", { className: "hint" }));
  return [folded("Simulated faults", set)];
}

async function askFault(card, box, fault) {
  box.ariaBusy = "true";
  const active = box.checked;
  const done = await command(box, "POST", "/api/sim/fault", { system: card.name, fault, active });
  box.ariaBusy = null;
  if (!done) box.checked = !active;
}
