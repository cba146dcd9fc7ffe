import Sprinkler
import Tactus
import Testing
import WallTime

@testable import Service
@testable import SprinklerDaemon

@Suite("what a forecast means")
struct WeatherWatchTests {
  private static func settings(days: Int = 1) -> WeatherWatch.Settings {
    WeatherWatch.Settings(
      address: ServiceAddress("http://127.0.0.1:9")!, latitude: 52.5, longitude: 13.4, timeZone: "Etc/GMT+5",
      days: days,
      threshold: 5, delayHours: 36, period: .seconds(3600))
  }

  private func rain(
    _ body: String, days: Int = 1, known: [String: Double] = [:]
  ) -> Result<ExpectedRain, WeatherFailure> {
    WeatherAnswer.read(Array(body.utf8), days: days).map { ExpectedRain($0, known: known) }
  }

  private func verdict(_ body: String, days: Int = 1, known: [String: Double] = [:]) throws -> WeatherVerdict {
    WeatherWatch.verdict(try rain(body, days: days, known: known).get(), Self.settings(days: days))
  }

  @Test("the first days are added up; a day without a value is unknown, the sum a lower bound")
  func sums() throws {
    let body = #"{"daily":{"precipitation_sum":[1.5,null,2,9]}}"#
    #expect(try rain(body).get() == ExpectedRain(millimetres: 1.5, isWhole: true))
    #expect(try rain(body, days: 3).get() == ExpectedRain(millimetres: 3.5, isWhole: false))
    #expect(try rain(body, days: 5).get() == ExpectedRain(millimetres: 12.5, isWhole: false))
    #expect(
      try rain(#"{"daily":{"precipitation_sum":[null]}}"#).get() == ExpectedRain(millimetres: nil, isWhole: false))
  }

  @Test("unknown is not dry: no value, or a small one beside an unknown day, ends nothing")
  func unknown() throws {
    #expect(try verdict(#"{"daily":{"precipitation_sum":[null]}}"#) == .unknown)
    #expect(try verdict(#"{"daily":{"precipitation_sum":[null,0.1]}}"#, days: 2) == .unknown)
    #expect(try verdict(#"{"daily":{"precipitation_sum":[0.1]}}"#, days: 2) == .unknown)
    #expect(
      try verdict(#"{"daily":{"precipitation_sum":[null,6]}}"#, days: 2)
        == .rain(seconds: 36 * 3600, reason: "at least 6.0 mm expected within 2 days"))
    #expect(try verdict(#"{"daily":{"precipitation_sum":[0,0.1]}}"#, days: 2) == .dry)
  }

  @Test("a day that has become unknown counts with the last value that it had")
  func lastKnown() throws {
    let body = #"{"daily":{"time":["2026-05-01","2026-05-02"],"precipitation_sum":[null,0.1]}}"#
    #expect(
      try verdict(body, days: 2, known: ["2026-05-01": 22.5])
        == .rain(seconds: 36 * 3600, reason: "22.6 mm expected within 2 days"))
    #expect(try verdict(body, days: 2, known: ["2026-05-01": 0]) == .dry)
    #expect(try verdict(body, days: 2, known: ["2026-04-30": 22.5]) == .unknown)
  }

  @Test(
    "what is no forecast: a reason, no number",
    arguments: [
      "", "{}", "[]", #"{"daily":{"precipitation_sum":[]}}"#, #"{"daily":{"precipitation_sum":["1"]}}"#,
      #"{"daily":{"precipitation_sum":[-1]}}"#,
      #"{"daily_units":{"precipitation_sum":"inch"},"daily":{"precipitation_sum":[1]}}"#,
      #"{"error":true,"reason":"Latitude must be in range"}"#,
    ])
  func nothing(body: String) {
    guard case .failure(let failure) = rain(body) else {
      Issue.record("a number")
      return
    }
    #expect(!failure.reason.isEmpty)
    if body.contains("Latitude") { #expect(failure.reason.hasSuffix("got: Latitude must be in range")) }
  }

  @Test(
    "more rain than a day on Earth can have: no forecast, and the number is told",
    arguments: ["1e308", "2000.1", "1e400"])
  func beyond(digits: String) {
    for (body, days) in [("[\(digits),\(digits)]", 2), ("[0,\(digits)]", 2), ("[\(digits)]", 1)] {
      guard case .failure(let failure) = rain(#"{"daily":{"precipitation_sum":\#(body)}}"#, days: days) else {
        Issue.record("a number")
        continue
      }
      #expect(failure.reason == "expected 0 to 2000 millimetres a day, got \(digits)")
    }
    #expect(throws: Never.self) { try rain(#"{"daily":{"precipitation_sum":[2000,2000]}}"#, days: 2).get() }
  }

  @Test("values of past days that no place on Earth has are unknown, and so is such an elevation")
  func beyondPast() {
    let names = [
      "precipitation_sum", "temperature_2m_max", "temperature_2m_min", "dew_point_2m_mean", "wind_speed_10m_mean",
      "shortwave_radiation_sum",
    ]
    for value in ["1e308", "-1e308", "2001"] {
      let values = names.map { #""\#($0)":[\#(value)]"# }.joined(separator: ",")
      let body = Array(#"{"elevation":1e300,"daily":{"time":["2026-06-29"],\#(values)}}"#.utf8)
      let day = DayWeather(
        date: LocalDate(year: 2026, month: 6, day: 29), minimumCelsius: nil, maximumCelsius: nil, rainMillimetres: nil)
      #expect(PastWeatherAnswer.read(body, days: 1) == PastWeather(days: [day], elevationMetres: nil))
    }
  }

  @Test("the threshold itself is rain; below it is dry")
  func verdicts() {
    func verdict(_ millimetres: Double, days: Int = 1) -> WeatherVerdict {
      WeatherWatch.verdict(ExpectedRain(millimetres: millimetres, isWhole: true), Self.settings(days: days))
    }
    #expect(verdict(5) == .rain(seconds: 36 * 3600, reason: "5.0 mm expected today"))
    #expect(verdict(8.24, days: 3) == .rain(seconds: 36 * 3600, reason: "8.2 mm expected within 3 days"))
    #expect(verdict(4.99) == .dry)
  }

  @Test("asked at once, then once a period, after a failure sooner; a shorter period counts from the last question")
  func times() {
    let start = TickInstant.zero + .seconds(5)
    var times = WeatherQuestionTimes(period: .seconds(3600))
    #expect(times.isDue(at: .zero))
    times.asked(at: start)
    #expect(!times.isDue(at: start + .seconds(3599)) && times.isDue(at: start + .seconds(3600)))
    times.period = .seconds(1800)
    #expect(!times.isDue(at: start + .seconds(1799)) && times.isDue(at: start + .seconds(1800)))
    times.failed(at: start + .seconds(20))
    #expect(!times.isDue(at: start + .seconds(619)) && times.isDue(at: start + .seconds(620)))
    times.asked(at: start + .seconds(620))
    #expect(!times.isDue(at: start + .seconds(1300)) && times.isDue(at: start + .seconds(2420)))
  }

  @Test("the question: place, days and time zone, percent-encoded")
  func question() throws {
    let watch = try WeatherWatch(Self.settings(days: 2))
    defer { watch.stop() }
    #expect(
      watch.path
        == "/v1/forecast?latitude=52.5&longitude=13.4&daily=precipitation_sum&timezone=Etc%2FGMT%2B5&forecast_days=2"
    )
    var settings = Self.settings()
    settings.pastDays = 7
    let past = try WeatherWatch(settings)
    defer { past.stop() }
    #expect(
      past.path
        == "/v1/forecast?latitude=52.5&longitude=13.4&daily=precipitation_sum,temperature_2m_max,temperature_2m_min,"
        + "dew_point_2m_mean,wind_speed_10m_mean,shortwave_radiation_sum&timezone=Etc%2FGMT%2B5&forecast_days=1"
        + "&past_days=7&wind_speed_unit=ms")
  }

  @Test("past days: the first ones of the answer, not of the rain to come; other units and no numbers are unknown")
  func past() throws {
    let body = Array(
      #"""
      {"elevation":38,"daily_units":{"precipitation_sum":"mm","wind_speed_10m_mean":"km/h","temperature_2m_max":"°C"},
       "daily":{"time":["2026-06-29","2026-06-30","2026-07-01"],"precipitation_sum":[4.8,0,9],
       "temperature_2m_max":[27,null,30],"temperature_2m_min":[15,14,13],"dew_point_2m_mean":[10,"x",12],
       "wind_speed_10m_mean":[3,3,3],"shortwave_radiation_sum":[22.5]}}
      """#.utf8)
    #expect(
      ExpectedRain(try WeatherAnswer.read(body, days: 1, after: 2).get())
        == ExpectedRain(millimetres: 9, isWhole: true))
    var first = DayWeather(
      date: LocalDate(year: 2026, month: 6, day: 29), minimumCelsius: 15, maximumCelsius: 27, rainMillimetres: 4.8)
    (first.dewPointCelsius, first.sunMegajoules) = (10, 22.5)
    let second = DayWeather(
      date: LocalDate(year: 2026, month: 6, day: 30), minimumCelsius: 14, rainMillimetres: 0)
    #expect(PastWeatherAnswer.read(body, days: 2) == PastWeather(days: [first, second], elevationMetres: 38))
    for wrong in ["", "[]", #"{"daily":{}}"#, #"{"daily":{"time":["2026-02-30",1,"yesterday"]}}"#] {
      #expect(PastWeatherAnswer.read(Array(wrong.utf8), days: 7) == PastWeather(days: []))
    }
  }
}
