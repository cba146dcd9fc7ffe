import Sprinkler
import WallTime
import Wire

/// The files in SIP's `data` folder: `programs.json`, `snames.json`, `sd.json`.
///
/// A program is an object since version 4.0. An interval is the days since 1970 modulo `interval_base_day`. Source: SIP's `helpers.py` and its notes on the format.
struct SIPExport {
  var programs: [JSONValue]?
  var names: [JSONValue]?
  var settings: JSONValue?

  func read(into result: inout ImportedSchedules) throws(ImportFailure) {
    guard let programs else { throw ImportFailure("expected SIP's programs.json, got its other files alone") }
    for (index, entry) in programs.prefix(ImportedSchedules.most).enumerated() {
      let path = "programs[\(index)]"
      do throws(NotImported) {
        result.add(try program(entry, path, place: index + 1, &result))
      } catch {
        result.leave(path + error.member, error.reason)
      }
    }
    if programs.count > ImportedSchedules.most {
      result.leave("programs", "only the first \(ImportedSchedules.most) of \(programs.count) are read")
    }
    if let names { result.takeNames(names, path: "snames") }
    leaveSettings(&result)
  }

  private func program(
    _ entry: JSONValue, _ path: String, place: Int, _ result: inout ImportedSchedules
  ) throws(NotImported) -> ImportedProgram {
    guard case .object = entry else {
      throw NotImported(at: "", expected: "a program of SIP 4.0 or newer, with named members", got: entry)
    }
    let name = ImportedSchedules.plain(entry.member("name")?.words ?? "", longest: 60)
    var program = ImportedProgram(
      path: path, name: name.isEmpty ? "Program \(place)" : name,
      isEnabled: try number(entry, "enabled", 0...1) == 1, days: try days(entry),
      followsSeason: true, steps: try steps(entry, path, &result))
    let start = try number(entry, "start_min", 0...1_439)
    let stop = try number(entry, "stop_min", 0...1_440)
    let cycle = try number(entry, "cycle_min", 0...1_440)
    guard start < stop else {
      throw NotImported("it stops at minute \(stop), before its start, and never runs", at: ".stop_min")
    }
    for minute in stride(from: start, to: stop, by: cycle == 0 ? 1_440 : cycle) { program.start(atMinute: minute) }
    try program.checkStarts()
    return program
  }

  private func days(_ entry: JSONValue) throws(NotImported) -> DayRule {
    let mask = try number(entry, "day_mask", 0...255)
    let type = entry.member("type")?.words
    switch type {
    case "interval":
      let days = try number(entry, "interval_base_day", 1...255)
      // Versions differ in whether 128 is added to the remainder.
      let remainder = mask >= days ? mask - 128 : mask
      guard (0..<days).contains(remainder) else {
        throw NotImported(
          at: ".day_mask", expected: "a remainder below the interval of \(days) days", got: entry.member("day_mask"))
      }
      return .interval(days: days, from: LocalDate(daysSince1970: 14_610 / days * days + remainder))
    case "evendays", "odddays":
      guard mask & 0x7F == 0x7F else {
        throw NotImported("odd or even days that are certain weekdays, too: a schedule has one of these rules")
      }
      return type == "evendays" ? .even : .odd
    default: return .weekdays(UInt8(truncatingIfNeeded: mask & 0x7F))
    }
  }

  private func steps(
    _ entry: JSONValue, _ path: String, _ result: inout ImportedSchedules
  ) throws(NotImported) -> [Program.Step] {
    guard let durations = entry.member("duration_sec")?.elements, !durations.isEmpty else {
      throw NotImported(at: ".duration_sec", expected: "a list of seconds", got: entry.member("duration_sec"))
    }
    guard let mask = entry.member("station_mask"), let boards = mask.elements else {
      throw NotImported(at: ".station_mask", expected: "a list of bytes", got: entry.member("station_mask"))
    }
    let isIndividual = settings?.member("idd")?.whole.map { $0 == 1 } ?? (durations.count > 1)
    let master = settings?.member("mas")?.whole
    var steps: [Program.Step] = []
    for index in 0..<min(boards.count, 32) * 8 where mask.hasBit(index) {
      guard let zone = ZoneID(index + 1) else {
        result.leave("\(path).station_mask", "station \(index + 1): there are \(ZoneID.maximum) zones at most")
        continue
      }
      guard index + 1 != master else { continue }
      let place = isIndividual ? index : 0
      guard durations.indices.contains(place), let seconds = durations[place].whole, (0...86_400).contains(seconds)
      else {
        throw NotImported(
          at: ".duration_sec[\(place)]", expected: "0…86400 seconds",
          got: durations.indices.contains(place) ? durations[place] : nil)
      }
      if seconds > 0 { steps.append(Program.Step(zone: zone, seconds: seconds)) }
    }
    guard !steps.isEmpty else { throw NotImported("no zone is left to it") }
    return steps
  }

  /// Lists the settings that concern watering, each with its counterpart here.
  private func leaveSettings(_ result: inout ImportedSchedules) {
    guard let settings else {
      return result.leave(
        "sd", "sd.json was not given: it says which station is the master valve, and whether each has its own time")
    }
    if let percent = settings.member("wl")?.whole, percent != 100 {
      result.leave("sd.wl", "a level of \(percent) %: PUT /api/seasonal {\"percent\": \(min(max(percent, 0), 250))}")
    }
    if let seconds = settings.member("sdt")?.whole, seconds != 0 {
      result.leave("sd.sdt", "\(seconds) s between two stations: sprinkler.station_delay_s")
    }
    if let station = settings.member("mas")?.whole, station > 0 {
      result.leave("sd.mas", "station \(station) is the master valve: sprinkler.master")
    }
    if settings.member("seq")?.whole == 0 {
      result.leave("sd.seq", "stations run at the same time: sprinkler.max_open")
    }
    if settings.member("urs")?.whole == 1 { result.leave("sd.urs", "a rain sensor: sprinkler.rain_sensor") }
    func zones(_ name: String) -> String {
      (0..<ZoneID.maximum).filter { settings.member(name)?.hasBit($0) == true }.map { "\($0 + 1)" }.joined(
        separator: ", ")
    }
    if !zones("ir").isEmpty { result.leave("sd.ir", "zones \(zones("ir")) ignore rain: ignoresRain in PUT /api/zones") }
    if !zones("iw").isEmpty {
      result.leave("sd.iw", "zones \(zones("iw")) ignore the level: followsSeason is a schedule's")
    }
  }

  private func number(_ entry: JSONValue, _ name: String, _ range: ClosedRange<Int>) throws(NotImported) -> Int {
    guard let number = entry.member(name)?.whole, range.contains(number) else {
      throw NotImported(
        at: ".\(name)", expected: "an integer \(range.lowerBound)…\(range.upperBound)", got: entry.member(name))
    }
    return number
  }
}
