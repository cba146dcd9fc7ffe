import Logging
import Service
import Store
import Synchronization
import Tactus
import TactusDaemon
import WallTime

/// The pump's temperatures and speed by the minute, stored when a minute is over and served at `/api/pump/history`.
///
/// A minute in which nothing was known of the pump has no row: a chart has a gap there.
///
/// All members except the routes must be called on one thread, which may wait for the disk and is not the daemon's main thread. Minutes that the store
/// rejects are retried a minute later; the newest 1,440 of them are kept meanwhile.
final class PumpReadings: Sendable {
  private struct State {
    /// The start of the minute in progress, or `nil` before the first tick.
    var minute: WallInstant?
    /// The minute in progress, or `nil` if nothing is known of it yet.
    var open: PumpSpan?
    /// Minutes that are over and that the store has not accepted yet, oldest first.
    var unstored: [PumpSpan] = []
    /// The instant at which the loop published the last sample.
    var sampled = TickInstant.zero
    var nextPrune = TickInstant.zero
    /// Whether the store's failure has been logged.
    var isFailureTold = false
  }

  private let store: PumpStore
  private let clock: WatchedWallClock
  private let logger: Logger
  private let state = Mutex(State())

  /// The largest number of minutes that wait while the store rejects writes.
  static let longestWait = 1_440
  private static let prunePeriod = Nanoseconds.seconds(3_600)

  init(_ store: PumpStore, clock: WatchedWallClock, logger: Logger) {
    (self.store, self.clock, self.logger) = (store, clock, logger)
  }

  /// Adds a sample to its minute, and stores the minute before if it is over. The function is to be called once a second.
  ///
  /// - Parameters:
  ///   - sample: the pump's values, or `nil` if nothing is known of the pump.
  ///   - isOn: whether the pump is on.
  ///   - published: when the loop published the values. Values that were published before the last sample are no new ones.
  ///   - now: the present instant.
  func tick(_ sample: PumpHistory.Sample?, isOn: Bool, published: TickInstant, at now: TickInstant) {
    state.withLock { state in
      let start = PumpSpan.start(of: wall)
      if state.minute != start {
        state.minute = start
        end(&state)
      }
      if published > state.sampled {
        state.sampled = published
        if let sample, let span = Self.span(sample, isOn: isOn, start: start) {
          if state.open == nil { state.open = span } else { state.open?.add(span) }
        }
      }
      prune(&state, at: now)
    }
  }

  /// Stores the minute in progress, after the loop has ended.
  func finish() {
    state.withLock { state in end(&state) }
  }

  private var wall: WallInstant { WallInstant(secondsSince1970: clock.now.secondsSince1970) }

  /// Returns the span of one sample, or `nil` if it tells nothing: the pump is off and nothing was measured.
  private static func span(_ sample: PumpHistory.Sample, isOn: Bool, start: WallInstant) -> PumpSpan? {
    guard isOn || sample.waterCelsius != nil || sample.skinCelsius != nil else { return nil }
    return PumpSpan(
      start: start, samples: 1, running: isOn ? 1 : 0, speed: isOn ? sample.speedPercent.map { PumpSpread($0) } : nil,
      water: sample.waterCelsius.map { PumpSpread($0) }, skin: sample.skinCelsius.map { PumpSpread($0) })
  }

  // MARK: the store

  /// Ends the minute in progress and stores what waits for the store.
  private func end(_ state: inout State) {
    if let open = state.open { state.unstored.append(open) }
    state.open = nil
    guard !state.unstored.isEmpty else { return }
    do throws(StoreError) {
      try store.add(state.unstored)
      state.unstored = []
      if state.isFailureTold { logger.notice("the store takes the pump's readings again") }
      state.isFailureTold = false
    } catch {
      state.unstored = Array(state.unstored.suffix(Self.longestWait))
      // The code that opens the store has already reported that it is not open.
      guard !state.isFailureTold, store.file.isOpen else { return }
      logger.error("the store does not take the pump's readings", metadata: ["reason": .string("\(error)")])
      state.isFailureTold = true
    }
  }

  private func prune(_ state: inout State, at now: TickInstant) {
    guard now >= state.nextPrune else { return }
    let reading = clock.now
    // Old entries are deleted by their age only if the wall clock is sure; until it is, the next attempt follows soon. The limit of their number
    // always holds.
    state.nextPrune = now + (reading.mayDelete ? Self.prunePeriod : .seconds(60))
    do throws(StoreError) {
      if reading.mayDelete { try store.pruneSpans(before: wall - PumpSpan.keptDays * 86_400) }
      try store.pruneSpans(beyond: PumpSpan.mostStored)
    } catch {
      // The next attempt follows; a store that takes nothing is reported by what it does not take.
    }
  }

  /// Returns the spans of a raster, oldest first: the stored ones together with those that wait for the store and the one in progress.
  private func spans(_ raster: PumpRaster, _ state: inout State) throws(StoreError) -> [PumpSpan] {
    var spans = try store.spans(raster)
    for waiting in state.unstored + (state.open.map { [$0] } ?? []) {
      guard raster.start <= waiting.start, waiting.start < raster.end else { continue }
      let start = raster.start(of: waiting.start)
      if let place = spans.lastIndex(where: { $0.start == start }) {
        spans[place].add(waiting)
      } else {
        var span = waiting
        span.start = start
        spans.append(span)
      }
    }
    return spans.sorted { $0.start < $1.start }
  }

  // MARK: routes

  var routes: [Route] {
    [Route(.get, "/api/pump/history") { [self] request in try history(request) }.waitingForDisk()]
  }

  private static let pointsUnlessAsked: Int64 = 200
  private static let secondsUnlessAsked: Int64 = 86_400

  private func history(_ request: APIRequest) throws(APIError) -> APIResponse {
    let query = try QueryReader(request.query, names: ["since", "until", "points"])
    let points = try query.integer("points", in: 1...2_000) ?? Self.pointsUnlessAsked
    // The default period ends one second from now, so that it includes the minute that has just begun.
    let span = try query.span(since: { $0 - Self.secondsUnlessAsked }, until: wall + 1)
    let raster = PumpRaster(from: span.lowerBound, until: span.upperBound, points: points)
    let rows = try stored { () throws(StoreError) -> [PumpSpan] in
      try self.state.withLock { state throws(StoreError) in try self.spans(raster, &state) }
    }
    return APIResponse(PumpHistoryAnswer(raster: raster, rows: rows))
  }
}

/// The pump's history in the form in which the API returns it.
private struct PumpHistoryAnswer: Answers {
  let raster: PumpRaster
  let rows: [PumpSpan]

  var since: String { WallTimeText.text(raster.start) }
  var until: String { WallTimeText.text(raster.end) }

  static var fields: [Field<PumpHistoryAnswer>] {
    Field("sinceISO", \.since, "From here.")
    Field("untilISO", \.until, "Until here, which is not in it.")
    Field("spanSec", \.raster.seconds, unit: .seconds, "How long the span of each row is.")
    Items("rows", \.rows, each: "row", "Oldest first; a span in which nothing is known of the pump has none.") {
      Field("startISO", \.startText, "When the span begins.")
      Field("samples", \.samples, "Samples in it.")
      Field("runningSamples", \.running, "Those of them in which the pump was on.")
      Field("speedPercent", \.meanSpeed, "The mean while it was on; null: not known, or it was off.")
      Field("waterLeastCelsius", \.waterLeast, "The lowest; null: nothing was measured.")
      Field("waterMeanCelsius", \.waterMean, "The mean.")
      Field("waterHighestCelsius", \.waterHighest, "The highest.")
      Field("skinLeastCelsius", \.skinLeast, "The lowest; null: nothing was measured.")
      Field("skinMeanCelsius", \.skinMean, "The mean.")
      Field("skinHighestCelsius", \.skinHighest, "The highest.")
    }
  }
}

extension PumpSpan {
  fileprivate var startText: String { WallTimeText.text(start) }
  fileprivate var meanSpeed: Double? { Self.tenths(speed?.mean) }
  fileprivate var waterLeast: Double? { Self.tenths(water?.least) }
  fileprivate var waterMean: Double? { Self.tenths(water?.mean) }
  fileprivate var waterHighest: Double? { Self.tenths(water?.highest) }
  fileprivate var skinLeast: Double? { Self.tenths(skin?.least) }
  fileprivate var skinMean: Double? { Self.tenths(skin?.mean) }
  fileprivate var skinHighest: Double? { Self.tenths(skin?.highest) }

  private static func tenths(_ number: Double?) -> Double? { number.map { ($0 * 10).rounded() / 10 } }
}
