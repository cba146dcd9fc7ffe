@_spi(FromOutside) import Conversions
import Tactus
import WallTime

extension SprinklerScheduler {
  /// The interval at which the elapsed time of a rain delay is saved, in seconds; a power cut can lengthen the delay by
  /// as much.
  static var rainNoteSeconds: Double { 600 }

  var rainOrder: SprinklerOrder {
    .rain(isActive: records.rainDelay != nil, endsRuns: settings.rainEndsOpenRuns)
  }

  mutating func setRainDelay(_ delay: RainDelay?) {
    guard delay != records.rainDelay else { return }
    change(.rainDelay(delay))
    effects.orders.append(rainOrder)
    effects.notices.append(delay.map { .rainDelaySet($0) } ?? .rainDelayOver)
  }

  /// Updates the rain delay. It ends when its time is over by a clock that cannot be set, and `until` follows the wall clock.
  mutating func followRainDelay() {
    rainAtStart = nil
    guard var delay = records.rainDelay else { return }
    guard let left = delay.left(at: reading), let age = delay.age else { return adoptRainDelay() }
    let until = WallInstant(reading) + Int64(saturating: left.rounded(.up))
    if (until - delay.until).magnitude >= 2 { delay.until = until }
    rainAtStart = delay
    if left <= 0 { return setRainDelay(nil) }
    // After a reboot the time without power is not known until the clock is synchronised, so the note waits for that.
    let isOld = age.sinceNoted(at: reading).map { $0 >= Self.rainNoteSeconds }
    if isOld ?? (reading.isSynchronised || bootSeconds - startedSeconds >= Self.rainNoteSeconds) {
      delay.age = age.noted(at: reading)
    }
    if delay != records.rainDelay { change(.rainDelayNoted(delay)) }
  }

  /// Completes a rain delay that an older version stored with nothing but its end. It lasts until the wall clock is confirmed, then for the time
  /// left by that clock, but never longer than the longest rain delay.
  private mutating func adoptRainDelay() {
    guard let delay = records.rainDelay else { return }
    rainAtStart = delay
    guard reading.isConfirmed else { return }
    let left = min(delay.until - WallInstant(reading), Int64(Self.longestRainDelay))
    if left <= 0 { return setRainDelay(nil) }
    change(.rainDelayNoted(RainDelay(seconds: Int(left), reason: delay.reason, at: reading)))
  }

  /// The time after which `followRainDelay` will next have an effect, in seconds, or `nil` if there is no delay or only its end
  /// is known.
  var rainDelayWait: Int64? {
    guard let delay = records.rainDelay, let left = delay.left(at: reading), let age = delay.age else { return nil }
    let noted = age.sinceNoted(at: reading) ?? (bootSeconds - startedSeconds)
    return max(1, Int64(saturating: min(left, Self.rainNoteSeconds - noted).rounded(.up)))
  }

  mutating func setForecast(isOn: Bool) {
    guard isOn != records.isForecastOn else { return }
    change(.forecast(isOn: isOn))
    weatherDeclinedUntil = nil
    if !isOn, case .weather? = records.rainDelay?.reason { setRainDelay(nil) }
  }

  /// Applies a forecast; ignored if the forecast was switched off while its answer was awaited.
  mutating func weather(_ verdict: WeatherVerdict) {
    guard records.isForecastOn else { return }
    switch verdict {
    case .unknown: break
    case .dry:
      if case .weather? = records.rainDelay?.reason { setRainDelay(nil) }
    case .rain(let seconds, let reason):
      // Once a person has lifted such a delay, the forecast starts none before that delay would have ended.
      if let declined = weatherDeclinedUntil, bootSeconds < declined { return }
      weatherDeclinedUntil = nil
      guard (1...Self.longestRainDelay).contains(seconds) else { return }
      if let present = records.rainDelay {
        let left = present.left(at: reading) ?? Double(present.until - WallInstant(reading))
        // The delay of a person is never shortened, and a forecast that changes little is not worth a write.
        let grows = Double(seconds) - left >= 600
        if case .manual = present.reason, !grows { return }
        if case .sensor = present.reason, !grows { return }
        if case .weather(reason) = present.reason, (Double(seconds) - left).magnitude < 600 { return }
      }
      setRainDelay(RainDelay(seconds: seconds, reason: .weather(reason), at: reading))
    }
  }

  mutating func cancelRainDelay() {
    if rainSensor.hasActed { rainSensor.isLifted = true }
    if let delay = records.rainDelay, case .weather = delay.reason {
      weatherDeclinedUntil = bootSeconds + (delay.left(at: reading) ?? Double(delay.until - WallInstant(reading)))
    }
    setRainDelay(nil)
  }

  /// Allows, warns of or refuses a run by hand during a rain delay, as configured.
  mutating func checkRain() throws(SprinklerRefusal) {
    guard let delay = records.rainDelay else { return }
    switch settings.manualInRain {
    case .allow: break
    case .warn: effects.rainWarning = delay
    case .deny: throw .rainDelay(until: delay.until)
    }
  }
}

/// The scheduler's state of the rain sensor. Times are on the boot's clock, which cannot be set.
struct RainSensorBook: Sendable {
  var reading: RainSensorReading?
  /// The instant, in seconds, at which the sensor began to give the present reading.
  var since = 0.0
  /// The wall time at which the sensor began to give the present reading, or `nil` before the first reading.
  var at: WallInstant?
  /// Whether the sensor has been wet for long enough since it was last dry.
  var hasActed = false
  /// Whether a person has ended the sensor's rain delay since the sensor was last dry.
  var isLifted = false
}

extension SprinklerScheduler {
  /// The shortest rain delay that a wet sensor causes, in seconds. A rain delay that is left by a crash ends after this
  /// time.
  private static var leastHold: Int { 1_200 }
  /// The beginning of the text of a rain delay that a wet sensor causes.
  private static var wetSince: String { "rain sensor wet since" }
  /// The time after which a wet sensor renews its rain delay, in seconds.
  private static var renewal: Double { 600 }
  /// The time after which a sensor that is always wet is taken for a broken wire, in seconds.
  private static var longestWet: Double { Double(longestRainDelay) }

  /// The last reading of the rain sensor, or `nil` if none has come since the start.
  public var rainSensorReading: RainSensorReading? { rainSensor.reading }

  /// The state of the rain sensor, or `nil` if there is none.
  public var rainSensorStatus: RainSensorStatus? {
    settings.rainSensor.map { RainSensorStatus(word: rainSensorWord($0), since: rainSensor.at) }
  }

  private func rainSensorWord(_ rule: RainSensorRule) -> RainSensorStatus.Word {
    switch rainSensor.reading {
    case nil, .unreadable: .unknown
    case .dry: .dry
    case .wet where bootSeconds - rainSensor.since >= Self.longestWet: .stuck
    case .wet where rainSensor.isLifted: .lifted
    case .wet: rainSensor.hasActed || bootSeconds - rainSensor.since >= Double(rule.delaySeconds) ? .wet : .waits
    }
  }

  /// Takes a reading of the rain sensor. An unreadable line changes nothing: a delay that the sensor began runs to its end.
  mutating func sense(_ new: RainSensorReading) {
    guard let rule = settings.rainSensor, new != rainSensor.reading else { return }
    let isFirst = rainSensor.reading == nil
    (rainSensor.reading, rainSensor.since, rainSensor.at) = (new, bootSeconds, WallInstant(reading))
    switch new {
    case .dry:
      if !isFirst { effects.notices.append(.rainSensor(.dry)) }
      dry(rule)
      if isFirst { correctWords() }
    case .wet:
      // The delay was begun by the previous process, and the sensor may have been wet ever since.
      if isFirst, isRainDelayOfSensor { rainSensor.hasActed = true }
      effects.notices.append(.rainSensor(.wet))
      followRainSensor()
    case .unreadable: effects.notices.append(.rainSensor(.unknown))
    }
  }

  /// Begins the rain delay of a wet sensor when it is time, and renews it.
  mutating func followRainSensor() {
    guard let rule = settings.rainSensor, rainSensor.reading == .wet else { return }
    switch rainSensorWord(rule) {
    case .wet:
      rainSensor.hasActed = true
      hold(rule)
    case .stuck where rainSensor.hasActed:
      rainSensor.hasActed = false
      effects.notices.append(.rainSensor(.stuck))
      if isRainDelayOfSensor { setRainDelay(nil) }
    case .unknown, .dry, .waits, .lifted, .stuck: break
    }
  }

  /// The time after which `followRainSensor` will next have an effect, in seconds, or `nil` for never.
  var rainSensorWait: Int64? {
    guard let rule = settings.rainSensor, rainSensor.reading == .wet else { return nil }
    let wet = bootSeconds - rainSensor.since
    var wait = Self.longestWet - wet
    switch rainSensorWord(rule) {
    case .waits: wait = min(wait, Double(rule.delaySeconds) - wet)
    case .wet:
      wait = min(wait, (rainDelayLeft ?? 0) - (Double(held(rule)) - Self.renewal))
    case .lifted: break
    case .unknown, .dry, .stuck: return nil
    }
    return max(1, Int64(saturating: wait.rounded(.up)))
  }

  /// Ends a rain delay that the sensor has caused, or sets it to the drying time of the rule. A longer delay by hand or
  /// by the forecast stays.
  private mutating func dry(_ rule: RainSensorRule) {
    let hasHeld = rainSensor.hasActed && !rainSensor.isLifted
    (rainSensor.hasActed, rainSensor.isLifted) = (false, false)
    let (left, isOwn) = (rainDelayLeft ?? 0, isRainDelayOfSensor)
    // A delay left by the previous process may be longer than the drying time.
    guard hasHeld || (isOwn && left > Double(rule.drySeconds)) else { return }
    if rule.drySeconds == 0 {
      if isOwn { setRainDelay(nil) }
    } else if isOwn || left < Double(rule.drySeconds) {
      let hours = Self.number(Double(rule.drySeconds) / 3_600)
      let words = "rain sensor wet until \(time(WallInstant(reading))): dries for \(hours) h"
      setRainDelay(RainDelay(seconds: rule.drySeconds, reason: .sensor(words), at: reading))
    }
  }

  /// Begins or renews the sensor's delay, unless one by hand or by the forecast lasts longer.
  private mutating func hold(_ rule: RainSensorRule) {
    let words = "\(Self.wetSince) \(time(rainSensor.at ?? WallInstant(reading)))"
    let delay = RainDelay(seconds: held(rule), reason: .sensor(words), at: reading)
    guard let present = records.rainDelay, let left = rainDelayLeft else { return setRainDelay(delay) }
    if present.reason == delay.reason {
      if left <= Double(held(rule)) - Self.renewal { change(.rainDelayNoted(delay)) }
    } else if isRainDelayOfSensor || left <= Double(held(rule)) - Self.renewal {
      setRainDelay(delay)
    }
  }

  /// Rewrites a rain delay of the last process whose text says that the sensor is wet if the sensor has become dry since.
  private mutating func correctWords() {
    guard case .sensor(let words)? = records.rainDelay?.reason, words.hasPrefix(Self.wetSince),
      let left = rainDelayLeft, left >= 1
    else { return }
    setRainDelay(
      RainDelay(
        seconds: Int(saturating: left), reason: .sensor("rain sensor was wet before the last start"), at: reading))
  }

  /// Returns the length in seconds of the rain delay that a wet sensor causes.
  private func held(_ rule: RainSensorRule) -> Int { max(rule.drySeconds, Self.leastHold) }

  private var rainDelayLeft: Double? {
    records.rainDelay.map { $0.left(at: reading) ?? Double($0.until - WallInstant(reading)) }
  }

  private var isRainDelayOfSensor: Bool { if case .sensor? = records.rainDelay?.reason { true } else { false } }
}
