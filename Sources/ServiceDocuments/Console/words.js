"use strict";
// How the page says times, ages and who has asked. Times of day are the controller's, wherever the page is looked at, in the browser's
// language; programs read the API for seconds and ISO 8601.

let timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone; // this browser's, unless the page says the controller's

function setTimeZone(zone) {
  if (!zone) return;
  try { new Intl.DateTimeFormat(undefined, { timeZone: zone }); } catch { return; } // one that this browser does not know
  timeZone = zone;
  byId("time-zone").textContent = "Times are those of " + zone.replaceAll("_", " ") + ".";
}

byId("time-zone").textContent = "Times are those of this browser, " + timeZone.replaceAll("_", " ") + ".";
setTimeZone(document.documentElement.dataset.timeZone);

const inZone = (date, options) => new Date(date).toLocaleString(locale, { ...options, timeZone });

// Of another year than the present one, there, the year, too.
const yearOf = (date) => inZone(date, { year: "numeric" });
const withYear = (date) => yearOf(date) === yearOf(Date.now()) ? {} : { year: "numeric" };

// Fri, Nov 27, 06:30
function dayAndTime(date) {
  const options = { weekday: "short", day: "numeric", month: "short", ...withYear(date), hour: "2-digit", minute: "2-digit" };
  return Number.isNaN(new Date(date).getTime()) ? String(date) : inZone(date, options);
}
const dayOf = (date) => inZone(date, { weekday: "short", day: "numeric" });
const timeOfDay = (date) => inZone(date, { hour: "2-digit", minute: "2-digit" });
const timeWithSeconds = (date) => inZone(date, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
// Of today the time alone.
const whenOf = (date) => dayOf(date) === dayOf(Date.now()) && Date.now() - date < 86400000 ? timeWithSeconds(date) : dayAndTime(date);

// As people say it: just now, 12 s ago, 2 min ago, 5 h ago, yesterday, 3 days ago, over a year ago.
function ageOf(milliseconds) {
  const seconds = Math.max(0, milliseconds) / 1000;
  if (seconds < 2) return "just now";
  if (seconds < 90) return Math.round(seconds) + " s ago";
  if (seconds < 90 * 60) return Math.round(seconds / 60) + " min ago";
  if (seconds < 24 * 3600) return Math.round(seconds / 3600) + " h ago";
  const days = Math.round(seconds / 86400);
  return days < 2 ? "yesterday" : days < 366 ? days + " days ago" : days < 731 ? "over a year ago" : Math.floor(days / 365.25) + " years ago";
}

// What is left or was had: 05:00, 1:30:00.
function clock(seconds) {
  const whole = Math.max(0, Math.round(seconds)), hours = Math.floor(whole / 3600);
  const rest = String(Math.floor(whole / 60) % 60).padStart(2, "0") + ":" + String(whole % 60).padStart(2, "0");
  return hours ? hours + ":" + rest : rest;
}

// ---- what the daemon says for programs as well, in words for people: the API keeps its own

// The first that fits; {1} goes through these again.
const wordings = [
  [/^expected a token of scope control, .+$/, "This device may only look. Log in with one that may control"],
  [/^expected a token of scope admin, .+$/, "This device may not change the daemon. Log in with one that may"],
  [/^expected a token, as .+$/s, "Log in first"],
  [/^the token is not valid here; .+$/s, "This token does not work here. Log in with another"],
  [/^(?:expected (?:[A-Z]{3,}|a JSON|an offer|Content-Type)|no such route|\/ws |line \d+, column).*$/, "the controller does not understand this request"],
  [/^(?:a known member|one of the parameters) .*$/, "not known here"],
  [/^(?:an integer|a whole number),? (−?[\d.]+)…([\d.]+)(.*)$/, "a whole number from $1 to $2$3"],
  [/^(?:a number |minutes,? )?(−?[\d.]+)…([\d.]+)(.*)$/, "from $1 to $2$3"],
  [/^(?:text|a name|a client's name|an? \S+ name) ?(?:of|,) (\d+)…(\d+) characters(.*)$/, "from $1 to $2 characters"],
  [/^a list of 0…(\d+)\b.*$/, "at most $1 of them"],
  [/^a list of (\d+)…(\d+)\b.*$/, "from $1 to $2 of them"],
  [/^expected a new name, got (.+), which the token .+$/, "another device has the name $1 already"],
  [/^(?:.+:\d+:\d+: )?([\w.[\]]+): expected (.+), got .+; nothing was changed$/, "$1: {2}; nothing was changed"],
  [/^true or false$/, "yes or no"],
  [/^(.+\S) (\([^()]+\))$/, "{1} $2"],
  [/^(stopped|fault|emergency stop): (.+)$/, "$1: {2}"],
  ["nothing commanded yet", "waiting for the first command"],
  ["the controlling source went silent", "the remote control stopped sending"],
  ["no command within the deadman's time-out", "nobody has told it anything for too long"],
];

function worded(text) {
  text = text.replace(/\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)/g, dayAndTime);
  for (const [one, words] of wordings) {
    const found = one === text ? [text] : one.exec?.(text);
    if (found) return words.replace(/\$(\d)|\{(\d)\}/g, (_, asItIs, other) => other ? worded(found[other]) : found[asItIs]);
  }
  return text;
}

const saidAs = new Map(); // what is said → the API's message, which a pointer that rests on it shows

// Of a refusal. A field that is not as it must be is said with what it must be: zones[2].minutes → Zones 3, minutes: from 0.1 to 1440
function inPlainWords({ field, message }) {
  const expected = field && message?.startsWith(field + ": expected ") ? message.slice(field.length + 11).replace(/, got .*$/s, "") : null;
  const title = () => plain(field.replace(/\[(\d+)\]/g, (_, index) => " " + (Number(index) + 1)).replaceAll(/_|(?:Percent|Celsius|Us|Mm)$/g, " ").replaceAll(".", ", ")).trim();
  const said = expected === null ? message && worded(message) : sentence(title() + ": " + worded(expected)).slice(0, -1);
  if (said !== message) saidAs.set(said, message);
  return said;
}

// The daemon's words, and a connection of its own: this page's, or another's. It is not said whose, where it may be either: where this page had that name before,
// as the names of a daemon that was started anew are the same ones, and where somebody asked over HTTP. 0 is nobody's, as of a stop from before the start.
const firstSocket = 0x80000000; // the names of lower numbers are those of HTTP
const formerNames = new Set(); // as this page was called on the connections before

function ours(text) {
  return worded(text).replace(/local client (\d+)/g, (name, number) => name === ownName ? "this page" : number === "0" ? "somebody"
    : number < firstSocket || formerNames.has(name) ? "a page or program" : "another page or program");
}
