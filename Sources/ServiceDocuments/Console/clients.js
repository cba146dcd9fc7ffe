"use strict";
// The view System, for who may change the daemon: what runs where, the clients that have a token of their own, to see, to make and to revoke, the settings of the
// file, and the store as a file.

const clientsPeriodMs = 10000; // "last seen" moves
const longestPageAddress = 149; // what fits into the picture with a ticket
const scopeWords = { read: "looks", control: "looks and controls", admin: "changes the daemon, too" };
const lifetimes = [["for ever", null], ["1 day", 1], ["30 days", 30], ["1 year", 365]]; // in days

addView("system", "System", "clients-section", "M4 6h16v10H4zM9 20h6M12 16v4M8 11h.01M12 11h4", false);
byId("systems").append(views.get("system").link);

// Told at each connection: what this token may do.
function showSystemView() {
  for (const link of [views.get("system").link, ...document.querySelectorAll(".admin")]) link.hidden = !mayAdminister;
  byId("clients-admin").hidden = !mayAdminister;
  byId("clients-refused").hidden = mayAdminister;
  loadSystem();
}

// Each of these asks only while the view is shown to who may see it.
function loadSystem() {
  loadFacts();
  loadClients();
  loadSettingsOfFile();
  loadStore();
}

// ---- what runs, and where

const guardWords = {
  watching: "watching: it makes everything safe when the daemon cannot", replacing: "being replaced", lost: "lost: every output is stopped",
  none: "none: it is switched off, or everything is simulated",
};

async function loadFacts() {
  if (view !== "system" || !mayAdminister) return;
  const [runtime, health, file] = await Promise.all(["/api/runtime", "/api/health", "/api/settings"].map(look));
  const { state, madeSafeISO } = health?.guard ?? {}, startedNs = runtime?.epochNs ? runtime.monotonicNs - runtime.epochNs : null;
  const facts = [
    ["Version", runtime?.version], ["Computer", file?.host], ["Started", startedNs !== null && ageOf(startedNs / 1e6)],
    ["Guard", state && guardWords[state] + (madeSafeISO ? "; made everything safe: " + dayAndTime(madeSafeISO) : "")],
  ];
  byId("system-facts").replaceChildren(...facts.filter(([, text]) => text).flatMap(([name, text]) =>
    [element("dt", name), element("dd", text, { translate: name !== "Version" && name !== "Computer" })]));
}

byId("support").onclick = ({ target }) => save(target, "/api/support", "tactus-support.txt");
saves(byId("support-short"), "/api/support", "tactus-support.txt");

async function loadClients() {
  if (view !== "system" || !mayAdminister || document.hidden) return;
  const { isDone, document: list, message } = await request("GET", "/api/tokens");
  put(byId("clients-why"), isDone || !message ? "" : sentence(message));
  // A question or a refusal stays until somebody has seen it.
  if (isDone && !byId("clients").querySelector(".say")) showClients(list.tokens);
}

function showClients(tokens) {
  const rank = { valid: 0, expired: 1, revoked: 2 };
  const rows = [...tokens].sort((one, other) => rank[one.state] - rank[other.state]).map(clientRow);
  if (!rows.length) return byId("clients").replaceChildren(element("p", "No device has been let in yet. New client… makes the first one.", { className: "none" }));
  const focused = document.activeElement?.dataset?.client;
  byId("clients").replaceChildren(tableOf("Table of the clients", ["name", "may", "made", "expires", "last seen", ""], rows));
  byId("clients").querySelector("thead th:last-child").append(element("span", "Actions", { className: "unseen" }));
  if (focused) byId("clients").querySelector(`[data-client="${focused}"]`)?.focus();
}

function clientRow(client) {
  const row = element("tr", null, { className: client.state === "valid" ? "" : "dead" });
  const name = element("td"), last = element("td");
  name.append(element("strong", client.name, { translate: false }), " ", element("small", client.id, { translate: false }));
  if (client.isOwn) name.append(" ", element("small", "this page", { className: "own" }));
  last.dataset.say = "";
  if (client.state === "valid") {
    const revoke = button("Revoke", () => askToRevoke(revoke, client), { className: "stop-one", ariaLabel: "Revoke " + client.name });
    revoke.dataset.client = client.id;
    last.append(revoke);
  } else {
    last.append(client.state);
  }
  const seen = client.seenISO ? ageOf(Date.now() - Date.parse(client.seenISO)) : "not since the start";
  row.append(name, ...[["may", scopeWords[client.scope]], ["made", dayOfYear(client.createdISO)],
    ["expires", client.expiresISO ? dayOfYear(client.expiresISO) : "never"], ["last seen", seen]].map(([label, text]) => {
    const cell = element("td", text, { title: label === "last seen" ? client.seenAddress || "" : "" });
    cell.dataset.label = label;
    return cell;
  }), last);
  return row;
}

const dayOfYear = (date) => inZone(date, { day: "numeric", month: "short", year: "numeric" });

function askToRevoke(control, client) {
  const end = client.isOwn ? " This page uses it: it is logged out." : " What it drives stops.";
  ask(control, `Revoke ${client.name}? It is refused from now on.${end}`, ["Revoke", () => revokeClient(control, client, "")]);
}

async function revokeClient(control, client, query) {
  const { isDone, document: answer, message } = await request("DELETE", "/api/tokens/" + client.id + query);
  if (isDone) return loadClients();
  if (answer?.code !== "LAST_ADMIN") return say(control, message);
  ask(control, "This is the last token that may change the daemon. Without it another can only be made in a terminal on the computer that runs it.",
    ["Revoke all the same", () => revokeClient(control, client, "?lastAdmin=true")]);
}

// ---- a new client

for (const [words, days] of lifetimes) byId("client-lifetime").append(element("option", words, { value: days || "" }));
for (const [scope, words] of Object.entries(scopeWords)) byId("client-scope").append(element("option", words, { value: scope, selected: scope === "control" }));

byId("client-form").onsubmit = async (event) => {
  event.preventDefault();
  const control = byId("client-make"), name = byId("client-name").value.trim(), days = Number(byId("client-lifetime").value);
  if (!name) return say(control, "Name must be at least 1 character long.");
  const body = { name, scope: byId("client-scope").value };
  if (days) body.validSeconds = days * 86400;
  if (here.href.length <= longestPageAddress) body.page = here.href;
  control.disabled = true;
  const made = await command(control, "POST", "/api/tokens", body);
  control.disabled = false;
  if (!made) return;
  byId("client-name").value = "";
  byId("client-new").open = false;
  showMade(made);
  loadClients();
};

// The token is in this panel and nowhere else, until it is closed.
function showMade({ client, token: text, ticket }) {
  const panel = byId("client-made"), title = element("h3", null, { tabIndex: -1 });
  title.append(element("span", client.name, { translate: false }), " ", "may come in");
  const field = element("input", null, { readOnly: true, value: text, spellcheck: false, ariaLabel: "Token", translate: false });
  field.onfocus = () => field.select();
  const parts = [title];
  if (ticket) {
    parts.push(element("p", "Point the other device's camera at this picture, or open the address there: it is good once, within 5 minutes."), pictureOf(ticket.picture),
      element("code", ticket.address, { translate: false }));
    if (isOfThisComputer) parts.push(element("p", onlyHere, { className: "warning" }));
  }
  parts.push(element("p", "The token itself, for programs. It is shown this once:"), field, button("Done", closeMade, { className: "primary" }));
  panel.replaceChildren(...parts);
  panel.hidden = false;
  title.focus();
}

function closeMade() {
  byId("client-made").replaceChildren();
  byId("client-made").hidden = true;
}

// A QR code: dark modules on white with the margin of four that readers need, in dark colours too.
function pictureOf(rows) {
  const side = rows.length + 8, svg = drawing("svg", { class: "qr", viewBox: `0 0 ${side} ${side}`, role: "img", "aria-label": "QR code of the address", "shape-rendering": "crispEdges" });
  const dark = rows.flatMap((row, y) => [...row].map((one, x) => one === "1" ? `M${x + 4} ${y + 4}h1v1h-1z` : "")).join("");
  svg.append(drawing("rect", { width: side, height: side, fill: "#fff" }), drawing("path", { d: dark, fill: "#000" }));
  return svg;
}

addEventListener("hashchange", () => {
  if (view !== "system") return closeMade();
  loadSystem();
});
setInterval(() => { if (isLive) loadClients(); }, clientsPeriodMs);

// ---- what a reload may change

async function loadSettingsOfFile() {
  if (view !== "system" || !mayAdminister) return;
  const { isDone, document: list, message } = await request("GET", "/api/settings");
  if (!isDone) return say(byId("reload"), message);
  unsay(byId("reload")); // that they did not come
  put(byId("settings-file"), list.file);
  // What somebody is typing stays.
  if (!byId("settings-list").contains(document.activeElement)) byId("settings-list").replaceChildren(...list.settings.map(settingOf));
}

// The sentence below its key. What is a number or one of some words has a field; a text may name a file, and is changed in the file alone.
function settingOf({ key, value, isGiven, isSet, standard, expected, meaning }) {
  const place = element("div", null, { className: "setting" }), line = element("div", null, { className: "row" }), field = fieldOf(expected, value);
  const label = element("label", null, { translate: false }), range = isGiven && standard !== null ? `${expected}; ${standard} unless set` : expected;
  label.append(element("strong", key), " ", field ?? element("span", value ?? "–"));
  line.append(label);
  if (field) {
    const save = button("Save", () => saveSetting(save, key, field.value));
    line.append(save);
  }
  line.append(element("small", range, { translate: false, lang: "en" }), isSet ? element("small", "until the next reload or start") : "");
  // That a reload may change it is so of all of them, and said above.
  place.append(line, element("p", meaning.replace(/ .[a-z-]+ reload. may change it\.$/, ""), { className: "hint", translate: false, lang: "en" }));
  place.dataset.say = "";
  return place;
}

// null: of a text.
function fieldOf(expected, value) {
  const range = /^(an integer|a number) ([-+.\de]+)…([-+.\de]+)$/.exec(expected);
  if (range) return element("input", null, { type: "number", min: range[2], max: range[3], step: range[1] === "a number" ? "any" : "1", value: value ?? "" });
  const words = expected === "true or false" ? ["true", "false"] : /^one of (.+)$/.exec(expected)?.[1].split(", ");
  if (!words) return null;
  const choice = element("select");
  choice.append(...[...words.includes(value) ? [] : [""], ...words].map((word) => element("option", word || "–", { value: word, selected: word === value })));
  return choice;
}

async function saveSetting(control, key, value) {
  control.disabled = true;
  const answer = await command(control, "PUT", "/api/settings", { key, value });
  control.disabled = false;
  if (answer) say(control, changesOf(answer).join("; "), "notice");
}

function changesOf({ changed, waiting, late }) {
  const lines = [...changed.map(({ key, from, to }) => `${key}: ${from ?? "nothing"} → ${to ?? "nothing"}`), ...waiting.map((name) => name + ": its wider limits take effect after the next safe state"),
    ...late.map((name) => name + " has not taken it yet")];
  return lines.length ? lines : ["nothing has changed"];
}

byId("reload").onclick = async ({ target }) => {
  byId("reload-said").replaceChildren();
  target.disabled = true;
  const { isDone, document: answer, message } = await request("POST", "/api/reload");
  target.disabled = false;
  // Who has changed the file looks for its lines.
  byId("reload-said").replaceChildren(...(isDone ? changesOf(answer) : (answer?.message ?? message).split("\n")).map((line) => element("p", line)));
  loadSettingsOfFile();
};

// ---- what is kept, as one file

const newestOf = (iso) => iso ? dayOfYear(iso) : "";

async function loadStore() {
  if (view !== "system" || !mayAdminister) return;
  const { isDone, document: store } = await request("GET", "/api/store");
  byId("restore-undo").hidden = !isDone || !store.undoISO;
  if (!isDone) return byId("store-held").replaceChildren();
  const rows = store.parts.flatMap(({ part, contents }) => contents.map((rows, place) => {
    const row = element("tr");
    row.append(place ? element("td") : element("th", part, { scope: "row", translate: false }), ...[rows.rows, rows.count, newestOf(rows.newestISO)].map((text) => element("td", text)));
    return row;
  }));
  byId("store-held").replaceChildren(tableOf("Table of what is kept", ["part", "what", "how many", "newest"], rows));
}

// Shows what a restore of the file would do to each part, and restores those that are ticked. At first these are the parts that are named, or, if none is,
// those in which nothing would be lost. `then` is called when the restore is done.
async function lookIntoBackup(control, file, place, said, preferred, then) {
  place.replaceChildren();
  const look = await command(control, "POST", "/api/restore/look", file, longRequestLimitMs);
  if (!look) return;
  const boxes = [];
  const chosen = () => boxes.filter((box) => box.checked).map((box) => box.value);
  const restore = button("Restore it", async () => {
    restore.disabled = true;
    const done = await command(control, "POST", "/api/restore?parts=" + chosen().join(","), file, longRequestLimitMs);
    mark();
    if (!done) return;
    place.replaceChildren();
    put(said, "restored");
    loadStore();
    then?.();
  });
  const mark = () => { restore.disabled = !chosen().length; };
  const rows = look.parts.filter((part) => part.isInBackup).flatMap(({ part, contents }) => {
    const keepsAll = contents.every((rows) => !rows.lost && !rows.overwritten);
    const box = element("input", null, { type: "checkbox", value: part, checked: preferred ? preferred.includes(part) : keepsAll, onchange: mark });
    const label = element("label"), first = element("th", null, { scope: "row" });
    boxes.push(box);
    label.append(box, " ", element("span", part, { translate: false }));
    first.append(label);
    return (contents.length ? contents : [{}]).map((rows, index) => {
      const row = element("tr");
      row.append(index ? element("td") : first, ...[rows.rows, rows.now, newestOf(rows.newestISO), rows.inBackup, newestOf(rows.newestInBackupISO), rows.lost, rows.overwritten, rows.added]
        .map((text) => element("td", text)));
      return row;
    });
  });
  mark();
  place.append(element("p", `Only the parts that are ticked become those of ${file.name}. What drives or waters by them stops. Of logs nothing is lost: they are joined.`),
    tableOf("Table of what a restore changes", ["part", "what", "now", "newest", "in the backup", "newest there", "lost", "overwritten", "new"], rows),
    together(restore, button("Cancel", () => place.replaceChildren())));
}

function offersRestore(field, place, said, preferred, then) {
  field.onchange = () => {
    const file = field.files[0];
    put(said, "");
    if (file) lookIntoBackup(field, file, place, said, preferred, then);
    field.value = "";
  };
}

byId("backup").onclick = ({ target }) => save(target, "/api/backup", "tactus.tar");
offersRestore(byId("restore"), byId("restore-look"), byId("store-said"));
byId("restore-undo").onclick = ({ target }) => ask(target, "What the last restore replaced comes back, and what has changed there since is replaced in its turn.", ["Undo it", async () => {
  byId("restore-look").replaceChildren();
  if (await command(target, "POST", "/api/restore/undo", undefined, longRequestLimitMs)) put(byId("store-said"), "undone");
  loadStore();
}]);
