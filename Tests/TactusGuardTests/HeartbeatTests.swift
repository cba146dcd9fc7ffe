import CTactusGuard
import Glibc
import Tactus
import Testing

@testable import TactusGuard

/// The program's end of the heartbeats, the guard's end in the test's hands.
@Suite("heartbeat sender")
struct HeartbeatSenderTests {
  private final class Line {
    let ends: [Int32]
    init() throws {
      var pair: [Int32] = [-1, -1]
      try #require(tactus_guard_socket_pair(&pair) == 0)
      ends = pair
    }
    deinit { for end in ends { close(end) } }

    func answer(_ number: UInt64, written: UInt64 = 0) {
      var message = tactus_guard_message()
      message.kind = UInt64(TACTUS_GUARD_ANSWER.rawValue)
      message.number = number
      message.written = written
      #expect(tactus_guard_send(ends[1], &message) == 0)
    }

    func take() -> tactus_guard_message? {
      var message = tactus_guard_message()
      return tactus_guard_receive(ends[1], &message) == 1 ? message : nil
    }
  }

  private static func at(_ milliseconds: Int64) -> TickInstant { .zero + .milliseconds(milliseconds) }

  private func send(_ sender: inout HeartbeatSender, at milliseconds: Int64) -> HeartbeatSender.Hearing {
    sender.send(due: Self.at(milliseconds), at: Self.at(milliseconds + 1), watched: 0b11, advanced: 0b01)
  }

  @Test("heartbeats: numbered from 1, stamped, with what advanced")
  func numbered() throws {
    let line = try Line()
    var sender = HeartbeatSender(socket: line.ends[0])
    for number in 1...5 {
      #expect(send(&sender, at: Int64(number) * 100) == .answers)
      let heard = try #require(line.take())
      #expect(
        heard.number == UInt64(number) && heard.due == Int64(number) * 100_000_000
          && heard.sent == heard.due + 1_000_000)
      #expect(heard.watched == 0b11 && heard.advanced == 0b01)
      line.answer(UInt64(number), written: 7)
    }
    #expect(send(&sender, at: 600) == .answers)
    #expect(sender.written == 7)
  }

  @Test("no answer for 0.8 s: silent, and again 0.8 s after the next heartbeat; one answer, however old: not silent")
  func silent() throws {
    let line = try Line()
    var sender = HeartbeatSender(socket: line.ends[0])
    var silences: [Int64] = []
    for beat in 0..<20 where send(&sender, at: Int64(beat) * 100) == .silent { silences.append(Int64(beat)) }
    #expect(silences == [8, 17] && sender.isUnanswered)
    for beat in 20..<60 {
      line.answer(UInt64(beat - 4))
      #expect(send(&sender, at: Int64(beat) * 100) == .answers && !sender.isUnanswered)
    }
  }

  @Test("a program that stood still after a heartbeat to a guard that was replaced then: the new one is not silent")
  func stoodStill() throws {
    let line = try Line()
    var sender = HeartbeatSender(socket: line.ends[0])
    // Lost with the old guard; the new one answers what comes after it.
    #expect(send(&sender, at: 0) == .answers)
    #expect(send(&sender, at: 2_000) == .answers)
    line.answer(2)
    #expect(send(&sender, at: 2_100) == .answers)
    #expect(!sender.isUnanswered)
  }

  @Test("a guard that reads nothing until its socket is full: silent, again and again")
  func fullSocket() throws {
    let line = try Line()
    var sender = HeartbeatSender(socket: line.ends[0])
    var silences = 0
    for beat in 0..<2_000 where send(&sender, at: Int64(beat) * 100) == .silent { silences += 1 }
    #expect(sender.number < 2_000, "the socket never was full")
    #expect(silences == 2_000 / 9)
  }

  @Test("answers to what was never asked, and twice: not counted")
  func wrongAnswers() throws {
    let line = try Line()
    var sender = HeartbeatSender(socket: line.ends[0])
    var silences: [Int64] = []
    for beat in 0..<20 {
      line.answer(1)
      line.answer(9_999)
      if send(&sender, at: Int64(beat) * 100) == .silent { silences.append(Int64(beat)) }
    }
    // The first answer is counted once, before the second heartbeat is sent.
    #expect(silences == [9, 18])
  }

  @Test("the guard reads nothing until the socket is full, then everything: the numbers have no gap")
  func full() throws {
    let line = try Line()
    var sender = HeartbeatSender(socket: line.ends[0], patience: .seconds(1_000_000))
    var sent: UInt64 = 0
    while sender.number == sent, sent < 1_000_000 {
      // Full is not gone.
      #expect(send(&sender, at: Int64(sent) * 100) == .answers)
      if sender.number > sent { sent += 1 } else { break }
    }
    var next: UInt64 = 1
    while let heard = line.take() {
      #expect(heard.number == next)
      next += 1
    }
    _ = send(&sender, at: 100_000_000)
    #expect(line.take()?.number == next)
  }

  @Test("the guard's end is closed: gone; another guard behind the same socket: it owes nothing of the first")
  func gone() throws {
    let line = try Line()
    var sender = HeartbeatSender(socket: line.ends[0])
    #expect(send(&sender, at: 0) == .answers)
    shutdown(line.ends[1], Int32(SHUT_RDWR))
    #expect(send(&sender, at: 100) == .gone)
    #expect(send(&sender, at: 5_000) == .gone)
    let second = try Line()
    dup2(second.ends[0], line.ends[0])
    #expect(send(&sender, at: 5_100) == .answers)
    #expect(try #require(second.take()).number == 2)
  }
}

@Suite("loop watch")
struct LoopWatchTests {
  private static func at(_ milliseconds: Int64) -> TickInstant { .zero + .milliseconds(milliseconds) }

  @Test("a loop that publishes advances; one that does not has one and a half of its periods")
  func allowance() {
    let fast = Latest(0)
    let slow = Latest(0)
    var fastWriter = fast.writer()
    var watch = LoopWatch()
    #expect(watch.all == 0)
    watch.add(fast.version, period: .milliseconds(10))
    watch.add(slow.version, period: .milliseconds(1000))
    #expect(watch.all == 0b11)
    // The first look is where the silence begins.
    #expect(watch.check(at: Self.at(0)) == 0b11)
    fastWriter.write(1)
    #expect(watch.check(at: Self.at(1499)) == 0b11)
    fastWriter.write(2)
    #expect(watch.check(at: Self.at(1500)) == 0b01)
    #expect(watch.silence(1, at: Self.at(1600)) == .milliseconds(100))
    #expect(watch.sinceAdvance(1, at: Self.at(1600)) == .milliseconds(1600))
    #expect(watch.check(at: Self.at(1600)) == 0)
  }

  @Test("64 loops: each its bit")
  func many() {
    let values = (0..<64).map { _ in Latest(0) }
    var watch = LoopWatch()
    for value in values { watch.add(value.version, period: .zero) }
    #expect(watch.all == .max && watch.check(at: .zero) == .max)
    var writer = values[63].writer()
    writer.write(1)
    #expect(watch.check(at: Self.at(1)) == 1 << 63)
  }

  @Test("a runtime's loop: needs no ticks before the start and after the stop")
  func stopped() throws {
    struct Still: ~Copyable, ControlLoop, NoOutput {
      @_noLocks @_noAllocation mutating func tick(_ tick: Tick) {}
    }
    // Longer than any test: it ticks once, at the start.
    let runtime = try Runtime(lockMemory: false) {
      Lane("a") { Loop("a", every: .period(.milliseconds(1))) { Still() } }
      Lane("b") { Loop("b", every: .period(.seconds(1_000_000)), phase: .seconds(1000)) { Still() } }
    }
    let progress = runtime.progress
    #expect(progress.count == 2 && progress.allSatisfy { !$0.isRunning })
    var watch = LoopWatch()
    for one in progress { watch.add(one) }
    #expect(watch.check(at: Self.at(0)) == 0b11 && watch.check(at: Self.at(1_000_000_000_000)) == 0b11)
    try runtime.start()
    #expect(progress.allSatisfy { $0.isRunning })
    let bell = try Doorbell()
    let before = progress[0].version.read()
    // The start itself counts.
    _ = watch.check(at: Self.at(1_000_000_000_001))
    while progress[0].version.read() < before + 4 { bell.wait(limit: .milliseconds(1)) }
    // A billion seconds later by the look's clock.
    #expect(watch.check(at: Self.at(2_000_000_000_000)) == 0b01)
    runtime.stop()
    #expect(progress.allSatisfy { !$0.isRunning })
    #expect(watch.check(at: Self.at(3_000_000_000_000)) == 0b11)
  }
}
