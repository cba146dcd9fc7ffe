"use strict";
// German. Left: what the page's scripts and cards write; a text that is not here is looked for without its mark at the end, then part by part.

addLanguage("de", {
  "Stops every actuator, until a reset (also the key !)": "Hält jeden Antrieb an, bis zurückgesetzt wird (auch die Taste !)",
  "A token is a long password. To get one, type this on the computer that runs tactus, in a terminal:":
    "Ein Token ist ein langes Kennwort. Auf dem Rechner, auf dem tactus läuft, macht dies in einem Terminal eines:",
  "This token does not work here. Was all of it copied? It may also be revoked, or another computer's.":
    "Dieses Token gilt hier nicht. Wurde alles kopiert? Vielleicht ist es widerrufen oder gehört zu einem anderen Rechner.",
  "No answer from the daemon: what is shown is old, and the controls are off. E-STOP still tries.":
    "Der Dienst antwortet nicht: was hier steht, ist alt, und die Bedienung ist aus. NOT-AUS wird weiter versucht.",
  "E-STOP is NOT CONFIRMED: the daemon does not answer. It is tried again every second. What still moves can only be stopped by its power switch.":
    "NOT-AUS ist NICHT BESTÄTIGT: der Dienst antwortet nicht. Jede Sekunde wird es wieder versucht. Was sich noch bewegt, hält nur sein Netzschalter an.",
  "emergency stop of what drives or is armed and of what this view drives; everything else goes on. Space that is typed into a field is a space.":
    "Not-Aus dessen, was fährt oder scharf ist, und dessen, was diese Ansicht fährt; alles andere läuft weiter. In einem Feld ist die Leertaste ein Leerzeichen.",
  "E-STOP of everything, in every view": "NOT-AUS von allem, in jeder Ansicht", "what drives": "was fährt",
  "hour": "Stunde", "Zone": "Zone", "min": "min",
  "minute": "Minute",
  "name": "Name",
  "weekdays": "Wochentage",
  "earlier": "früher",
  "well": "gut",
  "lowest": "Unterstes",
  "highest": "Oberstes",
  "priority": "Vorrang",
  // the frame
  "connecting": "verbinde", "live": "verbunden", "no connection": "keine Verbindung", "no answer": "keine Antwort", "locked": "gesperrt", "asks every 4 s": "fragt alle 4 s",
  "WebSockets are blocked on the way to the daemon: it is asked every 4 s instead. What is driven over one cannot be driven from here.":
    "WebSockets sind auf dem Weg zum Dienst gesperrt: er wird stattdessen alle 4 s gefragt. Was darüber gefahren wird, lässt sich von hier nicht fahren.",
  "stop not confirmed": "Halt nicht bestätigt", "off not confirmed": "Aus nicht bestätigt", "lines not confirmed": "Ausgänge nicht bestätigt", "read only": "nur ansehen",
  "version": "Version", "time to the daemon and back": "Zeit zum Dienst und zurück", "Reset": "Zurücksetzen", "E-STOP": "NOT-AUS", "stops everything": "hält alles an", "not yet": "noch nicht",
  "sending…": "sende …", "confirmed": "bestätigt", "NOT CONFIRMED": "NICHT BESTÄTIGT", "REFUSED": "ABGELEHNT", "FAILED": "FEHLGESCHLAGEN", "log in first": "erst anmelden",
  "not by this token": "nicht mit diesem Token", "Emergency stop": "Not-Aus",
  "Stops this system alone, until a reset. E-STOP stops everything.": "Hält nur dieses Gerät an, bis zurückgesetzt wird. NOT-AUS hält alles an.",
  "Leaves the emergency stop or the fault of this system": "Beendet den Not-Aus oder die Störung dieses Geräts", "Systems": "Geräte", "Overview": "Übersicht",
  "Diagnostics": "Diagnose", "Keys": "Tasten", "What each key does (?)": "Was jede Taste tut (?)", "Close": "Schließen", "Dismiss": "Ausblenden", "Cancel": "Abbrechen",
  "Not connected: nothing is known of the daemon now, and the controls are off. E-STOP still tries.":
    "Nicht verbunden: vom Dienst ist jetzt nichts bekannt, und die Bedienung ist aus. NOT-AUS versucht es weiter.",
  "Undo": "Rückgängig", "Save": "Speichern", "Log in": "Anmelden", "Log out": "Abmelden", "Enter": "Anmelden", "Health": "Zustand", "API": "API", "Events": "Ereignisse",
  "All is well.": "Alles in Ordnung.", "Waiting for the daemon's first word…": "Warte auf das erste Wort des Dienstes …",
  "Then put what it prints in here:": "Was es ausgibt, gehört hierher:", "Remember it on this device until I log out": "Auf diesem Gerät merken, bis ich mich abmelde",
  "A token has no spaces or control characters.": "Ein Token hat weder Leer- noch Steuerzeichen.", "This page needs a token.": "Diese Seite braucht ein Token.",
  "A part of this page has not come. It is asked for again; if that lasts, reload the page.": "Ein Teil dieser Seite ist nicht gekommen. Er wird noch einmal geholt; dauert das an, die Seite neu laden.",
  "This token has expired or was revoked.": "Dieses Token ist abgelaufen oder wurde widerrufen.",
  "This token has expired. Make a new one.": "Dieses Token ist abgelaufen. Ein neues ist nötig.",
  "no answer: whether it was done is not known": "keine Antwort: ob es geschehen ist, ist nicht bekannt",
  "no answer in time: it may still be going on": "keine Antwort in der Zeit: vielleicht geht es noch weiter",
  "under way: it may take minutes": "unterwegs: es kann Minuten dauern", "this sheet": "dieses Blatt",
  "g, then a digit": "g, dann eine Ziffer", "the view at that place in the bar": "die Ansicht an dieser Stelle der Leiste", "Esc, Space": "Esc, Leertaste",
  "just now": "gerade eben", "this page": "diese Seite", "another page or program": "eine andere Seite oder ein Programm", "yes": "ja", "no": "nein", "unknown": "unbekannt",
  "more": "mehr", " or ": " oder ", " and ": " und ", "Show": "Zeigen", "Name": "Name", "Settings": "Einstellungen", "Simulated faults": "Simulierte Störungen",
  "setting": "Einstellung", "value": "Wert", "range": "Bereich", "unless set": "wenn nicht gesetzt", "meaning": "Bedeutung",
  "no hardware is driven": "keine Hardware wird angesteuert", "no state yet": "noch kein Zustand", "simulated": "simuliert",
  "This needs a token of scope admin.": "Das braucht ein Token mit dem Umfang admin.",
  "Faults are switched with a token of scope admin.": "Störungen schaltet ein Token mit dem Umfang admin.", "a number": "eine Zahl", "a whole number": "eine ganze Zahl",

  "How to use it, and what is safe": "Wie man es bedient, und was sicher ist", "Help": "Hilfe",
  "When this program ends, dies or hangs, every output goes to its safe state. E-STOP does it at once, and holds until Reset.":
    "Endet, stirbt oder hängt dieses Programm, geht jeder Ausgang in seinen sicheren Zustand. NOT-AUS tut es sofort und bleibt, bis zurückgesetzt wird.",
  "These may change while everything runs: change them in the file, then press Reload. A tighter limit holds at once, a wider one when its system has been in its safe state. Of a file with an error nothing is taken.":
    "Das darf sich im Betrieb ändern: in der Datei ändern, dann Neu laden drücken. Eine engere Grenze gilt sofort, eine weitere, wenn ihr Gerät in seinem sicheren Zustand war. Von einer Datei mit einem Fehler wird nichts übernommen.",
  "Reload": "Neu laden", "nothing has changed": "nichts hat sich geändert", "until the next reload or start": "bis zum nächsten Neuladen oder Start",
  "What is saved here holds until the next reload or start; what is to stay goes into the file, as texts do.":
    "Was hier gespeichert wird, gilt bis zum nächsten Neuladen oder Start; was bleiben soll, gehört in die Datei, wie alle Texte.",
  "Support file": "Datei für Hilfe", "Version": "Version", "Computer": "Rechner", "Started": "Gestartet", "Guard": "Wächter", "being replaced": "wird ersetzt",
  "The support file is one text for whoever helps you, without passwords and tokens. Read it before you send it.":
    "Die Datei für Hilfe ist ein Text für die, die helfen, ohne Kennwörter und Token. Vor dem Senden durchlesen.",
  "watching: it makes everything safe when the daemon cannot": "wacht: er macht alles sicher, wenn der Dienst es nicht kann", "lost: every output is stopped": "verloren: jeder Ausgang ist angehalten",
  "none: it is switched off, or everything is simulated": "keiner: er ist ausgeschaltet, oder alles ist simuliert", "made everything safe": "machte alles sicher",
  "Backup of records, schedules and logs": "Sicherung von Aufzeichnungen, Plänen und Protokollen", "Save a backup": "Sicherung speichern", "Restore…": "Wiederherstellen …", "Restore it": "Wiederherstellen", "restored": "wiederhergestellt",
  "Undo the restore": "Wiederherstellung rückgängig", "Undo it": "Rückgängig machen", "undone": "rückgängig gemacht", "Table of what is kept": "Tabelle dessen, was aufgehoben wird",
  "Table of what a restore changes": "Tabelle dessen, was eine Wiederherstellung ändert", "part": "Teil", "what": "was", "how many": "wie viele", "newest": "neueste vom",
  "in the backup": "in der Sicherung", "newest there": "neueste dort vom", "overwritten": "überschrieben", "new": "neu", "kept values": "gemerkte Werte",
  "What the last restore replaced comes back, and what has changed there since is replaced in its turn.":
    "Was die letzte Wiederherstellung ersetzt hat, kommt zurück, und was sich dort seither geändert hat, wird seinerseits ersetzt.",
  "All that is kept, as one file: records, schedules, logs, sessions. The configuration file and the tokens are not in it.":
    "Alles, was aufgehoben wird, als eine Datei: Einträge, Zeitpläne, Protokolle, Sitzungen. Die Konfigurationsdatei und die Token sind nicht dabei.",

  // clients
  "System": "System", "Log": "Protokoll", "This line in the file adds it, after the next start:": "Diese Zeile in der Datei bringt es, nach dem nächsten Start:", "Clients": "Geräte und Programme", "Table of the clients": "Tabelle der Geräte und Programme", "New client…": "Neues Gerät …", "May": "Darf", "Expires": "Gilt bis", "Make": "Anlegen", "Done": "Fertig", "Revoke": "Widerrufen",
  "may": "darf", "made": "angelegt", "expires": "gilt bis", "last seen": "zuletzt da", "Actions": "Aktionen", "never": "ohne Ende", "not since the start": "nicht seit dem Start",
  "looks": "ansehen", "looks and controls": "ansehen und steuern", "changes the daemon, too": "auch den Dienst ändern", "for ever": "ohne Ende", "1 day": "1 Tag", "1 year": "1 Jahr",
  "Anna's phone": "Annas Telefon", "valid": "gültig", "expired": "abgelaufen", "revoked": "widerrufen", "Token": "Token", "may come in": "darf herein", "QR code of the address": "QR-Code der Adresse",
  "A phone, a computer or a program gets a token of its own, so that it can be revoked alone.": "Ein Telefon, ein Rechner oder ein Programm bekommt ein eigenes Token, das sich allein widerrufen lässt.",
  "No client has a token in the file yet.": "Noch hat kein Gerät ein Token in der Datei.", "Name must be at least 1 character long.": "Der Name braucht mindestens 1 Zeichen.",
  "Point the other device's camera at this picture, or open the address there: it is good once, within 5 minutes.":
    "Die Kamera des anderen Geräts auf dieses Bild richten, oder dort die Adresse öffnen: sie gilt einmal, in den nächsten 5 Minuten.",
  "This page was opened by an address that only this computer knows: open it by the computer's name or its address in the network for one that other devices reach.":
    "Diese Seite wurde unter einer Adresse geöffnet, die nur dieser Rechner kennt: unter seinem Namen oder seiner Adresse im Netz geöffnet, erreichen sie andere Geräte.",
  "The token itself, for programs. It is shown this once:": "Das Token selbst, für Programme. Es wird nur dieses Mal gezeigt:", "Revoke all the same": "Trotzdem widerrufen",
  "This is the last token that may change the daemon. Without it another can only be made in a terminal on the computer that runs it.":
    "Das ist das letzte Token, das den Dienst ändern darf. Ohne es lässt sich nur in einem Terminal auf seinem Rechner ein neues anlegen.",
  "This device gets a token of its own. The address that you have opened is good once.": "Dieses Gerät bekommt ein eigenes Token. Die geöffnete Adresse gilt einmal.",
  "This address is not good any more: it works once, within 5 minutes. Have a new one made.": "Diese Adresse gilt nicht mehr: sie geht einmal, binnen 5 Minuten. Eine neue ist nötig.",

  // words of states
  "idle": "in Ruhe", "driving": "fährt", "ready": "bereit", "stopped": "angehalten", "fault": "Störung", "emergency stopped": "Not-Aus", "armed": "scharf",
  "disarmed": "unscharf", "off": "aus", "on": "an", "starting": "startet", "watering": "wässert", "paused": "pausiert", "closed": "geschlossen", "open": "offen",
  "running": "läuft", "connected": "verbunden", "disconnected": "getrennt", "waiting": "wartet", "stale": "veraltet", "lost": "verloren", "streaming": "sendet",
  "dry": "trocken", "wet": "nass", "cold": "kalt", "hot": "heiß", "answering": "antwortet", "advertising": "wartet auf Verbindung", "gone": "ausgesteckt",
  "refused": "abgelehnt", "ok": "in Ordnung", "enabled": "eingeschaltet", "disabled": "ausgeschaltet", "nothing": "nichts", "Pin of": "Anschluss von", "Name of": "Name von",
  "Enabled of": "Eingeschaltet:", "Longest run of": "Längster Lauf von", "now": "jetzt", "read": "gelesen", "stands": "steht", "chip": "Baustein",

  // loops
  "Loops": "Schleifen", "Table of the loops": "Tabelle der Schleifen", "loop": "Schleife", "loops": "Schleifen", "lane": "Spur", "rate": "Takt", "late p50": "verspätet p50",
  "ran": "gelaufen", "skipped": "ausgelassen", "overruns": "Überläufe", "missed": "verpasst", "gap": "Lücke", "jitter": "Jitter", "exec p99": "Dauer p99", "max": "max",
  "age of data": "Alter der Daten", "Age of data": "Alter der Daten", "last": "zuletzt", "bound": "Grenze", "all in time": "alle pünktlich", "in time": "pünktlich", "late": "verspätet", "hangs": "hängt", "process": "Prozess", "measuring": "messe",
  "memory locked": "Speicher gesperrt", "memory not locked": "Speicher nicht gesperrt", "memory lock refused": "Sperren des Speichers abgelehnt",
  "release latency: how late a tick starts, or a release is given up": "Verspätung: wie spät ein Durchlauf beginnt oder aufgegeben wird",
  "how long a tick takes": "wie lange ein Durchlauf dauert", "the longest time between two ticks": "die längste Zeit zwischen zwei Durchläufen",
  "p99 of lateness in each 10 s of the last five minutes": "p99 der Verspätung in je 10 s der letzten fünf Minuten",
  "what a loop acts on, and the loops that it passes": "wonach eine Schleife handelt, und die Schleifen auf dem Weg",
  "at the end of each tick that used such data, since the start": "am Ende jedes Durchlaufs, der solche Daten nutzte, seit dem Start",
  "at the last use": "bei der letzten Nutzung",
  "what the planner says that no age exceeds while every tick and the kernel are in time": "was nach dem Plan kein Alter übersteigt, solange alles pünktlich ist",
  "Asked of the kernel, and in effect": "Vom Kern verlangt, und in Kraft", "Lateness since the start, and the last minute": "Verspätung seit dem Start, und die letzte Minute",
  "ran in time": "pünktlich gelaufen", "ran late": "verspätet gelaufen", "given up; a dot: longer than the period": "aufgegeben; ein Punkt: länger als die Periode",
  "Scheduling of the lanes": "Scheduling der Spuren", "asked for": "verlangt", "in effect": "in Kraft", "CPUs asked for": "CPUs verlangt", "CPUs in effect": "CPUs in Kraft", "kernel": "Kern",
  "as asked": "wie verlangt", "no tick yet": "noch kein Durchlauf",

  // charts and time lines
  "As a table": "Als Tabelle", "today": "heute", "Today": "Heute", "Time that the curves show": "Zeit der Kurven", "Curves": "Kurven", "3 years": "3 Jahre",
  "Zoom out": "Verkleinern", "Zoom in": "Vergrößern", "Earlier": "Früher", "Later": "Später", "Time that the charts show": "Zeit der Verläufe",
  "Time that the chart shows": "Zeit des Verlaufs", "UTC": "UTC",
}, [
  [/^Only the parts that are ticked become those of (.+)\. What drives or waters by them stops\. Of logs nothing is lost: they are joined\.$/,
    "Nur die angekreuzten Teile werden die aus $1. Was durch sie fährt oder wässert, hält an. Von Protokollen geht nichts verloren: sie werden vereint."],
  [/^Temperatures from (.+) to now$/, "Temperaturen von $1 bis jetzt"],
  [/^read (.+)$/, "gelesen {1}"],
  [/^Change (.+)$/, "$1 ändern"],
  [/^(\d+ min) of (.+)$/, "$1 $2"],
  [/^(\d+) s ago$/, "vor $1 s"], [/^(\d+) min ago$/, "vor $1 min"], [/^(\d+) h ago$/, "vor $1 h"], [/^(\d+) days ago$/, "vor $1 Tagen"], [/^(\d+) s old$/, "$1 s alt"],
  [/^(\d+) min old$/, "$1 min alt"], [/^(\d+) h old$/, "$1 h alt"], [/^(\d+) days old$/, "$1 Tage alt"], [/^version (.+)$/, "Version $1"],
  [/^Times are those of this browser, (.+)\.$/, "Zeiten sind die dieses Browsers, $1."], [/^Times are those of (.+)\.$/, "Zeiten sind die von $1."],
  [/^(.+): the daemon has told nothing of it yet\. It runs only what its configuration file names\.$/, "{1}: davon hat der Dienst noch nichts gesagt. Es läuft nur, was in seiner Konfigurationsdatei steht."],
  [/^E-STOP was REFUSED: (.+)\. What still moves can only be stopped elsewhere\.$/, "NOT-AUS wurde ABGELEHNT: {1}. Was sich noch bewegt, ist nur anderswo anzuhalten."],
  [/^E-STOP was NOT CARRIED OUT by every system: (.+)\. What still moves can only be stopped elsewhere\.$/, "NOT-AUS wurde nicht von allen Geräten AUSGEFÜHRT: {1}. Was sich noch bewegt, ist nur anderswo anzuhalten."],
  [/^Reset was refused: (.+)\.$/, "Zurücksetzen wurde abgelehnt: {1}."],
  [/^(.+) is emergency-stopped\. To go on: Reset\.$/, "{1} ist im Not-Aus. Weiter geht es mit Zurücksetzen."], [/^(.+) Also stopped: (.+)\.$/, "{1} Auch angehalten: {2}."],
  [/^(.+) To go on: (.+)\.$/, "{1} Weiter: {2}."], [/^to go on: (.+)$/, "weiter: {1}"], [/^at most (.+)$/, "höchstens $1"], [/^at least (.+)$/, "mindestens $1"],
  [/^from (.+) to (.+)$/, "von $1 bis $2"],
  [/^(.+), old since (\d[\d:.]*(?:\s[AP]M)?)$/, "{1}, alt seit $2"], [/^No word from the daemon since (.+): what is shown is old\.$/, "Kein Wort vom Dienst seit $1: was hier steht, ist alt."],
  [/^(.+) must be (.+)\.$/, "{1}: erwartet wird {2}."], [/^Settings of (.+)$/, "Einstellungen: {1}"],
  [/^([\d.]+) % in time$/, "$1 % pünktlich"], [/^late: (.+)$/, "verspätet: {1}"], [/^settings refused: (.+)$/, "Einstellungen abgelehnt: {1}"], [/^(\d+) loops in the last minute$/, "$1 Schleifen in der letzten Minute"],
  [/^a tick runs past its deadline: (.+)$/, "ein Durchlauf überschreitet seine Frist: $1"], [/^(\d[^,;]*) left$/, "noch $1"], [/^by ([^,;]+)$/, "von {1}"],
  [/^(\S+) of (\S+)$/, "$1 von $2"], [/^· (.+)$/, "· {1}"], [/^Time that the curves show, (.+)$/, "Zeit der Kurven, {1}"], [/^(\d+) min$/, "$1 min"],
  [/^Revoke (.+)\? It is refused from now on\. (.+)$/, "$1 widerrufen? Es wird ab jetzt abgelehnt. {2}"], [/^This page uses it: it is logged out\.$/, "Diese Seite nutzt es: sie wird abgemeldet."],
  [/^What it drives stops\.$/, "Was es fährt, hält an."], [/^Revoke (.+)$/, "$1 widerrufen"], [/^(\d+) days$/, "$1 Tage"],
  [/^no state of (.+)$/, "kein Zustand von $1"], [/^Lateness of (.+): (p50 .+)$/, "Verspätung von $1: $2"], [/^Lateness of (.+): no tick yet$/, "Verspätung von $1: noch kein Durchlauf"],
  [/^last (\d+) s: (\d+) ran, (\d+) late, (\d+) given up, (\d+) longer than the period$/, "letzte $1 s: $2 gelaufen, $3 verspätet, $4 aufgegeben, $5 länger als die Periode"],
  [/^Releases of (.+)$/, "Durchläufe von $1"],
]);
