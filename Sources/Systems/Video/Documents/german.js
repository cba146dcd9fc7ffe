// This card in German: see language.js.

addLanguage("de", {
  "Video": "Video", "video": "Video", "pictures": "Bilder", "Snapshot": "Foto", "Record": "Aufnehmen", "Stop recording": "Aufnahme beenden",
  "What the camera sees": "Was die Kamera sieht", "nobody looks": "niemand sieht zu", "Look": "Ansehen", "look": "sehen zu", "nothing it knows": "nichts Bekanntes",
  "To record, name a folder in the configuration file: video.record_dir.": "Zum Aufnehmen einen Ordner in der Konfigurationsdatei nennen: video.record_dir.",
  "WebRTC only": "nur WebRTC", "MP4 only": "nur MP4", "this browser has no WebRTC": "dieser Browser hat kein WebRTC",
  "WebRTC does not come through: no picture by it": "WebRTC kommt nicht durch: kein Bild darüber",
  "a viewer's link loses what is sent faster": "die Verbindung eines Zuschauers verliert, was schneller gesendet wird",
  "a viewer's link holds up what is sent faster": "die Verbindung eines Zuschauers hält auf, was schneller gesendet wird",
  "the viewers' links take more again": "die Verbindungen der Zuschauer nehmen wieder mehr auf",
  // how to use it
  "Choose under Show how the picture comes: video is the best that this browser and the camera can do.":
    "Unter Zeigen wählen, wie das Bild kommt: Video ist das Beste, was dieser Browser und die Kamera können.",
  "A picture is always older than what is happening. Drive by it only as fast as its age allows, and stop when it stands still.":
    "Ein Bild ist immer älter als das, was geschieht. Danach nur so schnell fahren, wie sein Alter erlaubt, und anhalten, wenn es steht.",
  "Who may look at this page sees what the camera sees. Nothing is recorded before somebody presses Record.":
    "Wer diese Seite ansehen darf, sieht, was die Kamera sieht. Aufgenommen wird nichts, bevor jemand Aufnehmen drückt.",
}, [
  [/^(\d+) viewers?$/, "$1 Zuschauer"], [/^(\d+) look$/, "$1 sehen zu"], [/^([\d.]+) pictures a second$/, "$1 Bilder/s"], [/^([\d.]+) frames\/s$/, "$1 Bilder/s"],
  [/^at most ([\d.]+) Mbit\/s: (.+)$/, "höchstens $1 Mbit/s: {2}"], [/^encoded in (.+)$/, "kodiert in $1"], [/^sees (.+)$/, "sieht {1}"], [/^in (\d[^,;]*)$/, "in $1"],
]);
