/// One message of a `TickLog`: what a tick said, with up to four numbers; text is made of it where it is read.
public struct TickLogEntry: Sendable, BitwiseCopyable {
  /// How much it matters, ascending.
  public enum Level: UInt8, Sendable, BitwiseCopyable, Comparable {
    /// For the loop's developers.
    case debug
    /// What happens in normal operation.
    case info
    /// What is not as it should be, and handled.
    case warning
    /// What the loop cannot handle.
    case error

    /// Returns whether `left` matters less.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  }

  /// What the tick gave: as a rule `tick.started`, simulated in simulated time.
  public let at: TickInstant
  /// How much it matters.
  public let level: Level
  /// With `{}` where the numbers belong.
  public let message: StaticString
  private let values: (Double, Double, Double, Double)
  private let count: Int
  /// Messages that found the log full between the message before this one and this one.
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

  /// The message with its numbers in place; those for which it has no `{}` follow at its end.
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

  /// A whole number without decimals.
  private static func text(_ number: Double) -> String {
    number.magnitude < 9e15 && number == number.rounded() ? "\(Int64(number))" : "\(number)"
  }
}

extension TickLogEntry: CustomStringConvertible {
  /// `12.345 s warning: tilt 0.5 rad (3 messages lost before)`, with the instant as seconds of the runtime's clock.
  public var description: String {
    let nanoseconds = String(1_000_000_000 + at.nanoseconds % 1_000_000_000).dropFirst()
    let lost = lost == 0 ? "" : " (\(lost) \(lost == 1 ? "message" : "messages") lost before)"
    return "\(at.nanoseconds / 1_000_000_000).\(nanoseconds) s \(level): \(text)\(lost)"
  }
}
