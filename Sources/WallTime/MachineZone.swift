/// The time zone of the machine, which the C library uses, and its source.
///
/// The variable `TZ` takes precedence over `/etc/localtime`. `TZ` is either understood, in every form that POSIX and
/// glibc have (a name, a path or a rule, with or without a leading colon), or refused; it is never replaced by another
/// zone.
public struct MachineZone: Sendable, Hashable {
  /// An error of `TZ` or of `/etc/localtime`.
  public struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The expected and the actual value, beginning with the place.
    public let description: String
  }

  /// The places that are searched for the zone.
  public struct Surroundings {
    /// The environment of the program.
    public var environment: [String: String]
    /// Returns the bytes of the file at a path, or `nil` if there is no file that can be read.
    public var contents: (_ path: String) -> [UInt8]?
    /// Returns the path to which a symbolic link leads, as it is written in the link, or `nil` if there is no link.
    public var destination: (_ path: String) -> String?

    /// Makes the surroundings of a program.
    public init(
      environment: [String: String], contents: @escaping (_ path: String) -> [UInt8]?,
      destination: @escaping (_ path: String) -> String?
    ) {
      (self.environment, self.contents, self.destination) = (environment, contents, destination)
    }

    /// The folder of the database, in which the C library looks for names.
    var folder: String {
      guard let folder = environment["TZDIR"], !folder.isEmpty else { return "/usr/share/zoneinfo" }
      return folder
    }
  }

  /// The offsets of the zone, for the years from 2000 to 2100.
  public let rules: ZoneRules
  /// The source of the zone: `TZ`, `/etc/localtime` or `the default`.
  public let source: String
  /// A description of the machine's settings that contradict the zone or are missing, as a sentence without a full stop, or `nil` if there are none.
  public let remark: String?

  /// Creates the value for a zone that is already known, without reading files.
  public init(_ rules: ZoneRules, source: String, remark: String? = nil) {
    (self.rules, self.source, self.remark) = (rules, source, remark)
  }

  /// Finds the zone. This reads some files and takes some milliseconds, so it is called once, at the start.
  ///
  /// - Throws: `Failure` for a `TZ` in no known form, and for an `/etc/localtime` that is no time zone file.
  public static func find(_ surroundings: Surroundings) throws(Failure) -> MachineZone {
    guard let text = surroundings.environment["TZ"] else { return try ofFiles(surroundings) }
    return try of(text, surroundings)
  }

  /// Returns the zone in words: its name, its offset, where it comes from, and the next change of the offset.
  public func summary(at now: WallInstant) -> String {
    let offset = "UTC" + ZoneRules.text(ofOffset: rules.offsetSeconds(at: now))
    let change = rules.nextTransition(after: now).map { "next change of its offset \(rules.text($0.at))" }
    return "\(rules.identifier), \(offset), from \(source), " + (change ?? "no change of its offset")
  }
}

// MARK: TZ

extension MachineZone {
  private static func of(_ text: String, _ surroundings: Surroundings) throws(Failure) -> MachineZone {
    let given = text.hasPrefix(":") ? String(text.dropFirst()) : text
    guard !given.isEmpty else { return MachineZone(.utc, source: "TZ", remark: "TZ is empty, which stands for UTC") }
    let path = given.hasPrefix("/") ? given : surroundings.folder + "/" + given
    if let bytes = surroundings.contents(path) {
      do throws(ZoneFile.Failure) {
        return MachineZone(
          try ZoneFile(bytes: bytes).rules(name: databaseName(ofPath: path, surroundings)), source: "TZ")
      } catch {
        throw Failure(description: "TZ=\(text): \(path): \(error)")
      }
    }
    guard !given.hasPrefix("/") else {
      throw Failure(description: "TZ=\(text): expected the path of a time zone file, got one at which none can be read")
    }
    do throws(ZoneRuleText.Failure) {
      return MachineZone(try ZoneRuleText(given).rules(), source: "TZ")
    } catch {
      if let known = try? ZoneRules(identifier: given) {
        return MachineZone(known, source: "TZ", remark: missing(path))
      }
      let near = ZoneRules.nearest(to: given).map { "\($0)?" } ?? "Europe/Berlin"
      throw Failure(
        description: "TZ=\(text): expected an IANA time zone (\(near)), the path of a time zone file or a rule "
          + "(NZST-12NZDT,M9.5.0,M4.1.0/3), got none of them; as a rule: \(error)")
    }
  }

  /// Returns the name that a path in the database has, or `nil` for a path elsewhere.
  private static func databaseName(ofPath path: String, _ surroundings: Surroundings) -> String? {
    let parts = path.split(separator: "/", omittingEmptySubsequences: true)
    guard !parts.contains(".."), !parts.contains(".") else { return nil }
    let folders = [surroundings.folder, "/usr/share/zoneinfo"].map { $0.split(separator: "/") }
    guard let folder = folders.first(where: { parts.count > $0.count && parts.starts(with: $0) }) else { return nil }
    let name = parts.dropFirst(folder.count)
    // The database holds each zone a second time in the folder `posix`.
    let isDoubled = name.count > 1 && name.first == "posix"
    return (isDoubled ? name.dropFirst() : name).joined(separator: "/")
  }

  private static func missing(_ path: String) -> String {
    "\(path) cannot be read, so other programs of this machine go by UTC: install tzdata"
  }
}

// MARK: /etc/localtime

extension MachineZone {
  private static let localTime = "/etc/localtime"

  private static func ofFiles(_ surroundings: Surroundings) throws(Failure) -> MachineZone {
    let written = surroundings.contents("/etc/timezone").flatMap(nameIn)
    let link = surroundings.destination(localTime)
    let linked = link.map { $0.hasPrefix("/") ? $0 : "/etc/" + $0 }.map(withoutSteps)
      .flatMap { databaseName(ofPath: $0, surroundings) }
    guard let bytes = surroundings.contents(localTime) else {
      if let linked, let known = try? ZoneRules(identifier: linked) {
        return MachineZone(known, source: localTime, remark: missing(link ?? localTime))
      }
      let rest = written.map { ", although /etc/timezone says \($0)" } ?? ""
      return MachineZone(
        .utc, source: "the default", remark: "/etc/localtime cannot be read, which stands for UTC\(rest)")
    }
    let file: ZoneFile
    do throws(ZoneFile.Failure) {
      file = try ZoneFile(bytes: bytes)
    } catch {
      throw Failure(description: "\(localTime): \(error)")
    }
    // Two names of one zone do not contradict each other.
    let isAgreed =
      written.map { $0 == linked || surroundings.contents(surroundings.folder + "/" + $0) == bytes } ?? true
    let name = linked ?? (isAgreed ? written : nil)
    var remark: String?
    if let written, !isAgreed {
      let other = linked.map { "is \($0)" } ?? "has other contents"
      remark = "/etc/timezone says \(written), but /etc/localtime \(other), which counts"
    } else if name == nil {
      remark = "/etc/localtime is a file without a name: its contents count"
    }
    return MachineZone(file.rules(name: name), source: localTime, remark: remark)
  }

  /// Returns the first line of a file if it is a name, otherwise `nil`.
  private static func nameIn(_ bytes: [UInt8]) -> String? {
    let line = bytes.prefix { $0 > UInt8(ascii: " ") }
    let isName = !line.isEmpty && line.count <= 100 && line.allSatisfy { $0 < 127 }
    return isName ? String(decoding: line, as: UTF8.self) : nil
  }

  /// Returns a path without `..` and `.`, as a relative link has them.
  private static func withoutSteps(_ path: String) -> String {
    var parts: [Substring] = []
    for part in path.split(separator: "/") where part != "." {
      if part == ".." { _ = parts.popLast() } else { parts.append(part) }
    }
    return "/" + parts.joined(separator: "/")
  }
}
