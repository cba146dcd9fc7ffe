import Wire

extension PumpReply {
  /// The number of bytes of the longest accepted line without its line end.
  public static var maximumLineLength: Int {
    @_noLocks @_noAllocation get { 512 }
  }

  /// Decodes one line without its line end, of either dialect. Case and blanks around the line are ignored.
  ///
  /// Total: every byte string is a reply or an error. Timing: linear; no allocation, no lock.
  @_noLocks @_noAllocation
  public static func decode(_ line: UnsafeRawBufferPointer) throws(PumpLineError) -> PumpReply {
    guard line.count <= maximumLineLength else { throw .tooLong(count: line.count) }
    var scanner = PumpScanner(line)
    scanner.skipBlanks()
    guard !scanner.isAtEnd else { throw .empty }
    let start = scanner.index
    let reply: PumpReply
    if scanner.skipWord("STATUS:") {
      reply = .status(try PumpStatus(&scanner))
    } else if scanner.skipWord("OK") {
      reply = .ok
    } else if scanner.skipWord("PUMP:") {
      reply = .pump(isOn: try isOn(&scanner))
    } else if scanner.skipWord("SPEED:") {
      scanner.skipBlanks()
      reply = .speed(PumpSpeed(duty: UInt8(truncatingIfNeeded: try scanner.whole(limit: 255))))
    } else if scanner.skipWord("TEMP:") {
      reply = .temperatures(try PumpTemperatures(&scanner))
    } else if scanner.skipWord("MANUAL:") {
      reply = .manual(isOn: try isOn(&scanner))
    } else if scanner.skipWord("ERROR:") {
      reply = .error(try PumpErrorTag(&scanner))
    } else if scanner.skipWord("MAXIMUM RUNTIME EXCEEDED") {
      reply = .remark(.maximumRuntime)
    } else if scanner.skipWord("SKIN TEMPERATURE TOO HIGH:") {
      reply = .remark(.skinTooHot(try scanner.reading()))
    } else {
      throw .unknownReply(at: start)
    }
    scanner.skipBlanks()
    guard scanner.isAtEnd else { throw .trailing(at: scanner.index) }
    return reply
  }

  @_noLocks @_noAllocation
  private static func isOn(_ scanner: inout PumpScanner) throws(PumpLineError) -> Bool {
    scanner.skipBlanks()
    let start = scanner.index
    if scanner.skipWord("ON") { return true }
    if scanner.skipWord("OFF") { return false }
    throw .unknownState(at: start)
  }
}

extension PumpTemperatures {
  /// Decodes `34.5`, or `{Water:12.0C,Skin:34.0C}` with its keys in any order.
  @_noLocks @_noAllocation
  init(_ scanner: inout PumpScanner) throws(PumpLineError) {
    self.init()
    scanner.skipBlanks()
    guard scanner.byte == 0x7B else {
      single = try scanner.reading()
      return
    }
    var items = try PumpItems(&scanner)
    while try items.next(&scanner) {
      if scanner.skipWord("WATER:") {
        water = try scanner.reading()
      } else if scanner.skipWord("SKIN:") {
        skin = try scanner.reading()
      } else if scanner.skipWord("TEMP:") {
        single = try scanner.reading()
      } else {
        try items.skipUnknown(&scanner)
      }
    }
  }
}

extension PumpStatus {
  @_noLocks @_noAllocation
  init(_ scanner: inout PumpScanner) throws(PumpLineError) {
    self.init()
    var items = try PumpItems(&scanner)
    while try items.next(&scanner) {
      if scanner.skipWord("STATE:") {
        state = try Self.state(&scanner)
      } else if scanner.skipWord("SPEED:") {
        percent = try Self.number(&scanner, limit: 100, unit: "%").map { UInt8(truncatingIfNeeded: $0) }
      } else if scanner.skipWord("RUNTIME:") {
        runtimeMinutes = try Self.number(&scanner, limit: 65_535, unit: "M").map { UInt16(truncatingIfNeeded: $0) }
      } else if scanner.skipWord("REMAINING:") {
        remainingMinutes = try Self.number(&scanner, limit: 65_535, unit: "M").map { UInt16(truncatingIfNeeded: $0) }
      } else if scanner.skipWord("WATERTEMP:") {
        temperatures.water = try scanner.reading()
      } else if scanner.skipWord("SKINTEMP:") {
        temperatures.skin = try scanner.reading()
      } else if scanner.skipWord("TEMP:") {
        temperatures.single = try scanner.reading()
      } else {
        try items.skipUnknown(&scanner)
      }
    }
  }

  @_noLocks @_noAllocation
  private static func state(_ scanner: inout PumpScanner) throws(PumpLineError) -> PumpReportedState? {
    scanner.skipBlanks()
    let start = scanner.index
    if scanner.skip(0x3F) { return nil }
    if scanner.skipWord("ON") { return .on }
    if scanner.skipWord("OFF") { return .off }
    if scanner.skipWord("ERROR") { return .error }
    throw .unknownState(at: start)
  }

  /// Returns the number, or `nil` if a `?` stands in its place.
  @_noLocks @_noAllocation
  private static func number(
    _ scanner: inout PumpScanner, limit: Int, unit: StaticString
  ) throws(PumpLineError) -> Int? {
    scanner.skipBlanks()
    let value: Int? = scanner.skip(0x3F) ? nil : try scanner.whole(limit: limit)
    _ = scanner.skipWord(unit)
    return value
  }
}

/// Iterates over the items between braces.
private struct PumpItems: BitwiseCopyable {
  private var isFirst = true

  /// Begins at the `{`, which must be the next byte.
  @_noLocks @_noAllocation
  init(_ scanner: inout PumpScanner) throws(PumpLineError) {
    scanner.skipBlanks()
    guard scanner.skip(0x7B) else { throw .malformed(at: scanner.index) }
  }

  /// Goes to the next item; returns `false` after the `}`.
  @_noLocks @_noAllocation
  mutating func next(_ scanner: inout PumpScanner) throws(PumpLineError) -> Bool {
    scanner.skipBlanks()
    let wasFirst = isFirst
    isFirst = false
    if scanner.skip(0x7D) { return false }
    if !wasFirst {
      if scanner.isAtEnd { throw .unterminated(at: scanner.index) }
      guard scanner.skip(0x2C) else { throw .malformed(at: scanner.index) }
      scanner.skipBlanks()
    }
    if scanner.isAtEnd { throw .unterminated(at: scanner.index) }
    return true
  }

  /// Skips an item with an unknown key, whose value extends to the next `,` or `}`.
  @_noLocks @_noAllocation
  func skipUnknown(_ scanner: inout PumpScanner) throws(PumpLineError) {
    let start = scanner.index
    while Self.isKey(scanner.byte) { scanner.advance() }
    if scanner.isAtEnd { throw .unterminated(at: scanner.index) }
    guard scanner.index > start, scanner.skip(0x3A) else { throw .malformed(at: scanner.index) }
    while Self.isValue(scanner.byte) { scanner.advance() }
  }

  @_noLocks @_noAllocation
  private static func isKey(_ byte: UInt8) -> Bool { isValue(byte) && byte != 0x3A }

  /// Returns whether the byte may be part of a value: any printable byte except `,` and braces.
  @_noLocks @_noAllocation
  private static func isValue(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte != 0x7F && byte != 0x2C && byte != 0x7B && byte != 0x7D
  }
}

extension PumpErrorTag {
  @_noLocks @_noAllocation
  init(_ scanner: inout PumpScanner) throws(PumpLineError) {
    scanner.skipBlanks()
    let start = scanner.index
    var text = ShortText()
    var isCut = false
    while !scanner.isAtEnd {
      guard ShortText.allows(scanner.byte) else { throw .malformed(at: scanner.index) }
      // Blanks after a tag are ignored, however many there are.
      if !text.append(scanner.byte), scanner.byte != 0x20 { isCut = true }
      scanner.advance()
    }
    guard scanner.index > start else { throw .malformed(at: start) }
    self = isCut ? .other(text) : PumpErrorTag(text)
  }

  /// Decodes a tag. Trailing blanks and case are ignored for a known tag.
  @_noLocks @_noAllocation
  private init(_ text: ShortText) {
    if Self.matches(text, "SAFETY_SHUTOFF") {
      self = .safetyShutoff
    } else if Self.matches(text, "OVERHEAT") {
      self = .overheat
    } else if Self.matches(text, "SENSOR_FAULT") {
      self = .sensorFault
    } else if Self.matches(text, "PUMP_START_FAILED") {
      self = .startFailed
    } else if Self.matches(text, "PUMP_NOT_RUNNING") {
      self = .notRunning
    } else if Self.matches(text, "INVALID_SPEED_VALUE") {
      self = .invalidSpeed
    } else if Self.matches(text, "UNKNOWN_COMMAND") {
      self = .unknownCommand
    } else if Self.matches(text, "CMD_TOO_LONG") {
      self = .commandTooLong
    } else {
      self = .other(text)
    }
  }

  @_noLocks @_noAllocation
  private static func matches(_ text: ShortText, _ tag: StaticString) -> Bool {
    var length = text.count
    while length > 0, text[length &- 1] == 0x20 { length &-= 1 }
    guard length == tag.utf8CodeUnitCount else { return false }
    for place in 0..<length {
      let byte = text[place]
      let upper = byte >= 0x61 && byte <= 0x7A ? byte & 0xDF : byte
      if upper != tag.utf8Start[place] { return false }
    }
    return true
  }
}
