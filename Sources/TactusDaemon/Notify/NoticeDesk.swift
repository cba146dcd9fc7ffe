@_spi(FromOutside) import Conversions
import Dispatch
import Foundation
import Logging
import Service
import Synchronization
import Tactus
import WallTime
import Wire

/// Notifies people of conditions that begin, last and end. It works on its own threads: the main thread only wakes it
/// once a second and adds events to a bounded list; control loops never call it.
///
/// Each receiver has its own queue, so that one that does not answer delays no other. A message is on the disk before
/// it is sent; after a crash it may therefore be sent twice, but it is not lost.
final class NoticeDesk: Sendable {
  /// The parts of the program from which the desk derives its messages.
  struct Sources: Sendable {
    var systems: [any ServedSystem]
    /// The sentences of each system's notices that are trouble, by the system's name and the notice's word.
    var troubleWords: [String: [String: String]]
    var troubles: @Sendable () -> [ServiceTrouble]
    var clock: WatchedWallClock
  }

  private let sources: Sources
  private let state: Mutex<NoticeDeskState>
  let receivers: [NotifyReceiver]
  private let file: NoticeFile?
  private let zone: ZoneRules
  private let host: String
  private let logger: Logger
  /// The first part of the identifications of this run's messages, random for each start.
  private let prefix = String(UInt64.random(in: .min ... .max), radix: 36)
  private let desk = DispatchQueue(label: "tactus.notices")
  private let senders: [String: DispatchQueue]
  private let boot = BootClock.boot
  private let isLooking = Atomic(false)
  private let lastLook = Mutex(TickInstant.zero)
  private let heard = Mutex<(events: [NoticeCondition], lost: Int)>(([], 0))
  private let stalled = Mutex<Set<String>>([])

  /// The greatest number of occurrences that wait for the desk.
  private static let mostHeard = 100
  static let mostRecent = 100

  /// Reads the state that an earlier program has left. Nothing is sent before the first beat.
  ///
  /// - Parameter zone: the time zone of the machine, for quiet hours unless `notify` names one.
  init(_ notify: Configuration.Notify, path: String?, sources: Sources, zone: ZoneRules, logger: Logger) {
    (self.sources, self.logger) = (sources, logger)
    receivers = notify.receivers
    file = path.map { NoticeFile(path: $0) }
    self.zone = notify.timeZone.flatMap { try? ZoneRules(identifier: $0) } ?? zone
    let name = HostRules.machineName.prefix { $0 != "." }
    host = name.isEmpty ? DaemonProgram.current.name : String(name)
    senders = Dictionary(
      uniqueKeysWithValues: notify.receivers.map { ($0.name, DispatchQueue(label: "tactus.notices.\($0.name)")) })
    let now = BootClock.now
    let (found, failure) = file?.read() ?? (NoticeFile.Contents(), nil)
    let (contents, end) = NoticeFile.adopted(found, boot: boot, now: now)
    var machine = NoticeMachine(notify.noticeRules, kept: contents.machine, start: now)
    if let occurrence = NoticeCondition.start(after: end) { machine.happened(occurrence, at: now) }
    var outbox = NoticeOutbox(contents.outbox, keepSeconds: Int64(notify.keepHours) * 3600)
    outbox.keepOnly(Set(notify.receivers.map(\.name)))
    state = Mutex(NoticeDeskState(machine: machine, outbox: outbox, contents: contents, fileFailure: failure))
    if let failure { logger.warning("what had been said is unknown", metadata: ["reason": .string(failure)]) }
  }

  // MARK: the main thread's

  /// Determines the due messages on the desk's thread, at most once a second, unless that is in progress. Does not
  /// block.
  func beat(at now: TickInstant) {
    let isDue = lastLook.withLock { last in
      guard last == .zero || now - last >= .seconds(1) else { return false }
      last = now
      return true
    }
    guard isDue, isLooking.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged else { return }
    desk.async { [self] in
      check()
      isLooking.store(false, ordering: .relaxed)
    }
  }

  /// Queues the events that are trouble; other events are ignored.
  func hear(_ events: [Event]) {
    let found = events.compactMap { NoticeFacts.occurrence($0) }
    guard !found.isEmpty else { return }
    heard.withLock { heard in
      let room = max(0, Self.mostHeard - heard.events.count)
      heard.events += found.prefix(room)
      heard.lost += max(0, found.count - room)
    }
  }

  func setStalled(_ isStalled: Bool, loop: String) {
    stalled.withLock { stalled in
      if isStalled { stalled.insert(loop) } else { stalled.remove(loop) }
    }
  }

  /// Ends the work: nothing more is sent, and the file notes that the stop was orderly.
  func stop() {
    desk.sync {
      state.withLock { $0.isStopping = true }
      save(isRunning: false)
    }
  }

  /// Returns the change of the rules that a reloaded file makes, or `nil` if they stay the same.
  func change(from old: TakenFile, to file: TakenFile) -> (any RulesChange)? {
    let keys = old.changedKeys(in: file).filter { $0.hasPrefix("notify.rules") }
    guard let new = file.configuration.notify, !keys.isEmpty || old.configuration.notify?.rules != new.rules else {
      return nil
    }
    let changes = keys.map { KeyChange($0, from: old.value($0), to: file.value($0)) }
    return DeskChange(of: "notify", changes) { [self] done in
      state.withLock { $0.machine.rules.rules = new.rules }
      done()
    }
  }

  /// Calls `body` with the present state, on any thread, and returns its result.
  func withState<Value>(_ body: (NoticeDeskState) -> Value) -> Value { state.withLock { body($0) } }

  // MARK: the desk's

  private func check() {
    let present = conditions()
    let now = BootClock.now
    let reading = sources.clock.now
    let minute = reading.isConfirmed ? minuteOfDay(reading.secondsSince1970) : nil
    let events = heard.withLock { heard in
      defer { heard = ([], 0) }
      return heard
    }
    if events.lost > 0 {
      logger.warning(
        "occurrences were not said: too many at once", metadata: ["count": .stringConvertible(events.lost)])
    }
    let due = state.withLock { state in
      guard !state.isStopping else { return [NoticeMessage]() }
      for event in events.events { state.machine.happened(event, at: now) }
      for notice in state.machine.step(present, at: NoticeMoment(at: now, minuteOfDay: minute)) {
        state.nextNumber += 1
        let message = NoticeMessage(
          id: "\(prefix)-\(state.nextNumber)", receiver: notice.receiver, stage: notice.stage,
          condition: notice.condition, seconds: notice.seconds, times: notice.times, missing: notice.unsaid,
          timeISO: reading.isConfirmed
            ? WallTimeText.text(WallInstant(secondsSince1970: reading.secondsSince1970)) : nil, host: host)
        state.outbox.add(message, at: now)
        state.note(message)
      }
      return state.outbox.beginSending(at: now)
    }
    // The state is on the disk before a message is sent.
    save(isRunning: true)
    for message in due { send(message) }
  }

  private func conditions() -> [NoticeCondition] {
    let throttled = Self.throttled()
    let ofDaemon = NoticeFacts.conditions(
      stalled: stalled.withLock { $0.sorted() }, troubles: sources.troubles(),
      isClockConfirmed: sources.clock.now.isConfirmed, throttled: throttled)
    return sources.systems.reduce(into: ofDaemon) { found, system in
      guard let document = JSONValue(json: system.state) else { return }
      found += NoticeFacts.conditions(
        of: NoticeFacts.System(
          name: system.name, state: document, isEmergencyStopped: system.isEmergencyStopped,
          troubleWords: sources.troubleWords[system.name] ?? [:]))
    }
  }

  /// Returns the bits of the Raspberry Pi's firmware, or `nil` if the machine does not report them.
  private static func throttled() -> Int? {
    guard let bytes = try? readWhole("/sys/devices/platform/soc/soc:firmware/get_throttled") else { return nil }
    return Int(String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines), radix: 16)
  }

  private func minuteOfDay(_ seconds: Int64) -> Int {
    let offset = zone.offsetSeconds(at: WallInstant(secondsSince1970: seconds))
    let local = seconds &+ Int64(offset)
    return Int(((local % 86_400) + 86_400) % 86_400 / 60)
  }

  private func send(_ message: NoticeMessage) {
    guard let receiver = receivers.first(where: { $0.name == message.receiver }), let queue = senders[receiver.name]
    else { return }
    queue.async { [self] in
      let outcome = NoticeSender(receiver: receiver).send(message)
      desk.async { [self] in finish(message, outcome) }
    }
  }

  private func finish(_ message: NoticeMessage, _ outcome: NoticeOutcome) {
    let isNews = state.withLock { state in
      state.outbox.finished(message, outcome, at: BootClock.now)
      return state.took(message, outcome)
    }
    if isNews {
      let metadata: Logger.Metadata = ["receiver": .string(message.receiver), "answer": .string(outcome.words)]
      if case .sent = outcome {
        logger.notice("messages are delivered again", metadata: metadata)
      } else {
        logger.warning("a message could not be delivered", metadata: metadata)
      }
    }
    if !state.withLock({ $0.isStopping }) { save(isRunning: true) }
  }

  /// Writes the state of the messages to its file if anything has changed.
  private func save(isRunning: Bool) {
    guard let file else { return }
    guard var contents = state.withLock({ $0.unsaved(isRunning: isRunning) }) else { return }
    (contents.boot, contents.savedAt) = (boot, BootClock.now.seconds)
    let failure = file.write(contents)
    let isNews = state.withLock { state in
      defer { state.fileFailure = failure }
      if failure != nil { state.mustSave = true }
      return (failure == nil) != (state.fileFailure == nil)
    }
    guard isNews else { return }
    if let failure {
      logger.error("what is said cannot be kept over a restart", metadata: ["reason": .string(failure)])
    } else {
      logger.notice("what is said is kept again")
    }
  }
}
