"use strict";
// The page's socket, opened while the other scripts are still on their way: on a slow link its round trips pass meanwhile. `connect` takes it over.

function openSocket(token) {
  const address = new URL("ws", new URL(".", location.href));
  address.protocol = location.protocol === "https:" ? "wss:" : "ws:";
  const opened = new WebSocket(address, token ? ["events.v1", "bearer." + token] : ["events.v1"]);
  opened.binaryType = "arraybuffer";
  return opened;
}

// The socket with its token. `messages` are those that have come so far, `openedAt` is when the ping 0 went out, and `closed` is the event of its end. It is
// null if no socket could be made, and after `connect` has taken it over.
let begunSocket = null;
if (!location.hash.startsWith("#/ticket/")) {
  const token = sessionStorage.getItem("token") || localStorage.getItem("token") || "";
  try {
    const made = { token, socket: openSocket(token), messages: [], openedAt: 0, closed: null };
    made.socket.onopen = () => { made.openedAt = performance.now(); made.socket.send(JSON.stringify({ type: "ping", id: 0 })); };
    made.socket.onmessage = (message) => made.messages.push(message);
    made.socket.onclose = (event) => { made.closed = event; };
    begunSocket = made;
  } catch { /* a token that is none: `connect` says so */ }
}
