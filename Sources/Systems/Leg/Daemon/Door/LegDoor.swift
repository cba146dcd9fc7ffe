import Leg
import Service
import Synchronization
import Tactus
import Wire

/// The legs behind the door: `/api/leg`, their events, LegCtrl frames in binary frames.
///
/// Reads the loop's snapshots and sends it requests; a command is answered when the loop has taken it, with the loop's own
/// verdict.
final class LegDoor: ServedSystem {
  let name = "leg"
  let legs: [LegDescription]
  let snapshot: Latest<LegSnapshot>
  let mailbox: LegMailbox
  let links = LegLinks()
  /// Clamped pulses of each leg that telemetry frames have told of.
  private let told: Mutex<[Int64]>

  /// - Parameters:
  ///   - legs: in the loop's order.
  ///   - channel: of the legs' loop.
  ///   - ring: wakes that loop. Any thread.
  ///   - now: that loop's clock. Any thread.
  init(
    _ legs: [LegDescription], channel: LegLoop.Channel, ring: @escaping @Sendable () -> Void,
    now: @escaping @Sendable () -> TickInstant = { MonotonicClock.now }
  ) {
    self.legs = legs
    snapshot = channel.state
    told = Mutex(Array(repeating: 0, count: legs.count))
    mailbox = LegMailbox(
      of: "leg", channel, newestTick: { channel.state.newest.at }, ring: ring, now: now)
  }

  /// Hands the loop's answers to those who wait. To be called when the loop has rung; `events` does it, too.
  func takeAnswers(at now: TickInstant) { mailbox.takeAnswers(at: now) }

  // MARK: state and events

  var version: UInt64 { snapshot.version.read() }

  var state: [UInt8] { encodeJSON(document()) }

  var newest: LegSnapshot {
    var reader = snapshot.reader()
    return reader.read()
  }

  /// `isEvent`: without the time, which an event carries itself.
  func document(isEvent: Bool = false, ok: Bool? = nil) -> LegsDocument {
    let newest = newest
    return LegsDocument(
      ok: ok, monotonicNs: isEvent ? nil : newest.at.nanoseconds, state: newest.worst,
      legs: legs.indices.map {
        LegDocument(
          newest[$0], at: newest.at, index: $0, description: legs[$0], links: linkDocuments(of: $0, in: newest),
          sender: links.sender(leg: $0))
      },
      chip: .init(newest.servos), battery: .init(newest.battery))
  }

  /// `0`, `1`, …: each leg.
  var parts: [StatePart] { document().legs.enumerated().map { StatePart("\($0)", json: $1) } }

  func events(at now: TickInstant, second: Bool) -> [Event] {
    takeAnswers(at: now)
    let at = newest.at
    let kind = second ? Event.Kind.state : .telemetry
    return [Event(kind, type: "leg", system: name, at: at, json: document(isEvent: true))] + frames()
  }

  /// The legs' newest telemetry for every client that speaks LegCtrl.
  private func frames() -> [Event] {
    let listeners = links.takeListeners()
    guard !listeners.isEmpty else { return [] }
    let newest = newest
    let frames = told.withLock { told in
      legs.indices.map { index in
        var telemetry = newest[index].telemetry
        // The loop says so in one frame only, which this beat may not have seen.
        if newest[index].clamped != told[index], telemetry.error == .none { telemetry.error = .invalidCommand }
        told[index] = newest[index].clamped
        return telemetry.bytes
      }
    }
    return listeners.map { client, leg, isPrefixed in
      Event(
        .frame(client: client), type: "leg.\(leg)", system: name, at: newest.at,
        body: isPrefixed ? [0x80 | UInt8(clamping: leg)] + frames[leg] : frames[leg])
    }
  }

  /// A change that the loop has told of.
  func edge(_ notice: LegNotice) -> Event {
    switch notice.subject {
    case .state(let leg, let state):
      let document = LegStateDocument(state, index: leg, name: legs[leg].name)
      return Event(.edge, type: "leg", system: name, at: notice.at, json: document)
    case .chipFails(let failure):
      return Event(.edge, type: "leg.chip", system: name, at: notice.at, json: ChipDocument(failure: "\(failure)"))
    case .chipAnswers:
      return Event(.edge, type: "leg.chip", system: name, at: notice.at, json: ChipDocument(failure: nil))
    case .batterySilent(let failure):
      return Event(.edge, type: "leg.battery", system: name, at: notice.at, json: ChipDocument(failure: "\(failure)"))
    case .batteryAnswers:
      return Event(.edge, type: "leg.battery", system: name, at: notice.at, json: ChipDocument(failure: nil))
    }
  }

  // MARK: commands

  /// Of one leg or more.
  var isEmergencyStopped: Bool {
    let newest = newest
    return legs.indices.contains { index in
      if case .emergencyStopped = newest[index].state { true } else { false }
    }
  }

  func holdEmergencyStop() { mailbox.send(.emergencyStop, to: .all) { _ in } }

  func emergencyStop(_ caller: Caller) async throws {
    _ = try accepted(try await mailbox.ask(.emergencyStop, of: .all))
  }

  /// Nothing to reset is no error here: what was asked for is so. One leg that cannot be does not keep the others from it.
  func reset(_ caller: Caller) async throws {
    var failure: (any Error)?
    for index in legs.indices {
      do {
        let answer = try await mailbox.ask(.reset, of: .leg(index))
        if answer.verdict != .ignored(.nothingToReset) { _ = try accepted(answer) }
      } catch {
        failure = failure ?? error
      }
    }
    if let failure { throw failure }
  }

  /// Throws the refusal when the loop refused.
  func accepted(_ answer: LegAnswer) throws(APIError) -> LegAnswer {
    if case .ignored(let reason) = answer.verdict { throw reason.error(leg: answer.leg, in: newest[answer.leg].state) }
    return answer
  }

  func noSuchLeg(_ index: String) -> APIError {
    .notFound("no leg \(index.prefix(20)); there is 0…\(legs.count - 1)")
  }
}

/// Whether the chip, or the battery's sensor, answers.
private struct ChipDocument: Encodable {
  /// Null: it answers again.
  @OrNull var failure: String?

  init(failure: String?) { _failure = OrNull(wrappedValue: failure) }
}

extension LegSnapshot {
  /// What the legs are as a whole: the first of these that one of them is.
  fileprivate var worst: String {
    let words = Set((0..<count).map { self[$0].state.word })
    return ["shutDown", "emergencyStopped", "fault", "armed"].first { words.contains($0) } ?? "disarmed"
  }
}

extension LegTelemetry {
  fileprivate var bytes: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Self.encodedLength) { buffer, count in
      count = encode(into: UnsafeMutableRawBufferPointer(buffer))
    }
  }
}
