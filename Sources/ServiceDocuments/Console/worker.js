"use strict";
// The service worker: keeps the page's own files, so that the page opens while the daemon is down, and says so. The daemon is always asked first. Nothing
// of the API comes through here: no state can be shown from before, and no command can wait.

const shell = "shell-1";
const patienceMs = 3000; // a daemon that hangs accepts the connection and never answers
const remembersMs = 10000; // one that has hung is not waited for with the page's next file
const seldom = ["german.js", "help.js", "logs.js", "parts.js", "timing.js"]; // not named in the page
const home = new URL("./", location.href).href;

addEventListener("install", (event) => event.waitUntil(keepAll().then(() => skipWaiting())));
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => {
  const file = fileOf(event.request);
  if (file !== null) event.respondWith(newest(event, file));
});

async function keepAll() {
  const cache = await caches.open(shell), page = await fetch(home);
  const names = [...(await page.clone().text()).matchAll(/(?:src|href)="([\w.-]+)"/g)].map(([, name]) => name);
  await cache.addAll([...new Set([...names, ...seldom])].map((name) => home + name));
  await cache.put(home, page);
}

// The address of one of the page's files; null for anything else.
function fileOf(request) {
  const [address] = request.url.split(/[?#]/);
  if (request.method !== "GET" || request.headers.has("Authorization") || !address.startsWith(home)) return null;
  return /^$|^[\w.-]+\.(js|css|svg|png|webmanifest)$/.test(address.slice(home.length)) ? address : null;
}

let hungAt = -Infinity;

async function newest(event, file) {
  const cache = await caches.open(shell), kept = await cache.match(file, { ignoreVary: true });
  if (kept && Date.now() - hungAt < remembersMs) return kept;
  // What is given up leaves its connection to others: a browser opens six.
  const control = new AbortController();
  const limit = setTimeout(() => { hungAt = Date.now(); control.abort(); }, patienceMs);
  try {
    const answer = await fetch(event.request, { signal: control.signal });
    // A proxy answers for a daemon that is down.
    if (answer.status >= 500) throw new Error(answer.statusText);
    if (answer.ok) event.waitUntil(cache.put(file, answer.clone()));
    return answer;
  } catch {
    return kept || Response.error();
  } finally {
    clearTimeout(limit);
  }
}
