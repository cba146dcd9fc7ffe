import Foundation
import Logging
import Pump
import Service
import Store
import Synchronization
import Tactus
import WallTime

/// The pump's sessions: kept in the store while they go on, shown at `/api/pump/sessions`.
///
/// Everything but the routes is called on one thread, which may wait for the disk and is not the daemon's main one. A store that fails loses no session as long as
/// this lives: what it has refused is tried again.
final class PumpHistory: Sendable {
  /// What the pump shows at one moment, or `nil` if that is not known.
  struct Sample: Sendable {
    var speedPercent: Double?
    var waterCelsius: Double?
    var skinCelsius: Double?

    init(speedPercent: Double? = nil, waterCelsius: Double? = nil, skinCelsius: Double? = nil) {
      self.speedPercent = speedPercent
      self.waterCelsius = waterCelsius
      self.skinCelsius = skinCelsius
    }
  }

  private struct State {
    /// What goes on.
    var open: PumpSession?
    var since = TickInstant.zero
    /// What the wall clock had jumped when `open` was given its start.
    var jumped = Nanoseconds.zero
    /// The speed's samples.
    var speeds = 0.0
    var samples = 0
    var kept = TickInstant.zero
    /// Ended, and refused by the store so far.
    var unstored: [PumpSession] = []
    var nextPrune = TickInstant.zero
    var failure: String?
    /// The log has it.
    var isFailureTold = false
    /// What an earlier program has left open has been ended.
    var hasEndedOpen = false
  }

  private let store: PumpStore
  private let keepsDays: Int
  private let lastEnd: @Sendable () throws(StoreError) -> String
  private let timeZone: TimeZone
  private let clock: WatchedWallClock
  private let logger: Logger
  private let state = Mutex(State())

  /// How far a session has come is noted so often, in case the power fails.
  private static let progressPeriod = Nanoseconds.seconds(10)
  private static let prunePeriod = Nanoseconds.seconds(3_600)

  /// Ends what an earlier program has left open, once the store is there.
  ///
  /// - Parameters:
  ///   - keepsDays: older sessions are forgotten, once the clock is sure.
  ///   - lastEnd: how that program ended; asked when it is to be noted.
  ///   - clock: the time of day.
  init(
    _ store: PumpStore, keepsDays: Int, lastEnd: @escaping @Sendable () throws(StoreError) -> String = { "power-cut" },
    timeZone: TimeZone = .current, clock: WatchedWallClock, logger: Logger
  ) {
    self.store = store
    self.keepsDays = keepsDays
    self.lastEnd = lastEnd
    self.timeZone = timeZone
    self.clock = clock
    self.logger = logger
    state.withLock { state in _ = attempt(&state) { () throws(StoreError) in } }
  }

  // MARK: what happens

  /// The operator side tells of a state. What subscribers are told of the session, or `nil` if there is nothing.
  func take(
    _ pump: PumpOperatorState, by source: PumpControlSource?, at now: TickInstant, _ sample: Sample
  ) -> Event? {
    switch pump {
    case .starting: nil
    case .on: begin(by: source, at: now, sample)
    case .unknown: end("contact-lost", by: nil, at: now, sample)
    case .off: end("off", by: source, at: now, sample)
    case .fault(let fault, _): end(fault.name, by: source, at: now, sample)
    case .emergencyStopped: end("emergency-stop", by: source, at: now, sample)
    case .shutDown: end("shut-down", by: .host, at: now, sample)
    }
  }

  /// The device side does.
  func take(
    _ pump: PumpDeviceState, by source: PumpControlSource?, at now: TickInstant, _ sample: Sample
  ) -> Event? {
    switch pump {
    case .on: begin(by: source, at: now, sample)
    case .off: end("off", by: source, at: now, sample)
    case .error(let cause, _): end(cause.name, by: source, at: now, sample)
    case .emergencyStopped: end("emergency-stop", by: source, at: now, sample)
    case .shutDown: end("shut-down", by: .host, at: now, sample)
    }
  }

  /// Once a second.
  func tick(_ sample: Sample, at now: TickInstant) {
    state.withLock { state in
      if state.open != nil {
        advance(&state, sample, at: now)
        if state.open?.number == 0 || now - state.kept >= Self.progressPeriod { keep(&state, at: now) }
      }
      retry(&state)
      prune(&state, at: now)
    }
  }

  /// After the loop has ended, its last notices are in.
  func finish() { state.withLock { retry(&$0) } }

  private func begin(by source: PumpControlSource?, at now: TickInstant, _ sample: Sample) -> Event? {
    state.withLock { state in
      guard state.open == nil else { return nil }
      let reading = clock.now
      state.open = PumpSession(start: Self.instant(reading), startedBy: source.map { "\($0)" })
      state.jumped = reading.jumped
      (state.since, state.speeds, state.samples) = (now, 0, 0)
      // The speed is known once the pump has taken it.
      advance(&state, Sample(waterCelsius: sample.waterCelsius, skinCelsius: sample.skinCelsius), at: now)
      keep(&state, at: now)
      return state.open.map { event($0, at: now) }
    }
  }

  private func end(_ end: String, by source: PumpControlSource?, at now: TickInstant, _ sample: Sample) -> Event? {
    state.withLock { state in
      guard state.open != nil else { return nil }
      advance(&state, Sample(waterCelsius: sample.waterCelsius, skinCelsius: sample.skinCelsius), at: now)
      state.open?.end = end
      state.open?.endedBy = source.map { "\($0)" }
      guard let session = state.open else { return nil }
      state.unstored.append(session)
      state.open = nil
      retry(&state)
      return event(session, at: now)
    }
  }

  private func event(_ session: PumpSession, at now: TickInstant) -> Event {
    Event(.edge, type: "pump.session", system: "pump", at: now, json: PumpSessionDocument(session))
  }

  private static func instant(_ reading: WallReading) -> WallInstant {
    WallInstant(secondsSince1970: reading.secondsSince1970)
  }

  /// A session that goes on while the clock is set began when that clock says.
  private func followClock(_ state: inout State) {
    guard var session = state.open else { return }
    let jump = clock.now.jumped - state.jumped
    guard jump != .zero else { return }
    state.jumped = state.jumped + jump
    session.start = session.start + Int64(saturating: jump.inSeconds.rounded())
    state.open = session
  }

  private func advance(_ state: inout State, _ sample: Sample, at now: TickInstant) {
    followClock(&state)
    state.open?.seconds = (now - state.since).inSeconds
    state.open?.water.take(sample.waterCelsius)
    state.open?.skin.take(sample.skinCelsius)
    if let speed = sample.speedPercent {
      state.speeds += speed
      state.samples += 1
      state.open?.speedPercent = state.speeds / Double(state.samples)
    }
  }

  // MARK: the store

  private func keep(_ state: inout State, at now: TickInstant) {
    state.kept = now
    guard let session = state.open else { return }
    if let number = attempt(&state, { () throws(StoreError) in try self.store.keep(session) }) {
      state.open?.number = number
    }
  }

  private func retry(_ state: inout State) {
    while let session = state.unstored.first {
      guard attempt(&state, { () throws(StoreError) in try self.store.keep(session) }) != nil else { return }
      state.unstored.removeFirst()
    }
  }

  private func prune(_ state: inout State, at now: TickInstant) {
    guard now >= state.nextPrune else { return }
    let reading = clock.now
    // By age only if the clock is sure, and until it is that is looked at again soon; by number whatever it says.
    state.nextPrune = now + (reading.mayDelete ? Self.prunePeriod : .seconds(60))
    _ = attempt(&state) { () throws(StoreError) in
      if reading.mayDelete { try self.store.prune(before: Self.instant(reading) - Int64(self.keepsDays) * 86_400) }
      try self.store.prune(beyond: PumpStore.mostSessions)
    }
  }

  /// It is `nil` if the store has refused it, which is said once.
  private func attempt<Value>(_ state: inout State, _ work: () throws(StoreError) -> Value) -> Value? {
    do throws(StoreError) {
      if !state.hasEndedOpen {
        try store.endOpen(as: lastEnd())
        state.hasEndedOpen = true
      }
      let value = try work()
      if state.isFailureTold { logger.notice("the store takes the pump's sessions again") }
      (state.failure, state.isFailureTold) = (nil, false)
      return value
    } catch {
      // That it is not open has been said by who opens it.
      if state.failure == nil, store.file.isOpen {
        logger.error("the store does not take the pump's sessions", metadata: ["reason": .string("\(error)")])
        state.isFailureTold = true
      }
      state.failure = "\(error)"
      return nil
    }
  }

  // MARK: routes

  var routes: [Route] {
    [
      Route(.get, "/api/pump/sessions") { [self] request in try list(request) }.waitingForDisk(),
      Route(.get, "/api/pump/sessions.csv") { [self] request in try csv(request) }.waitingForDisk(),
    ]
  }

  private static let names = ["since", "until", "order"]

  private func list(_ request: APIRequest) throws -> APIResponse {
    let query = try QueryReader(request.query, names: Self.names + ["limit", "after"])
    let limit = try query.integer("limit", in: 1...1_000)
    let after = try query.integer("after", in: 1...Int64.max)
    let which = try self.query(query, newestFirst: true)
    let page = try stored { () throws(StoreError) in
      try self.store.sessions(which, after: after, limit: Int(limit ?? 100))
    }
    return .json(PumpSessionsDocument(sessions: page.sessions.map(PumpSessionDocument.init), next: page.next))
  }

  private func csv(_ request: APIRequest) throws -> APIResponse {
    let query = try QueryReader(request.query, names: Self.names)
    // Once a piece of the file is on its way, a refusal comes too late.
    try stored { () throws(StoreError) in try self.store.file.requireOpen() }
    return .csv(
      store.sessionsCSV(try self.query(query, newestFirst: false), timeZone: timeZone), file: "pump-sessions.csv")
  }

  private func query(_ query: QueryReader, newestFirst: Bool) throws(APIError) -> PumpSessionQuery {
    PumpSessionQuery(
      since: try query.instant("since"), until: try query.instant("until"),
      newestFirst: try query.word("order", among: ["newest", "oldest"]).map { $0 == "newest" } ?? newestFirst)
  }
}

private struct PumpSessionsDocument: Encodable {
  let ok = true
  let sessions: [PumpSessionDocument]
  /// For `after` of the next page; null: there is none.
  @OrNull var next: Int64?
}

/// A session as the API shows it.
private struct PumpSessionDocument: Encodable {
  let number: Int64
  /// `2026-11-21T09:30:00Z`
  let start: String
  let seconds: Double
  @OrNull var startedBy: String?
  /// null: it goes on.
  @OrNull var end: String?
  @OrNull var endedBy: String?
  @OrNull var speedPercent: Double?
  @OrNull var waterFirstCelsius: Double?
  @OrNull var waterLastCelsius: Double?
  @OrNull var waterHighestCelsius: Double?
  @OrNull var skinFirstCelsius: Double?
  @OrNull var skinLastCelsius: Double?
  @OrNull var skinHighestCelsius: Double?

  init(_ session: PumpSession) {
    number = session.number
    start = WallTimeText.text(session.start)
    seconds = session.seconds
    _startedBy = OrNull(wrappedValue: session.startedBy)
    _end = OrNull(wrappedValue: session.end)
    _endedBy = OrNull(wrappedValue: session.endedBy)
    _speedPercent = OrNull(wrappedValue: session.speedPercent)
    _waterFirstCelsius = OrNull(wrappedValue: session.water.first)
    _waterLastCelsius = OrNull(wrappedValue: session.water.last)
    _waterHighestCelsius = OrNull(wrappedValue: session.water.highest)
    _skinFirstCelsius = OrNull(wrappedValue: session.skin.first)
    _skinLastCelsius = OrNull(wrappedValue: session.skin.last)
    _skinHighestCelsius = OrNull(wrappedValue: session.skin.highest)
  }
}
