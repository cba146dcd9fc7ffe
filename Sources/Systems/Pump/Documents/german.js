// This card in German: see language.js.

addLanguage("de", {
  // what the store keeps
  "sessions": "Sitzungen",
  ", as far as this tab has heard of them, an hour at most; shaded while it pumps; dashed: above it the skin is too hot. Drag to move; two fingers, + and −, or the wheel after a click to zoom.":
    ", soweit dieser Tab davon weiß, höchstens eine Stunde; schattiert, solange sie pumpt; gestrichelt: darüber ist die Haut zu heiß. Ziehen verschiebt; zwei Finger, + und −, oder nach einem Klick das Rad vergrößert.",
  "Pump": "Pumpe", "ON": "EIN", "OFF": "AUS", "water": "Wasser", "skin": "Haut", "Skin": "Haut", "Water": "Wasser", "Pumped": "Gepumpt", "Connection": "Verbindung",
  "Sessions": "Sitzungen", "Speed in percent": "Drehzahl in Prozent", "Temperatures of the last ten minutes": "Temperaturen der letzten zehn Minuten",
  ", the last 10 minutes; shaded while it pumps": ", die letzten 10 Minuten; schattiert, solange sie pumpt", "the app": "die App", "its button": "ihren Knopf",
  "the pump itself": "die Pumpe selbst", "goes on": "läuft noch", "none yet": "noch keine", "no way in but this service": "kein Weg als dieser Dienst", "serial": "seriell",
  "Speed": "Drehzahl", "too hot": "zu heiß",
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
  [/^water ([^,;]+)$/, "Wasser $1"], [/^skin ([^,;]+)$/, "Haut $1"], [/^rested in ([^,;]+)$/, "erholt in $1"], [/^off in ([^,;]+)$/, "aus in $1"],
]);
