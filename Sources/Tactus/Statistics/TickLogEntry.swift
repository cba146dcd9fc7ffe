/// One message of a `TickLog`: the text of a tick with up to four numbers. The reader of the log inserts the numbers into the text.
public struct TickLogEntry: Sendable, BitwiseCopyable {
  /// The importance of a message, ascending.
  public enum Level: UInt8, Sendable, BitwiseCopyable, Comparable {
    /// A detail for the loop's developers.
    case debug
    /// An event of normal operation.
    case info
    /// An irregularity that the loop has handled.
    case warning
    /// An error that the loop cannot handle.
    case error

    /// Returns whether `left` is less important than `right`.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  }

  /// The instant that the tick gave, usually `tick.started`; in simulated time it is a simulated instant.
  public let at: TickInstant
  /// The importance of the message.
  public let level: Level
  /// The text of the message, with `{}` in the place of each number.
  public let message: StaticString
  private let values: (Double, Double, Double, Double)
  private let count: Int
  /// The number of messages that were lost between the previous message and this one because the log was full.
  public let lost: Int

  @_noLocks @_noAllocation
  init(
    at: TickInstant, level: Level, message: StaticString, values: (Double, Double, Double, Double), count: Int,
    lost: Int
  ) {
    self.at = at
    self.level = level
    self.message = message
    self.values = values
    self.count = count
    self.lost = lost
  }

  /// The numbers, 0 to 4, in the order in which they were given.
  public var numbers: [Double] { Array([values.0, values.1, values.2, values.3].prefix(count)) }

  /// The message with its numbers inserted. Numbers without a `{}` follow at the end.
  public var text: String {
    var numbers = numbers[...]
    var text = ""
    var rest = message.description[...]
    while let next = rest.firstIndex(of: "{") {
      text += rest[..<next]
      rest = rest[next...]
      if rest.hasPrefix("{}"), let number = numbers.popFirst() {
        text += Self.text(number)
        rest = rest.dropFirst(2)
      } else {
        text += "{"
        rest = rest.dropFirst()
      }
    }
    text += rest
    for number in numbers { text += " " + Self.text(number) }
    return text
  }

  /// Returns a number as text; a whole number has no decimals.
  private static func text(_ number: Double) -> String {
    number.magnitude < 9e15 && number == number.rounded() ? "\(Int64(number))" : "\(number)"
  }
}

extension TickLogEntry: CustomStringConvertible {
  /// The message as a line of a log, with the instant in seconds of the runtime's clock: `12.345 s warning: tilt 0.5 rad (3 messages lost before)`.
  public var description: String {
    let lost = lost == 0 ? "" : " (\(lost) \(lost == 1 ? "message" : "messages") lost before)"
    return "\(at.inSecondsText) \(level): \(text)\(lost)"
  }
}

extension TickInstant {
  /// The instant as seconds with all nanoseconds: `12.345000000 s`.
  var inSecondsText: String {
    let fraction = String(1_000_000_000 + nanoseconds % 1_000_000_000).dropFirst()
    return "\(nanoseconds / 1_000_000_000).\(fraction) s"
  }
}
