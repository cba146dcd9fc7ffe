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

// Fri, Nov 27, 06:30
function dayAndTime(date) {
  const options = { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" };
  return Number.isNaN(new Date(date).getTime()) ? String(date) : inZone(date, options);
}
const dayOf = (date) => inZone(date, { weekday: "short", day: "numeric" });
const timeOfDay = (date) => inZone(date, { hour: "2-digit", minute: "2-digit" });
const timeWithSeconds = (date) => inZone(date, { hour: "2-digit", minute: "2-digit", second: "2-digit" });

// As people say it: just now, 12 s ago, 2 min ago, 5 h ago, 3 days ago.
function ageOf(milliseconds) {
  const seconds = Math.max(0, milliseconds) / 1000;
  if (seconds < 2) return "just now";
  if (seconds < 90) return Math.round(seconds) + " s ago";
  if (seconds < 90 * 60) return Math.round(seconds / 60) + " min ago";
  if (seconds < 48 * 3600) return Math.round(seconds / 3600) + " h ago";
  return Math.round(seconds / 86400) + " days ago";
}

// What is left or was had: 05:00, 1:30:00.
function clock(seconds) {
  const whole = Math.max(0, Math.round(seconds)), hours = Math.floor(whole / 3600);
  const rest = String(Math.floor(whole / 60) % 60).padStart(2, "0") + ":" + String(whole % 60).padStart(2, "0");
  return hours ? hours + ":" + rest : rest;
}

// What the daemon calls a connection of its own: this page, or another.
function ours(text) {
  return text.replace(/local client \d+/g, (name) => name === ownName ? "this page" : "another page or program");
}
