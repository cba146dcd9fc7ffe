import Sprinkler
import WallTime
import Wire

/// The export of OpenSprinkler's app, which is what its controller answers to `/ja`.
///
/// A program is `[flags, days, days, starts, durations, name, [dated, from, to]]` since firmware 2.1. Source: the firmware's `program.h`, `program.cpp` and
/// API, and the app's import.
struct OpenSprinklerExport {
  private let document: JSONValue
  /// The date of the export, from which it counts the days to the next start of an interval.
  private let date: LocalDate
  private let hasDate: Bool

  init(_ document: JSONValue, today: LocalDate) {
    self.document = document
    // The controller's clock, in local time.
    let seconds = document.member("settings")?.member("devt")?.whole ?? 0
    hasDate = (86_400..<7_000_000_000).contains(seconds)
    date = hasDate ? LocalDate(daysSince1970: seconds / 86_400) : today
  }

  func read(into result: inout ImportedSchedules) throws(ImportFailure) {
    let programs = document.member("programs")?.member("pd")
    guard let list = programs?.elements else {
      throw ImportFailure("programs.pd: expected a list of programs, got \(programs?.summary ?? "nothing")")
    }
    for (index, entry) in list.prefix(ImportedSchedules.most).enumerated() {
      let path = "programs.pd[\(index)]"
      do throws(NotImported) {
        result.add(try program(entry, path, place: index + 1, &result))
      } catch {
        result.leave(path + error.member, error.reason)
      }
    }
    if list.count > ImportedSchedules.most {
      result.leave("programs.pd", "only the first \(ImportedSchedules.most) of \(list.count) are read")
    }
    if let names = document.member("stations")?.member("snames")?.elements {
      result.takeNames(names, path: "stations.snames")
    }
    leaveSettings(&result)
  }

  private func program(
    _ entry: JSONValue, _ path: String, place: Int, _ result: inout ImportedSchedules
  ) throws(NotImported) -> ImportedProgram {
    guard let parts = entry.elements, parts.count >= 5, parts[3].elements != nil else {
      throw NotImported(
        at: "", expected: "[flags, days, days, [starts], [durations], name] of firmware 2.1 or newer", got: entry)
    }
    let flags = try number(parts[0], "[0]", 0...255)
    let text = parts.count > 5 ? parts[5].words ?? "" : ""
    let name = ImportedSchedules.plain(text, longest: 60)
    var steps = try steps(parts[4], path, &result)
    if text.dropLast().last == ">", let order = text.last {
      if order == "I" {
        steps.reverse()
      } else if "aAnNtTrR".contains(order) {
        result.leave(
          "\(path)[5]", "the order of zones that >\(order) asks for: they follow each other by their numbers")
      }
    }
    var program = ImportedProgram(
      path: path, name: name.isEmpty ? "Program \(place)" : name, isEnabled: flags & 1 == 1,
      days: try days(flags, parts, path, &result), season: try season(flags, parts), followsSeason: flags >> 1 & 1 == 1,
      steps: steps)
    try addStarts(flags, parts[3], to: &program, &result)
    try program.checkStarts()
    return program
  }

  // MARK: days

  private func days(
    _ flags: Int, _ parts: [JSONValue], _ path: String, _ result: inout ImportedSchedules
  ) throws(NotImported) -> DayRule {
    let (first, second) = (try number(parts[1], "[1]", 0...255), try number(parts[2], "[2]", 0...255))
    let parity: DayRule? = [1: .odd, 2: .even][flags >> 2 & 3]
    switch flags >> 4 & 3 {
    case 0:
      let weekdays = UInt8(truncatingIfNeeded: first & 0x7F)
      guard let parity else { return .weekdays(weekdays) }
      guard weekdays == 0x7F else {
        throw NotImported("odd or even days that are certain weekdays, too: a schedule has one of these rules")
      }
      return parity
    case 1: throw NotImported("a single run on \(LocalDate(daysSince1970: first << 8 | second)): schedules repeat")
    case 2:
      throw NotImported(
        "monthly, on \(first & 31 == 0 ? "the last day" : "day \(first & 31)"): schedules have weekdays, intervals, odd or even days"
      )
    default:
      guard parity == nil else {
        throw NotImported("an interval on odd or even days: a schedule has one of these rules")
      }
      guard second > 0 else { throw NotImported(at: "[2]", expected: "an interval of 1…255 days", got: parts[2]) }
      if !hasDate, second > 1 {
        result.leave(
          path, "settings.devt, the export's date, is missing: the days to the next start count from \(date)")
      }
      return .interval(days: second, from: LocalDate(daysSince1970: date.daysSince1970 + first))
    }
  }

  private func season(_ flags: Int, _ parts: [JSONValue]) throws(NotImported) -> Season? {
    guard parts.count > 6, let range = parts[6].elements, range.count >= 3 else {
      guard flags >> 7 & 1 == 0 else {
        throw NotImported(at: "[6]", expected: "its dates as [1, from, to]", got: parts.count > 6 ? parts[6] : nil)
      }
      return nil
    }
    guard range[0].whole == 1 else { return nil }
    func day(_ index: Int) throws(NotImported) -> MonthDay {
      let code = try number(range[index], "[6][\(index)]", 33...415)
      let day = MonthDay(month: code >> 5, day: code & 31)
      guard LocalDate(year: 2000, month: day.month, day: day.day).exists else {
        throw NotImported(at: "[6][\(index)]", expected: "32 times the month plus the day", got: range[index])
      }
      return day
    }
    let season = Season(from: try day(1), to: try day(2))
    return season == Season(from: MonthDay(month: 1, day: 1), to: MonthDay(month: 12, day: 31)) ? nil : season
  }

  // MARK: starts

  private func addStarts(
    _ flags: Int, _ value: JSONValue, to program: inout ImportedProgram, _ result: inout ImportedSchedules
  ) throws(NotImported) {
    let codes = value.elements ?? []
    if flags >> 6 & 1 == 1 {
      for (index, code) in codes.prefix(4).enumerated() {
        _ = try addStart(code, "[3][\(index)]", later: 0, to: &program, &result)
      }
      return
    }
    guard codes.count >= 3 else {
      throw NotImported(at: "[3]", expected: "a start, how often it repeats, and after how many minutes", got: value)
    }
    let (repeats, minutes) = (try number(codes[1], "[3][1]", 0...32_767), try number(codes[2], "[3][2]", 0...32_767))
    // One start more than allowed is added, which shows that there are too many.
    let count = minutes == 0 ? 0 : min(repeats, 2_880 / minutes, ImportedProgram.mostStarts)
    for place in 0...count {
      guard try addStart(codes[0], "[3][0]", later: place * minutes, to: &program, &result) else { break }
    }
  }

  /// Adds a start. Returns whether the start is possible; a start that is switched off counts as possible.
  private func addStart(
    _ code: JSONValue, _ member: String, later: Int, to program: inout ImportedProgram,
    _ result: inout ImportedSchedules
  ) throws(NotImported) -> Bool {
    let bits = try number(code, member, -32_768...65_535)
    // Bit 15: off.
    guard bits >= 0, bits >> 15 & 1 == 0 else { return true }
    let isSunrise = bits >> 14 & 1 == 1
    guard isSunrise || bits >> 13 & 1 == 1 else {
      guard bits & 0x7FF < 1_440 else {
        throw NotImported(at: member, expected: "0…1439 minutes after midnight", got: code)
      }
      program.start(atMinute: bits & 0x7FF + later)
      return true
    }
    let offset = (bits >> 12 & 1 == 1 ? -(bits & 0x7FF) : bits & 0x7FF) + later
    guard (-720...720).contains(offset) else {
      result.leave(
        program.path + member,
        "a start \(offset) minutes after the sun \(isSunrise ? "rises" : "sets"): at most 720 are possible")
      return false
    }
    program.start(at: isSunrise ? .sunrise(offsetMinutes: offset) : .sunset(offsetMinutes: offset))
    return true
  }

  // MARK: zones

  private func steps(
    _ value: JSONValue, _ path: String, _ result: inout ImportedSchedules
  ) throws(NotImported) -> [Program.Step] {
    guard let durations = value.elements else {
      throw NotImported(at: "[4]", expected: "the stations' seconds", got: value)
    }
    let (options, stations) = (document.member("options"), document.member("stations"))
    let masters = ["mas", "mas2", "mas3", "mas4"].compactMap { options?.member($0)?.whole }
    var steps: [Program.Step] = []
    for (index, duration) in durations.enumerated() {
      let member = "[4][\(index)]"
      let seconds = try number(duration, member, 0...65_535)
      guard seconds > 0 else { continue }
      guard let zone = ZoneID(index + 1) else {
        result.leave(path + member, "there are \(ZoneID.maximum) zones at most")
        break
      }
      if masters.contains(index + 1) {
        result.leave(path + member, "station \(zone) is a master valve, which no schedule opens")
      } else if stations?.member("stn_dis")?.hasBit(index) == true {
        result.leave(path + member, "station \(zone) is disabled")
      } else if seconds >= 65_534 {
        result.leave(path + member, "a time that lasts from sun to sun: times are minutes")
      } else {
        steps.append(Program.Step(zone: zone, seconds: seconds))
      }
    }
    guard !steps.isEmpty else { throw NotImported("no zone is left to it") }
    return steps
  }

  // MARK: settings that are not schedules

  /// Lists the settings that concern watering, each with its counterpart here.
  private func leaveSettings(_ result: inout ImportedSchedules) {
    let (options, stations) = (document.member("options"), document.member("stations"))
    if let percent = options?.member("wl")?.whole, percent != 100 {
      result.leave(
        "options.wl", "a level of \(percent) %: PUT /api/seasonal {\"percent\": \(min(max(percent, 0), 250))}")
    }
    if let seconds = options?.member("sdt")?.whole, seconds != 0 {
      result.leave("options.sdt", "\(seconds) s between two stations: sprinkler.station_delay_s")
    }
    if let station = options?.member("mas")?.whole, station > 0 {
      result.leave("options.mas", "station \(station) is the master valve: sprinkler.master")
    }
    for name in ["mas2", "mas3", "mas4"] {
      if let station = options?.member(name)?.whole, station > 0 {
        result.leave("options.\(name)", "a further master valve, station \(station): there is one")
      }
    }
    if let type = options?.member("sn1t")?.whole ?? options?.member("urs")?.whole, type > 0 {
      result.leave(
        "options.sn1t",
        type == 2 ? "a flow sensor: sprinkler.flow" : "a sensor: sprinkler.rain_sensor or sprinkler.soil")
    }
    if let place = document.member("settings")?.member("loc")?.words, !place.isEmpty {
      result.leave(
        "settings.loc", "the place: sprinkler.latitude and sprinkler.longitude, which starts by the sun need")
    }
    if document.member("settings")?.member("rd")?.whole ?? 0 > 0 {
      result.leave("settings.rd", "a rain delay that is in force: POST /api/rain-delay")
    }
    let ignoring = (0..<ZoneID.maximum).filter { stations?.member("ignore_rain")?.hasBit($0) == true }.map {
      "\($0 + 1)"
    }
    if !ignoring.isEmpty {
      result.leave(
        "stations.ignore_rain", "zones \(ignoring.joined(separator: ", ")) ignore rain: ignoresRain in PUT /api/zones")
    }
  }

  private func number(
    _ value: JSONValue, _ member: String, _ range: ClosedRange<Int>
  ) throws(NotImported) -> Int {
    guard let number = value.whole, range.contains(number) else {
      throw NotImported(at: member, expected: "an integer \(range.lowerBound)…\(range.upperBound)", got: value)
    }
    return number
  }
}
