"use strict";
// A month as a table of days, each with marks for what was and will be, and a button that opens it. One stop of the Tab key: the arrows go
// from day to day, and from month to month at its ends.

const dayMs = 86400000;

let dateFormat = null; // of the controller's time zone
// The numbers of an instant there, whatever the language: {year, month, day, hour, minute}, as two digits or more.
function numbersOf(instant) {
  if (dateFormat?.resolvedOptions().timeZone !== timeZone) {
    dateFormat = new Intl.DateTimeFormat("en", { timeZone, year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  }
  return Object.fromEntries(dateFormat.formatToParts(new Date(instant)).map(({ type, value }) => [type, value]));
}

// 2026-11-27, of an instant in the controller's time zone.
function dateOf(instant) {
  const { year, month, day } = numbersOf(instant);
  return [year, month, day].join("-");
}

// The instant, to the minute, at which a date begins there. It lies within a day and a half of its noon in Greenwich. It is not always a midnight, since a clock
// that goes forward at midnight shows no midnight on that date.
function startOf(date) {
  let [before, since] = [-2160, 2160]; // minutes from that noon
  while (since - before > 1) {
    const middle = Math.floor((before + since) / 2);
    if (dateOf(noonOf(date) + middle * 60000) < date) before = middle; else since = middle;
  }
  return noonOf(date) + since * 60000;
}

// Days are counted without a zone: noon of that date, as if it were Greenwich's.
const noonOf = (date) => Date.parse(date + "T12:00:00Z");
const weekdayOf = (date) => (new Date(noonOf(date)).getUTCDay() + 6) % 7; // 0: Monday
const dateAfter = (date, days) => new Date(noonOf(date) + days * dayMs).toISOString().slice(0, 10);
const inWordsOf = (date, options) => new Date(noonOf(date)).toLocaleDateString(locale, { ...options, timeZone: "UTC" });

// Draws the month of `shown` (a date) into `place`. today, chosen: dates; marksOf(date): [{look, text}], look as in a time line; sumOf(date): a
// few characters; choose(date) is called when somebody opens a day, or goes to one of another month.
function drawMonth(place, { shown, today, chosen, marksOf, sumOf, choose }) {
  const first = shown.slice(0, 8) + "01", monday = dateAfter(first, -weekdayOf(first));
  const held = place.contains(document.activeElement);
  const table = element("table", null, { className: "month" }), head = element("tr"), body = element("tbody");
  const days = Array.from({ length: 42 }, (_, index) => dateAfter(monday, index));
  for (const date of days.slice(0, 7)) head.append(element("th", inWordsOf(date, { weekday: "short" }), { scope: "col" }));
  for (let week = 0; week < 6; week++) {
    if (week && !days[week * 7].startsWith(first.slice(0, 7))) break;
    const row = element("tr");
    for (const date of days.slice(week * 7, week * 7 + 7)) {
      const cell = element("td");
      if (date.startsWith(first.slice(0, 7))) cell.append(dayButton(date, { today, chosen, marks: marksOf(date), sum: sumOf(date), choose }));
      row.append(cell);
    }
    body.append(row);
  }
  const top = element("thead");
  top.append(head);
  table.append(element("caption", inWordsOf(first, { month: "long", year: "numeric" })), top, body);
  table.onkeydown = (event) => {
    const days = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7 }[event.key];
    if (!days) return;
    event.preventDefault();
    choose(dateAfter(event.target.dataset.date || chosen, days));
  };
  place.replaceChildren(table);
  if (held) place.querySelector("[tabindex='0']")?.focus();
}

function dayButton(date, { today, chosen, marks, sum, choose }) {
  const made = button("", () => choose(date), { className: "day" + (date === today ? " today" : ""), tabIndex: date === chosen ? 0 : -1 });
  made.dataset.date = date;
  made.setAttribute("aria-pressed", String(date === chosen));
  made.setAttribute("aria-label", [inWordsOf(date, { weekday: "long", day: "numeric", month: "long" }), date === today && "today", ...marks.map(({ text }) => text)]
    .filter(Boolean).join(", "));
  const row = element("span", null, { className: "marks" });
  row.append(...marks.slice(0, 4).map(({ look }) => element("i", null, { className: look })));
  made.append(element("strong", String(Number(date.slice(8)))), element("small", sum), row);
  return made;
}
