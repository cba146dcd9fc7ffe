import Buses
import Tactus

@testable import Sprinkler

/// A `SprinklerLoop` ticked by hand on a simulated GPIO bank with a garden behind it: zone k on GPIO k, the master valve on
/// GPIO 10. All outputs are active-low, as relay boards are.
final class SprinklerBench {
  let bank: SimulatedGPIOBank
  private var held: SimulatedGPIOLines?
  private let outputs: [GPIOLine]
  let garden: SimulatedGarden
  /// The bank of the rain sensor's line, GPIO 12, whose contact is open.
  let rainBank = SimulatedGPIOBank(highAtRest: [12])
  private let rain: SimulatedGPIOEvents?
  /// The bank of the soil's comparators, GPIO 5 and 6, which are high while it is dry.
  let soilBank = SimulatedGPIOBank(highAtRest: [5, 6])
  private let soil: [SimulatedGPIOEvents]
  let limits: RulesBox<FlowLimits>
  private let client: SprinklerMailbox.Client
  private var loop: SprinklerLoop
  private var seen: Int64 = 0
  private var index: Int64 = -1
  private var number: UInt64 = 0
  private var run: UInt64 = 0
  private var kept: [EndedRun] = []
  private(set) var now = TickInstant.zero

  init(
    zones count: Int = 4, maximumOpen: Int = 1, groups: [Int: Int] = [:], delay: Nanoseconds = .zero,
    master: (lead: Int64, lag: Int64)? = nil, flow: FlowSettings? = nil, noticeCapacity: Int = 1_024,
    hasRainSensor: Bool = false, soilPins: [Int] = []
  ) {
    soil = soilPins.map { [soilBank] pin in
      try! soilBank.events([GPIOInput(.bcm(pin), isActiveLow: true, edges: .both)])
    }
    rain =
      hasRainSensor
      ? try! rainBank.events([
        GPIOInput(.bcm(12), isActiveLow: true, edges: .both, debounce: .milliseconds(100), pull: .up)
      ]) : nil
    let numbers = Array(1...count) + (master == nil ? [] : [10])
    bank = SimulatedGPIOBank(highAtRest: Set(numbers), release: .keepsLevel)
    outputs = numbers.map { GPIOLine(.bcm($0), isActiveLow: true) }
    let held = try! bank.outputs(outputs)
    self.held = held
    garden = SimulatedGarden(
      on: bank, valves: (1...count).map { SimulatedGarden.Valve(line: $0, isActiveLow: true) },
      master: master.map { _ in SimulatedGarden.Valve(line: 10, isActiveLow: true) },
      pulsesPerLitre: flow?.pulsesPerLitre ?? 450)
    let valve = master.map {
      try! MasterValve(line: UInt8(count), lead: .seconds($0.lead), lag: .seconds($0.lag))
    }
    let settings = try! IrrigationSettings(
      lineCount: numbers.count, master: valve, stationDelay: delay, maximumOpen: maximumOpen, groups: groups,
      flow: flow)
    let mailbox = try! SprinklerLoop.mailbox(limits: RulesBox(settings.flowLimits), notices: noticeCapacity)
    client = mailbox.client()
    limits = mailbox.rules
    var lines = SoilLines()
    for line in soil { lines.add(line.port()) }
    loop = SprinklerLoop(
      settings, lines: held.port(), flow: flow == nil ? nil : garden.flowSensor(), rain: Self.port(of: rain),
      soil: lines,
      ends: mailbox.loopEnds())
  }

  private static func port(of rain: SimulatedGPIOEvents?) -> GPIOEvents? {
    guard let rain else { return nil }
    return rain.port()
  }

  /// Zones with the standard limits, the first tick done at 0 s.
  static func started(
    zones count: Int = 4, maximumOpen: Int = 1, groups: [Int: Int] = [:], delay: Nanoseconds = .zero,
    master: (lead: Int64, lag: Int64)? = nil, flow: FlowSettings? = nil, noticeCapacity: Int = 1_024,
    change: (Int, inout ZoneSettings) -> Void = { _, _ in }
  ) -> SprinklerBench {
    let bench = SprinklerBench(
      zones: count, maximumOpen: maximumOpen, groups: groups, delay: delay, master: master, flow: flow,
      noticeCapacity: noticeCapacity)
    for zone in 1...count {
      var settings = ZoneSettings(line: UInt8(zone - 1))
      change(zone, &settings)
      bench.push(.zone(ZoneID(zone)!, settings))
    }
    bench.tick()
    _ = bench.takeAnswers()
    _ = bench.writes()
    return bench
  }

  // MARK: inputs

  /// Waits in the ring until a tick takes it.
  @discardableResult
  func push(_ order: SprinklerOrder, issued: TickInstant? = nil) -> Bool {
    number += 1
    return client.send(SprinklerRequest(number: number, issued: issued ?? now, order))
  }

  /// Taken in the release that it causes; the answer.
  @discardableResult
  func request(_ order: SprinklerOrder) -> Answer<IrrigationRefusal>? {
    push(order)
    tick(.input)
    return takeAnswers().last
  }

  func zoneRun(_ zone: Int, _ seconds: UInt32, soak: UInt32 = 0, isScheduled: Bool = false) -> ZoneRun {
    run += 1
    return ZoneRun(
      id: run, zone: ZoneID(zone)!, seconds: seconds, source: isScheduled ? .program(id: 1) : .manual,
      soakSeconds: soak)
  }

  @discardableResult
  func on(_ zone: Int, _ seconds: UInt32) -> Answer<IrrigationRefusal>? { request(.run(zoneRun(zone, seconds), .now)) }

  @discardableResult
  func queue(_ zone: Int, _ seconds: UInt32, isScheduled: Bool = false) -> Answer<IrrigationRefusal>? {
    request(.run(zoneRun(zone, seconds, isScheduled: isScheduled), .append))
  }

  /// When a zone's valve closes, or `nil` if it is closed.
  func until(_ zone: Int) -> TickInstant? {
    if case .open(_, _, let until) = snapshot[ZoneID(zone)!].valve { until } else { nil }
  }

  // MARK: time

  func tick(_ cause: ReleaseCause = .period) {
    if cause == .period { index += 1 }
    loop.tick(Tick(index: index, cause: cause, scheduled: now, started: now))
  }

  /// As the scheduler does: every second, and at every deadline.
  func advance(to seconds: Double) {
    let end = TickInstant(nanoseconds: Nanoseconds.seconds(seconds).count)
    while true {
      let second = TickInstant.seconds(index + 1)
      let deadline = loop.nextDeadline ?? .distantFuture
      let next = min(second, deadline)
      guard next <= end else { break }
      precondition(next >= now)
      now = next
      tick(second <= deadline ? .period : .deadline)
    }
    now = end
  }

  /// Without a tick on the way.
  func jump(to seconds: Double) {
    now = TickInstant(nanoseconds: Nanoseconds.seconds(seconds).count)
    index = max(index, Int64(seconds))
  }

  func safeState(_ cause: SafeStateCause) {
    loop.safeState(Tick(index: index, scheduled: now, started: now), cause: cause)
  }

  // MARK: limits

  /// As a reload does: what is tighter from the next tick on, all of it once every valve is closed.
  func change(_ new: FlowLimits) -> UInt64 {
    let number = limits.propose()
    limits.commit(number, now: new.tighter(than: limits.inEffect), whenSafe: new)
    return number
  }

  // MARK: outputs

  var deadline: TickInstant? { loop.nextDeadline }
  var snapshot: SprinklerSnapshot { client.newest().state }

  /// Lines that are electrically on, by GPIO.
  var on: [Int] { ([1, 2, 3, 4, 5, 6, 7, 8, 10]).filter { bank.isDriven($0) && !bank.isHigh($0) } }

  /// The settings of lines since the last call, `12.5 on 1 10` by GPIO; `!` when refused.
  func writes() -> [String] {
    let new = bank.transactions(since: seen)
    seen = (new.last?.sequence ?? seen - 1) + 1
    return new.filter { $0.operation == .set }.map { transaction in
      let on = transaction.lines & ~transaction.levels
      let names = (0..<54).filter { on >> UInt64($0) & 1 != 0 }.map(String.init)
      let at = Double(transaction.at.nanoseconds) / 1e9
      let text = at == at.rounded() ? "\(Int(at))" : "\(at)"
      guard transaction.result == 0 else { return "\(text) set!" }
      return "\(text) \(names.isEmpty ? "off" : "on \(names.joined(separator: " "))")"
    }
  }

  /// The daemon is gone: its lines are nobody's, and keep their levels. Which they are.
  func release() -> [GPIOLine] {
    held = nil
    return outputs
  }

  func takeAnswers() -> [Answer<IrrigationRefusal>] {
    var taken: [Answer<IrrigationRefusal>] = []
    while let answer = client.nextAnswer() { taken.append(answer) }
    return taken
  }

  func takeNotices() -> [String] {
    var texts: [String] = []
    while let notice = client.nextNotice()?.notice {
      texts.append(MachineBench.words(notice))
      if case .ended(let end) = notice.subject { kept.append(end) }
    }
    return texts
  }

  /// Every run that has ended so far.
  var ended: [EndedRun] {
    _ = takeNotices()
    return kept
  }
}
