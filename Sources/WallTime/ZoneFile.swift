@_spi(FromOutside) import Conversions

/// The contents of a compiled time zone file (TZif), such as `/usr/share/zoneinfo/Europe/Berlin`.
///
/// Source: RFC 9636.
public struct ZoneFile: Sendable, Hashable {
  /// An error of a time zone file.
  public struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The expected and the actual content, in words.
    public let description: String
  }

  /// The offset before the first transition in seconds; east is positive.
  let firstOffsetSeconds: Int
  /// The transitions that the file lists, in ascending order.
  let transitions: [ZoneRules.Transition]
  /// The rule after the last transition, or `nil` if the last offset stays.
  let rule: ZoneRuleText?

  /// The greatest length of a file in bytes. Those of the database have at most some 4,000.
  public static let mostBytes = 262_144

  /// Reads the bytes of a file.
  ///
  /// - Throws: `Failure` for bytes that are no time zone file, or one of the zones that count leap seconds.
  public init(bytes: [UInt8]) throws(Failure) {
    var reader = ZoneFileReader(bytes)
    var header = try reader.header()
    let isLong = header.version >= UInt8(ascii: "2")
    if isLong {
      try reader.skip(header.length(bytesOfTime: 4))
      header = try reader.header()
    }
    // A file of the first version has instants of four bytes only, and no rule.
    let width = isLong ? 8 : 4
    guard header.leapSeconds == 0 else {
      throw Failure(
        description: "expected a time zone without leap seconds, got one that counts them (a file of right/)")
    }
    guard header.types > 0 else { throw Failure(description: "expected a time zone file, got one without an offset") }
    var instants: [Int64] = []
    for _ in 0..<header.transitions { instants.append(try reader.number(width)) }
    guard zip(instants, instants.dropFirst()).allSatisfy(<) else {
      throw Failure(description: "expected a time zone file, got one whose changes are in no order")
    }
    var indexes: [Int] = []
    for _ in 0..<header.transitions { indexes.append(Int(try reader.byte())) }
    var offsets: [Int] = []
    for _ in 0..<header.types {
      offsets.append(Int(clamping: try reader.number(4)))
      try reader.skip(2)
    }
    guard indexes.allSatisfy({ $0 < offsets.count }), offsets.allSatisfy({ $0.magnitude < 167 * 3_600 }) else {
      throw Failure(description: "expected a time zone file, got one with an offset that is none")
    }
    try reader.skip(header.length(bytesOfTime: width) - header.transitions * (width + 1) - header.types * 6)
    let footer = isLong ? try reader.footer() : ""
    do throws(ZoneRuleText.Failure) {
      rule = footer.isEmpty ? nil : try ZoneRuleText(footer)
    } catch {
      throw Failure(description: "the rule at the end of the file: \(error)")
    }
    firstOffsetSeconds = offsets[0]
    transitions = zip(instants, indexes).map { at, index in
      .init(at: WallInstant(secondsSince1970: at), offsetSeconds: offsets[index])
    }
  }

  /// Returns the rules for `years`, both ends included.
  ///
  /// - Parameter name: the IANA name, or `nil` for a zone without one, whose rule or offset then stands for it.
  public func rules(name: String?, years: ClosedRange<Int> = 2000...2100) -> ZoneRules {
    ZoneRules(name: name, rule: rule, listed: transitions, firstOffsetSeconds: firstOffset, years: years)
  }

  /// The offset before everything that the file lists. Without a transition it is the rule's.
  private var firstOffset: Int {
    transitions.isEmpty ? rule?.standardSeconds ?? firstOffsetSeconds : firstOffsetSeconds
  }
}

/// Reads the parts of a time zone file one after the other.
private struct ZoneFileReader {
  struct Header {
    var version: UInt8
    var universal, standard, leapSeconds, transitions, types, letters: Int

    /// Returns the number of bytes behind the header.
    func length(bytesOfTime width: Int) -> Int {
      transitions * (width + 1) + types * 6 + letters + leapSeconds * (width + 4) + standard + universal
    }
  }

  private let bytes: [UInt8]
  private var place = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  private static let short = ZoneFile.Failure(description: "expected a time zone file, got one that ends too early")

  mutating func byte() throws(ZoneFile.Failure) -> UInt8 {
    guard place < bytes.count else { throw Self.short }
    place += 1
    return bytes[place - 1]
  }

  /// Reads a signed number, the most significant byte first.
  ///
  /// - Parameter width: 4 or 8, bytes.
  mutating func number(_ width: Int) throws(ZoneFile.Failure) -> Int64 {
    var number: UInt64 = 0
    for _ in 0..<width { number = number << 8 | UInt64(try byte()) }
    return width == 4 ? Int64(Int32(truncatingIfNeeded: number)) : Int64(bitPattern: number)
  }

  mutating func skip(_ count: Int) throws(ZoneFile.Failure) {
    guard count >= 0, count <= bytes.count - place else { throw Self.short }
    place += count
  }

  mutating func header() throws(ZoneFile.Failure) -> Header {
    guard bytes.count - place >= 44, Array(bytes[place..<place + 4]) == Array("TZif".utf8) else {
      throw ZoneFile.Failure(description: "expected a time zone file, got something else")
    }
    let version = bytes[place + 4]
    place += 20
    var counts: [Int] = []
    for _ in 0..<6 {
      let count = try number(4)
      guard (0...Int64(ZoneFile.mostBytes)).contains(count) else { throw Self.short }
      counts.append(Int(clamping: count))
    }
    return Header(
      version: version, universal: counts[0], standard: counts[1], leapSeconds: counts[2], transitions: counts[3],
      types: counts[4], letters: counts[5])
  }

  /// Reads the text between two ends of lines.
  mutating func footer() throws(ZoneFile.Failure) -> String {
    guard try byte() == UInt8(ascii: "\n"), let end = bytes[place...].firstIndex(of: UInt8(ascii: "\n")) else {
      throw Self.short
    }
    return String(decoding: bytes[place..<end], as: UTF8.self)
  }
}
