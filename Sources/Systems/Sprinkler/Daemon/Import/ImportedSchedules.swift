import Sprinkler
import WallTime
import Wire

/// A file of another controller, recognised by its contents.
enum ImportedFile: Equatable {
  /// The export of OpenSprinkler's app, or its controller's answer to `/ja`: an object with `programs`.
  case openSprinkler(JSONValue)
  /// The file `programs.json` of SIP.
  case sipPrograms([JSONValue])
  /// The file `snames.json` of SIP, with the names of stations.
  case sipNames([JSONValue])
  /// The file `sd.json` of SIP, with its settings.
  case sipSettings(JSONValue)

  /// The greatest length of a file, in bytes.
  static let longest = 1 << 20

  /// Recognises a file by its contents and decodes it.
  static func decode(_ bytes: [UInt8]) throws(ImportFailure) -> ImportedFile {
    guard bytes.count <= longest else { throw ImportFailure("expected at most 1 MB, got more") }
    let document: JSONValue
    do {
      document = try JSONParser.parse(bytes)
    } catch {
      throw ImportFailure("expected JSON: \(error.reason) at byte \(error.offset)")
    }
    if case .object = document.member("programs") { return .openSprinkler(document) }
    if document.member("nst") != nil { return .sipSettings(document) }
    if let items = document.elements {
      if let first = items.first, first.words != nil { return .sipNames(items) }
      if items.allSatisfy({ $0.member("start_min") != nil || $0.elements != nil }) { return .sipPrograms(items) }
    }
    throw ImportFailure(
      "expected OpenSprinkler's export, or programs.json, snames.json or sd.json of SIP, got \(document.summary)")
  }
}

/// The reason why nothing can be read from a file.
struct ImportFailure: Error, Equatable, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

/// The reason why a part of a file was not imported.
struct NotImported: Error, Equatable {
  let reason: String
  /// The member below the part's own path, such as `[3][1]`; empty for the part itself.
  var member = ""

  init(_ reason: String, at member: String = "") { (self.reason, self.member) = (reason, member) }

  init(at member: String, expected: String, got value: JSONValue?) {
    self.init("expected \(expected), got \(value?.summary ?? "nothing")", at: member)
  }
}

/// The schedules of another controller in our form, with the result for each part of its files.
struct ImportedSchedules: Equatable {
  /// One part of the files.
  enum Line: Equatable {
    /// The part at this path was imported as these elements of `programs`.
    case taken(path: String, Range<Int>)
    /// The part at this path was not imported, or not unchanged.
    case left(path: String, reason: String)
  }

  /// The schedules, at most 256, the most that the store accepts.
  private(set) var programs: [Program] = []
  /// The names of the zones by their numbers. Zones without a name are left out.
  private(set) var zoneNames: [ZoneID: String] = [:]
  private(set) var lines: [Line] = []

  static let most = 256

  /// Reads the files of one controller.
  ///
  /// - Parameter today: the date from which schedules of an export without a date count their intervals.
  init(_ files: [ImportedFile], today: LocalDate) throws(ImportFailure) {
    var openSprinkler: JSONValue?
    var sip = SIPExport()
    for file in files {
      let isFirst: Bool
      switch file {
      case .openSprinkler(let document): (isFirst, openSprinkler) = (openSprinkler == nil, document)
      case .sipPrograms(let items): (isFirst, sip.programs) = (sip.programs == nil, items)
      case .sipNames(let items): (isFirst, sip.names) = (sip.names == nil, items)
      case .sipSettings(let document): (isFirst, sip.settings) = (sip.settings == nil, document)
      }
      guard isFirst else { throw ImportFailure("expected each kind of file once, got one of them twice") }
    }
    if let openSprinkler {
      guard files.count == 1 else { throw ImportFailure("expected OpenSprinkler's export alone, got other files, too") }
      try OpenSprinklerExport(openSprinkler, today: today).read(into: &self)
    } else {
      try sip.read(into: &self)
    }
  }

  /// Records that a part was not imported, or not unchanged.
  mutating func leave(_ path: String, _ reason: String) { lines.append(.left(path: path, reason: reason)) }

  /// Takes the names of zones from a list in the order of the zones.
  mutating func takeNames(_ names: [JSONValue], path: String) {
    for (index, name) in names.prefix(ZoneID.maximum).enumerated() {
      guard let zone = ZoneID(index + 1), let text = name.words.map({ Self.plain($0, longest: 40) }) else {
        leave("\(path)[\(index)]", "expected a name, got \(name.summary)")
        continue
      }
      if !text.isEmpty { zoneNames[zone] = text }
    }
    if names.count > ZoneID.maximum { leave(path, "only the first \(ZoneID.maximum) of \(names.count) are zones") }
  }

  /// Adds the schedules that a program of another controller becomes: one for every eight starts.
  mutating func add(_ program: ImportedProgram) {
    let made = program.schedules(&self)
    guard programs.count + made.count <= Self.most else {
      return leave(program.path, "there are \(Self.most) schedules already, which is the most")
    }
    lines.append(.taken(path: program.path, programs.count..<programs.count + made.count))
    programs += made
  }

  /// Returns the text without control characters and blanks around it, cut to a length.
  static func plain(_ text: String, longest: Int) -> String {
    let plain = text.map { character in
      character.unicodeScalars.contains { $0.properties.generalCategory == .control } ? " " : character
    }
    let trimmed = plain.drop(while: \.isWhitespace).prefix(longest)
    var name = String(trimmed)
    while let scalar = GivenName.unseen(in: name) { name.unicodeScalars.removeAll { $0 == scalar } }
    while name.utf8.count > GivenName.mostBytes(ofCharacters: longest) { name.removeLast() }
    while name.last?.isWhitespace == true { name.removeLast() }
    return name
  }
}
