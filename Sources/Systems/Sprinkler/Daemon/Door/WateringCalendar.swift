@_spi(FromOutside) import Conversions
import Service
import Sprinkler
import WallTime

/// The upcoming starts as a calendar (RFC 5545), to which a calendar program subscribes by the address of `GET /api/sprinkler.ics`. A start keeps its
/// UID, so that a program shows it once however often it reads the calendar. The UID contains the machine's name, since a person may have two
/// machines.
struct WateringCalendar {
  let starts: [UpcomingStart]
  /// The names of the zones by their numbers.
  let zones: [ZoneID: String]
  /// The name of this machine, which may be empty.
  let machine: String
  /// The instant at which the calendar is made.
  let now: WallInstant

  var text: String {
    var lines = [
      "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Tactus//Sprinkler//EN", "CALSCALE:GREGORIAN", "METHOD:PUBLISH",
      "X-WR-CALNAME:Watering", "REFRESH-INTERVAL;VALUE=DURATION:PT1H", "X-PUBLISHED-TTL:PT1H",
    ]
    for start in starts { lines += event(start) }
    lines.append("END:VCALENDAR")
    return lines.map { Self.folded($0) + "\r\n" }.joined()
  }

  private func event(_ start: UpcomingStart) -> [String] {
    let happening = start.runs.filter { $0.skipped == nil }
    let end = start.runs.map { $0.start + Int64($0.seconds) }.max() ?? start.at
    let isOff = start.isInRainDelay || happening.isEmpty
    let name = start.programName.isEmpty ? "schedule \(start.program)" : start.programName
    var words = start.runs.map { run in
      let zone = zones[run.zone] ?? "Zone \(run.zone)"
      let minutes = "\(run.seconds / 60):\(run.seconds % 60 < 10 ? "0" : "")\(run.seconds % 60) min"
      return run.skipped.map { "\(zone): none (\($0.word))" } ?? "\(zone): \(minutes)"
    }
    if start.isInRainDelay { words.append("The rain delay in force now will suppress it.") }
    return [
      "BEGIN:VEVENT",
      "UID:\(start.program)-\(Self.compact(start.at))@\(Self.escaped(machine.isEmpty ? "tactus" : machine))",
      "DTSTAMP:\(Self.compact(now))",
      "DTSTART:\(Self.compact(start.at))", "DTEND:\(Self.compact(end > start.at ? end : start.at + 60))",
      "SUMMARY:\(Self.escaped(isOff ? "No watering: \(name)" : "Watering: \(name)"))",
      "DESCRIPTION:\(words.map(Self.escaped).joined(separator: "\\n"))",
      "STATUS:\(isOff ? "CANCELLED" : "CONFIRMED")", "TRANSP:TRANSPARENT", "END:VEVENT",
    ]
  }

  /// Returns the instant in UTC as `20260921T063000Z`.
  private static func compact(_ instant: WallInstant) -> String {
    WallTimeText.text(instant).filter { $0 != "-" && $0 != ":" }
  }

  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for character in text {
      switch character {
      case "\\", ";", ",": escaped += "\\\(character)"
      case _ where character.isNewline: escaped += "\\n"
      case _ where character.unicodeScalars.allSatisfy({ $0.value < 0x20 || $0.value == 0x7F }): continue
      default: escaped.append(character)
      }
    }
    return escaped
  }

  /// Returns the line in pieces of at most 75 bytes, none of which cuts a character, each but the first behind a space.
  private static func folded(_ line: String) -> String {
    var (folded, length) = ("", 0)
    for scalar in line.unicodeScalars {
      let size = String(scalar).utf8.count
      if length + size > 75 {
        folded += "\r\n "
        length = 1
      }
      folded.unicodeScalars.append(scalar)
      length += size
    }
    return folded
  }
}
