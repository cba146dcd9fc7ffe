/// A line from the operator to the pump.
public enum PumpCommand: Sendable, Hashable, BitwiseCopyable {
  case on
  /// Also what leaves the pump's error state.
  case off
  /// Taken only while the pump is on.
  case speed(PumpSpeed)
  case status
  case temperature

  /// Bytes of the longest encoded command, its line end counted. Fits one notification of 20 bytes.
  public static var maximumEncodedLength: Int {
    @_noLocks @_noAllocation get { 10 }
  }
  /// Longer lines are refused, as the firmware does.
  public static var maximumLineLength: Int {
    @_noLocks @_noAllocation get { 63 }
  }
}

/// How a number in a command is read.
public enum PumpNumberRule: UInt8, Sendable, Hashable, BitwiseCopyable {
  /// Digits and nothing else.
  case strict
  /// As `atoi` of the original firmware: what follows the digits is ignored, and what is no number is 0.
  case leading
}

extension PumpCommand {
  /// Reads one line without its line end. Case does not count; spaces and tabs around it and after the colon are ignored.
  ///
  /// Total: every byte string is a command or an error. Timing: linear; no allocation, no lock.
  @_noLocks @_noAllocation
  public static func decode(
    _ line: UnsafeRawBufferPointer, numbers: PumpNumberRule = .strict
  ) throws(PumpLineError) -> PumpCommand {
    guard line.count <= maximumLineLength else { throw .tooLong(count: line.count) }
    var scanner = PumpScanner(line)
    scanner.skipBlanks()
    guard !scanner.isAtEnd else { throw .empty }
    let start = scanner.index
    let command: PumpCommand
    if scanner.skipWord("SPEED:") {
      return .speed(try speed(&scanner, numbers))
    } else if scanner.skipWord("STATUS") {
      command = .status
    } else if scanner.skipWord("TEMP") {
      command = .temperature
    } else if scanner.skipWord("OFF") {
      command = .off
    } else if scanner.skipWord("ON") {
      command = .on
    } else {
      throw .unknownCommand(at: start)
    }
    scanner.skipBlanks()
    guard scanner.isAtEnd else { throw .unknownCommand(at: start) }
    return command
  }

  @_noLocks @_noAllocation
  private static func speed(
    _ scanner: inout PumpScanner, _ numbers: PumpNumberRule
  ) throws(PumpLineError) -> PumpSpeed {
    scanner.skipBlanks()
    let start = scanner.index
    switch numbers {
    case .strict:
      let value = try scanner.whole(limit: 255)
      scanner.skipBlanks()
      guard scanner.isAtEnd else { throw .trailing(at: scanner.index) }
      return PumpSpeed(duty: UInt8(truncatingIfNeeded: value))
    case .leading:
      let isNegative = scanner.skip(0x2D)
      if !isNegative { _ = scanner.skip(0x2B) }
      guard scanner.isAtDigit else { return PumpSpeed(duty: 0) }
      guard let value = scanner.digits(limit: 255), !isNegative || value == 0 else { throw .outOfRange(at: start) }
      return PumpSpeed(duty: UInt8(truncatingIfNeeded: value))
    }
  }

  /// Writes the line with its `\n` and returns its length. `buffer` holds at least `maximumEncodedLength` bytes.
  @_noLocks @_noAllocation
  public func encode(into buffer: UnsafeMutableRawBufferPointer) -> Int {
    precondition(buffer.count >= Self.maximumEncodedLength, "the buffer is too small for a command")
    var writer = ByteWriter(buffer)
    switch self {
    case .on: writer.append("ON")
    case .off: writer.append("OFF")
    case .speed(let speed):
      writer.append("SPEED:")
      writer.append(decimal: UInt64(speed.duty))
    case .status: writer.append("STATUS")
    case .temperature: writer.append("TEMP")
    }
    writer.append(0x0A)
    return writer.count
  }
}
