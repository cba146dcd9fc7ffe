@_spi(FromOutside) import Conversions
import Tactus

/// One action of a client, of the environment or of a fault on the simulated daemon; a line of a history.
///
///     12.345000000 fan set 30
///
/// A line has the instant in seconds since the start, the name of the part concerned, the verb, and whole numbers whose
/// meaning depends on the part and the verb.
public struct SwarmAction: Sendable, Hashable {
  /// The instant of the action, counted from the start of the history.
  public var at: TickInstant
  /// The name of the part concerned, or `daemon` for the whole process.
  public var part: String
  /// The verb of the action.
  public var verb: String
  /// The parameters of the action.
  public var numbers: [Int64]

  /// Makes an action of these properties.
  public init(_ at: TickInstant, _ part: String, _ verb: String, _ numbers: Int64...) {
    (self.at, self.part, self.verb, self.numbers) = (at, part, verb, numbers)
  }

  /// Reads a line. Returns `nil` if the text is not the line of an action.
  public init?(line: String) {
    let words = line.split(separator: " ")
    guard words.count >= 3, let at = Self.instant(words[0]) else { return nil }
    let numbers = words.dropFirst(3).compactMap { Int64($0) }
    guard numbers.count == words.count - 3 else { return nil }
    (self.at, part, verb, self.numbers) = (at, String(words[1]), String(words[2]), numbers)
  }

  /// The parameter at this index, or 0 if the line has fewer parameters.
  public subscript(_ index: Int) -> Int64 { index < numbers.count ? numbers[index] : 0 }

  /// Returns the instant in seconds with nine decimals, which is exact.
  public static func text(_ instant: TickInstant) -> String {
    let fraction = String(instant.nanoseconds % 1_000_000_000)
    return "\(instant.nanoseconds / 1_000_000_000)." + String(repeating: "0", count: 9 - fraction.count) + fraction
  }

  private static func instant(_ text: Substring) -> TickInstant? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[1].count == 9, let seconds = Int64(parts[0]), let rest = Int64(parts[1]),
      (0...1_000_000).contains(seconds), rest >= 0
    else { return nil }
    return TickInstant(nanoseconds: seconds * 1_000_000_000 + rest)
  }
}

extension SwarmAction: CustomStringConvertible {
  /// The line of the history.
  public var description: String {
    ([Self.text(at), part, verb] + numbers.map { String($0) }).joined(separator: " ")
  }
}
