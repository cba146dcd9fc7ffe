import ArgumentParser
@_spi(FromOutside) import Conversions
import Foundation
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

/// A time span in whole seconds on the command line: `90d`, `12h`, `30m`, `45s`; a number without a unit is in seconds.
struct LongTimeSpan: ExpressibleByArgument, Equatable {
  /// The length of the span, from 0 to a hundred years.
  let seconds: Int64

  init(seconds: Int64) { self.seconds = seconds }

  init?(argument: String) {
    let units: [(suffix: String, seconds: Int64)] = [("s", 1), ("m", 60), ("h", 3600), ("d", 86_400)]
    let unit = units.first { argument.hasSuffix($0.suffix) }
    let digits = argument.dropLast(unit?.suffix.count ?? 0)
    guard let number = Int64(digits), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    let (product, overflow) = number.multipliedReportingOverflow(by: unit?.seconds ?? 1)
    guard !overflow, product <= 36_525 * 86_400 else { return nil }
    seconds = product
  }

  /// The text of the span as a default value in the help.
  var defaultValueDescription: String { seconds.isMultiple(of: 3600) ? "\(seconds / 3600)h" : "\(seconds)s" }
}

/// Formats a time of day for people.
enum CivilTime {
  /// Returns the time in UTC: `2027-01-15T08:00:00Z`. `seconds` is counted since 1970.
  static func text(_ seconds: Int64) -> String {
    Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
  }
}
