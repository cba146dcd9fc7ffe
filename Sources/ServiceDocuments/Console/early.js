"use strict";
// What the page keeps, and its socket, opened while all its files are still on their way: on a slow link its round trips pass meanwhile. `connect` takes it over.
// The page itself has this script and three more in it, before its style, which any script behind it waits for (`Console.swift`).

// What this tab or this device keeps. In a frame of another site a browser may refuse its storage, by throwing: then it is kept as long as the page is open.
function keeper(storage) {
  const kept = new Map();
  const attempt = (use) => { try { return use(window[storage]); } catch { return null; } };
  return {
    get: (name) => kept.get(name) ?? attempt((store) => store.getItem(name)),
    set: (name, text) => { kept.set(name, text); attempt((store) => store.setItem(name, text)); },
    remove: (name) => { kept.delete(name); attempt((store) => store.removeItem(name)); },
  };
}
const ofTab = keeper("sessionStorage"), ofDevice = keeper("localStorage");

function openSocket(token) {
  const address = new URL("ws", new URL(".", location.href));
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  const opened = new WebSocket(address, token ? ["events.v1", "bearer." + token] : ["events.v1"]);
  opened.binaryType = "arraybuffer";
  return opened;
}

// The socket with its token. `messages` are those that have come so far, `pings` says when each went out (0, −1, …, by `timer`, so that the newest answer is of
// now whenever the scripts come), and `closed` is the event of its end. It is null if no socket could be made, and after `connect` has taken it over.
let begunSocket = null;
if (!location.hash.startsWith("#/ticket/")) {
  const token = ofTab.get("token") || ofDevice.get("token") || "";
  try {
    const made = { token, socket: openSocket(token), messages: [], pings: new Map(), timer: 0, closed: null };
    const ask = () => {
      if (made.socket.readyState !== WebSocket.OPEN) return;
      const id = -made.pings.size;
      made.pings.set(id, performance.now());
      made.socket.send(JSON.stringify({ type: "ping", id }));
    };
    made.socket.onopen = () => { ask(); made.timer = setInterval(ask, 500); };
    made.socket.onmessage = (message) => made.messages.push(message);
    made.socket.onclose = (event) => { made.closed = event; };
    begunSocket = made;
  } catch { /* a token that is none: `connect` says so */ }
}
