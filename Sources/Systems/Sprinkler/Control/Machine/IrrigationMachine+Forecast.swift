@_spi(FromOutside) import Conversions
import Tactus

extension IrrigationMachine {
  /// Predicts when each of the first queued runs opens if no event comes, by simulating the rules of the queue.
  ///
  /// Returns the number of predictions written. Daily limits are ignored, as a new day may begin before they are reached.
  @_noLocks @_noAllocation
  func forecast(into places: UnsafeMutablePointer<TickInstant?>, capacity: Int, at now: TickInstant) -> Int {
    let count = queue.count < capacity ? queue.count : capacity
    for place in 0..<count { places[place] = nil }
    var ahead = Forecast(self)
    var instant = now
    if case .paused(let until) = state { instant = until }
    // Each round starts or ends at least one run.
    for _ in 0..<(count &+ ZoneID.maximum) &* 2 {
      ahead.close(at: instant)
      var next = ahead.nextEnd
      for place in 0..<count {
        guard case .none = places[place], let earliest = ahead.earliestStart(queue[place], in: self) else { continue }
        if earliest.isReached(at: instant) {
          places[place] = ahead.start(queue[place], in: self, at: instant)
        } else if earliest < next {
          next = earliest
        }
      }
      if ahead.nextEnd < next { next = ahead.nextEnd }
      guard next < .distantFuture else { break }
      instant = next
    }
    return count
  }
}

/// The predicted state of the valves.
private struct Forecast: BitwiseCopyable {
  /// The instants at which the open zones close; `distantFuture` for closed zones.
  private var ends: [64 of TickInstant] = .init(repeating: .distantFuture)
  private var closedAt: [64 of TickInstant?] = .init(repeating: nil)
  private var groups: [64 of UInt8] = .init(repeating: 0)
  private var groupCounts: [16 of Int] = .init(repeating: 0)
  private var groupClosedAt: [16 of TickInstant?]
  private var anyClosedAt: TickInstant?
  private var count = 0
  private let zoneEnd: Int
  /// The instant at which the master valve closes, or `nil` if it is closed.
  private var masterEnd: TickInstant?

  @_noLocks @_noAllocation
  init(_ machine: borrowing IrrigationMachine) {
    zoneEnd = machine.zoneEnd
    groupClosedAt = machine.groupClosedAt
    anyClosedAt = machine.anyClosedAt
    masterEnd = machine.masterLagEnd
    for index in 0..<zoneEnd {
      let slot = machine.zones[index]
      closedAt[index] = slot.closedAt
      guard let zone = slot.settings else { continue }
      groups[index] = zone.group
      switch slot.valve {
      case .closed: continue
      case .leading(let run, let opensAt): add(index, zone, until: opensAt + run.left, machine.settings)
      case .open: add(index, zone, until: slot.end(day: machine.day)?.0 ?? machine.steppedAt, machine.settings)
      }
    }
  }

  var nextEnd: TickInstant {
    @_noLocks @_noAllocation get {
      var next = TickInstant.distantFuture
      for index in 0..<zoneEnd where ends[index] < next { next = ends[index] }
      return next
    }
  }

  @_noLocks @_noAllocation
  mutating func close(at now: TickInstant) {
    for index in 0..<zoneEnd where ends[index].isReached(at: now) {
      let end = ends[index]
      ends[index] = .distantFuture
      closedAt[index] = end
      groupCounts[Int(groups[index])] &-= 1
      groupClosedAt[Int(groups[index])] = end
      anyClosedAt = end
      count &-= 1
    }
  }

  /// Returns the instant at which the run may start, by the same rules as the machine's `earliestStart(_:)`.
  @_noLocks @_noAllocation
  func earliestStart(_ run: AcceptedRun, in machine: borrowing IrrigationMachine) -> TickInstant? {
    let index = run.run.zone.index
    guard let zone = machine.zones[index].settings, case .some = zone.line, !(ends[index] < .distantFuture),
      count < machine.settings.maximumOpen,
      groupCounts[Int(zone.group)] < Int(machine.settings.maximumOpenInGroup[Int(zone.group)])
    else { return nil }
    var earliest = TickInstant(nanoseconds: .min)
    if let closed = closedAt[index], !run.hasBegun {
      earliest = later(earliest, closed + .seconds(Int64(run.run.soakSeconds)))
    }
    let closed = machine.settings.maximumOpen == 1 ? anyClosedAt : groupClosedAt[Int(zone.group)]
    if let closed { earliest = later(earliest, closed + machine.settings.stationDelay) }
    return earliest
  }

  /// Starts the run, and returns the instant at which its valve opens, or `nil` if the zone does not exist.
  @_noLocks @_noAllocation
  mutating func start(
    _ run: AcceptedRun, in machine: borrowing IrrigationMachine, at now: TickInstant
  ) -> TickInstant? {
    let index = run.run.zone.index
    guard let zone = machine.zones[index].settings else { return nil }
    var opensAt = now
    if zone.usesMaster, let master = machine.settings.master, .zero < master.lead {
      var isOpen = false
      if let masterEnd { isOpen = now < masterEnd }
      if !isOpen { opensAt = now + master.lead }
    }
    groups[index] = zone.group
    add(index, zone, until: opensAt + run.left, machine.settings)
    return opensAt
  }

  @_noLocks @_noAllocation
  private mutating func add(
    _ index: Int, _ zone: ZoneSettings, until end: TickInstant, _ settings: IrrigationSettings
  ) {
    ends[index] = end
    groupCounts[Int(zone.group)] &+= 1
    count &+= 1
    guard zone.usesMaster, let master = settings.master else { return }
    masterEnd = later(masterEnd ?? end, end + master.lag)
  }
}
