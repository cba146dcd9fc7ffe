// This card in German: see language.js.

addLanguage("de", {
  "Video": "Video", "video": "Video", "Snapshot": "Foto", "Record": "Aufnehmen", "Stop recording": "Aufnahme beenden",
  "What the camera sees": "Was die Kamera sieht", "Camera off": "Kamera aus", "Look": "Ansehen", "nothing it knows": "nichts Bekanntes",
  "To record, name a folder in the configuration file: video.record_dir.": "Zum Aufnehmen einen Ordner in der Konfigurationsdatei nennen: video.record_dir.",
  "WebRTC only": "nur WebRTC", "MP4 only": "nur MP4", "this browser has no WebRTC": "dieser Browser hat kein WebRTC",
  "WebRTC does not come through: no picture by it": "WebRTC kommt nicht durch: kein Bild darüber",
  "a viewer's link loses what is sent faster": "die Verbindung eines Zuschauers verliert, was schneller gesendet wird",
  "a viewer's link holds up what is sent faster": "die Verbindung eines Zuschauers hält auf, was schneller gesendet wird",
  "the viewers' links take more again": "die Verbindungen der Zuschauer nehmen wieder mehr auf",
  "the camera is off": "die Kamera ist aus", "nobody watches": "niemand sieht zu", "the camera starts": "die Kamera startet", "somebody watches": "jemand sieht zu", "the video process does not run": "der Videoprozess läuft nicht",
  "the daemon starts it again": "der Dienst startet ihn wieder", "the video process is started again if it stays so": "bleibt es so, wird der Videoprozess neu gestartet", "failed": "fehlgeschlagen", "as configured": "wie konfiguriert",
  "the camera is tried again while there are viewers; `tactus doctor` lists the cameras": "die Kamera wird wieder versucht, solange jemand zusieht; `tactus doctor` nennt die Kameras",
  "RTSP is tried again by itself; free the port or set network.rtsp_port to another": "RTSP wird von selbst wieder versucht; den Port freigeben oder network.rtsp_port anders setzen",
  // how to use it
  "Choose under Show how the picture comes: video is the best that this browser and the camera can do.":
    "Unter Zeigen wählen, wie das Bild kommt: Video ist das Beste, was dieser Browser und die Kamera können.",
  "A picture is always older than what is happening. Drive by it only as fast as its age allows, and stop when it stands still.":
    "Ein Bild ist immer älter als das, was geschieht. Danach nur so schnell fahren, wie sein Alter erlaubt, und anhalten, wenn es steht.",
  "Who may look at this page sees what the camera sees. Nothing is recorded before somebody presses Record.":
    "Wer diese Seite ansehen darf, sieht, was die Kamera sieht. Aufgenommen wird nichts, bevor jemand Aufnehmen drückt.",
}, [
  [/^(starting|running|stopped|failed|done) (\S+ [\d.]+ MB)$/, "{1} $2"],
  [/^No RTSP: (.+)$/, "Kein RTSP: {1}"], [/^No detector: (.+)$/, "Kein Erkenner: {1}"], [/^this browser does not play (.+)$/, "dieser Browser spielt <1> nicht"],
  [/^(\d+) viewers?$/, "$1 Zuschauer"], [/^1 watching$/, "1 sieht zu"], [/^(\d+) watching$/, "$1 sehen zu"], [/^([\d.]+) pictures a second$/, "$1 Bilder/s"], [/^([\d.]+) frames\/s$/, "$1 Bilder/s"],
  [/^at most ([\d.]+) Mbit\/s: (.+)$/, "höchstens $1 Mbit/s: {2}"], [/^encoded in (.+)$/, "kodiert in $1"], [/^sees (.+)$/, "sieht {1}"], [/^in (\d[^,;]*)$/, "in $1"],
]);
