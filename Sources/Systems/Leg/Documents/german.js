// This card in German: see language.js.

addLanguage("de", {
  "Legs": "Beine", "leg": "Bein", "Leg": "Bein", "ARM": "SCHARF", "DISARM": "UNSCHARF", "Keep alive": "Wach halten", "hold": "halten",
  "Links": "Verbindungen", "Link": "Verbindung", "State": "Zustand", "Other end": "Gegenstelle", "In": "Ein", "Out": "Aus", "Errors": "Fehler", "messages": "Nachrichten",
  "no pulse": "kein Puls", "target": "Ziel", "by nobody": "von niemandem", "Not armed": "Nicht scharf", "Move": "Bewegen", "it has not answered yet": "er hat noch nicht geantwortet",
  "DISARM first.": "Erst UNSCHARF.", "Pulse in microseconds": "Puls in Mikrosekunden", "Send once": "Einmal senden",
  "line: the pulse; dotted: where it is going; dashed: its limits; the last minute": "Linie: der Puls; gepunktet: wohin er geht; gestrichelt: seine Grenzen; die letzte Minute",
  "last command": "letzter Befehl", "Calibrate by hand": "Von Hand kalibrieren", "This is the lowest": "Das ist das Unterste", "This is the middle": "Das ist die Mitte",
  "This is the highest": "Das ist das Oberste", "One pulse command, as the slider stands": "Ein Befehl mit dem Puls des Schiebers",
  "Sequence": "Ablauf", "File": "Datei", "Start": "Start", "Stop": "Stopp", "commanded": "auf Befehl", "leg lost": "ein Bein ist nicht mehr scharf", "replaced": "ersetzt",
  "Choose a file first.": "Erst eine Datei wählen.", "This file is no JSON.": "Diese Datei ist kein JSON.",
  "Somebody else has armed a leg: disarm it before you move it from here.": "Jemand anderes hat ein Bein scharf geschaltet: erst UNSCHARF, dann von hier bewegen.",
  "Poses and steps with times, as JSON. ARM its legs here first, with “hold” off. It ends with the first pulse that is sent to one of them, and with this page.":
    "Stellungen und Schritte mit Zeiten, als JSON. Erst hier seine Beine SCHARF schalten, ohne „halten“. Er endet mit dem ersten Puls, der einem von ihnen geschickt wird, und mit dieser Seite.",
  "nothing found yet: move the leg, then say which place it is": "noch nichts gefunden: das Bein bewegen, dann sagen, welche Stelle es ist", "in the last minute": "in der letzten Minute",
  "Move the leg to an end of its way or to its middle, by the slider and the steps, then say which it is. What comes of it goes into the configuration file.":
    "Das Bein mit Schieber und Schritten an ein Ende seines Wegs oder in die Mitte bewegen, dann sagen, welches es ist. Was herauskommt, gehört in die Konfigurationsdatei.",
  "The pulse is sent 50 times a second while the slider is held or “hold” is on; a leg armed here stays armed, and where it is, while this page says that it is there. Leaving this view disarms it. A leg that somebody else has armed is theirs to move.":
    "Der Puls wird 50-mal in der Sekunde gesendet, solange der Schieber oder „halten“ gehalten ist; ein hier scharfes Bein bleibt scharf und wo es ist, solange diese Seite meldet, dass sie da ist. Wer die Ansicht verlässt, schaltet es unscharf. Ein Bein, das jemand anderes scharf geschaltet hat, bewegt nur er.",
  "ARM it first: a leg that is not armed has no pulse.": "Erst SCHARF schalten: ein Bein, das nicht scharf ist, hat keinen Puls.",
  "The leg has no pulse: ARM it and move it first.": "Das Bein hat keinen Puls: erst SCHARF schalten und bewegen.",
  // states, ways out of them, refusals
  "nothing set yet": "noch nichts gesetzt", "off not yet confirmed by the chip": "Aus vom Baustein noch nicht bestätigt", "arm it": "scharf schalten",
  "remove the cause, then disarm and arm it": "die Ursache beseitigen, dann unscharf und scharf schalten", "reset, then arm it": "zurücksetzen, dann scharf schalten",
  "the chip has not confirmed the off: check its power and wiring, then reset": "der Baustein hat das Aus nicht bestätigt: Strom und Drähte prüfen, dann zurücksetzen",
  "nobody has told it anything for too long": "zu lange hat ihm niemand etwas gesagt", "the link is lost": "die Verbindung ist verloren", "the battery is empty": "die Batterie ist leer", "charge it": "aufladen",
  "the servo's chip or its output-enable line fails": "der Servobaustein oder sein Freigabeausgang versagt", "it is not armed": "es ist nicht scharf",
  "it is armed already; an arm feeds nothing, send a pulse or a ping": "es ist schon scharf", "it is in fault": "es ist gestört", "it is emergency-stopped": "es ist im Not-Aus",
  "the chip has not confirmed the off": "der Baustein hat das Aus nicht bestätigt", "it is neither emergency-stopped nor in fault": "es ist weder im Not-Aus noch gestört",
  "not a LegCtrl frame": "keine Nachricht für ein Bein", "not now": "jetzt nicht", "another sequence was sent after this one": "nach diesem Ablauf wurde ein anderer gesendet",
  "its first way in the sequence needs more than its slew; give that step more time": "sein erster Weg im Ablauf ist zu schnell; dem Schritt mehr Zeit geben",
  "a leg has another state, or another cause of a fault": "ein Bein hat einen anderen Zustand oder eine andere Störung", "the servos' chip fails": "der Servobaustein versagt", "the servos' chip answers": "der Servobaustein antwortet",
  "the battery's sensor is silent": "der Fühler der Batterie schweigt", "the battery's sensor answers": "der Fühler der Batterie antwortet", "a sequence of the legs begins or ends": "ein Ablauf der Beine beginnt oder endet",
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
  [/^pulse (.+)$/, "Puls $1"], [/^released at (.+)$/, "losgelassen bei $1"], [/^FAULT: (.+)$/, "STÖRUNG: {1}"],
  [/^the command waited more than (.+) for the legs' loop; send it again$/, "der Befehl hat mehr als $1 gewartet; noch einmal senden"],
  [/^(.+) has armed this leg: disarm it before you move it from here$/, "{1} hat dieses Bein scharf geschaltet: erst UNSCHARF, dann von hier bewegen"],
  [/^(This is the \w+) of (.+)$/, "{1}, {2}"],
  [/^Pulse of (.+) in the last minute$/, "Puls von {1} in der letzten Minute"],
  [/^armed: ([^;]+)$/, "scharf: $1"], [/^legs: (.+)$/, "Beine: {1}"], [/^battery (.+)$/, "Batterie $1"], [/^Pulse of (.+) in microseconds$/, "Puls von $1 in Mikrosekunden"],
  [/^Links of (.+)$/, "Verbindungen von $1"], [/^limited to (.+)$/, "begrenzt auf $1"], [/^(ARM|DISARM|Keep alive|Pin of|Name of|Enabled of|Longest run of) (.+)$/, "{1} {2}"],
  [/^leg (\d+)$/, "Bein $1"], [/^step (\d+) of (\d+)$/, "Schritt $1 von $2"], [/^round (\d+)$/, "Runde $1"], [/^round (\d+) of (\d+)$/, "Runde $1 von $2"], [/^(\d+) malformed$/, "$1 missgebildet"], [/^(\d+) lost$/, "$1 verloren"], [/^(\d+) not sent$/, "$1 nicht gesendet"],
  [/^udp port (\d+)$/, "UDP-Port $1"], [/^websocket (\S+)$/, "WebSocket $1"], [/^Calibration of (.+)$/, "Kalibrierung von $1"], [/^Send once, (.+)$/, "Einmal senden, {1}"],
  [/^(\d+) microseconds$/, "$1 Mikrosekunden"], [/^([−+]\d+) microseconds, (.+)$/, "$1 Mikrosekunden, {2}"], [/^the chip fails: (.+)$/, "der Baustein versagt: $1"],
]);
