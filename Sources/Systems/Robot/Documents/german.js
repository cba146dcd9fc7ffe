// This card in German: see language.js.

addLanguage("de", {
  "Robot": "Roboter", "Left": "Links", "Right": "Rechts", "Speed limit": "Tempolimit", "In control": "Am Steuer", "Last command": "Letzter Befehl", "Why": "Grund",
  "Drive": "Fahren", "Full screen": "Vollbild", "Leave full screen": "Vollbild verlassen", "nobody drives": "niemand fährt", "nobody": "niemand",
  "drive the robot, in its view, while held": "den Roboter fahren, in seiner Ansicht, solange gehalten", "W A S D, arrows": "W A S D, Pfeile",
  "how fast keys drive: 10 % … 90 %, 100 % of the speed limit": "wie schnell Tasten fahren: 10 % … 90 %, 100 % der Höchstgeschwindigkeit",
  "The gamepad was lost: the robot was told to stop.": "Das Gamepad ging verloren: der Roboter wurde angehalten.", "The gamepad is gone.": "Das Gamepad ist weg.",
  "the robot is emergency-stopped: Reset first": "der Roboter ist im Not-Aus: erst zurücksetzen",
  "the robot is in fault: Reset first": "der Roboter ist gestört: erst zurücksetzen", "the daemon is shutting down": "der Dienst wird beendet",
  "somebody else": "jemand anders", "Ahead": "Voraus", "not known": "unbekannt", "Battery": "Akku", "Leans": "Neigung",
  "Drag, or hold W A S D or the arrows; letting go stops. Keys go to": "Ziehen, oder W A S D oder die Pfeile halten; Loslassen hält an. Tasten gehen bis",
  "of the limit: 1…9, 0. Esc and Space are its emergency stop here, and everywhere while it drives; ! stops everything.":
    "der Grenze: 1…9, 0. Esc und Leertaste sind hier sein Not-Aus, und überall, solange er fährt; ! hält alles an.",
  "Drive: drag, or hold W, A, S, D or the arrow keys. Let go to stop. Space or Escape is the emergency stop.": "Fahren: ziehen, oder W, A, S, D oder die Pfeiltasten halten. Loslassen hält an. Leertaste oder Esc ist der Not-Aus.",
  "Picture": "Bild", "Film": "Film", "Simulated robot": "Simulierter Roboter", "Clear its way": "Spur löschen",
  "of what is shown, as a file of this computer": "von dem, was zu sehen ist, als Datei dieses Rechners", "Map of the simulated robot": "Karte des simulierten Roboters",
  "There is no picture: choose one in the view Video.": "Es gibt kein Bild: eines in der Ansicht Video wählen.",
  "This browser cannot record.": "Dieser Browser kann nicht aufnehmen.", "Stop film": "Film beenden",
  "Camera mount": "Kamerahalter", "Middle": "Mitte", "Pan": "Schwenken", "Tilt": "Neigen", "the middle between its limits": "die Mitte zwischen seinen Grenzen",
  "Keys I, J, K, L: up, left, down, right. It stays where it is when the robot is emergency-stopped.":
    "Tasten I, J, K, L: hoch, links, runter, rechts. Im Not-Aus des Roboters bleibt er, wo er ist.",
  "turn the camera mount: up, left, down, right, in the robot's view": "den Kamerahalter drehen: hoch, links, runter, rechts, in der Ansicht des Roboters",
  "Lights": "Lichter", "Which light": "Welches Licht", "all": "alle", "Light up": "Leuchten", "Lights off": "Lichter aus", "Beep": "Piepen", "for 0.3 s": "für 0,3 s",
  "Height": "Höhe", "Level the body": "Körper gerade halten", "Line": "Linie", "nothing dark": "nichts Dunkles",
  // how to use it
  "Drag the stick, hold W A S D or the arrows, or use a gamepad. Letting go stops.":
    "Den Hebel ziehen, W A S D oder die Pfeile halten, oder ein Gamepad nehmen. Loslassen hält an.",
  "One page or program drives at a time. Who has let go for a second leaves it to others.":
    "Es fährt immer nur eine Seite oder ein Programm. Wer eine Sekunde loslässt, überlässt ihn anderen.",
  "The speed limit is for everybody, until the next start or until somebody changes it.":
    "Das Tempolimit gilt für alle, bis zum nächsten Start oder bis es jemand ändert.",
  "When no command comes any more, the motors stop by themselves: after one second, unless the configuration says otherwise. It does not matter why: a closed page, a lost network, a program that hangs.":
    "Kommt kein Befehl mehr, halten die Motoren von selbst an: nach einer Sekunde, wenn die Konfiguration nichts anderes sagt. Warum, ist gleich: eine geschlossene Seite, ein verlorenes Netz, ein hängendes Programm.",
  "A second process stops them when this program dies or hangs. Nobody can stop a board that no longer listens: keep its power switch within reach, and the wheels off the table at the first try.":
    "Ein zweiter Prozess hält sie an, wenn dieses Programm stirbt oder hängt. Eine Platine, die nicht mehr zuhört, hält niemand an: den Netzschalter in Reichweite lassen, und beim ersten Versuch die Räder in der Luft.",
}, [
  [/^dark below (.+)$/, "dunkel unter $1"], [/^driven by (.+)$/, "gefahren von {1}"], [/^(\d+ %) left$/, "$1 links"], [/^(\d+ %) right$/, "$1 rechts"], [/^a square is (.+)$/, "ein Kästchen ist $1"],
  [/^Stop film (.+)$/, "Film beenden $1"], [/^Gamepad: (.+); its left stick drives, B is the robot's emergency stop\.$/, "Gamepad: $1; sein linker Hebel fährt, B ist der Not-Aus des Roboters."],
  [/^(.+) drives the robot; it is free when they have let go for a second$/, "{1} fährt den Roboter; frei ist er, wenn eine Sekunde losgelassen wurde"],
]);
