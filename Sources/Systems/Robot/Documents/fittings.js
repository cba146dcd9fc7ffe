"use strict";
// What a board has beside its motors: the camera mount, by sliders or the keys I, J, K, L; lights, buzzer, height and balance. Each is there only if
// the board can do it (`can` of the state). A slider that is dragged sends its newest value once the last one was answered.

const mount = { state: null, wanted: null, asks: false, held: new Set() };
const mountKeys = { j: ["pan", 1], l: ["pan", -1], i: ["tilt", 1], k: ["tilt", -1] };
const mountStep = 5; // degrees a key press

const askRobot = (control, word, body) => command(control, "POST", "/api/robot/" + word, body);

async function aimCamera(control, angles) {
  mount.wanted = { ...mount.wanted, ...angles };
  if (mount.asks) return;
  mount.asks = true;
  while (mount.wanted) {
    const body = mount.wanted;
    mount.wanted = null;
    await askRobot(control, "look", body);
  }
  mount.asks = false;
}

for (const axis of ["pan", "tilt"]) {
  const slider = byId("robot-" + axis);
  slider.oninput = () => {
    mount.held.add(axis);
    showAngle(axis);
    aimCamera(slider, { [axis]: Number(slider.value) });
  };
  slider.onchange = () => mount.held.delete(axis);
}
function showAngle(axis) { byId(`robot-${axis}-text`).textContent = byId("robot-" + axis).value + "°"; }

byId("robot-middle").onclick = ({ target }) => {
  const middle = (axis) => Math.floor((Number(byId("robot-" + axis).min) + Number(byId("robot-" + axis).max)) / 2);
  aimCamera(target, { pan: middle("pan"), tilt: middle("tilt") });
};

// A slider that has the focus has its own arrows; these are for hands that drive.
addEventListener("keydown", (event) => {
  const step = mountKeys[(event.key || "").toLowerCase()];
  if (!step || isTyping(event) || hasModifier(event) || isReadOnly || !mount.state || byId("robot").hidden || ![...ownCards].some(isView)) return;
  const [axis, way] = step, slider = byId("robot-" + axis);
  if (slider.disabled || slider.matches("fieldset:disabled *")) return;
  slider.value = Number(slider.value) + way * mountStep; // stays within its ends
  showAngle(axis);
  aimCamera(slider, { [axis]: Number(slider.value) });
});
keyWords.push(["I J K L", "turn the camera mount: up, left, down, right, in the robot's view"]);

const colourParts = (text) => ({ red: parseInt(text.slice(1, 3), 16), green: parseInt(text.slice(3, 5), 16), blue: parseInt(text.slice(5, 7), 16) });
function light(control, colour) {
  const number = byId("robot-light").value;
  askRobot(control, "lights", { ...colour, ...number === "" ? {} : { light: Number(number) } });
}
byId("robot-colour").onchange = ({ target }) => light(target, colourParts(target.value));
byId("robot-light-on").onclick = ({ target }) => light(target, colourParts(byId("robot-colour").value));
byId("robot-light-off").onclick = ({ target }) => light(target, { red: 0, green: 0, blue: 0 });
byId("robot-beep").onclick = ({ target }) => askRobot(target, "beep", {});
byId("robot-height").oninput = () => { byId("robot-height-text").textContent = byId("robot-height").value + " mm"; };
byId("robot-height").onchange = ({ target }) => askRobot(target, "height", { heightMm: Number(target.value) });
byId("robot-balance").onchange = ({ target }) => askRobot(target, "balance", { on: target.checked });

// What is in every document of the state; the list of what the board can do is in the fuller ones only.
function showFittings(robot, isHeld) {
  const can = robot.can;
  if (can) {
    byId("robot-mount").hidden = !can.includes("pan-tilt");
    for (const one of ["lights", "buzzer", "height", "balance"]) byId("robot-with-" + one).hidden = !can.includes(one);
    byId("robot-fittings").hidden = !["lights", "buzzer", "height", "balance"].some((one) => can.includes(one));
    for (let number = byId("robot-light").options.length; number <= robot.lights.length; number++) {
      byId("robot-light").append(element("option", String(number - 1), { value: String(number - 1) }));
    }
    if (robot.heightMm !== null && document.activeElement !== byId("robot-height")) {
      byId("robot-height").value = robot.heightMm;
      byId("robot-height-text").textContent = robot.heightMm.toFixed(0) + " mm";
    }
    if (robot.balancing !== null) byId("robot-balance").checked = robot.balancing;
  }
  showMount(robot.panTilt);
  for (const one of ["pan", "tilt", "middle", "height", "balance"]) byId("robot-" + one).disabled = isHeld;
  byId("robot-beep").classList.toggle("sounds", robot.buzzing === true);
  const names = ["x2", "x1", "x3", "x4"], dark = robot.line && names.filter((name) => !robot.line[name]);
  showSense("line", dark && (dark.length ? "dark below " + dark.join(" ").toUpperCase() : "nothing dark"));
}

function showMount(state) {
  mount.state = state;
  if (!state) return;
  for (const [axis, low, high, target] of [
    ["pan", state.panMinDegrees, state.panMaxDegrees, state.panTargetDegrees], ["tilt", state.tiltMinDegrees, state.tiltMaxDegrees, state.tiltTargetDegrees],
  ]) {
    const slider = byId("robot-" + axis);
    if (low !== undefined) [slider.min, slider.max] = [low, high];
    // While somebody moves it, it is theirs; before it was told anything its place means nothing.
    if (!mount.held.has(axis) && !mount.asks && target !== null) {
      slider.value = target;
      showAngle(axis);
    }
  }
}
