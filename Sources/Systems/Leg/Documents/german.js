// This card in German: see language.js.

addLanguage("de", {
  "Legs": "Beine", "leg": "Bein", "Leg": "Bein", "ARM": "SCHARF", "DISARM": "UNSCHARF", "PING": "PING", "hold": "halten", "· last command": "· letzter Befehl",
  "Links": "Verbindungen", "Link": "Verbindung", "State": "Zustand", "Other end": "Gegenstelle", "In": "Ein", "Out": "Aus", "Errors": "Fehler", "frames": "Rahmen",
  "no pulse": "kein Puls", "pulse": "Puls", "target": "Ziel", "by nobody": "von niemandem", "none is armed": "keines ist scharf", "Move": "Bewegen", "it has not answered yet": "er hat noch nicht geantwortet",
  "DISARM first.": "Erst UNSCHARF.", "Pulse in microseconds": "Puls in Mikrosekunden", "Send once": "Einmal senden",
  "line: the pulse; dotted: where it is going; dashed: its limits; the last minute": "Linie: der Puls; gepunktet: wohin er geht; gestrichelt: seine Grenzen; die letzte Minute",
  "last command": "letzter Befehl", "Calibrate by hand": "Von Hand abgleichen", "This is the lowest": "Das ist das Unterste", "This is the middle": "Das ist die Mitte",
  "This is the highest": "Das ist das Oberste", "One pulse command, as the slider stands": "Ein Befehl mit dem Puls des Schiebers",
  "Sequence": "Ablauf", "File": "Datei", "Start": "Start", "Stop": "Stopp", "completed": "zu Ende", "commanded": "durch einen Befehl beendet", "leg lost": "ein Bein ist nicht mehr scharf", "replaced": "ersetzt",
  "Choose a file first.": "Erst eine Datei wählen.", "This file is no JSON.": "Diese Datei ist kein JSON.",
  "Somebody else has armed a leg: disarm it before you move it from here.": "Jemand anderes hat ein Bein scharf geschaltet: erst UNSCHARF, dann von hier bewegen.",
  "Poses and steps with times, as JSON. ARM its legs here first, with “hold” off. It ends with the first pulse that is sent to one of them, and with this page.":
    "Stellungen und Schritte mit Zeiten, als JSON. Erst hier seine Beine SCHARF schalten, ohne „halten“. Er endet mit dem ersten Puls, der einem von ihnen geschickt wird, und mit dieser Seite.",
  "nothing found yet": "noch nichts gefunden", "in the last minute": "in der letzten Minute",
  // how to use it
  "ARM a leg, then move its slider. Nothing moves before: the first pulse comes with the first command.":
    "Ein Bein SCHARF schalten, dann seinen Schieber bewegen. Vorher bewegt sich nichts: der erste Puls kommt mit dem ersten Befehl.",
  "While a leg is armed, this page sends that it is there. When it stops to, by a closed page or a lost network, the pulse ends: after 200 ms, unless the configuration says otherwise.":
    "Solange ein Bein scharf ist, meldet diese Seite, dass sie da ist. Hört das auf, weil sie geschlossen wird oder das Netz weg ist, endet der Puls: nach 200 ms, wenn die Konfiguration nichts anderes sagt.",
  "Without a pulse a servo holds nothing: what the leg carries may fall. Support it.":
    "Ohne Puls hält ein Servo nichts: was das Bein trägt, kann fallen. Also abstützen.",
  "Fingers, cables and joints stay away from what is armed. A servo is fast and does not feel.":
    "Finger, Kabel und Gelenke bleiben weg von allem, was scharf ist. Ein Servo ist schnell und fühlt nichts.",
}, [
  [/^(This is the \w+) of (.+)$/, "{1}, {2}"],
  [/^Pulse of (.+) in the last minute$/, "Puls von {1} in der letzten Minute"],
  [/^armed: ([^;]+)$/, "scharf: $1"], [/^legs: (.+)$/, "Beine: {1}"], [/^battery (.+)$/, "Batterie $1"], [/^Pulse of (.+) in microseconds$/, "Puls von $1 in Mikrosekunden"],
  [/^Links of (.+)$/, "Verbindungen von $1"], [/^limited to (.+)$/, "begrenzt auf $1"], [/^(ARM|DISARM|PING|Pin of|Name of|Enabled of|Longest run of) (.+)$/, "{1} {2}"],
  [/^leg (\d+)$/, "Bein $1"], [/^step (\d+) of (\d+)$/, "Schritt $1 von $2"], [/^round (\d+)$/, "Runde $1"], [/^round (\d+) of (\d+)$/, "Runde $1 von $2"], [/^(\d+) malformed$/, "$1 missgebildet"], [/^(\d+) lost$/, "$1 verloren"], [/^(\d+) not sent$/, "$1 nicht gesendet"],
  [/^udp port (\d+)$/, "UDP-Port $1"], [/^websocket (\S+)$/, "WebSocket $1"], [/^Calibration of (.+)$/, "Abgleich von $1"], [/^Send once, (.+)$/, "Einmal senden, {1}"],
  [/^(\d+) microseconds$/, "$1 Mikrosekunden"], [/^the chip fails: (.+)$/, "der Baustein versagt: $1"],
]);
