"use strict";
// The robot's card, and driving: the stick, the keys, a gamepad. A hold begins with a touch or a key and ends when it is let go or refused. The knob moves when
// the robot has taken the first command; a hold of which nothing was taken ends without a word, for a stop is obeyed whoever
// says it, and this robot may be somebody else's.

const drivePeriodMs = 50; // 20 Hz, as the robot's operators send
const neutral = { left: 0, right: 0 };
const pad = byId("pad");
const keys = new Set();
let driver = null; // who is in control, as the daemon calls them
let grip = null; // the pointer that holds the stick, or "keys", or "gamepad"
let hold = null; // {x, y, left, right, isTaken, isSent, isOver}
let limit = 100; // percent of full speed that the end of the stick's way is
let keyTenths = 5; // full keys are this share of the limit
let echo = 0;
const echoes = new Map(); // number of a command that moves → its hold

// y up is forward, x right turns right; both wheels stay within ±100 %.
function steer(by, x, y) {
  if (!isLive || isReadOnly) return;
  if (!hold) {
    unsay(pad);
    grip = by;
    hold = { isTaken: false, isSent: false, isOver: false };
  }
  const left = (y + x) * 100, right = (y - x) * 100;
  const largest = Math.max(100, Math.abs(left), Math.abs(right));
  Object.assign(hold, { x, y, left: Math.round(left * limit / largest), right: Math.round(right * limit / largest) });
  if (!hold.isSent || by === "keys") drive();
  showStick();
}

function showStick() {
  const isShown = hold !== null && hold.isTaken;
  pad.classList.toggle("held", isShown);
  byId("knob").style.transform = isShown ? `translate(${hold.x * 142}%, ${-hold.y * 142}%)` : "";
}

// The robot answers what carries a number. Until it has taken something, a zero would be a stop of somebody else's.
function drive() {
  const { left, right } = hold;
  if (left === 0 && right === 0) {
    if (hold.isTaken) sendText(neutral);
    return;
  }
  echoes.set(++echo, hold);
  echoes.delete(echo - 200);
  hold.isSent = true;
  sendText({ left, right, echo });
}
setInterval(() => { if (hold) drive(); }, drivePeriodMs);

// Zero and three stops: one of them will arrive. What is on its way is waited for: only its answer tells whose robot it is.
function release() {
  keys.clear();
  const ended = hold;
  [grip, hold] = [null, null];
  showStick();
  if (!ended) return;
  ended.isOver = true;
  if (ended.isTaken || (ended.isSent && driver === ownName)) stopDriving();
}

function stopDriving() {
  sendText(neutral);
  for (let repeat = 0; repeat < 3; repeat++) sendText({ command: "stop" });
}

// The robot's answer to a command that moves.
function driven(reply) {
  const asked = echoes.get(reply.echo);
  if (!asked) return;
  echoes.delete(reply.echo);
  if (reply.state === "driving" && drivenReasons.includes(reply.reason)) {
    if (asked.isTaken) return;
    asked.isTaken = true;
    if (asked.isOver) stopDriving(); else showStick();
  } else if (reply.reason in driveRefusals) {
    asked.isTaken = false;
    refuseHold(asked, driveRefusals[reply.reason]);
  }
}

// A command is taken, too, of which only the turn is driven.
const drivenReasons = [null, "obstacle-ahead", "distance-unknown"];
// What a command that comes a moment later may be answered, too, is no reason to let go.
const driveRefusals = {
  get "not-controller"() { return (driver && driver !== ownName ? ours(driver) : "somebody else") + " drives the robot; it is free when they have let go for a second"; },
  "emergency-stopped": "the robot is emergency-stopped: Reset first",
  "in-fault": "the robot is in fault: Reset first",
  "shut-down": "the daemon is shutting down",
};

// Said once: nothing more of this hold is sent.
function refuseHold(asked, text) {
  if (asked === hold) {
    [grip, hold] = [null, null];
    keys.clear();
    showStick();
  }
  if (asked.isRefused) return;
  asked.isRefused = true;
  say(pad, sentence(text));
}

// An answer without a number: the loop is behind, or the token may not.
function driveFailed(message) { if (hold) refuseHold(hold, message); }

function sendText(command) { sendBytes(new TextEncoder().encode(JSON.stringify(command))); }

// ---- the stick

function pointed(event) {
  const box = pad.getBoundingClientRect();
  let x = (event.clientX - box.left) / box.width * 2 - 1, y = 1 - (event.clientY - box.top) / box.height * 2;
  const length = Math.hypot(x, y);
  if (length > 1) { x /= length; y /= length; }
  steer(event.pointerId, x, y);
}
pad.onpointerdown = (event) => {
  if (hold || event.button !== 0) return;
  pad.setPointerCapture(event.pointerId);
  pointed(event);
};
pad.onpointermove = (event) => { if (hold && event.pointerId === grip) pointed(event); };
pad.onpointerup = pad.onpointercancel = pad.onlostpointercapture = (event) => { if (event.pointerId === grip) release(); };

// ---- keys, as in `tactus drive`: on the whole page, but for where somebody types

const directions = {
  arrowup: [0, 1], arrowdown: [0, -1], arrowleft: [-1, 0], arrowright: [1, 0], w: [0, 1], s: [0, -1], a: [-1, 0], d: [1, 0],
};
// What is not looked at is not driven by a key that would scroll.
const isSeen = (section) => { const box = section.getBoundingClientRect(); return box.height > 0 && box.bottom > 0 && box.top < innerHeight; };
const isView = ([, card]) => card.drives === "robot" && isSeen(byId(card.section));

function fromKeys() {
  let x = 0, y = 0;
  for (const key of keys) { x += directions[key][0]; y += directions[key][1]; }
  [x, y] = [Math.sign(x), Math.sign(y)];
  if (x === 0 && y === 0) return grip === "keys" ? release() : undefined;
  steer("keys", x * (y ? 0.4 : 1) * keyTenths / 10, y * keyTenths / 10);
}

addEventListener("keydown", (event) => {
  const key = (event.key || "").toLowerCase(); // a form that is filled in by itself has none
  if (key === "escape" || isTyping(event)) return;
  // Keyboards do not tell of every key that is let go beside these.
  if (hasModifier(event)) { if (grip === "keys") release(); return; }
  if (key === " " || isReadOnly || byId("robot").hidden || ![...ownCards].some(isView)) return;
  if (/^[0-9]$/.test(key)) {
    keyTenths = Number(key) || 10;
    byId("key-share").textContent = keyTenths * 10 + " %";
    if (grip === "keys") fromKeys();
  }
  if (!(key in directions) || (key.startsWith("arrow") && keyTarget(event).matches("input"))) return;
  event.preventDefault();
  if (event.repeat || (hold && grip !== "keys")) return;
  keys.add(key);
  fromKeys();
});
addEventListener("keyup", (event) => { if (keys.delete((event.key || "").toLowerCase())) fromKeys(); });

byId("speed-limit").oninput = () => {
  limit = Number(byId("speed-limit").value);
  byId("speed-limit-text").textContent = limit + " %";
};
keyWords.push(["W A S D, arrows", "drive the robot, in its view, while held"], ["1 … 9, 0", "how fast keys drive: 10 % … 90 %, 100 % of the speed limit"]);

// ---- a gamepad: its left stick drives as the stick of the page does. One that is lost, or is not heard of any more, is a stop.

const gamepadRest = 0.15; // of its way: what a stick that nobody touches may show
const gamepadStopButton = 1; // B, or a circle
let gamepadStops = false;
let isGamepadHeld = false; // it is not at rest, whether it drives or not
let gamepadTimer = 0;

function fromGamepad() {
  const found = [...(navigator.getGamepads?.() || [])].find((one) => one && one.connected);
  if (!found) { if (grip === "gamepad") release(); isGamepadHeld = false; return; }
  const stops = Boolean(found.buttons[gamepadStopButton]?.pressed);
  if (stops && !gamepadStops) emergencyStop([...new Set([...whatDrives(), "robot"])]);
  gamepadStops = stops;
  let [x, y] = [found.axes[0] || 0, -(found.axes[1] || 0)];
  const length = Math.hypot(x, y);
  if (length < gamepadRest || view !== "robot" || document.hidden) { if (grip === "gamepad") release(); isGamepadHeld = false; return; }
  // What was refused or ended by a stop is held again only after the stick was let go.
  if (isGamepadHeld && grip !== "gamepad") return;
  if (hold && grip !== "gamepad") return;
  if (length > 1) { x /= length; y /= length; }
  isGamepadHeld = true;
  steer("gamepad", x, y);
}

addEventListener("gamepadconnected", (event) => {
  byId("gamepad").textContent = "Gamepad: " + event.gamepad.id + "; its left stick drives, B is the robot's emergency stop.";
  clearInterval(gamepadTimer);
  gamepadTimer = setInterval(fromGamepad, drivePeriodMs);
});
addEventListener("gamepaddisconnected", () => {
  isGamepadHeld = false;
  if (grip === "gamepad") {
    release();
    say(pad, "The gamepad was lost: the robot was told to stop.");
  }
  byId("gamepad").textContent = "The gamepad is gone.";
  if (![...navigator.getGamepads()].some(Boolean)) clearInterval(gamepadTimer);
});

// ---- the view: the whole screen, and a screen that stays on while one drives

// The keys are the stick's then: Space must not press this button once more.
byId("full").onclick = () => { setFull(!document.body.classList.contains("full")); pad.focus({ preventScroll: true }); };
function setFull(isFull) {
  document.body.classList.toggle("full", isFull);
  byId("full").ariaPressed = String(isFull);
  byId("full").textContent = isFull ? "Leave full screen" : "Full screen";
  if (isFull) document.documentElement.requestFullscreen?.().catch(() => {}); // a phone that has none fills its window
  else if (document.fullscreenElement) document.exitFullscreen();
}
document.addEventListener("fullscreenchange", () => { if (!document.fullscreenElement) setFull(false); });

let awake = null; // the lock, or the promise of one
function keepAwake(isWanted) {
  if (isWanted === Boolean(awake) || !navigator.wakeLock) return; // a page over plain HTTP has none
  const last = awake;
  awake = isWanted ? navigator.wakeLock.request("screen").catch(() => null) : null;
  if (last) last.then((lock) => lock?.release());
}

// ---- state

let lastReason = null;

// What only some boards measure, or null.
function showSense(name, text) {
  byId(name).hidden = byId(name + "-name").hidden = text === null;
  byId(name).textContent = text ?? "";
}

function showRobot(robot) {
  byId("robot").hidden = false;
  byId("robot-state").textContent = plain(robot.state);
  driving.set("robot", robot.state === "driving");
  driver = robot.holder ? robot.holder.source : null;
  const isHeld = robot.emergencyStopped || robot.state === "fault";
  mark("robot", isHeld ? "down" : robot.state === "stopped" ? "idle" : "up", plain(robot.state));
  for (const side of ["left", "right"]) {
    const speed = robot.speedsPercent[side];
    byId(side).style.cssText = `width: ${Math.abs(speed) / 2}%; transform: translateX(${speed < 0 ? "-100%" : "0"})`;
    byId(side + "-text").textContent = speed.toFixed(0) + " %";
  }
  byId("holder").textContent = robot.holder ? ours(robot.holder.source) : "nobody";
  byId("age").textContent = robot.holder ? ageOf(robot.holder.ageMs) : "–";
  byId("reason").textContent = ours(robot.reason) + (robot.forwardStop ? ". To go on: " + robot.wayOut + "." : "");
  // A change of state says nothing of these.
  if ("batteryPercent" in robot) {
    showFittings(robot, isHeld);
    const lean = robot.attitude;
    showSense("battery", robot.batteryPercent === null ? null : robot.batteryPercent.toFixed(0) + " %");
    showSense("leans", lean && `${lean.rollDegrees.toFixed(0)}° / ${lean.pitchDegrees.toFixed(0)}°`);
    showSense("ahead", robot.ahead && (robot.ahead.distanceMm === null ? "not known" : robot.ahead.distanceMm + " mm"));
  }
  keepAwake(view === "robot" && robot.state === "driving");
  tile("robot", {
    now: robot.state === "driving" ? `${robot.speedsPercent.left.toFixed(0)} % left, ${robot.speedsPercent.right.toFixed(0)} % right` : "Standing still",
    next: robot.holder ? "driven by " + ours(robot.holder.source) : "nobody drives",
    action: { words: "Drive", look: "primary", act: () => { location.hash = "#/robot"; } },
  });
  stopped("robot", isHeld
    ? sentence(ours(robot.reason.replace(/, \d+ failed\)$/, ")"))) + (robot.wayOut ? " To go on: " + robot.wayOut + "." : "") : null, robot.emergencyStopped);
}

addOwnCard("robot", {
  section: "robot", drives: "robot", release,
  stage: byId("stage"),
  viewed(now) { if (now !== "robot") { setFull(false); keepAwake(false); } },
  take(event) {
    if (event.state === undefined) return false;
    showRobot(event);
    if (event.reason !== lastReason) note(event, ours(event.reason));
    lastReason = event.reason;
    return true;
  },
  // The robot's replies are JSON.
  takeBytes(bytes) { if (bytes[0] === 0x7b) driven(JSON.parse(new TextDecoder().decode(bytes))); },
  // Commands of the stick have no number.
  refusedUnnamed(event) { driveFailed(inPlainWords(event)); },
  hands(work) { pad.classList.toggle("off", !work); },
});
