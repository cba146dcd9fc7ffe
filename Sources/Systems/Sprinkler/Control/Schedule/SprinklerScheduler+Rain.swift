import WallTime

extension SprinklerScheduler {
  var rainOrder: SprinklerRequest.Order {
    .rain(isActive: records.rainDelay != nil, endsRuns: settings.rainEndsOpenRuns)
  }

  mutating func setRainDelay(_ delay: RainDelay?) {
    guard delay != records.rainDelay else { return }
    change(.rainDelay(delay))
    effects.orders.append(rainOrder)
    effects.notices.append(delay.map { .rainDelaySet($0) } ?? .rainDelayOver)
  }

  /// Its time has come.
  mutating func endRainDelay(at wall: WallInstant) {
    if let delay = records.rainDelay, delay.until <= wall { setRainDelay(nil) }
  }

  mutating func weather(_ verdict: WeatherVerdict, _ wall: WallInstant) {
    switch verdict {
    case .dry:
      if case .weather? = records.rainDelay?.reason { setRainDelay(nil) }
    case .rain(let until, let reason):
      // A person who lifted the last such delay knows better until it would have ended.
      if let declined = weatherDeclinedUntil, wall < declined { return }
      weatherDeclinedUntil = nil
      guard until > wall else { return }
      if let present = rainDelay(at: wall) {
        // A person's delay is never shortened, and a forecast that says the same again is not worth a write.
        let grows = until - present.until >= 600
        if case .manual = present.reason, !grows { return }
        if case .weather(reason) = present.reason, (until - present.until).magnitude < 600 { return }
      }
      setRainDelay(RainDelay(until: until, reason: .weather(reason)))
    }
  }

  mutating func cancelRainDelay(_ wall: WallInstant) {
    if let delay = rainDelay(at: wall), case .weather = delay.reason { weatherDeclinedUntil = delay.until }
    setRainDelay(nil)
  }

  /// What a run by hand meets.
  mutating func checkRain(_ wall: WallInstant) throws(SprinklerRefusal) {
    guard let delay = rainDelay(at: wall) else { return }
    switch settings.manualInRain {
    case .allow: break
    case .warn: effects.rainWarning = delay
    case .deny: throw .rainDelay(until: delay.until)
    }
  }
}
