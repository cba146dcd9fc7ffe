import ArgumentParser
@_spi(FromOutside) import Conversions
import Tactus

/// A time span on the command line: `2s`, `1.5s`, `500ms`, `2m`; a number without a unit is in seconds.
public struct TimeSpan: ExpressibleByArgument, Equatable, Sendable {
  /// The length of the span, more than 0 and at most a day.
  public let nanoseconds: Nanoseconds

  public init?(argument: String) {
    let units: [(suffix: String, seconds: Double)] = [("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600)]
    let unit = units.first { argument.hasSuffix($0.suffix) }
    let digits = argument.dropLast(unit?.suffix.count ?? 0)
    guard let number = ScalarReader.number(String(digits)) else { return nil }
    let seconds = number * (unit?.seconds ?? 1)
    guard seconds > 0, seconds <= 86_400 else { return nil }
    nanoseconds = .seconds(seconds)
  }

  /// The text of the span as a default value in the help: `1s`, `250ms`.
  public var defaultValueDescription: String {
    let milliseconds = nanoseconds.count / 1_000_000
    return milliseconds.isMultiple(of: 1000) ? "\(milliseconds / 1000)s" : "\(milliseconds)ms"
  }
}
