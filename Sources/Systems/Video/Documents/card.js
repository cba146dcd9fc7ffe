"use strict";
// The camera's card: WebRTC by WHEP, which a lost packet does not stop; fragmented MP4 into Media Source Extensions where that does not
// come through; JPEG pictures where the browser has neither. The picture comes on a connection of its own: what is on the socket of
// console.js, an e-stop above all, never waits behind it.

const video = { running: null, wanted: null, begun: false, boxes: 0, way: 0, shown: "" };
const videoWays = ["whep", "mp4", "mjpeg"]; // of "best", the first that works
const videoNames = { whep: "WebRTC", mp4: "MP4", mjpeg: "pictures" };
const videoFirstMs = 6000; // without a picture for so long the way does not work here
const videoStillMs = 3000; // one that has stood still for so long is asked for anew
const videoKeptS = 10; // of what was played
const videoBehindS = 0.35; // further behind than this is the past

function showVideo(event) {
  byId("video").hidden = false;
  byId("video-state").textContent = event.state;
  mark("video", event.state === "failed" || event.state === "down" ? "down" : event.state === "running" ? "up" : event.state === "idle" ? "idle" : "warn", event.state);
  const counted = event.statistics;
  const lines = [];
  if (event.state === "failed" || event.state === "down") lines.push(sentence(event.reason) + (event.wayOut ? " " + sentence(event.wayOut) : ""));
  else if (!event.rtsp.listening && event.rtsp.cause) lines.push("No RTSP: " + event.rtsp.cause + ".");
  if (event.detection.state === "failed") lines.push("No detector: " + sentence(event.detection.reason));
  byId("video-said").hidden = lines.length === 0;
  byId("video-said").textContent = lines.join(" ");
  const viewers = event.viewers.rtsp + event.viewers.whep + event.viewers.mp4 + event.viewers.mjpeg;
  tile("video", {
    now: event.state === "running" ? (event.statistics.framesPerSecond || 0) + " pictures a second" : viewers ? viewers + " watching" : "Camera off", next: `${event.picture.width} × ${event.picture.height}`,
    action: { words: "Look", look: "primary", act: lookAtVideo },
  });
  const facts = [`${event.picture.width}×${event.picture.height}`];
  if (counted.framesPerSecond) facts.push(counted.framesPerSecond + " frames/s", (counted.bitsPerSecond / 1e6).toFixed(2) + " Mbit/s");
  if (event.rate.cause !== "configured") facts.push(`at most ${(event.rate.bitsPerSecond / 1e6).toFixed(2)} Mbit/s: ${event.rate.reason}`);
  if (counted.encodeMeanMs != null) facts.push("encoded in " + counted.encodeMeanMs.toFixed(1) + " ms");
  facts.push(viewers + (viewers === 1 ? " viewer" : " viewers"));
  if (event.elements) facts.push(event.elements.encoder);
  if (event.rtsp.listening) facts.push(`rtsp://${location.hostname}:${event.rtsp.port}${event.rtsp.path}`);
  if (event.detection.state === "running") {
    const labels = [...new Set(event.detection.objects.map((one) => one.label))];
    facts.push("sees " + (labels.join(", ") || "nothing it knows") + ", in " + event.detection.detectMs.toFixed(0) + " ms");
  }
  byId("video-facts").textContent = facts.join(" · ");
  const recording = event.recording;
  const records = recording && (recording.state === "starting" || recording.state === "running");
  Object.assign(byId("video-record"), { textContent: records ? "Stop recording" : "Record", value: records ? "/stop" : "" });
  byId("video-record").disabled = !event.recordFolder && !records;
  byId("video-recording").textContent = recording
    ? recording.state + " " + recording.path + " " + (recording.bytes / 1e6).toFixed(1) + " MB" + (recording.cause ? ": " + recording.cause : "")
    : event.recordFolder ? "" : "To record, name a folder in the configuration file: video.record_dir.";
}

// Over whichever picture is shown, of the size that it has on the page.
function videoBoxes(event) {
  const layer = byId("video-boxes"), shown = [byId("video-film"), byId("video-pictures")].find((one) => !one.hidden);
  layer.hidden = !shown;
  clearTimeout(video.boxes);
  if (!shown) return;
  video.boxes = setTimeout(() => { layer.hidden = true; }, 1000); // no answer: what was found is the past
  // The picture in its frame: black is at two of its sides.
  const [width, height] = [shown.videoWidth || shown.width || 1, shown.videoHeight || shown.height || 1];
  const scale = Math.min(shown.clientWidth / width, shown.clientHeight / height);
  layer.width = width * scale; // which clears it
  layer.height = height * scale;
  layer.style.left = (shown.clientWidth - layer.width) / 2 + "px";
  layer.style.top = (shown.clientHeight - layer.height) / 2 + "px";
  const draw = layer.getContext("2d");
  draw.lineWidth = 2;
  draw.font = "bold 14px sans-serif";
  for (const one of event.objects) {
    const x = one.left * layer.width, y = one.top * layer.height;
    draw.strokeStyle = draw.fillStyle = "#3ddc6a";
    draw.strokeRect(x, y, one.width * layer.width, one.height * layer.height);
    const text = one.label + " " + Math.round(one.confidence * 100) + " %", above = y > 20;
    draw.fillRect(x - 1, above ? y - 18 : y, draw.measureText(text).width + 8, 18);
    draw.fillStyle = "#000";
    draw.fillText(text, x + 3, above ? y - 4 : y + 14);
  }
}

byId("video-look").onchange = () => {
  ofTab.set("video", byId("video-look").value);
  videoViewed();
};
byId("video-record").onclick = ({ target }) => command(target, "POST", "/api/video/record" + target.value);
byId("video-snapshot").onclick = ({ target }) => save(target, "/api/video/snapshot.jpg", "snapshot.jpg");

function videoStop() {
  if (video.running) video.running.abort();
  video.running = null;
}

// Nobody watches on a hidden page, or in another view: the camera may rest.
document.addEventListener("visibilitychange", () => { if (document.hidden) videoStop(); else videoStart(); });

// The picture lies in the view of what is driven by it, if that has a stage for it, and is shown there unless somebody has chosen not to.
const stageOf = (view) => video.begun ? ownCards.get(view)?.stage : null;
const isLookedAt = () => view === "video" || Boolean(stageOf(view));

// Who asks to look sees something, whatever was chosen in the view before.
function lookAtVideo() {
  if ((ofTab.get("video") || "off") === "off") ofTab.set("video", "best");
  location.hash = "#/video";
}

function videoViewed() {
  const picture = document.querySelector(".picture"), place = stageOf(view);
  const home = byId("video-home");
  if (place && picture.parentElement !== place) place.prepend(picture);
  else if (!place && picture.parentElement !== home) home.append(picture);
  const wanted = ofTab.get("video") || (place ? "best" : "off");
  if (wanted !== video.wanted) video.way = 0;
  if (!isLookedAt() || wanted !== video.wanted) videoStop();
  video.wanted = wanted;
  byId("video-look").value = wanted;
  if (video.running) byId("video-film").play().catch(() => {}); // one that is moved pauses
  videoStart();
}

// What is wrong with a way of showing, and not with the camera: the next way may work.
class VideoWayError extends Error {}

async function videoStart() {
  const wanted = isLookedAt() ? video.wanted || "off" : "off", isBest = wanted === "best";
  const way = isBest ? videoWays[video.way] : wanted;
  byId("video-film").hidden = way !== "mp4" && way !== "whep";
  byId("video-pictures").hidden = way !== "mjpeg";
  if (way === "off") videoShows("");
  if (way === "off" || document.hidden || video.running) return;
  const control = new AbortController();
  video.running = control;
  let isNext = false;
  try {
    await { whep: videoTalk, mp4: videoPlay, mjpeg: videoShow }[way](control);
  } catch (error) {
    if (!control.signal.aborted) byId("video-recording").textContent = error.message;
    isNext = isBest && error instanceof VideoWayError;
  }
  control.abort();
  videoShows("");
  if (video.running !== control) return;
  video.running = null;
  // What has ended is begun with the first way again: it may come through now.
  video.way = isNext ? (video.way + 1) % videoWays.length : 0;
  setTimeout(videoStart, video.way ? 0 : 1000);
}

// Says which way the picture comes.
function videoShows(way) {
  if (way === video.shown) return;
  if (way) byId("video-recording").textContent = "";
  video.shown = way;
  byId("video-way").textContent = way ? "by " + videoNames[way] : "";
}

async function videoFetch(control, path, more) {
  const answer = await fetch(at(path), { ...more, headers: { ...headers(), ...(more && more.headers) }, signal: control.signal });
  if (answer.ok) return answer;
  const text = (await answer.json()).message;
  // The video process is down, or all places are taken: no other way would help.
  throw answer.status === 503 || answer.status === 401 ? new Error(text) : new VideoWayError(text);
}

// An element shows a stream of WebRTC or a source of Media Source Extensions, not both.
function videoFilm(stream, address) {
  const player = byId("video-film");
  player.srcObject = stream;
  if (address) player.src = address; else player.removeAttribute("src");
  return player;
}

async function videoTalk(control) {
  if (!window.RTCPeerConnection) throw new VideoWayError("this browser has no WebRTC");
  const talk = new RTCPeerConnection();
  let session = null, stream = null, watch = 0;
  try {
    const receiver = talk.addTransceiver("video", { direction: "recvonly" }).receiver;
    // Nothing is kept back to be shown more evenly: what is shown is driven by.
    if ("jitterBufferTarget" in receiver) receiver.jitterBufferTarget = 0;
    else if ("playoutDelayHint" in receiver) receiver.playoutDelayHint = 0;
    await talk.setLocalDescription();
    const answer = await videoFetch(control, "/api/video/whep", {
      method: "POST", body: talk.localDescription.sdp, headers: { "Content-Type": "application/sdp" },
    });
    session = answer.headers.get("Location");
    await talk.setRemoteDescription({ type: "answer", sdp: await answer.text() });
    stream = new MediaStream([receiver.track]);
    const player = videoFilm(stream);
    player.play().catch(() => {});
    const first = new Promise((resolve) => player.requestVideoFrameCallback
      ? player.requestVideoFrameCallback(resolve) : player.addEventListener("playing", resolve, { once: true }));
    const lost = new Promise((resolve) => {
      talk.onconnectionstatechange = () => { if (["failed", "closed"].includes(talk.connectionState)) resolve("lost"); };
    });
    const left = new Promise((resolve) => control.signal.addEventListener("abort", resolve, { once: true }));
    const late = new Promise((resolve) => setTimeout(resolve, videoFirstMs, "late"));
    const began = await Promise.race([first, lost, late, left]);
    if (control.signal.aborted) return;
    if (began === "late" || began === "lost") throw new VideoWayError("WebRTC does not come through: no picture by it");
    videoShows("whep");
    let at = player.currentTime, moved = performance.now();
    const still = new Promise((resolve) => {
      watch = setInterval(() => {
        if (player.currentTime !== at) [at, moved] = [player.currentTime, performance.now()];
        else if (performance.now() - moved > videoStillMs) resolve();
      }, 500);
    });
    await Promise.race([lost, still, left]);
  } finally {
    clearInterval(watch);
    talk.close();
    if (stream && byId("video-film").srcObject === stream) videoFilm(null); // and not what is shown since
    if (session) {
      fetch(at("/api/video/whep/" + session.split("/").pop()), { method: "DELETE", headers: headers(), keepalive: true }).catch(() => {});
    }
  }
}

async function videoPlay(control) {
  const answer = await videoFetch(control, "/api/video/stream.mp4");
  const type = answer.headers.get("Content-Type");
  if (!window.MediaSource || !MediaSource.isTypeSupported(type)) throw new VideoWayError("this browser does not play " + type);
  const source = new MediaSource();
  const player = videoFilm(null, URL.createObjectURL(source));
  await new Promise((resolve) => source.addEventListener("sourceopen", resolve, { once: true }));
  URL.revokeObjectURL(player.src);
  const buffer = source.addSourceBuffer(type);
  const done = () => new Promise((resolve) => { if (buffer.updating) buffer.addEventListener("updateend", resolve, { once: true }); else resolve(); });
  const reader = answer.body.getReader();
  player.play().catch(() => {});
  while (!control.signal.aborted) {
    const { value, done: isOver } = await reader.read();
    if (isOver) break;
    buffer.appendBuffer(value);
    await done();
    videoShows("mp4");
    const ranges = buffer.buffered;
    if (!ranges.length) continue;
    const end = ranges.end(ranges.length - 1), start = ranges.start(ranges.length - 1);
    // What came before a pause, or waited while the page was busy, is not worth seeing.
    if (player.currentTime < start || end - player.currentTime > videoBehindS) player.currentTime = Math.max(start, end - 0.05);
    if (player.currentTime - ranges.start(0) > videoKeptS) {
      buffer.remove(ranges.start(0), player.currentTime - videoKeptS / 2);
      await done();
    }
  }
}

// multipart/x-mixed-replace, read by hand: an <img> could not show the token.
async function videoShow(control) {
  const answer = await videoFetch(control, "/api/video/stream.mjpeg");
  const canvas = byId("video-pictures"), context = canvas.getContext("2d");
  const reader = answer.body.getReader();
  let rest = new Uint8Array(0);
  while (!control.signal.aborted) {
    const { value, done } = await reader.read();
    if (done) break;
    const joined = new Uint8Array(rest.length + value.length);
    joined.set(rest);
    joined.set(value, rest.length);
    rest = joined;
    for (;;) {
      const head = new TextDecoder("latin1").decode(rest.subarray(0, 200));
      const found = /Content-Length: (\d+)\r\n\r\n/.exec(head);
      if (!found) break;
      const start = found.index + found[0].length, end = start + Number(found[1]);
      if (rest.length < end + 2) break;
      const picture = await createImageBitmap(new Blob([rest.subarray(start, end)], { type: "image/jpeg" }));
      rest = rest.slice(end + 2);
      if (canvas.width !== picture.width) { canvas.width = picture.width; canvas.height = picture.height; }
      context.drawImage(picture, 0, 0);
      picture.close();
      videoShows("mjpeg");
    }
  }
}

// The first state tells that there is a camera, and that the token is good.
function videoKnown(event) {
  showVideo(event);
  if (!video.begun) { video.begun = true; videoViewed(); }
}

addOwnCard("video", {
  section: "video", drives: "robot",
  viewed() { if (video.begun) videoViewed(); },
  take(event) {
    if (event.statistics) videoKnown(event);
    else if (event.type === "detections") videoBoxes(event);
    else if (event.state) note(event, event.state + ": " + event.reason, event.state === "failed" ? "error" : "");
    else return false;
    return true;
  },
});
