import Foundation
import Observation

/// The sprinkler: zones, queue, rain delay and schedules.
///
/// Times that run are the daemon's: what is shown is what it last said.
@MainActor
@Observable
public final class SprinklerModel: SystemModel {
  enum Expected: Hashable {
    case zone(Int)
    case schedule(Int)
    case rainDelay
  }

  /// The sprinkler as the daemon last said it.
  public private(set) var state: SprinklerState
  /// The schedules, in their order, as last read. See `refreshSchedules`.
  public private(set) var schedules: [Schedule] = []
  /// The next starts of schedules, as last read.
  public private(set) var starts: [ScheduledStart] = []
  var expectations = Expectations<Expected, JSONValue>()

  @ObservationIgnored let link: DaemonLink

  init(_ state: SprinklerState, link: DaemonLink) {
    self.state = state
    self.link = link
  }

  // MARK: zones

  /// Whether a zone is shown as open: what was asked for until the daemon says so, at most 3 s, else what it says.
  public func isOn(_ zone: Int) -> Bool {
    let reported = state.zones.first { $0.id == zone }?.isOn ?? false
    return expectations.shown(.zone(zone), reported: .bool(reported)) == .bool(true)
  }

  /// Opens a zone for some minutes, or for its default. Sent once.
  public func water(_ zone: Int, minutes: Double? = nil) async throws(ClientError) {
    try await expecting(.bool(true), for: .zone(zone)) { () throws(ClientError) in
      try await send("/api/zone/\(zone)/on", minutes.map { ["minutes": $0] } ?? [:])
    }
  }

  /// Closes a zone. Tried again until the daemon answers, four times at most.
  public func close(_ zone: Int) async throws(ClientError) {
    try await expecting(.bool(false), for: .zone(zone)) { () throws(ClientError) in
      try await send("/api/zone/\(zone)/off", kind: .makesSafe)
    }
  }

  /// Opens a zone that is shown as closed, and closes one that is shown as open.
  public func toggle(_ zone: Int) async throws(ClientError) {
    if isOn(zone) { try await close(zone) } else { try await water(zone) }
  }

  /// Closes everything and drops the queue. Tried again until the daemon answers, four times at most.
  public func stop() async throws(ClientError) { try await send("/api/stop", kind: .makesSafe) }

  /// Closes everything for some minutes, then goes on.
  public func pause(minutes: Double) async throws(ClientError) { try await send("/api/pause", ["minutes": minutes]) }

  /// Ends a pause.
  public func resume() async throws(ClientError) { try await send("/api/resume") }

  /// Closes everything until a reset. Tried again until the daemon answers, four times at most.
  public func emergencyStop() async throws(ClientError) { try await send("/api/sprinkler/e-stop", kind: .makesSafe) }

  /// Leaves an emergency stop or a fault.
  public func reset() async throws(ClientError) { try await send("/api/sprinkler/reset") }

  // MARK: queue and rain

  /// Runs zones once, one after the other, behind what waits.
  public func enqueue(_ steps: [Schedule.Step]) async throws(ClientError) {
    try await send("/api/queue", ["zones": steps])
  }

  /// Ends the run that is on, and goes on to the next.
  public func skip() async throws(ClientError) { try await send("/api/queue/skip") }

  /// Ends one run, or takes it from the queue. Tried again until the daemon answers, four times at most.
  public func drop(run: Int) async throws(ClientError) {
    try await send("/api/queue/\(run)", method: "DELETE", kind: .makesSafe)
  }

  /// Drops all that waits. Tried again until the daemon answers, four times at most.
  public func clearQueue() async throws(ClientError) {
    try await send("/api/queue", method: "DELETE", kind: .makesSafe)
  }

  /// Whether a rain delay is shown as in force.
  public var isRainDelayed: Bool {
    expectations.shown(.rainDelay, reported: .bool(state.rainDelay.active)) == .bool(true)
  }

  /// Suspends schedules for some hours, or for the configured time.
  public func delayForRain(hours: Double? = nil) async throws(ClientError) {
    try await expecting(.bool(true), for: .rainDelay) { () throws(ClientError) in
      try await send("/api/rain-delay", hours.map { ["hours": $0] } ?? [:])
    }
  }

  /// Ends the rain delay.
  public func endRainDelay() async throws(ClientError) {
    try await expecting(.bool(false), for: .rainDelay) { () throws(ClientError) in
      try await send("/api/rain-delay", method: "DELETE")
    }
  }

  // MARK: schedules

  /// Reads the schedules and the next starts. Done at each connection, and after each change made here.
  public func refreshSchedules() async throws(ClientError) {
    struct Schedules: Decodable { var schedules: [Schedule] }
    struct Preview: Decodable { var starts: [ScheduledStart] }
    schedules = try await look("/api/schedules", as: Schedules.self).schedules
    reconcileSchedules()
    starts = try await look("/api/schedules/preview?count=20", as: Preview.self).starts
  }

  /// Whether a schedule is shown as starting by itself.
  public func isEnabled(_ schedule: Schedule) -> Bool {
    expectations.shown(.schedule(schedule.id), reported: .bool(schedule.isEnabled)) == .bool(true)
  }

  /// Adds a schedule, and returns it with its number. Sent once.
  @discardableResult
  public func add(_ schedule: NewSchedule) async throws(ClientError) -> Schedule {
    let made = try await send("/api/schedules", schedule, as: Schedule.self)
    try await refreshSchedules()
    return made
  }

  /// Changes a schedule.
  public func change(_ id: Int, _ change: ScheduleChange) async throws(ClientError) {
    try await send("/api/schedules/\(id)", change, method: "PUT")
    try await refreshSchedules()
  }

  /// Switches a schedule's own starts on or off.
  public func setEnabled(_ id: Int, _ isEnabled: Bool) async throws(ClientError) {
    try await expecting(.bool(isEnabled), for: .schedule(id)) { () throws(ClientError) in
      try await change(id, ScheduleChange(isEnabled: isEnabled))
    }
  }

  /// Removes a schedule.
  public func remove(schedule id: Int) async throws(ClientError) {
    try await send("/api/schedules/\(id)", method: "DELETE")
    try await refreshSchedules()
  }

  /// Runs a schedule now. Sent once.
  public func run(schedule id: Int) async throws(ClientError) { try await send("/api/schedules/\(id)/run") }

  // MARK: news

  func take(_ state: SprinklerState) {
    self.state = state
    reconcile()
  }

  /// A valve has opened or closed, or goes on.
  func take(zone: ZoneEvent) {
    guard let index = state.zones.firstIndex(where: { $0.id == zone.id }) else { return }
    state.zones[index].isOn = zone.isOn
    state.zones[index].remainingSec = zone.isOn ? zone.remainingSec : nil
    reconcile()
  }

  /// A rain delay has begun, changed or ended.
  func take(rain: SprinklerState.RainDelay) {
    state.rainDelay = rain
    reconcile()
  }

  private func reconcile() {
    guard !expectations.isEmpty else { return }
    let now = link.clock.now
    for zone in state.zones { expectations.reconcile(.zone(zone.id), with: .bool(zone.isOn), at: now) }
    expectations.reconcile(.rainDelay, with: .bool(state.rainDelay.active), at: now)
  }

  private func reconcileSchedules() {
    for schedule in schedules {
      expectations.reconcile(.schedule(schedule.id), with: .bool(schedule.isEnabled), at: link.clock.now)
    }
  }

  func show(schedules: [Schedule]) { self.schedules = schedules }
}

/// The event `zone` of the WebSocket.
struct ZoneEvent: Decodable {
  var id: Int
  var isOn: Bool
  var remainingSec: Int?
}
