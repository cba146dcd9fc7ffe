/// The rate at which a loop is released: 10⁻⁶…10⁶ times a second, which is a period of 1 µs…10⁹ s.
///
/// A rate that is out of range, such as one that a person has typed, can be made and compared. `Runtime` throws `.invalidLoop` for
/// such a rate when it is built and when rates are changed.
public struct Rate: Sendable, Hashable, BitwiseCopyable {
  /// The time between two releases in whole nanoseconds, or 0 for a frequency out of range, such as 0 Hz.
  public let period: Nanoseconds
  /// The requested frequency if it is out of range, or `nil` if it is valid.
  private let rejectedHertz: Double?

  static let periods = Nanoseconds.microseconds(1)...Nanoseconds.seconds(1_000_000_000)

  /// Returns the rate with this period, 1 µs…10⁹ s.
  public static func period(_ period: Nanoseconds) -> Rate { Rate(period: period, rejectedHertz: nil) }

  /// Returns the rate with this frequency in releases per second, 10⁻⁶…10⁶. The period is rounded to the nearest nanosecond.
  public static func hertz(_ frequency: Double) -> Rate {
    guard (1e-6...1e6).contains(frequency) else { return Rate(period: .zero, rejectedHertz: frequency) }
    return Rate(period: Nanoseconds(Int64((1e9 / frequency).rounded())), rejectedHertz: nil)
  }

  /// The number of releases per second; infinite for a period of 0.
  public var hertz: Double { rejectedHertz ?? 1e9 / Double(period.count) }

  /// The reason why the rate is invalid, or `nil` if it is valid.
  var flaw: String? {
    if let rejectedHertz { return "a rate is 10⁻⁶…10⁶ Hz, got \(rejectedHertz) Hz" }
    return Self.periods.contains(period) ? nil : "a period is 1 µs…10⁹ s, got \(period)"
  }
}
