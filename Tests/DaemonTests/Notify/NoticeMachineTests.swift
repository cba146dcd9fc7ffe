import Tactus
import Testing

@testable import TactusDaemon

/// A machine on a clock of its own, with a person who reads.
struct NoticeBench {
  var machine: NoticeMachine
  var now: Int64
  var minute: Int? = 12 * 60

  init(
    _ rules: [NoticeRule] = [NoticeRule()], most: [String: Int] = ["phone": 20], kept: NoticeMachine.Kept = .init(),
    at now: Int64 = 1000
  ) {
    machine = NoticeMachine(NoticeRules(receivers: most, rules: rules), kept: kept, start: .zero + .seconds(now))
    self.now = now
  }

  /// Lets seconds pass, a step each, with these conditions; returns what was said.
  mutating func pass(_ seconds: Int64, _ present: NoticeCondition...) -> [String] {
    var said: [String] = []
    for _ in 0..<seconds {
      now += 1
      said += step(present)
    }
    return said
  }

  mutating func step(_ present: [NoticeCondition]) -> [String] {
    let due = machine.step(present, at: NoticeMoment(at: .zero + .seconds(now), minuteOfDay: minute))
    return due.map { "\($0.receiver) \($0.stage.rawValue) \($0.condition.id)" }
  }
}

let fault = NoticeCondition("robot/fault", .fault, "robot", .critical, "fault: motors")
let dry = NoticeCondition("plants/1/dry", .alert, "plants", .warning, "dry")
let rain = NoticeCondition("sprinkler/rain", .rain, "sprinkler", .info, "rain delay")

@Suite("what is said to whom")
struct NoticeMachineTests {
  @Test("a condition that begins, lasts and ends: one message at each, and none between")
  func life() {
    var bench = NoticeBench([NoticeRule(stillSoSeconds: 3600)])
    #expect(bench.pass(1, fault) == ["phone begins robot/fault"])
    #expect(bench.pass(3599, fault) == [])
    #expect(bench.pass(1, fault) == ["phone stillSo robot/fault"])
    #expect(bench.pass(10) == [])
    #expect(bench.pass(1) == ["phone over robot/fault"])
    #expect(bench.pass(700) == [])
    #expect(bench.machine.kept.tracked.isEmpty)
  }

  @Test("less than its kind's time: nothing is said, and nothing is over")
  func short() {
    var bench = NoticeBench()
    #expect(bench.pass(5, dry) == [])
    #expect(bench.pass(60) == [])
    #expect(bench.pass(6, dry) == ["phone begins plants/1/dry"])
  }

  @Test("three beginnings in ten minutes: said once with their number, over when it has stayed away for ten minutes")
  func flapping() {
    var bench = NoticeBench()
    #expect(bench.pass(1, fault) == ["phone begins robot/fault"])
    #expect(bench.pass(2) + bench.pass(1, fault) + bench.pass(2) == [])
    #expect(bench.pass(1, fault) == ["phone comesAndGoes robot/fault"])
    var said: [String] = []
    for _ in 0..<50 { said += bench.pass(2) + bench.pass(2, fault) }
    #expect(said == [])
    #expect(bench.machine.active.first?.flaps == 53)
    #expect(bench.pass(600) == [])
    #expect(bench.pass(1) == ["phone over robot/fault"])
    #expect(bench.pass(700) == [] && bench.machine.kept.tracked.isEmpty)
  }

  @Test("one that comes and goes and then lasts: it is over when it is")
  func flappingThenLasting() {
    var bench = NoticeBench()
    for _ in 0..<3 { _ = bench.pass(2, fault) + bench.pass(2) }
    #expect(bench.pass(700, fault) == [])
    #expect(bench.pass(11) == ["phone over robot/fault"])
  }

  @Test("a restart: what was said is not said again, and is not over before the systems have begun")
  func restart() {
    var bench = NoticeBench()
    _ = bench.pass(1, fault)
    bench = NoticeBench(kept: bench.machine.kept, at: bench.now + 5)
    #expect(bench.pass(50) == [])
    #expect(bench.pass(100, fault) == [])
    bench = NoticeBench(kept: bench.machine.kept, at: bench.now + 5)
    #expect(bench.pass(60) == [])
    #expect(bench.pass(11) == ["phone over robot/fault"])
  }

  @Test("another boot: its instants are moved, and the age is what it was")
  func boot() {
    var bench = NoticeBench()
    _ = bench.pass(100, fault)
    let contents = NoticeFile.Contents(
      boot: BootID("a"), savedAt: bench.now, isRunning: true, machine: bench.machine.kept)
    let (kept, end) = NoticeFile.adopted(contents, boot: BootID("b"), now: .zero + .seconds(7))
    #expect(end == .powerCut && kept.machine.tracked.map(\.began) == [7 - 99])
    #expect(NoticeFile.adopted(contents, boot: BootID("a"), now: .zero + .seconds(bench.now + 9)).1 == .crash)
    var stopped = contents
    stopped.isRunning = false
    #expect(NoticeFile.adopted(stopped, boot: BootID("b"), now: .zero).1 == .orderly)
  }

  private static let night = NoticeRule(
    severity: .info, quiet: QuietHours(from: 22 * 60, to: 7 * 60, exceptFrom: .critical))

  @Test("quiet hours: what is grave comes through, the rest is said after them if it lasts")
  func quiet() {
    var bench = NoticeBench([Self.night])
    bench.minute = 23 * 60
    #expect(bench.pass(10, dry, fault) == ["phone begins robot/fault"])
    bench.minute = 6 * 60 + 59
    #expect(bench.pass(10, dry, rain) == [])
    bench.minute = 7 * 60
    #expect(
      bench.pass(1, dry, rain) == [
        "phone over robot/fault", "phone begins plants/1/dry", "phone begins sprinkler/rain",
      ])
    bench.minute = 22 * 60
    #expect(bench.pass(100, rain) == [])
    bench.minute = 7 * 60
    #expect(bench.pass(1, rain) == ["phone over plants/1/dry"])
  }

  @Test("the time of day jumps: nothing is said twice; while it is not confirmed nothing is quiet")
  func jumps() {
    var bench = NoticeBench([Self.night])
    bench.minute = nil
    #expect(bench.pass(10, dry) == ["phone begins plants/1/dry"])
    for minute in [0, 23 * 60, 3 * 60, 12 * 60, 22 * 60 - 1] {
      bench.minute = minute
      #expect(bench.pass(5, dry) == [])
    }
  }

  @Test(
    "more than the limit of an hour: the gravest first, the rest when there is room, what ended meanwhile is counted")
  func limit() {
    var bench = NoticeBench(most: ["phone": 2])
    let others = (1...3).map { NoticeCondition("plants/\($0)/dry", .alert, "plants", .warning, "dry") }
    var said: [String] = []
    for _ in 0..<7 {
      bench.now += 1
      said += bench.step(others)
    }
    #expect(said == ["phone begins plants/1/dry", "phone begins plants/2/dry"])
    for _ in 0..<3588 {
      bench.now += 1
      #expect(bench.step(Array(others.prefix(2))) == [])
    }
    bench.now += 20
    let due = bench.machine.step(
      Array(others.prefix(2)) + [fault], at: NoticeMoment(at: .zero + .seconds(bench.now), minuteOfDay: nil))
    #expect(due.map(\.condition.id) == ["robot/fault"] && due.map(\.unsaid) == [1])
  }

  @Test("rules: the first that fits counts, by kind, system, severity and receiver")
  func rules() {
    var bench = NoticeBench(
      [
        NoticeRule(receivers: ["office"], kinds: [.alert]), NoticeRule(receivers: ["phone"], systems: ["kettle"]),
        NoticeRule(receivers: ["phone"], severity: .critical),
      ], most: ["phone": 20, "office": 20])
    let kettle = NoticeCondition("kettle/left/fault", .fault, "kettle/left", .warning, "cold")
    #expect(
      bench.pass(10, dry, fault, rain, kettle) == [
        "phone begins robot/fault", "phone begins kettle/left/fault", "office begins plants/1/dry",
      ])
    bench.machine.rules.rules = []
    #expect(bench.pass(30) == [])
  }

  @Test("an occurrence: said once to everybody, also after quiet hours, and never over")
  func occurrence() {
    var bench = NoticeBench([Self.night])
    bench.minute = 23 * 60
    let start = NoticeCondition("occurrence/start", .start, "daemon", .warning, "started")
    bench.machine.happened(start, at: .zero + .seconds(bench.now))
    bench.machine.happened(start, at: .zero + .seconds(bench.now))
    #expect(bench.pass(100) == [])
    bench.minute = 8 * 60
    #expect(bench.pass(100) == ["phone happened occurrence/start"])
    #expect(bench.machine.kept.tracked.isEmpty)
  }
}

@Suite("messages that wait")
struct NoticeOutboxTests {
  private func message(_ number: Int, _ severity: NoticeSeverity = .warning, to receiver: String = "phone")
    -> NoticeMessage
  {
    NoticeMessage(
      id: "m-\(number)", receiver: receiver, stage: .begins,
      condition: NoticeCondition("c\(number)", .alert, "plants", severity, "dry"), seconds: 0, times: 0, missing: 0,
      timeISO: nil, host: "pi")
  }

  private func at(_ seconds: Int64) -> TickInstant { .zero + .seconds(seconds) }

  @Test("in order, one at a time for each receiver; the second when the first is taken")
  func order() {
    var box = NoticeOutbox(keepSeconds: 3600)
    for (number, receiver) in [(1, "phone"), (2, "phone"), (3, "office")] {
      box.add(message(number, to: receiver), at: at(0))
    }
    let first = box.beginSending(at: at(0))
    #expect(first.map(\.id) == ["m-1", "m-3"] && box.beginSending(at: at(1)).isEmpty)
    box.finished(first[0], .sent("ok"), at: at(1))
    #expect(box.beginSending(at: at(1)).map(\.id) == ["m-2"])
    #expect(box.counts["phone"]?.sent == 1)
  }

  @Test(
    "a receiver that is not reached: tried after 5, 10, 20 s … 15 min, dropped after the time, and the next one says so"
  )
  func retry() {
    var box = NoticeOutbox(keepSeconds: 3600)
    box.add(message(1), at: at(0))
    var tries: [Int64] = []
    for second in Int64(0)..<3600 {
      for one in box.beginSending(at: at(second)) {
        tries.append(second)
        box.finished(one, .failed("no"), at: at(second))
      }
    }
    #expect(tries == [0, 5, 15, 35, 75, 155, 315, 635, 1275, 2175, 3075])
    #expect(box.beginSending(at: at(3600)).isEmpty && box.kept.waiting.isEmpty && box.counts["phone"]?.dropped == 1)
    box.add(message(2), at: at(4000))
    #expect(box.beginSending(at: at(4000)).map(\.missing) == [1])
  }

  @Test("one that refuses: five times, then it is dropped; the others go on")
  func refused() {
    var box = NoticeOutbox(keepSeconds: 86_400)
    box.add(message(1), at: at(0))
    box.add(message(2), at: at(0))
    var ids: [String] = []
    for second in Int64(0)..<200 {
      for one in box.beginSending(at: at(second)) {
        ids.append(one.id)
        box.finished(one, one.id == "m-1" ? .refused("no") : .sent("ok"), at: at(second))
      }
    }
    #expect(ids == ["m-1", "m-1", "m-1", "m-1", "m-1", "m-2"])
    #expect(box.counts["phone"] == NoticeOutbox.Counts(sent: 1, failed: 0, refused: 5, dropped: 1))
  }

  @Test("more than a hundred: the oldest of the least severity go, never the one on its way")
  func full() {
    var box = NoticeOutbox(keepSeconds: 86_400)
    box.add(message(0, .info), at: at(0))
    #expect(box.beginSending(at: at(0)).count == 1)
    for number in 1...99 { box.add(message(number, number == 50 ? .info : .critical), at: at(1)) }
    box.add(message(100, .critical), at: at(2))
    let ids = box.kept.waiting.map(\.message.id)
    #expect(ids.count == 100 && ids.contains("m-0") && !ids.contains("m-50") && box.counts["phone"]?.dropped == 1)
  }

  @Test(
    "lengths of time in words",
    arguments: [(59, "59 s"), (60, "1 min"), (7500, "2 h 5 min"), (90_000, "1 d 1 h"), (-3, "0 s")])
  func words(seconds: Int64, text: String) {
    #expect(NoticeMessage.text(ofSeconds: seconds) == text)
  }
}
