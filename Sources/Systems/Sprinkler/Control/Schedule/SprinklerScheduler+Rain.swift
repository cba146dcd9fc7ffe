@_spi(FromOutside) import Conversions
import Tactus
import WallTime

extension SprinklerScheduler {
  /// The interval at which the elapsed time of a rain delay is saved, s; a power cut can lengthen the delay by as much.
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
    // In another boot what it was without power is known once the clock is synchronised: it is waited for.
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

  /// The time after which `followRainDelay` will next have an effect, s, or `nil` if there is no delay or only its end is known.
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
      // A person who lifted the last such delay knows better until it would have ended.
      if let declined = weatherDeclinedUntil, bootSeconds < declined { return }
      weatherDeclinedUntil = nil
      guard (1...Self.longestRainDelay).contains(seconds) else { return }
      if let present = records.rainDelay {
        let left = present.left(at: reading) ?? Double(present.until - WallInstant(reading))
        // A person's delay is never shortened, and a forecast that says the same again is not worth a write.
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
