"use strict";
// What the first values do not need: the systems' cards, charts, Diagnostics, System. It is fetched once the page is live, or has to wait for somebody, so that
// on a slow link nothing goes before the first values. What does not come is asked for again, for as long as it takes.

const lateWords = "A part of this page has not come. It is asked for again; if that lasts, reload the page.";
const longestPauseMs = 15000;
let isWhole = false; // all of it is there
let isFetching = false;

function comes(src) {
  return new Promise((done) => {
    const script = element("script", null, { src, onload: () => done(true), onerror: () => { script.remove(); done(false); } });
    document.head.append(script);
  });
}

async function loadScript(src) {
  for (let pause = 1000; !await comes(src); pause = Math.min(2 * pause, longestPauseMs)) {
    alarm("late " + src, lateWords, () => {});
    await new Promise((done) => setTimeout(done, pause));
  }
  alarm("late " + src, null);
}

async function loadLater() {
  if (isFetching) return;
  isFetching = true;
  const files = [...document.querySelectorAll("link[rel=later][as=script]")].map(({ href }) => href);
  for (const file of files) await loadScript(file);
  isWhole = true;
  showView();
  for (const event of states.values()) queueMicrotask(() => shown(event)); // no card's mistake ends it
  if (ownName) greeted();
  if (isPolled) askStates();
  hands();
  lookAtHealth();
  setInterval(lookAtHealth, 10000);
  document.addEventListener("visibilitychange", lookAtHealth);
  for (const link of document.querySelectorAll("link[data-rel]")) link.rel = link.dataset.rel;
  // The page's own files are kept for when the daemon is down. Browsers do so over https and from this machine; others do without.
  try { (await navigator.serviceWorker?.register(at("worker.js")))?.active?.postMessage("keep"); } catch { /* not kept */ }
}

// Before the cards are there: the word of a system, in the bar and on its tile.
function preview(event) {
  findHazard(event);
  if (typeof event.state === "string" && (event.type === "state" || event.type === event.system)) mark(sectionOf(event.system), "idle", plain(event.state));
}
