import Tactus

/// The machine's memory of the flow sensor.
struct FlowWatch: BitwiseCopyable {
  var pulses: Int64 = 0
  /// The instant of the last change of the lines or, if they never changed, of the first measurement; `nil` before both.
  var since: TickInstant?
  var rate = FlowWindow()
  var litresPerMinute = 0.0
  var noFlow = FlowWindow()
  var highFlow = FlowWindow()
  var leak = FlowWindow()
  var ofZone = FlowWindow()

  @_noLocks @_noAllocation
  init() {}

  /// Restarts the measurements after a change of the lines, as earlier pulses no longer count.
  @_noLocks @_noAllocation
  mutating func restart(at now: TickInstant) {
    since = now
    noFlow = FlowWindow()
    highFlow = FlowWindow()
    leak = FlowWindow()
    ofZone = FlowWindow()
  }
}

/// A repeated measurement of the pulse rate over a given time.
struct FlowWindow: BitwiseCopyable {
  /// The start of the current measurement, or `nil` before the first one.
  private var start: TickInstant?
  private var base: Int64 = 0

  @_noLocks @_noAllocation
  init() {}

  /// Returns the pulses per minute if `time` has elapsed, and begins the next measurement; `nil` before that.
  /// No measurement begins before `first`.
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
  /// The flow sensor's pulse count; zero without a sensor.
  public var flowPulses: Int64 {
    @_noLocks @_noAllocation get { watch.pulses }
  }
  /// The measured flow, in l/min; zero without a sensor.
  public var litresPerMinute: Double {
    @_noLocks @_noAllocation get { watch.litresPerMinute }
  }

  /// Distributes new pulses evenly among the open runs; the remainder goes to the zones with the lowest numbers.
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

  /// Completes the measurements that are due and checks them against the limits.
  @_noLocks @_noAllocation
  mutating func judgeFlow(at now: TickInstant) {
    guard let flow = settings.flow else { return }
    let pulses = watch.pulses
    if let rate = watch.rate.measure(pulses, over: .seconds(1), from: now, at: now) {
      watch.litresPerMinute = rate / flow.pulsesPerLitre
    }
    let since = watch.since ?? now
    watch.since = since
    judgeZone(since: since, at: now)
    if let zone = firstWatering {
      // More water flows while pipes fill. A lack of flow is therefore measured from the opening, high flow only once the flow has settled.
      if Mechanism.noFlow.acts, let limit = flow.limits.noFlow,
        let rate = watch.noFlow.measure(pulses, over: limit.over, from: since, at: now)
      {
        setAlarm(rate < limit.litresPerMinute * flow.pulsesPerLitre, .noFlow(zone), limit.reaction, at: now)
      }
      if Mechanism.highFlow.acts, let limit = flow.limits.highFlow,
        let rate = watch.highFlow.measure(pulses, over: limit.over, from: since + limit.over, at: now)
      {
        setAlarm(limit.litresPerMinute * flow.pulsesPerLitre < rate, .highFlow(zone), limit.reaction, at: now)
      }
    } else if Mechanism.leak.acts, lines == 0, let limit = flow.limits.leak,
      let rate = watch.leak.measure(pulses, over: limit.over, from: since + limit.over, at: now)
    {
      setAlarm(limit.litresPerMinute * flow.pulsesPerLitre < rate, .leak, limit.reaction, at: now)
    }
  }

  /// Checks the flow against the limits of the only open zone. While several zones are open, the flow of each is unknown.
  @_noLocks @_noAllocation
  private mutating func judgeZone(since: TickInstant, at now: TickInstant) {
    guard activeCount == 1, let zone = firstWatering, let flow = settings.flow,
      let limits = zones[zone.index].settings?.flow,
      let rate = watch.ofZone.measure(watch.pulses, over: limits.over, from: since + limits.over, at: now)
    else { return }
    let litres = rate / flow.pulsesPerLitre
    if Mechanism.noFlow.acts, let minimum = limits.minimum {
      setAlarm(
        litres < minimum.litresPerMinute,
        .belowLimit(ZoneFlowVerdict(zone: zone, litresPerMinute: litres, limit: minimum)), limits.reaction, at: now)
    }
    if Mechanism.highFlow.acts, let maximum = limits.maximum {
      setAlarm(
        maximum.litresPerMinute < litres,
        .aboveLimit(ZoneFlowVerdict(zone: zone, litresPerMinute: litres, limit: maximum)), limits.reaction, at: now)
    }
  }

  /// Ends an alarm by a limit that the zone has no more, unless it is the cause of the present fault.
  @_noLocks @_noAllocation
  mutating func endZoneAlarm(_ zone: ZoneID, at now: TickInstant) {
    if case .fault = state { return }
    guard let flowAlarm else { return }
    let verdict: ZoneFlowVerdict
    let present: ZoneFlowLimits.Limit?
    switch flowAlarm {
    case .belowLimit(let found):
      verdict = found
      present = zones[zone.index].settings?.flow?.minimum
    case .aboveLimit(let found):
      verdict = found
      present = zones[zone.index].settings?.flow?.maximum
    case .noFlow, .highFlow, .leak: return
    }
    guard verdict.zone.index == zone.index else { return }
    if let present, present.litresPerMinute == verdict.limit.litresPerMinute { return }
    self.flowAlarm = nil
    notices.push(IrrigationNotice(at: now, .flowNormal))
  }

  /// Replaces the limits of the flow, from the next measurement on; the current one ends after the new time. An alarm whose limit is no longer
  /// watched ends, unless it is the cause of the present fault.
  @_noLocks @_noAllocation
  mutating func apply(_ limits: FlowLimits, at now: TickInstant) {
    guard case .some = settings.flow else { return }
    settings.flow?.limits = limits
    if case .fault = state { return }
    guard let flowAlarm, !limits.watches(flowAlarm) else { return }
    self.flowAlarm = nil
    notices.push(IrrigationNotice(at: now, .flowNormal))
  }

  /// Raises the alarm if `isWrong`; otherwise ends a standing alarm of the same kind.
  @_noLocks @_noAllocation
  private mutating func setAlarm(
    _ isWrong: Bool, _ alarm: FlowAlarm, _ reaction: FlowSettings.Reaction, at now: TickInstant
  ) {
    var isKnown = false
    if let flowAlarm { isKnown = flowAlarm.isSameKind(as: alarm) }
    if isWrong {
      if !isKnown {
        flowAlarm = alarm
        notices.push(IrrigationNotice(at: now, .flowAlarm(alarm)))
      }
      // A standing alarm enters the fault state, too: before a reload its limit may have had the reaction of a notice only.
      if case .fault = reaction { _ = fail(.flow(alarm), at: now) }
    } else if !isWrong, isKnown {
      flowAlarm = nil
      notices.push(IrrigationNotice(at: now, .flowNormal))
    }
  }

  /// The open zone with the lowest number through which water should flow, or `nil` if no water should flow.
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
    case (.belowLimit(let one), .belowLimit(let two)), (.aboveLimit(let one), .aboveLimit(let two)):
      return one.zone.index == two.zone.index
    default: return false
    }
  }
}
