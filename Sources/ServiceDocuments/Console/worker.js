"use strict";
// The service worker: keeps the page and its files, so that it opens while the daemon is down, and says so. For the page the daemon is always asked first; a
// file of a name never changes. Nothing of the API comes through here: no state can be shown from before, and no command can wait.

const shell = "shell-1";
const patienceMs = 3000; // a daemon that hangs accepts the connection and never answers
const home = new URL("./", location.href).href;

addEventListener("install", (event) => event.waitUntil(keepAll().then(() => skipWaiting())));
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
// Each time that a page is whole: the daemon may serve another one than before.
addEventListener("message", (event) => event.waitUntil(keepAll().catch(() => {})));
addEventListener("fetch", (event) => {
  const [address] = event.request.url.split(/[?#]/);
  if (event.request.method !== "GET" || event.request.headers.has("Authorization") || !address.startsWith(home)) return;
  if (address === home) event.respondWith(newest(event.request));
  else if (/-[0-9a-f]{12}\.[\w.]+$/.test(address) && !address.slice(home.length).includes("/")) event.respondWith(found(address).then((kept) => kept ?? fetch(event.request)));
});

const found = async (address) => (await caches.open(shell)).match(address, { ignoreVary: true });

// The page last, when all that it names is there; what it does not name is of an older one.
async function keepAll() {
  const cache = await caches.open(shell), page = await fetch(home);
  if (!page.ok) throw new Error(page.statusText);
  const names = [...(await page.clone().text()).matchAll(/(?:src|href)="([\w.-]+-[0-9a-f]{12}\.[\w.]+)"/g)].map(([, name]) => home + name);
  const before = (await cache.keys()).map(({ url }) => url);
  await cache.addAll([...new Set(names)].filter((name) => !before.includes(name)));
  await cache.put(home, page);
  for (const one of before) if (one !== home && !names.includes(one)) await cache.delete(one);
}

async function newest(request) {
  // What is given up leaves its connection to others: a browser opens six.
  const control = new AbortController(), limit = setTimeout(() => control.abort(), patienceMs);
  try {
    const answer = await fetch(request, { signal: control.signal });
    // A proxy answers for a daemon that is down.
    if (answer.status >= 500) throw new Error(answer.statusText);
    return answer;
  } catch {
    return await found(home) ?? Response.error();
  } finally {
    clearTimeout(limit);
  }
}
