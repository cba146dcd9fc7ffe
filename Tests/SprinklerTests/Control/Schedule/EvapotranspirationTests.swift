import Testing

@testable import Sprinkler

/// The worked examples of FAO Irrigation and Drainage Paper 56, chapter 4, with the values that it prints.
@Suite("Reference evapotranspiration")
struct EvapotranspirationTests {
  private static func equations(_ latitude: Double, _ elevation: Double) throws -> Evapotranspiration {
    try #require(Evapotranspiration(GeographicPlace(latitude: latitude, longitude: 0), elevationMetres: elevation))
  }

  private static func isNear(_ value: Double?, _ expected: Double, _ tolerance: Double) -> Bool {
    value.map { ($0 - expected).magnitude <= tolerance } ?? false
  }

  private static let lyon = Evapotranspiration.Day(
    dayOfYear: 196, maximumCelsius: 26.6, minimumCelsius: 14.8, vapourKilopascals: 1.68, windMetresPerSecond: 2,
    sunMegajoules: 22.29)

  @Test("example 17, Bangkok in April: 38.06 MJ/m² above the atmosphere, 5.72 mm a day")
  func bangkok() throws {
    let equations = try Self.equations(13 + 44.0 / 60, 2)
    let day = Evapotranspiration.Day(
      dayOfYear: 105, maximumCelsius: 34.8, minimumCelsius: 25.6, vapourKilopascals: 2.85, windMetresPerSecond: 2,
      sunMegajoules: 22.65, soilHeatMegajoules: 0.14)
    #expect(Self.isNear(equations.extraterrestrialMegajoules(dayOfYear: 105), 38.06, 0.01))
    #expect(Self.isNear(equations.penmanMonteith(day), 5.72, 0.005))
  }

  @Test("example 18, Uccle on 6 July: 41.09 MJ/m² above the atmosphere, 3.88 mm")
  func uccle() throws {
    let equations = try Self.equations(50 + 48.0 / 60, 100)
    let day = Evapotranspiration.Day(
      dayOfYear: 187, maximumCelsius: 21.5, minimumCelsius: 12.3, vapourKilopascals: 1.409, windMetresPerSecond: 2.078,
      sunMegajoules: 22.07)
    #expect(Self.isNear(equations.extraterrestrialMegajoules(dayOfYear: 187), 41.09, 0.01))
    #expect(Self.isNear(equations.penmanMonteith(day), 3.88, 0.005))
  }

  @Test("example 20, Lyon in July, temperatures alone: 4.56 mm by Penman and Monteith, 5.0 mm by Hargreaves")
  func lyon() throws {
    let equations = try Self.equations(45 + 43.0 / 60, 200)
    #expect(Self.isNear(equations.penmanMonteith(Self.lyon), 4.56, 0.01))
    #expect(Self.isNear(equations.hargreaves(maximumCelsius: 26.6, minimumCelsius: 14.8, dayOfYear: 196), 5.03, 0.01))
  }

  @Test("values that no weather has: nil; every value that one has, at both ends: a finite number from 0 on")
  func total() throws {
    let equations = try Self.equations(45, 200)
    for wrong in [Double.nan, .infinity, -.infinity, 1e300, -1e300] {
      #expect(Evapotranspiration(GeographicPlace(latitude: wrong, longitude: 0), elevationMetres: 0) == nil)
      #expect(Evapotranspiration(GeographicPlace(latitude: 0, longitude: 0), elevationMetres: wrong) == nil)
      for key: WritableKeyPath<Evapotranspiration.Day, Double> in [
        \.maximumCelsius, \.minimumCelsius, \.vapourKilopascals, \.windMetresPerSecond, \.sunMegajoules,
        \.soilHeatMegajoules,
      ] {
        var day = Self.lyon
        day[keyPath: key] = wrong
        #expect(equations.penmanMonteith(day) == nil, "\(key) \(wrong)")
      }
      #expect(equations.hargreaves(maximumCelsius: wrong, minimumCelsius: 0, dayOfYear: 1) == nil)
    }
    #expect(equations.hargreaves(maximumCelsius: 10, minimumCelsius: 11, dayOfYear: 1) == nil)
    #expect(equations.extraterrestrialMegajoules(dayOfYear: 0) == nil)
    #expect(equations.extraterrestrialMegajoules(dayOfYear: 367) == nil)
    for latitude in [-90.0, -66, 0, 66, 90] {
      for (day, celsius) in [1, 80, 172, 266, 355, 366].flatMap({ day in [-90.0, 0, 70].map { (day, $0) } }) {
        for (vapour, wind, sun) in [(0.0, 0.0, 0.0), (20, 100, 60)] {
          let place = try Self.equations(latitude, 9_000)
          let weather = Evapotranspiration.Day(
            dayOfYear: day, maximumCelsius: celsius, minimumCelsius: -90, vapourKilopascals: vapour,
            windMetresPerSecond: wind, sunMegajoules: sun)
          let values = [
            place.penmanMonteith(weather),
            place.hargreaves(maximumCelsius: celsius, minimumCelsius: -90, dayOfYear: day),
          ]
          #expect(
            values.allSatisfy { $0.map { $0.isFinite && $0 >= 0 } ?? false }, "\(weather) at \(latitude): \(values)")
        }
      }
    }
  }
}
