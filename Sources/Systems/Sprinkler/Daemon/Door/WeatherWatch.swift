import NIOCore
import Service
import Sprinkler
import Synchronization
import Tactus
import TactusDaemon
import WallTime
import Wire

/// Asks a weather provider at long intervals how much rain is expected, and passes the resulting verdict to the desk.
///
/// A question that fails changes nothing: a rain delay in force stays, and the state says why the weather is unknown.
final class WeatherWatch: Sendable {
  struct Settings: Sendable {
    /// The provider's address: `http://HOST:PORT` or `https://HOST`.
    var address: ServiceAddress
    /// The place in degrees, north and east positive.
    var latitude, longitude: Double
    /// The IANA time zone that determines the days.
    var timeZone: String
    /// The number of days that are added up, today first.
    var days: Int
    /// The number of days before today that the request includes for the deficits; 0 if no zone has one.
    var pastDays = 0
    /// The expected rain from which on there is a rain delay, in mm.
    var threshold: Double
    /// The duration of that rain delay, hours.
    var delayHours: Int
    var period: Nanoseconds
  }

  private struct State {
    var settings: Settings
    var times: WeatherQuestionTimes
    var isAsking = false
    /// An answer that has not been handled yet, or `nil` if every answer has been handled.
    var answer: Result<[UInt8], WeatherFailure>?
    var report: WeatherReport?
    /// The last known rain of each day in the last answer, in mm, by the provider's date.
    var known: [String: Double] = [:]
  }

  private let client: ServiceClient
  private let state: Mutex<State>

  /// Creates the watch.
  ///
  /// - Throws: `.withoutTLS` for an https address in a build without TLS.
  init(_ settings: Settings) throws(ServiceClient.Failure) {
    state = Mutex(State(settings: settings, times: WeatherQuestionTimes(period: settings.period)))
    client = try ServiceClient(settings.address, token: nil)
  }

  private var settings: Settings { state.withLock { $0.settings } }

  /// Takes over the limits and the period of a reloaded file. The provider and the place stay.
  func apply(_ new: Settings) {
    state.withLock { state in
      (state.settings.days, state.settings.threshold) = (new.days, new.threshold)
      (state.settings.delayHours, state.settings.period) = (new.delayHours, new.period)
      state.times.period = new.period
    }
  }

  /// Handles an answer that has arrived, and asks the provider if that is due and the forecast is switched on. The function is to be called
  /// regularly, on a thread that may wait for the disk. Never waits for the network.
  func turn(_ desk: SprinklerDesk, at now: TickInstant) {
    // While a person has switched the forecast off, the provider is still asked for deficits, but starts no rain delay.
    let isOn = desk.view.records.isForecastOn || settings.pastDays > 0
    let (answer, asks) = state.withLock { state in
      let answer = state.answer.take()
      if answer != nil { state.isAsking = false }
      let asks = isOn && !state.isAsking && state.times.isDue(at: now)
      if asks {
        state.isAsking = true
        state.times.asked(at: now)
      }
      return (answer, asks)
    }
    if let answer { receive(answer, desk, at: now) }
    if asks { ask() }
  }

  /// Ends the thread of the HTTP client.
  func stop() { client.stop() }

  private func ask() {
    client.get(path, limit: .seconds(20)) { [self] result in
      let answer: Result<[UInt8], WeatherFailure> =
        switch result {
        case .success(let answer) where answer.status == 200: .success(answer.body)
        case .success(let answer): .failure(WeatherFailure("it answered \(answer.status)"))
        case .failure(let failure): .failure(WeatherFailure("\(failure)"))
        }
      state.withLock { $0.answer = answer }
    }
  }

  /// The path of the request: `/v1/forecast?latitude=52.52&…`.
  var path: String {
    let zone = settings.timeZone.replacing("/", with: "%2F").replacing("+", with: "%2B")
    let settings = settings
    let past = settings.pastDays > 0
    let daily = (["precipitation_sum"] + (past ? PastWeatherAnswer.variables : [])).joined(separator: ",")
    return "/v1/forecast?latitude=\(settings.latitude)&longitude=\(settings.longitude)&daily=\(daily)"
      + "&timezone=\(zone)&forecast_days=\(settings.days)"
      + (past ? "&past_days=\(settings.pastDays)&wind_speed_unit=ms" : "")
  }

  private func receive(_ answer: Result<[UInt8], WeatherFailure>, _ desk: SprinklerDesk, at now: TickInstant) {
    let wall = desk.wallNow
    let settings = settings
    let read = answer.flatMap { WeatherAnswer.read($0, days: settings.days, after: settings.pastDays) }
    let rain = read.map { answer in
      state.withLock { state in
        let rain = ExpectedRain(answer, known: state.known)
        state.known = answer.days.reduce(into: [:]) { known, day in
          if let date = day.date { known[date] = day.millimetres ?? state.known[date] }
        }
        return rain
      }
    }
    var report = state.withLock { $0.report } ?? WeatherReport(asked: wall)
    report.asked = wall
    switch rain {
    case .success(let rain):
      report.answered = wall
      report.millimetres = rain.millimetres
      report.isLowerBound = !rain.isWhole
      report.failure = nil
    case .failure(let failure):
      report.failure = "\(settings.address): \(failure.reason)"
      state.withLock { $0.times.failed(at: now) }
    }
    let noted = report
    state.withLock { $0.report = noted }
    guard case .success(let rain) = rain, case .success(let body) = answer else { return desk.note(noted) }
    let past = settings.pastDays > 0 ? PastWeatherAnswer.read(body, days: settings.pastDays) : nil
    desk.apply(Self.verdict(rain, settings), past, report: noted)
  }

  /// Returns the verdict of a forecast on watering. Unknown days do not count as dry, so that a rain delay in force then stays.
  static func verdict(_ rain: ExpectedRain, _ settings: Settings) -> WeatherVerdict {
    guard let millimetres = rain.millimetres, millimetres >= settings.threshold else {
      return rain.isWhole ? .dry : .unknown
    }
    let span = settings.days == 1 ? "today" : "within \(settings.days) days"
    return .rain(
      seconds: settings.delayHours * 3600,
      reason: "\(rain.isWhole ? "" : "at least ")\((millimetres * 10).rounded() / 10) mm expected \(span)")
  }
}

/// The times at which a provider is asked: immediately, then once a period, and sooner after a failure.
struct WeatherQuestionTimes {
  static let retry = Nanoseconds.seconds(600)

  /// The interval between questions, counted from the last question even if it is changed later.
  var period: Nanoseconds
  private var asked: TickInstant?
  private var failed: TickInstant?

  init(period: Nanoseconds) { self.period = period }

  func isDue(at now: TickInstant) -> Bool {
    guard let asked else { return true }
    return now >= asked + period || failed.map { now >= $0 + Self.retry } ?? false
  }

  mutating func asked(at now: TickInstant) { (asked, failed) = (now, nil) }

  mutating func failed(at now: TickInstant) { failed = now }
}
