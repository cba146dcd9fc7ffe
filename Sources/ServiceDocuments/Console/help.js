"use strict";
// The view #/help: what the program is, what E-STOP does and does not, and where each system says how it is used. Fetched only where somebody asks for it.

addLanguage("de", {
  "What E-STOP does": "Was NOT-AUS tut", "What is safe, and what is not": "Was sicher ist, und was nicht", "Your devices": "Die Geräte", "This program": "Dieses Programm",
  "E-STOP stops everything at once, from every view, and holds until Reset, also over a restart. It works for whoever may stop, even while somebody else drives.":
    "NOT-AUS hält alles sofort an, von jeder Ansicht aus, und bleibt, bis zurückgesetzt wird, auch über einen Neustart. Wer anhalten darf, darf es, auch während jemand anders fährt.",
  "CONFIRMED means that every system has said that it stopped. NOT CONFIRMED means that nobody knows: it is sent again until the daemon answers, and what still moves can only be stopped by its power switch.":
    "BESTÄTIGT heißt, dass jedes Gerät gesagt hat, dass es steht. NICHT BESTÄTIGT heißt, dass es niemand weiß: es wird wieder gesendet, bis der Dienst antwortet, und was sich noch bewegt, hält nur sein Netzschalter an.",
  "REFUSED means that this token may not stop: it needs the scope control.": "ABGELEHNT heißt, dass dieses Token nicht anhalten darf: es braucht den Umfang control.",
  "A value that turns grey is old. When the daemon does not answer, the controls are off: nothing is sent later that somebody pressed before.":
    "Ein Wert, der grau wird, ist alt. Antwortet der Dienst nicht, ist die Bedienung aus: nichts wird später gesendet, was jemand vorher gedrückt hat.",
  "Nothing keeps running because this page was closed, the network is gone, or the program dies or hangs: motors stop, pulses end, valves close. A second process writes that when the first cannot.":
    "Nichts läuft weiter, weil diese Seite geschlossen wurde, das Netz weg ist oder das Programm stirbt oder hängt: Motoren halten, Pulse enden, Ventile schließen. Ein zweiter Prozess schreibt das, wenn der erste nicht kann.",
  "Not safe is what no program can reach: a board that no longer listens, a valve that is stuck, a machine that has lost its power while a line was held on from outside. Keep a switch within reach.":
    "Nicht sicher ist, was kein Programm erreicht: eine Platine, die nicht mehr zuhört, ein klemmendes Ventil, ein Rechner ohne Strom, während eine Leitung von außen gehalten wird. Einen Schalter in Reichweite lassen.",
  "After a fault the system's view says what happened and what has to be done; Reset leaves it once that is done.":
    "Nach einer Störung sagt die Ansicht des Geräts, was geschah und was zu tun ist; Zurücksetzen beendet sie, wenn es getan ist.",
  "Charts": "Verläufe",
  "Point at a chart, touch it, or go along it by the arrow keys: what was read then is said below it.":
    "Auf einen Verlauf zeigen, ihn berühren oder mit den Pfeiltasten an ihm entlanggehen: was da gemessen wurde, steht darunter.",
  "Drag one to move in time, or press Shift and an arrow; End goes to now. The wheel after a click, two fingers, + and − zoom.":
    "Ziehen oder Umschalt mit einem Pfeil verschiebt die Zeit, Ende ist jetzt. Nach einem Klick das Rad, zwei Finger, + und − vergrößern.",
  "Each view says at its end how it is used.": "Jede Ansicht sagt an ihrem Ende, wie sie zu bedienen ist.",
  "Every request that it takes": "Jede Anfrage, die es annimmt", "How it is": "Wie es ihm geht", "What a card can be made of": "Woraus eine Karte bestehen kann",
  "Made with Tactus, under the Apache License 2.0.": "Mit Tactus gemacht, unter der Apache-Lizenz 2.0.",
}, []);

function helpPanel(title, lines, ...more) {
  const panel = element("article", null, { className: "panel" }), list = element("ul");
  list.append(...lines.map((line) => element("li", line)));
  panel.append(element("h3", title), list, ...more);
  return panel;
}

function linkTo(words, href) {
  const item = element("li");
  item.append(element("a", words, { href, className: "tall" }));
  return item;
}

function showHelp() {
  const section = element("section", null, { id: "help" }), devices = element("ul"), addresses = element("ul");
  section.dataset.view = "help";
  section.setAttribute("aria-labelledby", "help-title");
  const showDevices = () => {
    const known = [...views].filter(([, { tile }]) => tile && !tile.element.hidden);
    if (known.length !== devices.childElementCount) devices.replaceChildren(...known.map(([name, { title }]) => linkTo(title, "#/" + name)));
  };
  new MutationObserver(showDevices).observe(byId("tiles"), { attributes: true, attributeFilter: ["hidden"], childList: true, subtree: true });
  showDevices();
  addresses.append(linkTo("Every request that it takes", "api/openapi.json"), linkTo("How it is", "api/health"), linkTo("What a card can be made of", "#/parts"));
  section.append(element("h2", "Help", { id: "help-title" }),
    helpPanel("What E-STOP does", [
      "E-STOP stops everything at once, from every view, and holds until Reset, also over a restart. It works for whoever may stop, even while somebody else drives.",
      "CONFIRMED means that every system has said that it stopped. NOT CONFIRMED means that nobody knows: it is sent again until the daemon answers, and what still moves can only be stopped by its power switch.",
      "REFUSED means that this token may not stop: it needs the scope control."]),
    helpPanel("What is safe, and what is not", [
      "Nothing keeps running because this page was closed, the network is gone, or the program dies or hangs: motors stop, pulses end, valves close. A second process writes that when the first cannot.",
      "Not safe is what no program can reach: a board that no longer listens, a valve that is stuck, a machine that has lost its power while a line was held on from outside. Keep a switch within reach.",
      "A value that turns grey is old. When the daemon does not answer, the controls are off: nothing is sent later that somebody pressed before.",
      "After a fault the system's view says what happened and what has to be done; Reset leaves it once that is done."]),
    helpPanel("Charts", [
      "Point at a chart, touch it, or go along it by the arrow keys: what was read then is said below it.",
      "Drag one to move in time, or press Shift and an arrow; End goes to now. The wheel after a click, two fingers, + and − zoom."]),
    helpPanel("Your devices", ["Each view says at its end how it is used."], devices),
    helpPanel("This program", ["Made with Tactus, under the Apache License 2.0."], addresses));
  byId("diagnostics").before(section);
  addView("help", "Help", "help", "M9.2 9a2.8 2.8 0 1 1 4 2.6c-.8.4-1.2 1-1.2 1.9M12 17h.01M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18", false);
}

if (document.readyState === "loading") addEventListener("DOMContentLoaded", showHelp); else showHelp();
