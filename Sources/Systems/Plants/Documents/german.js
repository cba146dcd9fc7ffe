// This card in German: see language.js.

addLanguage("de", {
  // what the store keeps
  "plants": "Pflanzen", "calibrations": "Kalibrierungen", "readings": "Messwerte", "events": "Ereignisse", "pictures": "Bilder",
  "It waters nothing by itself, unless the configuration links it with a zone; even then not before its probes have once said something else than dry, or you have confirmed it.":
    "Von selbst wird nichts gewässert, außer die Konfiguration verbindet sie mit einer Zone; auch dann erst, wenn ihre Fühler einmal etwas anderes als trocken gesagt haben oder es bestätigt ist.",
  "Alerts, waterings, calibrations": "Warnungen, Wässerungen, Abgleiche",
  "Plants": "Pflanzen", "No plant yet. Name one and choose its probes.": "Noch keine Pflanze. Eine benennen und ihre Fühler wählen.",
  "Point at a chart, or go by its arrow keys, to read a value.": "Auf einen Verlauf zeigen oder mit den Pfeiltasten hindurchgehen: darunter steht der Wert.",
  "day": "Tag", "week": "Woche", "month": "Monat", "year": "Jahr", "Probes": "Fühler", "probe": "Fühler", "raw": "roh",
  "moisture": "Feuchte", "temperature": "Temperatur", "trouble": "Störung", "calibrate: this": "abgleichen: das", "Alerts and waterings": "Warnungen und Wässerungen",
  "New plant": "Neue Pflanze", "Name of a new plant": "Name einer neuen Pflanze", "Its probes": "Ihre Fühler", "Table of the probes": "Tabelle der Fühler",
  "Add a plant": "Pflanze hinzufügen", "no plant yet": "noch keine Pflanze",
  "two-point calibration by what the probe reads now": "Abgleich an zwei Punkten mit dem, was der Fühler jetzt misst", "not seen watered yet": "noch nicht gewässert gesehen",
  "dry below this": "darunter trocken", "nothing yet": "noch nichts", "It may be watered": "Sie darf gewässert werden", "Watered": "Gewässert",
  "somebody has watered it": "jemand hat sie gewässert", "Limits": "Grenzen", "dry below": "trocken unter", "wet above": "nass über", "cold below": "kalt unter",
  "hot above": "heiß über", "no longer": "nicht mehr", "watered": "gewässert", "choose one to four probes": "einen bis vier Fühler wählen", "is dry": "ist trocken",
  "is wet": "ist nass", "what it reads now is dry soil": "was er jetzt misst, ist trockene Erde", "what it reads now is wet soil": "was er jetzt misst, ist nasse Erde",
  "Moisture": "Feuchte", "Temperature": "Temperatur", "chart history": "Verlauf", "Its alerts are forgotten.": "Ihre Warnungen werden vergessen.",
  "Pictures": "Bilder", "Label": "Etikett", "to print: its name, and a QR code that opens this card": "zum Drucken: ihr Name und ein QR-Code, der diese Karte öffnet", "not read yet": "noch nicht gelesen", "no answer": "keine Antwort", "the bus is stuck": "der Bus hängt", "what no soil is: open or shorted wire?": "was keine Erde ist: Draht gebrochen oder kurzgeschlossen?", "another chip answers": "ein anderer Chip antwortet", "Change": "Ändern", "which does not answer now": "der jetzt nicht antwortet",
  "It warns by the configuration's limits until you change them.": "Gewarnt wird nach den Grenzen der Konfiguration, bis sie geändert werden.",
  // how to use it
  "Name a plant and choose the probes in its soil. Its card shows the moisture, how old the reading is, and what it was for up to three years.":
    "Eine Pflanze benennen und die Fühler in ihrer Erde wählen. Ihre Karte zeigt die Feuchte, wie alt sie ist und wie sie bis zu drei Jahre lang war.",
  "Calibrate each probe once: hold it in dry soil and say so, then in wet soil. Undo takes it back.":
    "Jeden Fühler einmal abgleichen: in trockene Erde halten und es sagen, dann in nasse. Rückgängig nimmt es zurück.",
  "A dry plant is only told of. Water it gets by itself only where the configuration links it with a zone, by fresh readings, and no more often than said there.":
    "Eine trockene Pflanze wird nur gemeldet. Von selbst bekommt sie nur Wasser, wo die Konfiguration sie mit einer Zone verbindet, nach frischen Werten und nicht öfter, als dort steht.",
  "A probe that is broken may say dry for ever: the first watering of a new plant waits until its probes have said something else, or until you confirm it.":
    "Ein kaputter Fühler sagt vielleicht für immer trocken: das erste Wässern einer neuen Pflanze wartet, bis ihre Fühler etwas anderes gesagt haben oder es bestätigt ist.",
}, [
  [/^Day of the picture of (.+)$/, "Tag des Bilds von $1"],
  [/^No newer picture: (.+)$/, "Kein neueres Bild: $1"],
  [/^Label for (.+)$/, "Etikett für $1"],
  [/^Moisture of (.+) from (.+) to now$/, "Feuchte von $1 von $2 bis jetzt"],
  [/^(\d+) plants?$/, "$1 Pflanzen"], [/^the driest of (\d+)$/, "die trockenste von $1"], [/^watered ([^;]+)$/, "gewässert {1}"], [/^dry below (.+)$/, "trocken unter $1"],
  [/^CSV, history of (.+)$/, "CSV, Verlauf von $1"], [/^Limits of (.+)$/, "Grenzen von $1"],
  [/^Remove (.+)\? Its alerts are forgotten\.$/, "$1 entfernen? Die Warnungen werden vergessen."], [/^Remove (.+)$/, "$1 entfernen"],
  [/^Moisture of (.+) since (.+)$/, "Feuchte von $1 seit $2"], [/^Watered: (.+)$/, "Gewässert: $1"], [/^asks zone (\d+) for water$/, "fragt Zone $1 nach Wasser"],
  [/^(.+) counts$/, "$1 Zählwerte"], [/^(\S+) is (dry|wet)$/, "$1 ist {2}"], [/^the first (\d+)$/, "die ersten $1"], [/^not read lately: (.+)$/, "länger nicht gelesen: $1"], [/^not soil, look at the wire: (.+)$/, "keine Erde, nach dem Draht sehen: $1"], [/^(.+) reads? what no soil is: look at the wire$/, "$1 misst, was keine Erde ist: nach dem Draht sehen"],
  [/^(\d+) failures$/, "$1 Fehler"],
]);
