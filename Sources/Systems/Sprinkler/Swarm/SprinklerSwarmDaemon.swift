import Service
import Sprinkler
import SprinklerDaemon
import Tactus
import TactusDaemon
import WallTime

/// The part that dies with the process: the valves' loop, the schedule in memory, and the messages between them. Does the work of `SprinklerDesk`
/// without its threads, in the same sequence: the store, then the answer, then the orders.
final class SprinklerSwarmDaemon {
  private static let beatPeriod = Nanoseconds.milliseconds(100)
  private static let progressPeriod = Nanoseconds.seconds(10)

  let runtime: Runtime
  let simulation: Simulation
  let mailbox: SprinklerMailbox
  var nextBeat: TickInstant
  private var nextProgress = TickInstant.zero
  private let client: SprinklerMailbox.Client
  private let bell: SimulatedInput
  private var schedule: StoredSchedule
  /// The number of the newest order.
  private(set) var number: UInt64 = 0
  /// The orders that the loop has not answered, by number.
  private var sent: [UInt64: SprinklerOrder] = [:]
  private var answered: [UInt64] = []
  private var watch = WallWatch()

  init(
    runtime: Runtime, simulation: Simulation, mailbox: SprinklerMailbox, bell: SimulatedInput,
    schedule: StoredSchedule, at now: TickInstant
  ) {
    (self.runtime, self.simulation, self.mailbox, self.bell) = (runtime, simulation, mailbox, bell)
    self.schedule = schedule
    client = mailbox.client()
    nextBeat = now
  }

  /// Handles the loop's notices and answers, then starts due programs. Called ten times a second.
  func beat(at now: TickInstant, _ wallAtZero: WallInstant) {
    nextBeat = now + Self.beatPeriod
    listen(at: now)
    let reading = reading(at: now, wallAtZero)
    do throws(APIError) {
      if let effects = try schedule.start(reading) { order(effects, at: now) }
      for effects in schedule.catchUp(reading) { order(effects, at: now) }
      if schedule.takeCaughtUp() { nextProgress = now }
      order(try schedule.step(.timePassed, reading), at: now)
      guard now >= nextProgress else { return }
      let progress = newest.progress(of: schedule.records.pending, at: now)
      if !progress.isEmpty { order(try schedule.step(.progress(progress), reading), at: now) }
      nextProgress = now + Self.progressPeriod
    } catch {
      // If the store refuses, the next beat tries again.
    }
  }

  private func listen(at now: TickInstant) {
    while let notice = client.nextNotice()?.notice {
      if notice.isOfState { nextProgress = now }
      if let event = notice.event { schedule.remember([event]) }
    }
    while let answer = client.nextAnswer() {
      answered.append(answer.number)
      guard case .run(let run, _)? = sent.removeValue(forKey: answer.number) else { continue }
      if case .refused(let refusal) = answer.verdict { schedule.remember([.refused(run: run.id, refusal)]) }
    }
  }

  /// Handles the last notices after the loop has stopped. Returns the store's knowledge of how the runs ended.
  func finish(at now: TickInstant, _ wallAtZero: WallInstant) -> KeptOutcome {
    listen(at: now)
    _ = schedule.catchUp(reading(at: now, wallAtZero))
    return schedule.outcome
  }

  /// Steps the schedule. Returns the effects, or `nil` if the schedule or its store refuses.
  func step(_ event: SprinklerEvent, at now: TickInstant, _ wallAtZero: WallInstant) -> SprinklerEffects? {
    do throws(APIError) {
      let reading = reading(at: now, wallAtZero)
      if let effects = try schedule.start(reading) { order(effects, at: now) }
      let effects = try schedule.step(event, reading)
      order(effects, at: now)
      return effects
    } catch {
      return nil
    }
  }

  private func order(_ effects: SprinklerEffects, at now: TickInstant) {
    for order in effects.orders { _ = send(order, at: now) }
  }

  /// Sends an order. Returns the request's number, or `nil` if the loop's mailbox is full.
  func send(_ order: SprinklerOrder, at now: TickInstant) -> UInt64? {
    guard client.send(SprinklerRequest(number: number + 1, issued: now, order)) else { return nil }
    number += 1
    sent[number] = order
    bell.ring(at: now)
    return number
  }

  /// The snapshot that the valves' loop published last.
  var newest: SprinklerSnapshot { client.newest().state }

  /// Returns the numbers of the requests that have been answered since the last call.
  func takeAnswered() -> [UInt64] {
    defer { answered = [] }
    return answered
  }

  private func reading(at now: TickInstant, _ wallAtZero: WallInstant) -> WallReading {
    watch.read(
      WallWatch.Sample(
        microseconds: wallAtZero.secondsSince1970 * 1_000_000 + now.nanoseconds / 1_000, bootTime: now,
        isSynchronised: true))
  }
}
