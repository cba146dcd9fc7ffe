import Foundation
import Sprinkler
import Tactus
import TestSupport
import Testing
import WallTime

@Suite("Sunrise and sunset", .ownThread)
struct SunTests {
  struct Known: Sendable {
    let zone: String
    let latitude: Double
    let longitude: Double
    let date: LocalDate
    let rise: String
    let set: String
  }
  // Published tables, local time.
  static let table = [
    Known(
      zone: "Europe/Berlin", latitude: 52.52, longitude: 13.405, date: LocalDate(year: 2024, month: 6, day: 21),
      rise: "04:43", set: "21:33"),
    Known(
      zone: "Europe/Berlin", latitude: 52.52, longitude: 13.405, date: LocalDate(year: 2024, month: 12, day: 21),
      rise: "08:15", set: "15:54"),
    Known(
      zone: "America/New_York", latitude: 40.713, longitude: -74.006,
      date: LocalDate(year: 2024, month: 6, day: 20), rise: "05:25", set: "20:31"),
    Known(
      zone: "Europe/London", latitude: 51.507, longitude: -0.128, date: LocalDate(year: 2024, month: 3, day: 20),
      rise: "06:03", set: "18:14"),
    Known(
      zone: "Australia/Sydney", latitude: -33.868, longitude: 151.209,
      date: LocalDate(year: 2024, month: 12, day: 21), rise: "05:41", set: "20:05"),
  ]

  @Test("published tables: within a minute", arguments: table)
  func tables(known: Known) throws {
    let rules = try ZoneRules(identifier: known.zone)
    let sun = Sun(GeographicPlace(latitude: known.latitude, longitude: known.longitude))
    for (edge, text) in [(Sun.Edge.rise, known.rise), (.set, known.set)] {
      let at = try #require(sun.instant(of: edge, on: known.date, in: rules))
      let (date, second) = rules.local(at)
      let parts = text.split(separator: ":").compactMap { Int($0) }
      #expect(date == known.date)
      #expect(abs(second - (parts[0] * 3_600 + parts[1] * 60)) <= 90, "\(edge): \(second / 3_600):\(second / 60 % 60)")
    }
  }

  /// The sun's altitude by the Astronomical Almanac's low-precision formulas, which share nothing with NOAA's: degrees.
  private func altitude(_ seconds: Double, _ place: GeographicPlace) -> Double {
    let radians = Double.pi / 180
    let days = seconds / 86_400 - 10_957.5
    let mean = (280.460 + 0.9856474 * days) * radians
    let anomaly = (357.528 + 0.9856003 * days) * radians
    let longitude = mean + (1.915 * sin(anomaly) + 0.020 * sin(2 * anomaly)) * radians
    let obliquity = (23.439 - 0.0000004 * days) * radians
    let ascension = atan2(cos(obliquity) * sin(longitude), cos(longitude))
    let declination = asin(sin(obliquity) * sin(longitude))
    let sidereal = (18.697374558 + 24.06570982441908 * days) * 15 * radians
    let hour = sidereal + place.longitude * radians - ascension
    let latitude = place.latitude * radians
    return asin(sin(latitude) * sin(declination) + cos(latitude) * cos(declination) * cos(hour)) / radians
  }

  @Test("4,000 random places and dates below 60°: within a minute of another formula")
  func peer() throws {
    var random = SplitMix64(seed: 5)
    for _ in 0..<4_000 {
      let place = GeographicPlace(
        latitude: Double(random.below(12_000)) / 100 - 60, longitude: Double(random.below(36_000)) / 100 - 180)
      let rules = ZoneRules(
        identifier: "near", firstOffsetSeconds: Int((place.longitude / 15).rounded()) * 3_600, transitions: [])
      let date = LocalDate(daysSince1970: 10_957 + Int(random.below(18_000)))
      for edge in [Sun.Edge.rise, .set] {
        let at = try #require(Sun(place).instant(of: edge, on: date, in: rules))
        #expect(rules.local(at).date == date)
        let seconds = Double(at.secondsSince1970)
        let sign = edge == .rise ? 1.0 : -1.0
        // Under the horizon a minute before the rise and over it a minute after; the other way round for the set.
        #expect(sign * (altitude(seconds - 60, place) + 0.833) < 0, "\(place) \(date) \(edge)")
        #expect(sign * (altitude(seconds + 60, place) + 0.833) > 0, "\(place) \(date) \(edge)")
      }
    }
  }

  @Test("polar day and polar night: no rise, no set")
  func polar() throws {
    let rules = try ZoneRules(identifier: "Europe/Oslo")
    let tromso = Sun(GeographicPlace(latitude: 69.65, longitude: 18.96))
    for date in [LocalDate(year: 2026, month: 6, day: 21), LocalDate(year: 2026, month: 12, day: 21)] {
      #expect(tromso.instant(of: .rise, on: date, in: rules) == nil)
      #expect(tromso.instant(of: .set, on: date, in: rules) == nil)
    }
    #expect(tromso.instant(of: .rise, on: LocalDate(year: 2026, month: 3, day: 21), in: rules) != nil)
  }

  @Test("a zone a day ahead of its meridian: the date is the zone's")
  func dateLine() throws {
    let rules = try ZoneRules(identifier: "Pacific/Kiritimati")
    let sun = Sun(GeographicPlace(latitude: 1.87, longitude: -157.4))
    for day in 20_000..<20_365 {
      let date = LocalDate(daysSince1970: day)
      let rise = try #require(sun.instant(of: .rise, on: date, in: rules))
      let (local, second) = rules.local(rise)
      #expect(local == date)
      #expect((5 * 3_600..<8 * 3_600).contains(second))
    }
  }
}
