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

  private func sum(_ body: String, days: Int = 1) -> Result<Double, WeatherFailure> {
    WeatherAnswer.millimetres(Array(body.utf8), days: days)
  }

  @Test("the first days are added up; a day without a value counts nothing")
  func sums() {
    let body = #"{"daily":{"precipitation_sum":[1.5,null,2,9]}}"#
    #expect(sum(body) == .success(1.5) && sum(body, days: 3) == .success(3.5))
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
    guard case .failure(let failure) = sum(body) else {
      Issue.record("a number")
      return
    }
    #expect(!failure.reason.isEmpty)
    if body.contains("Latitude") { #expect(failure.reason.hasSuffix("got: Latitude must be in range")) }
  }

  @Test("days whose sum is beyond every number: no forecast")
  func beyond() {
    guard case .failure = sum(#"{"daily":{"precipitation_sum":[1e308,1e308]}}"#, days: 2) else {
      Issue.record("a number")
      return
    }
  }

  @Test("the threshold itself is rain; below it is dry")
  func verdicts() {
    let now = WallInstant(secondsSince1970: 1_000_000)
    #expect(
      WeatherWatch.verdict(5, Self.settings(), at: now)
        == .rain(until: now + 36 * 3600, reason: "5.0 mm expected today"))
    #expect(
      WeatherWatch.verdict(8.24, Self.settings(days: 3), at: now)
        == .rain(until: now + 36 * 3600, reason: "8.2 mm expected within 3 days"))
    #expect(WeatherWatch.verdict(4.99, Self.settings(), at: now) == .dry)
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
  }
}
