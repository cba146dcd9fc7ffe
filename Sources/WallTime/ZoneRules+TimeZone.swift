@_spi(FromOutside) import Conversions
import Foundation

/// An error for a name that is not an IANA time zone.
public struct UnknownTimeZone: Error, Sendable, Hashable, CustomStringConvertible {
  /// The name that was given.
  public let identifier: String
  /// The most similar known name, or `nil` if none is similar.
  public let near: String?

  /// The expected and the actual value, in words.
  public var description: String {
    "expected an IANA time zone\(near.map { " (\($0)?)" } ?? " like Europe/Berlin"), got \(identifier)"
  }
}

extension ZoneRules {
  /// Reads a zone's rules from the system's time zone database, for `years`, both ends included.
  ///
  /// This takes some milliseconds, so it is called once, at the start.
  /// - Throws: `UnknownTimeZone` for a name that the database does not have.
  public init(identifier: String, years: ClosedRange<Int> = 2000...2100) throws(UnknownTimeZone) {
    // A name of another form (`GMT+1`, `CET-1CEST`) would be taken, too, and mean something else than people expect.
    // Older names of the database (`Etc/UTC`, what most servers have, or `US/Pacific`) are in no list, but have a slash.
    let isKnown =
      ["UTC", "GMT"].contains(identifier) || identifier.contains("/")
      || TimeZone.knownTimeZoneIdentifiers.contains(identifier)
    guard isKnown, let zone = TimeZone(identifier: identifier) else {
      throw UnknownTimeZone(identifier: identifier, near: Self.nearest(to: identifier))
    }
    func offset(_ seconds: Int64) -> Int {
      zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(seconds)))
    }
    let first = Int64(LocalDate(year: years.lowerBound, month: 1, day: 1).daysSince1970) * 86_400
    let last = Int64(LocalDate(year: years.upperBound + 1, month: 1, day: 1).daysSince1970) * 86_400
    var transitions: [Transition] = []
    var known = offset(first)
    let firstOffset = known
    // Looked at every day, because the library's next transition leaves out changes of the standard offset. What lies
    // between two looks is found by halving; two changes within one day would need two looks, and no zone has them.
    for day in stride(from: first, to: last, by: 86_400) {
      let then = offset(day + 86_400)
      guard then != known else { continue }
      var low = day
      var high = day + 86_400
      while high - low > 1 {
        let middle = (low + high) / 2
        if offset(middle) == known { low = middle } else { high = middle }
      }
      transitions.append(Transition(at: WallInstant(secondsSince1970: high), offsetSeconds: then))
      known = then
    }
    self.init(identifier: identifier, firstOffsetSeconds: firstOffset, transitions: transitions)
  }

  /// Returns the known name with the fewest different letters, or `nil` if too many letters differ.
  static func nearest(to name: String) -> String? {
    let wanted = Array(name.lowercased().utf8)
    let candidates = TimeZone.knownTimeZoneIdentifiers.map { known in
      // Names are also compared without their continent, which people leave out.
      let whole = distance(wanted, Array(known.lowercased().utf8))
      let city = distance(wanted, Array(known.lowercased().split(separator: "/").last!.utf8))
      return (distance: min(whole, city), name: known)
    }
    guard let best = candidates.min(by: { ($0.distance, $0.name) < ($1.distance, $1.name) }) else { return nil }
    return best.distance <= max(2, wanted.count / 4) ? best.name : nil
  }

  /// Returns the Levenshtein distance.
  private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
    var row = Array(0...right.count)
    for (i, a) in left.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, b) in right.enumerated() {
        let substituted = diagonal + (a == b ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(substituted, row[j] + 1, diagonal + 1)
      }
    }
    return row[right.count]
  }
}
