"use strict";
// What the robot's driver sees beside the stick: the quality of the link, pictures and films of the camera as files of this computer, and a map of
// the simulated robot's way.

// ---- the link, as this page measures it: the answers to its pings, and those that did not come in time

const linkSamples = []; // the last 30 seconds: {ms, isLate}
const linkLateMs = 500;

function sampleLink() {
  if (!isLive && !linkSamples.length) return; // it has never been there
  const now = performance.now(), ms = parseFloat(byId("round-trip").textContent);
  linkSamples.push({ ms: Number.isNaN(ms) ? null : ms, isLate: !isLive || [...pings.values()].some((sent) => now - sent > linkLateMs) });
  if (linkSamples.length > 60) linkSamples.shift();
  if (view !== "robot") return;
  const known = linkSamples.filter(({ ms }) => ms != null).map(({ ms }) => ms).sort((one, other) => one - other);
  const loss = linkSamples.filter(({ isLate }) => isLate).length / linkSamples.length * 100;
  const usual = known[known.length >> 1]; // their median
  const word = !isLive ? "lost" : loss > 5 || usual > 150 ? "poor" : loss > 0 || usual > 50 ? "fair" : "good";
  byId("robot-link").textContent = isLive && known.length ? `${word}: ${usual.toFixed(0)} ms, at most ${known.at(-1).toFixed(0)} ms, ${loss.toFixed(0)} % late` : word;
  byId("robot-link").className = "link-" + word;
}
setInterval(sampleLink, 500);

// ---- a picture, a film: of what is shown, with what is drawn over it, made here

const shownPicture = () => [byId("video-film"), byId("video-pictures")].find((one) => one && !one.hidden && (one.videoWidth || one.width));

function copyPicture(canvas, source) {
  canvas.width = source.videoWidth || source.width;
  canvas.height = source.videoHeight || source.height;
  const draw = canvas.getContext("2d"), boxes = byId("video-boxes");
  draw.drawImage(source, 0, 0, canvas.width, canvas.height);
  if (boxes && !boxes.hidden && boxes.width) draw.drawImage(boxes, 0, 0, canvas.width, canvas.height);
}

function download(blob, name) {
  const link = element("a", null, { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

const fileName = (ending) => "robot-" + new Date().toISOString().slice(0, 19).replaceAll(":", "-") + "." + ending;

byId("robot-snapshot").onclick = ({ target }) => {
  const source = shownPicture(), canvas = element("canvas");
  unsay(target);
  if (!source) return say(target, "There is no picture: choose one in the view Video.");
  copyPicture(canvas, source);
  canvas.toBlob((blob) => download(blob, fileName("png")));
};

let film = null; // {recorder, timer, since} while one is recorded
const filmLimitMs = 600000; // ten minutes: it is kept in this page's memory

byId("robot-film").onclick = ({ target }) => {
  unsay(target);
  if (film) return film.recorder.stop();
  const source = shownPicture(), canvas = element("canvas");
  if (!source || !window.MediaRecorder) return say(target, source ? "This browser cannot record." : "There is no picture: choose one in the view Video.");
  copyPicture(canvas, source);
  const recorder = new MediaRecorder(canvas.captureStream(25)), parts = [], since = Date.now();
  recorder.ondataavailable = ({ data }) => { if (data.size) parts.push(data); };
  recorder.onstop = () => {
    clearInterval(film.timer);
    film = null;
    showFilm();
    download(new Blob(parts, { type: recorder.mimeType }), fileName(recorder.mimeType.includes("mp4") ? "mp4" : "webm"));
  };
  recorder.start(1000);
  const timer = setInterval(() => {
    const now = shownPicture();
    if (now) copyPicture(canvas, now);
    if (!now || Date.now() - since > filmLimitMs) recorder.stop();
    showFilm();
  }, 40);
  film = { recorder, timer, since };
  showFilm();
};

function showFilm() {
  const text = film ? "Stop film " + clock((Date.now() - film.since) / 1000) : "Film";
  if (byId("robot-film").textContent !== text) byId("robot-film").textContent = text;
  byId("robot-film").ariaPressed = String(Boolean(film));
}

// ---- the map: where the simulated robot is and has been, in metres

const way = []; // [x, y]
const wayLimit = 4000, wayStepM = 0.01;
let hasMap = null; // null: not known yet
let mapAsked = -Infinity;

async function askMap() {
  const now = performance.now();
  if (!isLive || hasMap === false || view !== "robot" || document.hidden || now - mapAsked < (driving.get("robot") ? 200 : 3000)) return;
  mapAsked = now;
  const { isDone, status, document: simulated } = await request("GET", "/api/sim/robot");
  if (!status) return;
  hasMap = isDone;
  byId("robot-map-place").hidden = !isDone;
  if (!isDone) return;
  const { xM, yM, headingRad } = simulated.pose, last = way.at(-1);
  if (!last || Math.hypot(xM - last[0], yM - last[1]) > wayStepM) way.push([xM, yM]);
  if (way.length > wayLimit) way.shift();
  drawMap(xM, yM, headingRad);
}
setInterval(askMap, 100);

// The robot in the middle of what it has seen; two metres at least.
function drawMap(x, y, heading) {
  const svg = byId("robot-map"), width = svg.clientWidth || 300, height = svg.clientHeight || 240;
  const [xs, ys] = [way.map((one) => one[0]), way.map((one) => one[1])];
  const [left, right, bottom, top] = [Math.min(...xs, x), Math.max(...xs, x), Math.min(...ys, y), Math.max(...ys, y)];
  const scale = Math.min(width / Math.max(2, (right - left) * 1.2), height / Math.max(2, (top - bottom) * 1.2));
  const at = (one, other) => [width / 2 + (one - (left + right) / 2) * scale, height / 2 - (other - (bottom + top) / 2) * scale];
  const step = stepFor(width / scale, Math.max(2, width / 60)), parts = [], [zeroX, zeroY] = at(0, 0);
  for (let line = zeroX % (step * scale); line < width; line += step * scale) parts.push(drawing("line", { x1: line, x2: line, y1: 0, y2: height }));
  for (let line = zeroY % (step * scale); line < height; line += step * scale) parts.push(drawing("line", { x1: 0, x2: width, y1: line, y2: line }));
  parts.push(drawing("circle", { cx: zeroX, cy: zeroY, r: 4, class: "start" }),
    drawing("polyline", { points: [...way, [x, y]].map((one) => at(...one).map((number) => number.toFixed(1)).join(",")).join(" ") }));
  const [middleX, middleY] = at(x, y), degrees = -heading * 180 / Math.PI;
  parts.push(drawing("path", { d: "M12 0 -8 8 -4 0 -8 -8z", transform: `translate(${middleX.toFixed(1)} ${middleY.toFixed(1)}) rotate(${degrees.toFixed(1)})` }),
    drawing("text", { x: 8, y: height - 8 }, "a square is " + Number(step.toFixed(2)) + " m"));
  svg.replaceChildren(...parts);
  const turn = ((Math.round(heading * 180 / Math.PI) % 360) + 360) % 360;
  byId("robot-pose").textContent = `${x.toFixed(2)} m, ${y.toFixed(2)} m from the start, ${turn}° to the left`;
  svg.setAttribute("aria-label", "Map of the simulated robot: " + byId("robot-pose").textContent);
}

byId("robot-map-clear").onclick = () => { way.length = 0; mapAsked = -Infinity; };
