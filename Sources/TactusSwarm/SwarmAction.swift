import Tactus

/// One thing that a client, the world or a fault does to the simulated daemon: a line of a history.
///
///     12.345000000 fan set 30
///
/// The instant in seconds since the start, the part that it is done to, what is done, and whole numbers, whose meaning the part knows.
public struct SwarmAction: Sendable, Hashable {
  /// When it is done, since the start of the history.
  public var at: TickInstant
  /// A part's name, or `daemon` for what is done to the whole process.
  public var part: String
  /// What is done.
  public var verb: String
  /// Its parameters.
  public var numbers: [Int64]

  /// - Parameters: see the properties.
  public init(_ at: TickInstant, _ part: String, _ verb: String, _ numbers: Int64...) {
    (self.at, self.part, self.verb, self.numbers) = (at, part, verb, numbers)
  }

  /// Reads a line, or `nil` if the line is not one.
  public init?(line: String) {
    let words = line.split(separator: " ")
    guard words.count >= 3, let at = Self.instant(words[0]) else { return nil }
    let numbers = words.dropFirst(3).compactMap { Int64($0) }
    guard numbers.count == words.count - 3 else { return nil }
    (self.at, part, verb, self.numbers) = (at, String(words[1]), String(words[2]), numbers)
  }

  /// A parameter; 0 if the line has fewer.
  public subscript(_ index: Int) -> Int64 { index < numbers.count ? numbers[index] : 0 }

  /// Seconds with nine decimals, exact.
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
  /// The line.
  public var description: String {
    ([Self.text(at), part, verb] + numbers.map { String($0) }).joined(separator: " ")
  }
}
