// This card in German: see language.js.

addLanguage("de", {
  "Robot": "Roboter", "Left": "Links", "Right": "Rechts", "Speed limit": "Tempolimit", "In control": "Am Steuer", "Last command": "Letzter Befehl", "Why": "Grund",
  "Drive": "Fahren", "Full screen": "Vollbild", "Leave full screen": "Vollbild verlassen", "nobody drives": "niemand fährt", "nobody": "niemand",
  "drive the robot, in its view, while held": "den Roboter fahren, in seiner Ansicht, solange gehalten", "W A S D, arrows": "W A S D, Pfeile",
  "how fast keys drive: 10 % … 90 %, 100 % of the speed limit": "wie schnell Tasten fahren: 10 % … 90 %, 100 % des Tempolimits",
  "The gamepad was lost: the robot was told to stop.": "Das Gamepad ging verloren: der Roboter wurde angehalten.", "The gamepad is gone.": "Das Gamepad ist weg.",
  "the robot is emergency-stopped: Reset first": "der Roboter ist im Not-Aus: erst zurücksetzen",
  "the robot is in fault: Reset first": "der Roboter ist gestört: erst zurücksetzen", "Standing still": "Steht still",
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
  "good": "gut", "fair": "mäßig", "poor": "schlecht",
  // states, ways out of them, refusals
  "waiting for the first command": "wartet auf den ersten Befehl", "the remote control stopped sending": "die Fernsteuerung sendet nicht mehr",
  "charge the battery, then bring every stick to zero, or send a stop": "den Akku laden, dann jeden Hebel loslassen oder anhalten", "bring every stick to zero, or send a stop": "jeden Hebel loslassen oder anhalten",
  "charge the battery": "den Akku laden", "the distance ahead is not known": "der Abstand voraus ist unbekannt", "the battery is at motors.battery_stop_percent or below": "der Akku ist zu leer",
  "turn or drive backward; forward again once the way is clear and the stick was brought back": "drehen oder rückwärts fahren; vorwärts wieder, wenn der Weg frei ist und der Hebel losgelassen war",
  "turn or drive backward; check the distance sensor, and bring the stick back before driving forward again": "drehen oder rückwärts fahren; den Abstandsfühler prüfen, und den Hebel loslassen, bevor es wieder vorwärts geht",
  "let go of every stick for a second, then reset": "jeden Hebel eine Sekunde loslassen, dann zurücksetzen", "set the robot upright": "den Roboter aufstellen", "remove the cause": "die Ursache beseitigen", "then reset": "dann zurücksetzen",
  "let go of every stick for a second": "jeden Hebel eine Sekunde loslassen", "the motors have not confirmed the stop": "die Motoren haben den Halt nicht bestätigt", "check their power and wiring": "Strom und Drähte prüfen",
  "from outside, because the program ended, or it or a loop of it hung": "von außen, weil das Programm endete oder es oder eine seiner Schleifen hing", "no forward motion": "nicht vorwärts", "slowing down": "wird langsamer",
  "stop not yet confirmed by the motors": "Halt von den Motoren noch nicht bestätigt", "stop not confirmed by the motors": "Halt von den Motoren nicht bestätigt",
  "the motor board does not answer": "die Motorplatine antwortet nicht", "another controller holds the bus": "eine andere Steuerung hält den Bus", "the serial line takes no more bytes": "die serielle Leitung nimmt nichts mehr an",
  "the serial device is gone": "das serielle Gerät ist weg", "the system refused the write": "das System hat das Schreiben abgelehnt", "the robot is in another state, or for another reason": "der Roboter ist in einem anderen Zustand oder aus einem anderen Grund",
  "motor write failed": "die Motoren nehmen nichts an", "the robot's battery is low": "der Akku des Roboters ist schwach", "the motors answer again": "die Motoren antworten wieder",
  "another source controls the robot until it has been silent for the failsafe timeout": "jemand anders fährt den Roboter, bis eine Weile losgelassen wurde",
  "the timestamp is before the newest one accepted from this client; send the time of sending": "der Zeitstempel ist zu alt", "the timestamp is that of the last command; send a new one with every command": "der Zeitstempel ist der des letzten Befehls",
  "the timestamp is more than a second ahead of the newest one accepted from this client; send the time of sending": "der Zeitstempel ist zu weit voraus",
  "the robot is emergency-stopped": "der Roboter ist im Not-Aus", "the robot is in fault": "der Roboter ist gestört", "the motors have not confirmed their stop": "die Motoren haben ihren Halt nicht bestätigt",
  "a stick is held: send zero speeds, or nothing for the failsafe timeout, first": "ein Hebel wird gehalten: erst loslassen", "the robot is neither emergency-stopped nor in fault": "der Roboter ist weder im Not-Aus noch gestört",
  "a speed is not a finite number, or beyond 100 m/s or rad/s": "eine Geschwindigkeit ist keine Zahl oder viel zu groß", "the command waited more than 250 ms for the robot's loop; send it again": "der Befehl hat mehr als 250 ms gewartet; noch einmal senden",
  "the robot leans by more than motors.tilt_stop_deg, or by more than 45 degrees if that is not given": "der Roboter neigt sich zu weit", "the board turns no camera mount (pan-tilt)": "die Platine dreht keinen Kamerahalter",
  "the board has no lights": "die Platine hat keine Lichter", "the board has no buzzer": "die Platine hat keinen Summer", "the board cannot change the height of its body": "die Platine kann die Höhe nicht ändern",
  "the board does not balance its body": "die Platine hält den Körper nicht gerade", "an angle is beyond the limits of the camera mount": "ein Winkel ist jenseits der Grenzen des Kamerahalters",
  "linear and angular need motors.wheel_base_m and motors.top_speed_m_per_s in the file, which the robot is not given; or drive in percent":
    "linear und angular brauchen motors.wheel_base_m und motors.top_speed_m_per_s in der Konfigurationsdatei; oder in Prozent fahren",
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
  [/^(\S+) must bring its stick to zero, or be silent for the failsafe timeout$/, "$1 muss seinen Hebel loslassen oder eine Weile schweigen"], [/^the battery is at (\d+ %)$/, "der Akku ist bei $1"],
  [/^reset (by .+)$/, "zurückgesetzt {1}"], [/^an obstacle at (\d+ mm)$/, "ein Hindernis in $1"], [/^the robot leans by (\S+) degrees$/, "der Roboter neigt sich um $1 Grad"], [/^(\d+) failed$/, "$1 fehlgeschlagen"],
  [/^(\d+) failed writes? in a row$/, "$1 Versuche nacheinander fehlgeschlagen"], [/^errno (\d+)$/, "errno $1"], [/^(\d+ %) late$/, "$1 verspätet"], [/^(\S+) degrees$/, "$1 Grad"],
  [/^(\S+ m), (\S+ m) from the start, (\S+) to the left$/, "$1, $2 vom Start, $3 nach links"], [/^driving (by .+)$/, "fährt, {1}"],
  [/^dark below (.+)$/, "dunkel unter $1"], [/^driven (by .+)$/, "gefahren {1}"], [/^(\d+ %) left$/, "$1 links"], [/^(\d+ %) right$/, "$1 rechts"], [/^a square is (.+)$/, "ein Kästchen ist $1"],
  [/^Stop film (.+)$/, "Film beenden $1"], [/^Gamepad: (.+); its left stick drives, B is the robot's emergency stop\.$/, "Gamepad: <1>; sein linker Hebel fährt, B ist der Not-Aus des Roboters."],
  [/^(.+) drives the robot; it is free when they have let go for a second$/, "{1} fährt den Roboter; frei ist er, wenn eine Sekunde losgelassen wurde"],
]);
