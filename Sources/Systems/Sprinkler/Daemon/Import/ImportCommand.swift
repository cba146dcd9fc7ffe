import ArgumentParser
@_spi(FromOutside) import Conversions
import Service
import Sprinkler
import Tactus
import TactusDaemon
import WallTime
import Wire

/// The command `tactus import`.
struct ImportCommand: ParsableCommand {
  static var configuration: CommandConfiguration {
    let name = "\(DaemonProgram.current.name) import"
    return CommandConfiguration(
      commandName: "import",
      abstract: "Turns the schedules of OpenSprinkler or SIP into a sprinkler's, and says what does not come over.",
      discussion: """
        Examples:
          \(name) backup-7-1-2026.json > schedules.json
          \(name) programs.json snames.json sd.json --send --off
        A file is what OpenSprinkler's app exports, or programs.json of SIP with snames.json and sd.json, if there are any. For each \
        part of it one line on standard error says what it became, or why it did not come over. The schedules go to standard output, as \
        POST /api/schedules/import takes them, or with --send to a running daemon, which takes all of them or none.
        Exit status: 0 done; 1 the files have no schedule that comes over, the daemon refused them, or was not reached.
        """)
  }

  @Flag(help: "Send the schedules to a running daemon.")
  var send = false

  @Flag(help: "Give the zones of the daemon the names in the files, too, with --send.")
  var names = false

  @Flag(help: "Every schedule comes over switched off.")
  var off = false

  @OptionGroup var daemon: DaemonAtHost

  @Argument(help: "The files of one controller, at most 1 MB each.")
  var files: [String]

  func validate() throws {
    if names, !send { throw ValidationError("Give --names together with --send.") }
  }

  func run() throws {
    let imported = try read()
    for line in imported.lines { complain(imported.text(line)) }
    if !imported.zoneNames.isEmpty, !names {
      complain("names of \(imported.zoneNames.count) zones: not taken without --send --names")
    }
    guard !imported.programs.isEmpty else {
      complain("no schedule comes over")
      throw ExitCode.failure
    }
    let body = imported.body(isOff: off)
    guard send else { return print(body.compact) }
    if names { try sendNames(imported.zoneNames) }
    let answer = try daemon.answer("POST", "/api/schedules/import", body: body.bytes)
    for schedule in answer["schedules"]?.items ?? [] {
      guard case .number(let id)? = schedule["id"] else { continue }
      print("schedule \(id): \(ImportedSchedules.plain(schedule["name"]?.string ?? "", longest: 60))")
    }
  }

  private func read() throws -> ImportedSchedules {
    var contents: [ImportedFile] = []
    for file in files {
      do throws(ImportFailure) {
        contents.append(try ImportedFile.decode(try Self.bytes(of: file)))
      } catch {
        complain("\(file): \(error)")
        throw ExitCode.failure
      }
    }
    do throws(ImportFailure) {
      return try ImportedSchedules(contents, today: Self.today)
    } catch {
      complain("\(error)")
      throw ExitCode.failure
    }
  }

  /// Sends the names of the zones that the daemon has, and complains about the names of other zones.
  private func sendNames(_ names: [ZoneID: String]) throws {
    let present = try daemon.answer("GET", "/api/zones")["zones"]?.items ?? []
    var known: Set<ZoneID> = []
    let zones: [JSONValue] = present.compactMap { zone in
      guard let id = zone.member("id"), let number = id.whole.flatMap(ZoneID.init) else { return nil }
      known.insert(number)
      let name: [JSONValue.Member] = names[number].map { [.init(name: "name", value: .text($0))] } ?? []
      return .object([.init(name: "id", value: id)] + name)
    }
    let unknown = names.keys.filter { !known.contains($0) }.sorted()
    if !unknown.isEmpty {
      complain(
        "names of zones \(unknown.map { "\($0)" }.joined(separator: ", ")): not taken: the daemon has no such zones")
    }
    guard unknown.count < names.count else { return }
    _ = try daemon.answer(
      "PUT", "/api/zones", body: JSONValue.object([.init(name: "zones", value: .list(zones))]).bytes)
    print("\(names.count - unknown.count) zones named")
  }

  private static func bytes(of file: String) throws(ImportFailure) -> [UInt8] {
    do throws(FileFailure) {
      if let bytes = try readWhole(file, most: ImportedFile.longest, waitingForPipes: true) { return bytes }
    } catch {
      throw ImportFailure(error.reason)
    }
    throw ImportFailure("there is no such file")
  }

  /// The present date, UTC. It is used only for an export without a date, and each schedule that depends on it is
  /// printed with it.
  private static var today: LocalDate {
    LocalDate(daysSince1970: Int(clamping: WatchedWallClock().now.secondsSince1970.flooredQuotient(86_400)))
  }
}

extension ImportedSchedules {
  /// Returns a line for people.
  func text(_ line: Line) -> String {
    switch line {
    case .left(let path, let reason): return "\(path): not taken: \(reason)"
    case .taken(let path, let range):
      guard let first = programs[range].first else { return "\(path): nothing" }
      let starts = programs[range].flatMap(\.starts).map(ScheduleWords.text).joined(separator: ", ")
      let several = range.count > 1 ? " as \(range.count) schedules" : ""
      let season = first.season.map { ", \(ScheduleWords.text($0.from)) to \(ScheduleWords.text($0.to))" } ?? ""
      return
        "\(path): \"\(first.name)\"\(several)\(first.isEnabled ? "" : ", switched off"): \(first.days.text)\(season); \(starts); "
        + "zones \(first.steps.map { "\($0.zone)" }.joined(separator: ", "))"
    }
  }

  /// Returns the body of `POST /api/schedules/import`.
  ///
  /// - Parameter isOff: whether every schedule is switched off.
  func body(isOff: Bool) -> JSONValue {
    ["format": .text(ScheduleExport.format), "schedules": .list(programs.map { $0.importBody(isOff: isOff) })]
  }
}

extension Program {
  fileprivate func importBody(isOff: Bool) -> JSONValue {
    var members: [JSONValue.Member] = [
      .init(name: "name", value: .text(name)), .init(name: "isEnabled", value: .boolean(isEnabled && !isOff)),
    ]
    switch days {
    case .weekdays(let bits):
      members.append(.init(name: "days", value: .list(ScheduleWords.weekdayNames(bits).map(JSONValue.text))))
    case .interval(let days, let from):
      members.append(.init(name: "intervalDays", value: .integer(days)))
      members.append(.init(name: "intervalFrom", value: .text(from.description)))
    case .odd: members.append(.init(name: "dayParity", value: "odd"))
    case .even: members.append(.init(name: "dayParity", value: "even"))
    }
    if let season {
      members.append(
        .init(
          name: "season",
          value: ["from": .text(ScheduleWords.text(season.from)), "to": .text(ScheduleWords.text(season.to))]))
    }
    members.append(.init(name: "startTimes", value: .list(starts.map { .text(ScheduleWords.text($0)) })))
    let zones: [JSONValue] = steps.map { ["zoneId": .integer(Int($0.zone.number)), "seconds": .integer($0.seconds)] }
    members.append(.init(name: "zones", value: .list(zones)))
    members.append(.init(name: "followsSeason", value: .boolean(followsSeason)))
    return .object(members)
  }
}

extension DayRule {
  fileprivate var text: String {
    switch self {
    case .weekdays(0x7F): "every day"
    case .weekdays(0): "no day"
    case .weekdays(let bits): ScheduleWords.weekdayNames(bits).joined(separator: ", ")
    case .interval(let days, let from): "every \(days) days from \(from)"
    case .odd: "odd days"
    case .even: "even days"
    }
  }
}
