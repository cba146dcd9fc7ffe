import Foundation
import Observation

/// The sprinkler: zones, queue, rain delay and schedules.
///
/// Running times are the daemon's: the model shows what it last reported.
@MainActor
@Observable
public final class SprinklerModel: SystemModel {
  enum Expected: Hashable {
    case zone(Int)
    case schedule(Int)
    case rainDelay
  }

  /// The sprinkler's state as last reported by the daemon.
  public private(set) var state: SprinklerState
  /// The schedules, in the daemon's order, as last read by `refreshSchedules`.
  public private(set) var schedules: [Schedule] = []
  /// The next starts of schedules, as last read by `refreshSchedules`.
  public private(set) var starts: [ScheduledStart] = []
  var expectations = Expectations<Expected, JSONValue>()

  @ObservationIgnored let link: DaemonLink

  init(_ state: SprinklerState, link: DaemonLink) {
    self.state = state
    self.link = link
  }

  // MARK: zones

  /// Returns whether a zone is shown as open: the requested state until the daemon confirms it, for at most 3 s, otherwise the reported one.
  public func isOn(_ zone: Int) -> Bool {
    let reported = state.zones.first { $0.id == zone }?.isOn ?? false
    return expectations.shown(.zone(zone), reported: .bool(reported)) == .bool(true)
  }

  /// Opens a zone for a number of minutes, or for its default. The request is sent once.
  public func water(_ zone: Int, minutes: Double? = nil) async throws(ClientError) {
    try await expecting([.zone(zone): .bool(true)]) { () throws(ClientError) in
      try await send("/api/zone/\(zone)/on", minutes.map { ["minutes": $0] } ?? [:])
    }
  }

  /// Closes a zone. Repeats the request until the daemon answers, at most four times.
  public func close(_ zone: Int) async throws(ClientError) {
    try await expecting([.zone(zone): .bool(false)]) { () throws(ClientError) in
      try await send("/api/zone/\(zone)/off", kind: .makesSafe)
    }
  }

  /// Opens a zone that is shown as closed, or closes one that is shown as open.
  public func toggle(_ zone: Int) async throws(ClientError) {
    if isOn(zone) { try await close(zone) } else { try await water(zone) }
  }

  /// Closes every zone and empties the queue. Repeats the request until the daemon answers, at most four times.
  public func stop() async throws(ClientError) { try await send("/api/stop", kind: .makesSafe) }

  /// Closes every zone for a number of minutes, then resumes.
  public func pause(minutes: Double) async throws(ClientError) { try await send("/api/pause", ["minutes": minutes]) }

  /// Ends a pause early.
  public func resume() async throws(ClientError) { try await send("/api/resume") }

  /// Stops everything until a reset. Repeats the request until the daemon answers, at most four times.
  public func emergencyStop() async throws(ClientError) { try await send("/api/sprinkler/e-stop", kind: .makesSafe) }

  /// Resets the sprinkler after an emergency stop or a fault.
  public func reset() async throws(ClientError) { try await send("/api/sprinkler/reset") }

  // MARK: queue and rain

  /// Appends a single run of these zones to the queue, one after the other.
  public func enqueue(_ steps: [Schedule.Step]) async throws(ClientError) {
    try await send("/api/queue", ["zones": steps])
  }

  /// Ends the present run and starts the next one.
  public func skip() async throws(ClientError) { try await send("/api/queue/skip") }

  /// Ends a run or removes it from the queue. Repeats the request until the daemon answers, at most four times.
  public func drop(run: Int) async throws(ClientError) {
    try await send("/api/queue/\(run)", method: "DELETE", kind: .makesSafe)
  }

  /// Empties the queue. Repeats the request until the daemon answers, at most four times.
  public func clearQueue() async throws(ClientError) {
    try await send("/api/queue", method: "DELETE", kind: .makesSafe)
  }

  /// Whether a rain delay is shown as in force: the requested state until the daemon confirms it, for at most 3 s.
  public var isRainDelayed: Bool {
    expectations.shown(.rainDelay, reported: .bool(state.rainDelay.active)) == .bool(true)
  }

  /// Suspends schedules for a number of hours, or for the configured time.
  public func delayForRain(hours: Double? = nil) async throws(ClientError) {
    try await expecting([.rainDelay: .bool(true)]) { () throws(ClientError) in
      try await send("/api/rain-delay", hours.map { ["hours": $0] } ?? [:])
    }
  }

  /// Ends the rain delay early.
  public func endRainDelay() async throws(ClientError) {
    try await expecting([.rainDelay: .bool(false)]) { () throws(ClientError) in
      try await send("/api/rain-delay", method: "DELETE")
    }
  }

  // MARK: schedules

  /// Reads the schedules and their next starts. This is done at each connection, and after each change made by this model.
  public func refreshSchedules() async throws(ClientError) {
    struct Schedules: Decodable { var schedules: [Schedule] }
    struct Preview: Decodable { var starts: [ScheduledStart] }
    schedules = try await fetch("/api/schedules", as: Schedules.self).schedules
    reconcileSchedules()
    starts = try await fetch("/api/schedules/preview?count=20", as: Preview.self).starts
  }

  /// Returns the next starts of all schedules with the runs of each.
  /// - Parameter count: the greatest number of starts, 1…1000.
  public func preview(count: Int = 20) async throws(ClientError) -> SchedulePreview {
    try await fetch("/api/schedules/preview?count=\(count)", as: SchedulePreview.self)
  }

  /// Returns the next starts as they would be with a draft of a schedule. Nothing is saved, and the draft is refused for the same reasons as by `add`.
  /// - Parameters:
  ///   - draft: the draft.
  ///   - id: the number of the schedule in whose place the draft is looked at, or `nil` to look at it beside all.
  ///   - count: the greatest number of starts, 1…1000.
  ///   - onlyDraft: whether the starts of the draft alone are wanted.
  public func preview(
    of draft: NewSchedule, inPlaceOf id: Int? = nil, count: Int = 20, onlyDraft: Bool = false
  ) async throws(ClientError) -> DraftPreview {
    let path = Self.path(
      "/api/schedules/preview", ["count": String(count), "only": onlyDraft ? "draft" : nil])
    let body = try Caller.body(ScheduleDraft(schedule: draft, id: id))
    return try await link.caller.call(
      ClientRequest("POST", path, body: body, kind: .look), as: DraftPreview.self)
  }

  /// Returns whether a schedule is shown as enabled.
  public func isEnabled(_ schedule: Schedule) -> Bool {
    expectations.shown(.schedule(schedule.id), reported: .bool(schedule.isEnabled)) == .bool(true)
  }

  /// Adds a schedule. Returns it with its number. The request is sent once.
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

  /// Enables or disables the automatic starts of a schedule.
  public func setEnabled(_ id: Int, _ isEnabled: Bool) async throws(ClientError) {
    try await expecting([.schedule(id): .bool(isEnabled)]) { () throws(ClientError) in
      try await change(id, ScheduleChange(isEnabled: isEnabled))
    }
  }

  /// Removes a schedule.
  public func remove(schedule id: Int) async throws(ClientError) {
    try await send("/api/schedules/\(id)", method: "DELETE")
    try await refreshSchedules()
  }

  /// Runs a schedule now. The request is sent once.
  public func run(schedule id: Int) async throws(ClientError) { try await send("/api/schedules/\(id)/run") }

  // MARK: log and season

  /// Returns a page of the log, the newest runs first.
  /// - Parameters:
  ///   - since: the first instant at which a run may have started, or `nil` for any. The second counts.
  ///   - until: the instant before which a run must have started, or `nil` for any.
  ///   - zone: the number of the zone, or `nil` for all.
  ///   - limit: the greatest number of runs, 1…1000.
  ///   - after: `next` of the page before, or `nil` for the first page.
  public func log(
    since: Date? = nil, until: Date? = nil, zone: Int? = nil, limit: Int = 100, after: String? = nil
  ) async throws(ClientError) -> WateringLog {
    let path = Self.path(
      "/api/log",
      [
        "since": Self.text(since), "until": Self.text(until), "zone": zone.map { String($0) },
        "limit": String(limit), "after": after,
      ])
    return try await fetch(path, as: WateringLog.self)
  }

  /// Returns the seasonal level.
  public func seasonalLevel() async throws(ClientError) -> SeasonalLevel {
    try await fetch("/api/seasonal", as: SeasonalLevel.self)
  }

  // MARK: news

  func receive(_ state: SprinklerState) {
    self.state = state
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
