import NIOCore
import Service
import Sprinkler
import Synchronization
import Tactus
import TactusDaemon
import WallTime
import Wire

/// Asks a weather provider, rarely, how much rain is coming, and tells the desk what that means.
///
/// A question that fails changes nothing: the rain delay that is in force stays, and the state says why the weather is unknown.
final class WeatherWatch: Sendable {
  struct Settings: Sendable {
    /// `http://HOST:PORT`, `https://HOST`
    var address: ServiceAddress
    /// Degrees, north and east positive.
    var latitude, longitude: Double
    /// IANA, of the days.
    var timeZone: String
    /// Days that are added up, today first.
    var days: Int
    /// Millimetres from which on there is a rain delay.
    var threshold: Double
    /// Of that delay.
    var delayHours: Int
    var period: Nanoseconds

    init(
      address: ServiceAddress, latitude: Double, longitude: Double, timeZone: String, days: Int, threshold: Double,
      delayHours: Int, period: Nanoseconds
    ) {
      self.address = address
      (self.latitude, self.longitude) = (latitude, longitude)
      self.timeZone = timeZone
      self.days = days
      self.threshold = threshold
      self.delayHours = delayHours
      self.period = period
    }
  }

  private struct State {
    var settings: Settings
    var times: WeatherQuestionTimes
    var isAsking = false
    /// An answer that has not been taken yet.
    var answer: Result<[UInt8], WeatherFailure>?
    var report: WeatherReport?
    /// What was last known of each day, by the provider's date: of the days of the last answer alone.
    var known: [String: Double] = [:]
  }

  private let client: ServiceClient
  private let state: Mutex<State>

  /// - Throws: `.withoutTLS` for an https address in a build without it.
  init(_ settings: Settings) throws(ServiceClient.Failure) {
    state = Mutex(State(settings: settings, times: WeatherQuestionTimes(period: settings.period)))
    client = try ServiceClient(settings.address, token: nil)
  }

  private var settings: Settings { state.withLock { $0.settings } }

  /// Takes the limits and the period of a reloaded file. Whom it asks stays, and for which place.
  func take(_ new: Settings) {
    state.withLock { state in
      (state.settings.days, state.settings.threshold) = (new.days, new.threshold)
      (state.settings.delayHours, state.settings.period) = (new.delayHours, new.period)
      state.times.period = new.period
    }
  }

  /// Now and then, on a thread that may wait for the disk: takes an answer, asks when it is time, unless the forecast is switched off. Never
  /// waits for the network.
  func turn(_ desk: SprinklerDesk, at now: TickInstant) {
    let isOn = desk.view.records.isForecastOn
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
    if let answer { take(answer, desk, at: now) }
    if asks { ask() }
  }

  /// Ends the client's thread.
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

  /// `/v1/forecast?latitude=52.52&…`
  var path: String {
    let zone = settings.timeZone.replacing("/", with: "%2F").replacing("+", with: "%2B")
    return "/v1/forecast?latitude=\(settings.latitude)&longitude=\(settings.longitude)&daily=precipitation_sum"
      + "&timezone=\(zone)&forecast_days=\(settings.days)"
  }

  private func take(_ answer: Result<[UInt8], WeatherFailure>, _ desk: SprinklerDesk, at now: TickInstant) {
    let wall = desk.wallNow
    let read = answer.flatMap { WeatherAnswer.read($0, days: settings.days) }
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
    guard case .success(let rain) = rain else { return desk.note(noted) }
    desk.take(Self.verdict(rain, settings), report: noted)
  }

  /// What is unknown is not dry: then a delay that is in force stays as it is.
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

/// When a provider is asked: at once, then once a period, and after a failure sooner.
struct WeatherQuestionTimes {
  static let retry = Nanoseconds.seconds(600)

  /// Counts from the last question, whenever it is set.
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
