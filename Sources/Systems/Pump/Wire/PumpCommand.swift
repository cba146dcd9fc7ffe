@_spi(FromOutside) import Conversions
import Wire

/// A line from the operator to the pump.
public enum PumpCommand: Sendable, Hashable, BitwiseCopyable {
  case on
  /// Turns the pump off; also ends the pump's error state.
  case off
  /// Sets the speed; accepted only while the pump is on.
  case speed(PumpSpeed)
  case status
  case temperature

  /// The number of bytes of the longest encoded command including its line end. It fits one notification of 20 bytes.
  public static var maximumEncodedLength: Int {
    @_noLocks @_noAllocation get { 10 }
  }
  /// The longest accepted line in bytes. Longer lines are refused, as by the firmware.
  public static var maximumLineLength: Int {
    @_noLocks @_noAllocation get { 63 }
  }
}

/// The rule by which a line is decoded as a command.
public enum PumpCommandRule: UInt8, Sendable, Hashable, BitwiseCopyable {
  /// Blanks around a word are ignored; a number consists of digits only.
  case strict
  /// The original firmware's decoding: a NUL ends the line, blanks around a word are not allowed, and a number is the result of `atoi` with 16 bits:
  /// 65791 becomes 255, and text that is not a number becomes 0.
  case firmware
}

extension PumpCommand {
  /// Decodes one line without its line end. Case is ignored.
  ///
  /// Total: every byte string is a command or an error. Timing: linear; no allocation, no lock.
  @_noLocks @_noAllocation
  public static func decode(
    _ line: UnsafeRawBufferPointer, rule: PumpCommandRule = .strict
  ) throws(PumpLineError) -> PumpCommand {
    guard line.count <= maximumLineLength else { throw .tooLong(count: line.count) }
    switch rule {
    case .strict: return try strict(line)
    case .firmware: return try asFirmware(line)
    }
  }

  @_noLocks @_noAllocation
  private static func strict(_ line: UnsafeRawBufferPointer) throws(PumpLineError) -> PumpCommand {
    var scanner = PumpScanner(line)
    scanner.skipBlanks()
    guard !scanner.isAtEnd else { throw .empty }
    let start = scanner.index
    let command: PumpCommand
    if scanner.skipWord("SPEED:") {
      scanner.skipBlanks()
      let value = try scanner.whole(limit: 255)
      scanner.skipBlanks()
      guard scanner.isAtEnd else { throw .trailing(at: scanner.index) }
      return .speed(PumpSpeed(duty: UInt8(truncatingIfNeeded: value)))
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
  private static func asFirmware(_ line: UnsafeRawBufferPointer) throws(PumpLineError) -> PumpCommand {
    var length = 0
    while length < line.count, line[length] != 0 { length &+= 1 }
    let text = UnsafeRawBufferPointer(start: line.baseAddress, count: length)
    if isWord(text, "ON") { return .on }
    if isWord(text, "OFF") { return .off }
    if isWord(text, "STATUS") { return .status }
    if isWord(text, "TEMP") { return .temperature }
    var scanner = PumpScanner(text)
    guard scanner.skipWord("SPEED:") else { throw .unknownCommand(at: 0) }
    let start = scanner.index
    let value = scanner.integer16()
    guard value >= 0, value <= 255 else { throw .outOfRange(at: start) }
    return .speed(PumpSpeed(duty: UInt8(truncatingIfNeeded: value)))
  }

  /// Returns whether the text is that word and nothing else.
  @_noLocks @_noAllocation
  private static func isWord(_ text: UnsafeRawBufferPointer, _ word: StaticString) -> Bool {
    var scanner = PumpScanner(text)
    return scanner.skipWord(word) && scanner.isAtEnd
  }

  /// Writes the line with its `
  /// ` and returns its length. `buffer` must hold at least `maximumEncodedLength` bytes.
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

/// A pump's speed as its firmware represents it: the duty of an 8-bit PWM.
public struct PumpSpeed: Sendable, Hashable, BitwiseCopyable {
  /// The duty of the PWM, 0…255.
  public var duty: UInt8

  @_noLocks @_noAllocation
  public init(duty: UInt8) { self.duty = duty }

  /// Creates the slowest speed that is reported as this percentage, 0…100; a greater percentage counts as 100.
  @_noLocks @_noAllocation
  public init(percent: UInt8) {
    let percent = percent > 100 ? 100 : Int(percent)
    duty = UInt8(clamping: (percent * 255 + 99) / 100)
  }

  /// The percentage that the firmware reports, truncated: 180 becomes 70 %.
  public var percent: UInt8 {
    @_noLocks @_noAllocation get { UInt8(clamping: Int(duty) * 100 / 255) }
  }

  /// The initial speed of the firmware, 70 %.
  public static var standard: PumpSpeed {
    @_noLocks @_noAllocation get { PumpSpeed(duty: 180) }
  }
}
