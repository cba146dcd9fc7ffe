@_spi(FromOutside) import Conversions
import Tactus
import WallTime

extension SprinklerScheduler {
  /// The shortest run from which a flow is learnt, in seconds. A shorter one is mostly the filling of pipes.
  static var leastLearntSeconds: Double { 60 }

  /// The flow of all zones that have a rule, by zone.
  public var flowStatus: [ZoneFlowStatus] {
    guard settings.pulsesPerLitre != nil else { return [] }
    return settings.flows.sorted { $0.key < $1.key }.map { zone, rule in
      let limits = flowLimits(zone)
      return ZoneFlowStatus(
        zone: zone, flow: rule.isLearnt ? flow(zone) : nil, neededRuns: rule.isLearnt ? settings.zoneFlow.runs : nil,
        minimum: limits?.minimum?.litresPerMinute, maximum: limits?.maximum?.litresPerMinute,
        words: flowWords(zone, rule))
    }
  }

  private func flow(_ zone: ZoneID) -> ZoneFlow? { records.flows.first { $0.zone == zone } }

  private func flowWords(_ zone: ZoneID, _ rule: ZoneFlowRule) -> String {
    guard rule.isLearnt else { return "limits as set" }
    guard let known = flow(zone), let usual = known.litresPerMinute, let at = known.learntAt else {
      return "\(flow(zone)?.samples.count ?? 0) of \(settings.zoneFlow.runs) runs measured"
    }
    return "usually \(Self.number(usual)) l/min, learnt \(time(at)) from \(known.runs) runs"
  }

  /// Returns the limits of the zone's flow, the tighter ones of the configured and the learnt limits, or `nil` if the zone has no limits.
  func flowLimits(_ zone: ZoneID) -> ZoneFlowLimits? {
    guard settings.pulsesPerLitre != nil, let rule = settings.flows[zone] else { return nil }
    var limits = ZoneFlowLimits(
      minimum: rule.minimum.map { .init(litresPerMinute: $0) },
      maximum: rule.maximum.map { .init(litresPerMinute: $0) },
      over: .seconds(Int64(settings.zoneFlow.settleSeconds)), reaction: settings.zoneFlow.isFault ? .fault : .notice)
    if rule.isLearnt, let known = flow(zone), let usual = known.litresPerMinute, let at = known.learntAt {
      let part = Double(settings.zoneFlow.percent) / 100
      func limit(_ factor: Double) -> ZoneFlowLimits.Limit {
        .init(litresPerMinute: usual * factor, runs: UInt8(clamping: known.runs), learntAt: at.secondsSince1970)
      }
      let (low, high) = (limit(1 - part), limit(1 + part))
      if limits.minimum.map({ $0.litresPerMinute < low.litresPerMinute }) ?? true { limits.minimum = low }
      if limits.maximum.map({ $0.litresPerMinute > high.litresPerMinute }) ?? true { limits.maximum = high }
    }
    return limits.minimum == nil && limits.maximum == nil ? nil : limits
  }

  /// Notes that a run's valve opened, and which runs are open together, because the share of each of them in the water is unknown.
  mutating func noteOpen(_ run: UInt64) {
    let others = records.pending.filter { $0.openSince != nil && $0.run != run }.map(\.run)
    if !others.isEmpty { sharedRuns.formUnion(others + [run]) }
  }

  /// Learns from a run that is over: one that lasted as asked, was not short and was open alone. The usual flow is the median of the runs.
  mutating func learn(from run: PendingRun, ran: Double, _ outcome: RunOutcome, _ wall: WallInstant) {
    let wasShared = sharedRuns.remove(run.run) != nil
    guard let rule = settings.flows[run.zone], rule.isLearnt, outcome == .completed, !wasShared,
      ran >= Self.leastLearntSeconds, let litres = run.flowedLitres, litres > 0
    else { return }
    var known = flow(run.zone) ?? ZoneFlow(zone: run.zone)
    guard known.litresPerMinute == nil else { return }
    known.samples.append(litres / ran * 60)
    if known.samples.count >= settings.zoneFlow.runs {
      let sorted = known.samples.sorted()
      let (low, high) = (sorted[(sorted.count - 1) / 2], sorted[sorted.count / 2])
      (known.litresPerMinute, known.runs, known.learntAt) = ((low + high) / 2, sorted.count, wall)
      known.samples = []
    }
    change(.flows(records.flows.filter { $0.zone != run.zone } + [known]))
    guard known.litresPerMinute != nil else { return }
    effects.notices.append(.flowLearnt(run.zone, flowWords(run.zone, rule)))
    orderFlow(run.zone)
  }

  mutating func forgetFlow(_ id: ZoneID) throws(SprinklerRefusal) {
    _ = try zone(id)
    guard flow(id) != nil else { return }
    change(.flows(records.flows.filter { $0.zone != id }))
    orderFlow(id)
  }

  /// Passes the limits by changed rules to the valves' loop once every valve is closed, because wider limits must not
  /// take effect earlier.
  mutating func followFlowRules() {
    guard hasNewFlowRules, !records.pending.contains(where: { $0.openSince != nil }) else { return }
    hasNewFlowRules = false
    for zone in settings.flows.keys.sorted() { orderFlow(zone) }
  }

  private mutating func orderFlow(_ id: ZoneID) {
    guard let zone = records.zones.first(where: { $0.id == id }) else { return }
    effects.orders.append(.zone(id, zoneSettings(zone)))
  }
}
