import Tactus

/// What the machine remembers of the flow sensor.
struct FlowWatch: BitwiseCopyable {
  var pulses: Int64 = 0
  /// Since when the lines are as they are, or `nil` if they have been so since the start.
  var since: TickInstant?
  var rate = FlowWindow()
  var litresPerMinute = 0.0
  var noFlow = FlowWindow()
  var highFlow = FlowWindow()
  var leak = FlowWindow()

  @_noLocks @_noAllocation
  init() {}

  /// The lines have changed: what was measured does not count.
  @_noLocks @_noAllocation
  mutating func restart(at now: TickInstant) {
    since = now
    noFlow = FlowWindow()
    highFlow = FlowWindow()
    leak = FlowWindow()
  }
}

/// A measurement of so many pulses in a time, one after the other.
struct FlowWindow: BitwiseCopyable {
  /// It is `nil` if it has not begun.
  private var start: TickInstant?
  private var base: Int64 = 0

  @_noLocks @_noAllocation
  init() {}

  /// Pulses a minute when `time` is over, and the next one begins, or `nil` before that. None begins before `first`.
  @_noLocks @_noAllocation
  mutating func measure(
    _ pulses: Int64, over time: Nanoseconds, from first: TickInstant, at now: TickInstant
  ) -> Double? {
    guard first.isReached(at: now) else { return nil }
    guard let start else {
      self.start = now
      base = pulses
      return nil
    }
    guard (start + time).isReached(at: now) else { return nil }
    let rate = Double(pulses &- base) * 60e9 / Double((now - start).count)
    self.start = now
    base = pulses
    return rate
  }
}

extension IrrigationMachine {
  /// The sensor's count and what it says. Zero without a sensor.
  public var flowPulses: Int64 {
    @_noLocks @_noAllocation get { watch.pulses }
  }
  public var litresPerMinute: Double {
    @_noLocks @_noAllocation get { watch.litresPerMinute }
  }

  /// New pulses go to the runs that are open, the odd ones to the first zones.
  @_noLocks @_noAllocation
  mutating func share(_ total: Int64, at now: TickInstant) {
    let new = total - watch.pulses
    watch.pulses = total
    var openCount: Int64 = 0
    for index in 0..<zoneEnd {
      if case .open = zones[index].valve { openCount += 1 }
    }
    guard openCount > 0, new > 0 else { return }
    var odd = new % openCount
    for index in 0..<zoneEnd {
      guard case .open(var run, let since) = zones[index].valve else { continue }
      run.pulses &+= new / openCount
      if odd > 0 {
        run.pulses &+= 1
        odd -= 1
      }
      zones[index].valve = .open(run, since: since)
    }
  }

  /// Looks whether a measurement is complete, and what it says.
  @_noLocks @_noAllocation
  mutating func judgeFlow(at now: TickInstant) {
    guard let flow = settings.flow else { return }
    let pulses = watch.pulses
    if let rate = watch.rate.measure(pulses, over: .seconds(1), from: now, at: now) {
      watch.litresPerMinute = rate / flow.pulsesPerLitre
    }
    let since = watch.since ?? now
    watch.since = since
    if let zone = firstWatering {
      // Pipes that fill flow more than later: no flow counts from the start, high flow when it has settled.
      if Mechanism.noFlow.acts, let limit = flow.limits.noFlow,
        let rate = watch.noFlow.measure(pulses, over: limit.over, from: since, at: now)
      {
        tell(rate < limit.litresPerMinute * flow.pulsesPerLitre, .noFlow(zone), limit.reaction, at: now)
      }
      if Mechanism.highFlow.acts, let limit = flow.limits.highFlow,
        let rate = watch.highFlow.measure(pulses, over: limit.over, from: since + limit.over, at: now)
      {
        tell(limit.litresPerMinute * flow.pulsesPerLitre < rate, .highFlow(zone), limit.reaction, at: now)
      }
    } else if Mechanism.leak.acts, lines == 0, let limit = flow.limits.leak,
      let rate = watch.leak.measure(pulses, over: limit.over, from: since + limit.over, at: now)
    {
      tell(limit.litresPerMinute * flow.pulsesPerLitre < rate, .leak, limit.reaction, at: now)
    }
  }

  /// Other limits, from the next measurement on: the one that runs ends when the new time is over. An alarm of what is not watched any more
  /// ends, but not the one that is the reason for a fault.
  @_noLocks @_noAllocation
  mutating func take(_ limits: FlowLimits, at now: TickInstant) {
    guard case .some = settings.flow else { return }
    settings.flow?.limits = limits
    if case .fault = state { return }
    guard let flowAlarm, !limits.watches(flowAlarm) else { return }
    self.flowAlarm = nil
    notices.push(IrrigationNotice(at: now, .flowNormal))
  }

  /// An alarm, or the end of one of its kind.
  @_noLocks @_noAllocation
  private mutating func tell(
    _ isWrong: Bool, _ alarm: FlowAlarm, _ reaction: FlowSettings.Reaction, at now: TickInstant
  ) {
    var isKnown = false
    if let flowAlarm { isKnown = flowAlarm.isSameKind(as: alarm) }
    if isWrong {
      if !isKnown {
        flowAlarm = alarm
        notices.push(IrrigationNotice(at: now, .flowAlarm(alarm)))
      }
      // One that is known may have been of a limit that only gave notice, before a reload made it one that stops.
      if case .fault = reaction { _ = fail(.flow(alarm), at: now) }
    } else if !isWrong, isKnown {
      flowAlarm = nil
      notices.push(IrrigationNotice(at: now, .flowNormal))
    }
  }

  /// The first zone through which water should flow.
  private var firstWatering: ZoneID? {
    @_noLocks @_noAllocation get {
      for index in 0..<zoneEnd {
        guard case .open = zones[index].valve, let zone = zones[index].settings else { continue }
        if !zone.usesMaster { return ZoneID(index: index) }
        guard case .some = settings.master else { return ZoneID(index: index) }
        if isMasterOpen { return ZoneID(index: index) }
      }
      return nil
    }
  }
}

extension FlowAlarm {
  @_noLocks @_noAllocation
  func isSameKind(as other: FlowAlarm) -> Bool {
    switch (self, other) {
    case (.noFlow, .noFlow), (.highFlow, .highFlow), (.leak, .leak): return true
    default: return false
    }
  }
}
