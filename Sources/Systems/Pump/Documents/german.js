// This card in German: see language.js.

addLanguage("de", {
  // what the store keeps
  "sessions": "Sitzungen", "minutes of readings": "Minuten mit Messwerten",
  "Pump": "Pumpe", "ON": "EIN", "OFF": "AUS", "water": "Wasser", "skin": "Haut", "Skin": "Haut", "Water": "Wasser", "Pumped": "Gepumpt", "Connection": "Verbindung",
  "Sessions": "Sitzungen", "Speed in percent": "Drehzahl in Prozent",
  "; shaded while it pumps": "; schattiert, solange sie pumpt", "hottest skin": "wärmste Haut",
  "Over long times the points are means, and the dotted line is the hottest skin.": "Über lange Zeiten sind die Punkte Mittelwerte, und die gepunktete Linie ist die wärmste Haut.",
  "the app": "die App", "its button": "ihren Knopf",
  "the pump itself": "die Pumpe selbst", "goes on": "läuft noch", "No session yet: ON begins the first.": "Noch keine Sitzung: EIN beginnt die erste.", "no way in but this service": "kein Weg als dieser Dienst", "serial": "seriell",
  "Speed": "Drehzahl", "too hot": "zu heiß",
  "by the app": "von der App", "by its button": "von ihrem Knopf", "by the pump itself": "von der Pumpe selbst",
  // states, ways out of them, refusals
  "wait for its next report; if none comes, check its power and the connection": "auf ihre nächste Meldung warten; kommt keine, Strom und Verbindung prüfen",
  "the OFF is repeated until the pump confirms it": "das AUS wird wiederholt, bis die Pumpe es bestätigt", "off not yet confirmed": "Aus noch nicht bestätigt",
  "the pump has not confirmed the off: check its power and the connection, then reset": "die Pumpe hat das Aus nicht bestätigt: Strom und Verbindung prüfen, dann zurücksetzen",
  "let it rest, or reset": "ruhen lassen oder zurücksetzen", "let the skin cool down, then reset": "die Haut abkühlen lassen, dann zurücksetzen",
  "check the sensor and its wires, then reset": "den Fühler und seine Drähte prüfen, dann zurücksetzen", "pumped for as long as it may without a rest": "so lange gepumpt, wie sie ohne Ruhe darf",
  "the pump has stopped at its own limit": "die Pumpe hat an ihrer eigenen Grenze gehalten", "skin too warm": "Haut zu warm", "the pump says that a sensor of its is faulty": "die Pumpe meldet einen kaputten Fühler",
  "the pump does not start": "die Pumpe läuft nicht an", "the pump is in its error state": "die Pumpe meldet einen Fehler", "down": "keine Verbindung", "error": "Fehler", "manual": "von Hand",
  "connected, nothing heard yet": "verbunden, noch nichts gehört", "connected, but the pump does not answer": "verbunden, aber die Pumpe antwortet nicht", "maximum runtime exceeded": "die längste Laufzeit ist überschritten",
  "no command for the silence limit": "zu lange kam kein Befehl", "the motor's output does not take what it is told": "der Ausgang des Motors folgt nicht",
  "the motor's output does not take the off: check it, then reset": "der Ausgang des Motors nimmt das Aus nicht an: prüfen, dann zurücksetzen",
  "let it rest; OFF, the button or a reset leads out": "ruhen lassen; AUS, der Knopf oder Zurücksetzen führt heraus", "OFF, the button or a reset leads out": "AUS, der Knopf oder Zurücksetzen führt heraus",
  "that is longer than it may still pump": "so lange darf sie nicht mehr pumpen", "the pump does not answer": "die Pumpe antwortet nicht", "the pump has not said yet what it does": "die Pumpe hat noch nicht gesagt, was sie tut", "it is on": "sie läuft", "it does not run": "sie läuft nicht",
  "it is in a fault": "sie ist gestört", "an emergency stop is in force": "ein Not-Aus gilt", "it has pumped for as long as it may: let it rest, or reset": "sie hat so lange gepumpt, wie sie darf: ruhen lassen oder zurücksetzen",
  "the pump has not confirmed the off": "die Pumpe hat das Aus nicht bestätigt", "what caused the fault is still there": "die Ursache der Störung besteht noch",
  "it has told no temperature since it stopped: wait for its next reading": "seit dem Halt hat sie keine Temperatur gemeldet: auf die nächste warten", "there is nothing to reset": "es gibt nichts zurückzusetzen",
  "the line is none": "unverständlich", "cannot be read": "nicht lesbar", "an open circuit": "offener Stromkreis", "a short circuit": "Kurzschluss", "the pump": "die Pumpe",
  "the pump is in another state": "die Pumpe ist in einem anderen Zustand", "the pump's connection is another one": "die Verbindung der Pumpe ist eine andere", "a command to the pump failed": "ein Befehl an die Pumpe schlug fehl",
  "the motor's output fails": "der Ausgang des Motors versagt",
  // how to use it
  "On for some minutes, then off": "Für einige Minuten ein, dann aus", "Note on this session": "Notiz zu dieser Sitzung", "Note on the last session": "Notiz zur letzten Sitzung",
  "ON pumps at the speed of the slider, OFF ends it; 5, 10 or 20 min end by themselves, whoever goes away. OFF is sent again until the pump has confirmed it.":
    "EIN pumpt mit der Drehzahl des Schiebers, AUS beendet es; 5, 10 oder 20 min enden von selbst, wer auch immer geht. AUS wird gesendet, bis die Pumpe es bestätigt hat.",
  "It pumps for 30 minutes at most, unless the configuration says otherwise, and rests before it may go on. Turning it off and on does not begin them anew.":
    "Sie pumpt höchstens 30 Minuten, wenn die Konfiguration nichts anderes sagt, und ruht, bevor sie weiter darf. Aus- und wieder einschalten beginnt sie nicht von vorn.",
  "Skin that is too hot, a sensor that cannot be right and the pump's own faults turn it off. The card says why, and Reset what has to be seen first.":
    "Zu heiße Haut, ein Fühler, der nicht stimmen kann, und Fehler der Pumpe selbst schalten sie aus. Die Karte sagt, warum, und Zurücksetzen, was vorher zu sehen sein muss.",
  "This is no medical device. Take it off when it feels wrong, whatever a screen says.":
    "Dies ist kein Medizinprodukt. Abnehmen, wenn es sich falsch anfühlt, was immer ein Bildschirm sagt.",
}, [
  [/^the (.+) sensor cannot be read$/, "der Fühler für {1} ist nicht lesbar"], [/^the (.+) sensor reads (.+?)((?:: an? .+)?)$/, "der Fühler für {1} misst $2{3}"], [/^reads (.+?)((?:: an? .+)?)$/, "misst $1{2}"],
  [/^: (an open circuit|a short circuit)$/, ": {1}"], [/^no answer, sent (\d+) times$/, "keine Antwort, $1-mal gesendet"],
  [/^(\S+): the connection was lost before the pump had answered$/, "$1: die Verbindung ging verloren, bevor die Pumpe geantwortet hatte"], [/^(\S+): the pump stopped before it had answered$/, "$1: die Pumpe hielt an, bevor sie geantwortet hatte"],
  [/^What has been kept did not come: (.+)$/, "Was gespeichert ist, kam nicht: {1}"], [/^What has been kept did not come: (.+)$/, "Was gespeichert ist, kam nicht: <1>"],
  [/^water ([^,;]+)$/, "Wasser $1"], [/^skin ([^,;]+)$/, "Haut $1"], [/^rested in ([^,;]+)$/, "erholt in $1"], [/^off in ([^,;]+)$/, "aus in $1"],
]);
