"use strict";
// The mash's last two minutes above the programme's steps.
const kettles = new Map(); // system → what was asked for once, and what was seen

ownCard("kettle", (root, event, system) => {
  if (!kettles.has(system.name)) {
    kettles.set(system.name, { steps: [], seen: [] });
    request("GET", "/api/" + system.name + "/recipe").then(({ isDone, document }) => {
      if (!isDone) return kettles.delete(system.name);
      kettles.get(system.name).steps = document.steps;
      root.querySelector("ol").replaceChildren(...document.steps.map((step) => element("li", step.celsius + " °C for " + step.minutes + " min")));
    });
  }
  const { steps, seen } = kettles.get(system.name);
  root.querySelector(".degrees").textContent = event.temperatureCelsius == null ? "–" : event.temperatureCelsius.toFixed(1) + " °C";
  root.querySelector(".step").textContent = event.step == null ? "" : "step " + event.step + " of " + steps.length;
  root.querySelectorAll("li").forEach((item, index) => item.classList.toggle("now", index + 1 === event.step));
  seen.push(event.temperatureCelsius ?? 0);
  if (seen.length > 1200) seen.shift();
  const height = (celsius) => 80 - 0.75 * celsius;
  root.querySelector(".mash").setAttribute("points", seen.map((celsius, index) => index / 6 + "," + height(celsius)).join(" "));
  const width = 200 / Math.max(1, steps.length);
  root.querySelector(".plan").setAttribute("points", steps.map(({ celsius }, index) => [index, index + 1].map((at) => at * width + "," + height(celsius)).join(" ")).join(" "));
});
