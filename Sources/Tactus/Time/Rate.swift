/// How often a loop is released: 10⁻⁶…10⁶ times a second, a period of 1 µs…10⁹ s.
///
/// A rate outside of that, such as one that a person has typed, can be made and compared; `Runtime` throws
/// `.invalidLoop` for it when it is built and when rates are changed.
public struct Rate: Sendable, Hashable, BitwiseCopyable {
  /// Between two releases, in whole nanoseconds; 0 for a rate without one, such as 0 Hz.
  public let period: Nanoseconds
  /// What was asked for, if it is out of range.
  private let rejectedHertz: Double?

  static let periods = Nanoseconds.microseconds(1)...Nanoseconds.seconds(1_000_000_000)

  /// Every `period`, 1 µs…10⁹ s.
  public static func period(_ period: Nanoseconds) -> Rate { Rate(period: period, rejectedHertz: nil) }

  /// So many releases a second, 10⁻⁶…10⁶; the period is rounded to the nearest nanosecond.
  public static func hertz(_ frequency: Double) -> Rate {
    guard (1e-6...1e6).contains(frequency) else { return Rate(period: .zero, rejectedHertz: frequency) }
    return Rate(period: Nanoseconds(Int64((1e9 / frequency).rounded())), rejectedHertz: nil)
  }

  /// Releases a second; infinite for a period of 0.
  public var hertz: Double { rejectedHertz ?? 1e9 / Double(period.count) }

  /// What is wrong with it, or `nil` if a loop can be released so often.
  var flaw: String? {
    if let rejectedHertz { return "a rate is 10⁻⁶…10⁶ Hz, got \(rejectedHertz) Hz" }
    return Self.periods.contains(period) ? nil : "a period is 1 µs…10⁹ s, got \(period)"
  }
}
