// This card in German: see language.js.

addLanguage("de", {
  // what the store keeps
  "plants": "Pflanzen", "calibrations": "Kalibrierungen", "readings": "Messwerte", "events": "Ereignisse",
  "It waters nothing by itself, unless the configuration links it with a zone; even then not before its probes have once said something else than dry, or you have confirmed it.":
    "Von selbst wird nichts gewässert, außer die Konfiguration verbindet sie mit einer Zone; auch dann erst, wenn ihre Fühler einmal etwas anderes als trocken gesagt haben oder es bestätigt ist.",
  "Alerts, waterings, calibrations": "Warnungen, Wässerungen, Kalibrierungen",
  "Plants": "Pflanzen", "No plant yet. Name one and choose its probes.": "Noch keine Pflanze. Eine benennen und ihre Fühler wählen.",
  "Point at a chart, or go by its arrow keys, to read a value.": "Auf einen Verlauf zeigen oder mit den Pfeiltasten hindurchgehen: darunter steht der Wert.",
  "Probes": "Fühler", "probe": "Fühler", "raw": "roh",
  "moisture": "Feuchte", "temperature": "Temperatur", "trouble": "Störung", "calibrate: this": "kalibrieren: das", "Alerts and waterings": "Warnungen und Wässerungen",
  "New plant": "Neue Pflanze", "Name of a new plant": "Name einer neuen Pflanze", "Its probes": "Ihre Fühler", "Table of the probes": "Tabelle der Fühler",
  "Add a plant": "Pflanze hinzufügen", "no plant yet": "noch keine Pflanze",
  "two-point calibration by what the probe reads now": "Kalibrierung an zwei Punkten mit dem, was der Fühler jetzt misst", "no watering known yet": "noch kein Wässern bekannt",
  "nothing yet": "noch nichts", "It may be watered": "Sie darf gewässert werden", "Watered": "Gewässert",
  "somebody has watered it": "jemand hat sie gewässert", "Limits": "Grenzen", "dry below": "trocken unter", "wet above": "nass über", "cold below": "kalt unter",
  "hot above": "heiß über", "watered": "gewässert", "choose one to four probes": "einen bis vier Fühler wählen", "is dry": "ist trocken",
  "is wet": "ist nass", "what it reads now is dry soil": "was er jetzt misst, ist trockene Erde", "what it reads now is wet soil": "was er jetzt misst, ist nasse Erde",
  "Moisture": "Feuchte", "Temperature": "Temperatur", "chart history": "Verlauf", "Its alerts are forgotten.": "Ihre Warnungen werden vergessen.",
  "Pictures": "Bilder", "Label": "Etikett", "to print: its name, and a QR code that opens this card": "zum Drucken: ihr Name und ein QR-Code, der diese Karte öffnet", "not read yet": "noch nicht gelesen", "not in soil, or a broken wire": "nicht in Erde, oder ein gebrochener Draht", "another chip answers": "ein anderer Chip antwortet", "Change": "Ändern", "which does not answer now": "der jetzt nicht antwortet",
  "It warns by the configuration's limits until you change them.": "Gewarnt wird nach den Grenzen der Konfiguration, bis sie geändert werden.",
  "Nothing yet: alerts and waterings are listed here.": "Noch nichts: hier stehen Warnungen und Wässerungen.", "It is dry": "Ist trocken", "It is wet": "Ist nass", "alert": "Warnung", "calibrated": "kalibriert", "asks": "fragt",
  "was refused": "wurde abgelehnt", "by hand": "von Hand", "It": "Sie",
  // how to use it
  "Name a plant and choose the probes in its soil. Its card shows the moisture, how old the reading is, and what it was for up to three years.":
    "Eine Pflanze benennen und die Fühler in ihrer Erde wählen. Ihre Karte zeigt die Feuchte, wie alt sie ist und wie sie bis zu drei Jahre lang war.",
  "Calibrate each probe once: hold it in dry soil and say so, then in wet soil. Undo takes it back.":
    "Jeden Fühler einmal kalibrieren: in trockene Erde halten und es sagen, dann in nasse. Rückgängig nimmt es zurück.",
  "A dry plant is only reported. It gets water by itself only where the configuration links it with a zone, by fresh readings, and no more often than said there.":
    "Eine trockene Pflanze wird nur gemeldet. Von selbst bekommt sie nur Wasser, wo die Konfiguration sie mit einer Zone verbindet, nach frischen Werten und nicht öfter, als dort steht.",
  "A probe that is broken may say dry for ever: the first watering of a new plant waits until its probes have said something else, or until you confirm it.":
    "Ein kaputter Fühler sagt vielleicht für immer trocken: das erste Wässern einer neuen Pflanze wartet, bis ihre Fühler etwas anderes gesagt haben oder es bestätigt ist.",
}, [
  [/^It is not watered yet: its probes have said nothing but dry since it was added or calibrated\. If it is dry, confirm that zone (\d+) may water it; if not, calibrate its probes\.$/,
    "Sie wird noch nicht gewässert: ihre Fühler haben nur trocken gesagt, seit sie angelegt oder kalibriert ist. Ist sie trocken, bestätigen, dass Zone $1 sie wässern darf; wenn nicht, die Fühler kalibrieren."],
  [/^(.+) will be read by (.+) \(read for (.+) as well\)\. (It warns .+)$/, "{1} wird gelesen von {2} (auch für $3). {4}"], [/^(.+) will be read by (.+?)\. (It warns .+)$/, "{1} wird gelesen von {2}. {3}"], [/^Nothing is kept: (.+)$/, "Nichts wird aufgehoben: {1}"],
  [/^(.+): (dry|wet) was (.+)\.$/, "$1: {2} war {3}."], [/^(.+): (dry|wet) is (.+) so far\. Shall it be what it reads now, (.+)\?$/, "$1: {2} ist bisher {3}. Soll es sein, was er jetzt misst, {4}?"],
  [/^alert: (.+)$/, "Warnung: {1}"], [/^was refused: (.+)$/, "wurde abgelehnt: {1}"], [/^(dry|wet) (\S+)$/, "{1} $2"], [/^now (\d+ %)$/, "jetzt $1"], [/^of (.+)$/, "von $1"],
  [/^Day of the picture of (.+)$/, "Tag des Bilds von $1"],
  [/^No newer picture: (.+)$/, "Kein neueres Bild: $1"],
  [/^Label for (.+)$/, "Etikett für $1"],
  [/^Moisture of (.+) from (.+) to (.+)$/, "Feuchte von $1 von {2} bis {3}"],
  [/^1 plant$/, "1 Pflanze"], [/^(\d+) plants$/, "$1 Pflanzen"], [/^the first (\d+) shown$/, "die ersten $1 gezeigt"], [/^no picture of the day (\S+); GET \S+ lists them$/, "kein Bild vom $1"], [/^the driest of (\d+)$/, "die trockenste von $1"], [/^watered ([^;]+)$/, "gewässert {1}"], [/^dry below (.+)$/, "trocken unter $1"],
  [/^CSV, history of (.+)$/, "CSV, Verlauf von $1"], [/^Limits of (.+)$/, "Grenzen von $1"],
  [/^Remove (.+)\? Its alerts are forgotten\.$/, "$1 entfernen? Die Warnungen werden vergessen."], [/^Remove (.+)$/, "$1 entfernen"],
  [/^Moisture of (.+) since (.+)$/, "Feuchte von $1 seit $2"], [/^Watered: (.+)$/, "Gewässert: $1"], [/^watered by zone (\d+)$/, "Zone $1 wässert sie"], [/^last asked (.+)$/, "zuletzt gefragt {1}"], [/^asks zone (\d+)$/, "verlangt Wasser von Zone $1"],
  [/^(.+) counts$/, "$1 Zählwerte"], [/^(\S+) is (dry|wet)$/, "$1 ist {2}"], [/^the first (\d+)$/, "die ersten $1"], [/^not read lately: (.+)$/, "länger nicht gelesen: $1"], [/^not in soil, or a broken wire: (.+)$/, "nicht in Erde, oder ein gebrochener Draht: $1"], [/^(.+) (?:is|are) not in soil, or the wire is broken$/, "$1 nicht in Erde, oder der Draht ist gebrochen"],
  [/^(\d+) failures$/, "$1 Fehler"],
]);
