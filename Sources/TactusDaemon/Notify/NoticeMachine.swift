import Tactus

/// The stage of a condition that a message reports.
enum NoticeStage: String, Sendable, Codable {
  case begins, stillSo, comesAndGoes, over
  /// An occurrence, which has no end.
  case happened
}

/// A message that is due for one receiver.
struct DueNotice: Sendable, Equatable {
  var receiver: String
  var stage: NoticeStage
  var condition: NoticeCondition
  /// The time since the condition began; for `over` the time for which it lasted.
  var seconds: Int64
  /// The number of times that the condition began, for `comesAndGoes` and for an `over` after it.
  var times: Int
  /// The number of conditions of which the receiver was never notified, because its limit of messages in an hour was
  /// reached.
  var unsaid: Int
}

/// The instant of a step, on the boot's clock and as a time of day.
struct NoticeMoment: Sendable {
  /// The instant on the boot's clock, which no change of the time of day moves.
  var at: TickInstant
  /// The minute of the local day, or `nil` while the time of day is not confirmed: nothing is quiet then.
  var minuteOfDay: Int?
}

/// Decides which messages are due for which receivers: one when a condition begins, further ones while it lasts, and
/// one when it is over.
///
/// The conditions present are passed in at each step. A receiver to which quiet hours or its limit prevent a message
/// gets it later if the condition still lasts then. A condition that comes and goes is reported once, with the number
/// of its beginnings, and is over when it has been absent for `flapSeconds`.
struct NoticeMachine: Sendable {
  /// A condition with the record of the messages about it.
  struct Tracked: Sendable, Codable, Equatable {
    var condition: NoticeCondition
    var isOccurrence = false
    /// Whether the condition was present in the last step.
    var isPresent = true
    /// The instant at which `isPresent` last changed, in seconds.
    var changed: Int64
    /// The instant at which the condition began.
    var began: Int64
    /// Whether the condition counts as present: it has lasted long enough, and has not been absent for long enough
    /// since.
    var isOn = false
    /// The instants of the last beginnings.
    var beginnings: [Int64] = []
    /// The number of beginnings since the condition has been coming and going, or 0 if it is steady.
    var flaps = 0
    /// The receivers that were notified of the condition, each with the instant of its last message.
    var told: [String: Int64] = [:]
    /// The receivers that were notified that the condition comes and goes.
    var toldFlaps: Set<String> = []
    /// The receivers that were not notified because of the limit.
    var limited: Set<String> = []
  }

  /// The state of the machine that is kept over a restart of the program.
  struct Kept: Sendable, Codable, Equatable {
    var tracked: [Tracked] = []
    /// The instants of the last hour's messages, by receiver.
    var sent: [String: [Int64]] = [:]
    var unsaid: [String: Int] = [:]
  }

  static let releaseSeconds: Int64 = 10
  static let flapSeconds: Int64 = 600
  static let flapBeginnings = 3
  /// The time in seconds after a start in which no condition from before the start counts as over, because the systems
  /// are still starting.
  static let graceSeconds: Int64 = 60
  static let occurrenceSeconds: Int64 = 86_400
  /// The greatest number of conditions that are tracked.
  static let most = 600

  var rules: NoticeRules
  private(set) var kept: Kept
  private let graceEnd: Int64
  /// The number of conditions that were not tracked, because there were too many.
  private(set) var overflow = 0

  /// Creates a machine that continues from the state of an earlier run.
  ///
  /// - Parameters:
  ///   - kept: the state that an earlier run of the program left, with its instants on the clock of this boot.
  ///   - start: the instant of the program's start.
  init(_ rules: NoticeRules, kept: Kept = Kept(), start: TickInstant) {
    (self.rules, self.kept) = (rules, kept)
    graceEnd = kept.tracked.isEmpty ? .min : Self.later(start.seconds, Self.graceSeconds)
  }

  /// The conditions that are on, the most severe first; occurrences are not among them.
  var active: [Tracked] { Self.sorted(kept.tracked.filter { $0.isOn && !$0.isOccurrence }) }

  /// Adds an occurrence. An occurrence whose identification is tracked already is ignored.
  mutating func happened(_ occurrence: NoticeCondition, at now: TickInstant) {
    guard !kept.tracked.contains(where: { $0.isOccurrence && $0.condition.id == occurrence.id }) else { return }
    add(Tracked(condition: occurrence, isOccurrence: true, changed: now.seconds, began: now.seconds, isOn: true))
  }

  /// Takes the conditions that are present, and returns the messages that are due. The returned messages count as sent.
  mutating func step(_ present: [NoticeCondition], at moment: NoticeMoment) -> [DueNotice] {
    let now = moment.at.seconds
    observe(present, now)
    for index in kept.tracked.indices { settle(&kept.tracked[index], now) }
    prune(now)
    var due: [DueNotice] = []
    let order = Self.sorted(kept.tracked).map(\.condition.id)
    for receiver in rules.receivers.keys.sorted() {
      for id in order {
        guard let index = kept.tracked.firstIndex(where: { $0.condition.id == id }) else { continue }
        if let notice = next(index, receiver, moment, now) { due.append(notice) }
      }
    }
    forget(now)
    return due
  }

  private mutating func observe(_ present: [NoticeCondition], _ now: Int64) {
    for condition in present {
      if let index = kept.tracked.firstIndex(where: { $0.condition.id == condition.id && !$0.isOccurrence }) {
        // Texts with numbers change all the time; a reported text stays as it was reported.
        let isSaid = kept.tracked[index].isOn && kept.tracked[index].condition.severity == condition.severity
        if !isSaid { kept.tracked[index].condition = condition }
        guard !kept.tracked[index].isPresent else { continue }
        kept.tracked[index].isPresent = true
        kept.tracked[index].changed = now
        begin(&kept.tracked[index], now)
      } else {
        var new = Tracked(condition: condition, changed: now, began: now)
        begin(&new, now)
        add(new)
      }
    }
    let ids = Set(present.map(\.id))
    for index in kept.tracked.indices {
      let one = kept.tracked[index]
      guard one.isPresent, !one.isOccurrence, !ids.contains(one.condition.id), now >= graceEnd else { continue }
      kept.tracked[index].isPresent = false
      kept.tracked[index].changed = now
    }
  }

  private func begin(_ one: inout Tracked, _ now: Int64) {
    if !one.isOn, one.flaps == 0 { one.began = now }
    one.beginnings = one.beginnings.filter { now - $0 < Self.flapSeconds } + [now]
    if one.flaps > 0 {
      one.flaps += 1
      one.isOn = true
    } else if one.beginnings.count >= Self.flapBeginnings {
      one.flaps = one.beginnings.count
      one.began = one.beginnings[0]
      one.isOn = true
    }
    one.beginnings = Array(one.beginnings.suffix(Self.flapBeginnings))
  }

  /// Updates whether a condition is on, and whether it has stopped coming and going.
  private func settle(_ one: inout Tracked, _ now: Int64) {
    guard !one.isOccurrence else { return }
    let steady = now - one.changed
    if one.flaps > 0 {
      guard steady >= Self.flapSeconds else { return }
      if one.isPresent { (one.flaps, one.toldFlaps) = (0, []) } else { one.isOn = false }
    } else if one.isPresent {
      if steady >= one.condition.kind.holdSeconds { one.isOn = true }
    } else if steady >= Self.releaseSeconds {
      one.isOn = false
    }
  }

  /// Returns the message of one condition that is due for one receiver, or `nil` if none is.
  private mutating func next(
    _ index: Int, _ receiver: String, _ moment: NoticeMoment, _ now: Int64
  ) -> DueNotice? {
    let one = kept.tracked[index]
    guard let rule = rules.rule(for: one.condition, to: receiver) else {
      kept.tracked[index].told[receiver] = nil
      return nil
    }
    guard let stage = stage(of: one, receiver, rule, now) else { return nil }
    if let quiet = rule.quiet, let minute = moment.minuteOfDay, quiet.contains(minute: minute),
      quiet.exceptFrom.map({ one.condition.severity < $0 }) ?? true
    {
      return nil
    }
    guard takeRoom(receiver, now) else {
      kept.tracked[index].limited.insert(receiver)
      return nil
    }
    kept.tracked[index].limited.remove(receiver)
    kept.tracked[index].told[receiver] = stage == .over ? nil : now
    if stage == .over {
      kept.tracked[index].toldFlaps.remove(receiver)
    } else if one.flaps > 0 {
      kept.tracked[index].toldFlaps.insert(receiver)
    }
    let unsaid = kept.unsaid.removeValue(forKey: receiver) ?? 0
    let end = one.isOn ? now : one.changed
    return DueNotice(
      receiver: receiver, stage: stage, condition: one.condition, seconds: max(0, end - one.began), times: one.flaps,
      unsaid: unsaid)
  }

  private func stage(of one: Tracked, _ receiver: String, _ rule: NoticeRule, _ now: Int64) -> NoticeStage? {
    let told = one.told[receiver]
    if one.isOccurrence { return told == nil ? .happened : nil }
    guard one.isOn else { return told == nil ? nil : .over }
    if one.flaps > 0, !one.toldFlaps.contains(receiver) { return .comesAndGoes }
    guard let told else { return .begins }
    guard one.flaps == 0, let stillSo = rule.stillSoSeconds, now - told >= stillSo else { return nil }
    return .stillSo
  }

  /// Returns whether one more message may be sent to a receiver in this hour, and counts it.
  private mutating func takeRoom(_ receiver: String, _ now: Int64) -> Bool {
    let sent = (kept.sent[receiver] ?? []).filter { now - $0 < 3600 }
    let hasRoom = sent.count < rules.receivers[receiver] ?? 0
    kept.sent[receiver] = hasRoom ? sent + [now] : sent
    return hasRoom
  }

  /// Removes the records of receivers that no longer exist.
  private mutating func prune(_ now: Int64) {
    func isKnown(_ receiver: String) -> Bool { rules.receivers[receiver] != nil }
    for index in kept.tracked.indices {
      kept.tracked[index].told = kept.tracked[index].told.filter { isKnown($0.key) }
      kept.tracked[index].limited.formIntersection(rules.receivers.keys)
      kept.tracked[index].toldFlaps.formIntersection(rules.receivers.keys)
    }
    kept.sent = kept.sent.filter { isKnown($0.key) }
    kept.unsaid = kept.unsaid.filter { isKnown($0.key) }
  }

  /// Removes the conditions about which no further message will be due.
  private mutating func forget(_ now: Int64) {
    for index in kept.tracked.indices where !kept.tracked[index].isOn {
      for receiver in kept.tracked[index].limited where kept.tracked[index].told[receiver] == nil {
        kept.unsaid[receiver, default: 0] += 1
      }
      kept.tracked[index].limited = []
      // A condition that was never reported may begin several times.
      if !kept.tracked[index].isPresent, kept.tracked[index].told.isEmpty {
        kept.tracked[index].toldFlaps = []
        if now - kept.tracked[index].changed >= Self.flapSeconds { kept.tracked[index].flaps = 0 }
      }
    }
    kept.tracked.removeAll { one in
      guard one.isOccurrence else {
        return !one.isPresent && !one.isOn && one.told.isEmpty && now - one.changed >= Self.flapSeconds
      }
      let waits = rules.receivers.keys.contains { name in
        one.told[name] == nil && rules.rule(for: one.condition, to: name) != nil
      }
      return !waits || now - one.began >= Self.occurrenceSeconds
    }
  }

  private mutating func add(_ one: Tracked) {
    guard kept.tracked.count < Self.most else {
      overflow += 1
      return
    }
    kept.tracked.append(one)
  }

  private static func sorted(_ tracked: [Tracked]) -> [Tracked] {
    tracked.sorted { left, right in
      left.condition.severity != right.condition.severity
        ? left.condition.severity > right.condition.severity
        : left.began != right.began ? left.began < right.began : left.condition.id < right.condition.id
    }
  }

  private static func later(_ instant: Int64, _ seconds: Int64) -> Int64 {
    let (sum, overflows) = instant.addingReportingOverflow(seconds)
    return overflows ? .max : sum
  }
}

extension NoticeMachine.Kept {
  /// Returns the same state with every instant moved by a number of seconds, to convert it to another boot's clock.
  func moved(by seconds: Int64) -> Self {
    var moved = self
    for index in moved.tracked.indices {
      moved.tracked[index].changed &+= seconds
      moved.tracked[index].began &+= seconds
      moved.tracked[index].beginnings = moved.tracked[index].beginnings.map { $0 &+ seconds }
      moved.tracked[index].told = moved.tracked[index].told.mapValues { $0 &+ seconds }
    }
    moved.sent = moved.sent.mapValues { $0.map { $0 &+ seconds } }
    return moved
  }
}

extension TickInstant {
  /// The whole seconds since the clock's start.
  var seconds: Int64 { nanoseconds / 1_000_000_000 }
}
