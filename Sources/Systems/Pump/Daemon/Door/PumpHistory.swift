@_spi(FromOutside) import Conversions
import Foundation
import Logging
import Pump
import Service
import Store
import Synchronization
import Tactus
import TactusDaemon
import WallTime

/// The pump's sessions, stored while they are in progress and served at `/api/pump/sessions`.
///
/// All members except the routes must be called on one thread, which may wait for the disk and is not the daemon's main thread. A failing store loses
/// no session while this object exists: rejected writes are retried.
final class PumpHistory: Sendable {
  /// The pump's values at one moment; each is `nil` if it is not known.
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
    /// The session in progress, or `nil` while the pump rests.
    var open: PumpSession?
    var since = TickInstant.zero
    /// The total of the wall clock's jumps up to the moment when the start of `open` was set.
    var jumped = Nanoseconds.zero
    /// The sum of the speed's samples.
    var speeds = 0.0
    /// The number of the speed's samples.
    var samples = 0
    var kept = TickInstant.zero
    /// Sessions that have ended but that the store has not accepted yet.
    var unstored: [PumpSession] = []
    var nextPrune = TickInstant.zero
    var failure: String?
    /// Whether the failure has been logged.
    var isFailureTold = false
    /// Whether the sessions that an earlier process left open have been ended.
    var hasEndedOpen = false
  }

  private let store: PumpStore
  private let keepsDays: Int
  private let lastEnd: @Sendable () throws(StoreError) -> String
  private let zone: ZoneRules
  private let clock: WatchedWallClock
  private let logger: Logger
  private let state = Mutex(State())

  /// The period at which the progress of a session is stored, to limit the loss in a power cut.
  private static let progressPeriod = Nanoseconds.seconds(10)
  private static let prunePeriod = Nanoseconds.seconds(3_600)

  /// Ends the sessions that an earlier process left open, as soon as the store is available.
  ///
  /// - Parameters:
  ///   - keepsDays: the number of days after which sessions are deleted, once the wall clock is confirmed.
  ///   - lastEnd: returns how the earlier process ended; called when that is to be stored.
  ///   - zone: the time zone of the CSV file's times.
  ///   - clock: the wall clock.
  init(
    _ store: PumpStore, keepsDays: Int, lastEnd: @escaping @Sendable () throws(StoreError) -> String = { "power-cut" },
    zone: ZoneRules, clock: WatchedWallClock, logger: Logger
  ) {
    self.store = store
    self.keepsDays = keepsDays
    self.lastEnd = lastEnd
    self.zone = zone
    self.clock = clock
    self.logger = logger
    state.withLock { state in _ = attempt(&state) { () throws(StoreError) in } }
  }

  // MARK: sessions

  /// Handles a new state of the operator side. Returns the event about the session for the subscribers, or `nil` if there is none.
  func record(
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

  /// Handles a new state of the device side. Returns the event about the session for the subscribers, or `nil` if there is none.
  func record(
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

  /// Adds a sample to the session in progress. The function is to be called once a second.
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

  /// Retries the rejected writes after the loop has ended and its last notices have been handled.
  func finish() { state.withLock { retry(&$0) } }

  private func begin(by source: PumpControlSource?, at now: TickInstant, _ sample: Sample) -> Event? {
    state.withLock { state in
      guard state.open == nil else { return nil }
      let reading = clock.now
      state.open = PumpSession(start: Self.instant(reading), startedBy: source.map { "\($0)" })
      state.jumped = reading.jumped
      (state.since, state.speeds, state.samples) = (now, 0, 0)
      // The first sample has no speed, because the pump has not accepted one yet.
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
    Event(.edge, type: "pump.session", system: "pump", at: now, body: PumpSession.document.json(session))
  }

  private static func instant(_ reading: WallReading) -> WallInstant {
    WallInstant(secondsSince1970: reading.secondsSince1970)
  }

  /// Adjusts the start of the session in progress when the wall clock has been set.
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
    state.open?.water.add(sample.waterCelsius)
    state.open?.skin.add(sample.skinCelsius)
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
    // Old entries are deleted by age only while the wall clock is trusted; otherwise the next attempt follows soon.
    // Entries beyond the limit of their number are deleted in any case.
    state.nextPrune = now + (reading.mayDelete ? Self.prunePeriod : .seconds(60))
    _ = attempt(&state) { () throws(StoreError) in
      if reading.mayDelete { try self.store.prune(before: Self.instant(reading) - Int64(self.keepsDays) * 86_400) }
      try self.store.prune(beyond: PumpStore.mostSessions)
    }
  }

  /// Returns the result of `work`, or `nil` if the store rejected it; only the first rejection is logged.
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
      // The code that opens the store has already reported that it is not open.
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
      Route(.put, "/api/pump/sessions/{number}", scope: .control, action: "pump.note") { [self] request in
        try note(request)
      }.waitingForDisk(),
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
    return APIResponse(PumpSessions(page: page))
  }

  private func csv(_ request: APIRequest) throws -> APIResponse {
    let query = try QueryReader(request.query, names: Self.names)
    // A failing store is reported before the first piece of the file is sent; afterwards an error status is impossible.
    try stored { () throws(StoreError) in try self.store.file.requireOpen() }
    return .csv(
      store.sessionsCSV(try self.query(query, newestFirst: false), zone: zone), file: "pump-sessions.csv")
  }

  private func note(_ request: APIRequest) throws(APIError) -> APIResponse {
    let text = request.parameters["number"] ?? ""
    let body = try request.decode(NoteBody.self)
    let session = try stored { () throws(StoreError) -> PumpSession? in
      guard let number = Int64(text), number > 0 else { return nil }
      return try self.store.keep(note: body.note, of: number)
    }
    guard let session else { throw .notFound("no session \(text.prefix(20)); GET /api/pump/sessions lists them") }
    return APIResponse(NotedSession(session: session), logValue: "session=\(session.number)")
  }

  private func query(_ query: QueryReader, newestFirst: Bool) throws(APIError) -> PumpSessionQuery {
    PumpSessionQuery(
      since: try query.instant("since"), until: try query.instant("until"),
      newestFirst: try query.word("order", among: ["newest", "oldest"]).map { $0 == "newest" } ?? newestFirst)
  }
}

/// A page of sessions in the form in which the API returns it.
private struct PumpSessions: Answers {
  let page: PumpSessionPage

  static var fields: [Field<PumpSessions>] {
    Items("sessions", \.page.sessions, numbered: "number", labels: [:], "In the order that was asked for.") {
      PumpSession.fields
    }
    Field("next", \.page.next, "For `after` of the next page; null: there is none.")
  }
}

/// The body of `PUT /api/pump/sessions/{number}`; a note that is null or missing is removed.
private struct NoteBody: JSONReadable {
  let note: String?

  init(_ body: inout JSONReader) throws(APIError) {
    note = try body.optional("note", .name(1...PumpSession.longestNote))
  }
}

/// A session in the form in which the API returns it after a change.
private struct NotedSession: Answers {
  let session: PumpSession

  static var fields: [Field<NotedSession>] { Field.part(\.session, PumpSession.fields) }
}

extension PumpSession {
  fileprivate static let document = StateDocument(of: "pump", fields)
  private var startText: String { WallTimeText.text(start) }

  /// The fields of a session in the API.
  @DeclarationBuilder<Field<PumpSession>> fileprivate static var fields: [Field<PumpSession>] {
    Field("number", \.number, "From 1.")
    Field("start", \.startText, "2026-11-21T09:30:00Z")
    Field("seconds", \.seconds, "Pumped.")
    Field("startedBy", \.startedBy, "app, manual, device, host.")
    Field("end", \.end, "null: it goes on.")
    Field("endedBy", \.endedBy, "app, manual, device, host.")
    Field("speedPercent", \.speedPercent, "The mean.")
    temperatures("water", \.water)
    temperatures("skin", \.skin)
    Field("note", \.note, "What a person wrote about it; null: nothing.")
  }

  private static func temperatures(
    _ sensor: String, _ path: KeyPath<PumpSession, Range> & Sendable
  ) -> [Field<PumpSession>] {
    Field.part(
      path,
      [
        Field("\(sensor)FirstCelsius", \.first, "The first one."),
        Field("\(sensor)LastCelsius", \.last, "The last one."),
        Field("\(sensor)HighestCelsius", \.highest, "The highest one."),
      ])
  }
}
