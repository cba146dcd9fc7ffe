import Foundation
import Testing

@testable import Tactus

/// Clears its bell and says that it ran.
private struct Answering: ControlLoop, NoOutput {
  let bell: DoorbellInput?
  let ticked: DoorbellButton

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    if let bell { bell.clear() }
    ticked.ring()
  }
}

/// Clears its bell and notes the tick.
private struct Clearing: ControlLoop, NoOutput {
  let bell: DoorbellInput
  var logged: Logged

  mutating func tick(_ tick: Tick) {
    bell.clear()
    logged.tick(tick)
  }
}

private func instant(_ milliseconds: Int64) -> TickInstant { TickInstant(nanoseconds: milliseconds * 1_000_000) }

@Suite("Several inputs of one loop")
struct InputTests {
  @Test("two simulated inputs: each releases the loop, both together once a minimum interval; the period stays")
  func both() throws {
    let log = Log()
    let socket = SimulatedInput()
    let bell = SimulatedInput()
    let runtime = try Runtime {
      Lane("a") {
        Loop(
          "l", every: .hertz(10), phase: .zero, inputs: [.simulated(socket), .simulated(bell)],
          minimumInterval: .milliseconds(5)
        ) { Clearing(bell: bell.doorbell, logged: log.loop()) }
      }
    }
    let simulation = try runtime.simulation()
    simulation.run(until: instant(20))
    bell.ring(at: instant(30))
    simulation.run(until: instant(32))
    socket.readyAt.pointee = instant(33)  // too early after the bell
    simulation.run(until: instant(35))
    socket.readyAt.pointee = .distantFuture
    bell.ring(at: instant(50))
    socket.readyAt.pointee = instant(48)  // the earlier of two counts
    simulation.run(until: instant(48))
    socket.readyAt.pointee = .distantFuture
    simulation.run(until: instant(210))
    #expect(milliseconds(log.all) == [0, 30, 35, 48, 100, 200])
    #expect(log.all.map(\.cause) == [.period, .input, .input, .input, .period, .period])
    // The bell of 50 was rung before the tick of 48 and cleared in it.
    #expect(bell.readyAt.pointee == .distantFuture)
  }

  @Test(
    "one of two simulated inputs readable for ever: once a minimum interval, and the other one still counts as heard")
  func forEver() throws {
    let log = Log()
    let socket = SimulatedInput()
    let bell = SimulatedInput()
    let runtime = try Runtime {
      Lane("a") {
        Loop(
          "l", every: .hertz(1), phase: .milliseconds(900), inputs: [.simulated(socket), .simulated(bell)],
          minimumInterval: .milliseconds(5)
        ) { Clearing(bell: bell.doorbell, logged: log.loop()) }
      }
    }
    let simulation = try runtime.simulation()
    socket.readyAt.pointee = instant(10)
    simulation.run(until: instant(21))
    bell.ring(at: instant(22))
    simulation.run(until: instant(32))
    #expect(milliseconds(log.all) == [10, 15, 20, 25, 30])
    #expect(bell.readyAt.pointee == .distantFuture)
  }

  @Test("a descriptor and a doorbell: each releases a loop whose period is an hour")
  func real() throws {
    let scheduling: Scheduling = mayUseFIFO ? .fifo(10) : .normal
    let ticked = try Doorbell()
    let bell = try Doorbell()
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    let runtime = try Runtime {
      Lane("a", scheduling: scheduling) {
        Loop(
          "l", every: .period(.seconds(3600)), phase: .seconds(3000), inputs: [.descriptor(ends[0]), bell.loopInput]
        ) { Answering(bell: bell.input, ticked: ticked.button) }
      }
    }
    try runtime.start()
    for _ in 0..<10 {
      bell.button.ring()
      #expect(ticked.wait(limit: .seconds(60)))
      #expect(write(ends[1], "x", 1) == 1)
      #expect(ticked.wait(limit: .seconds(60)))
      var byte: UInt8 = 0
      #expect(read(ends[0], &byte, 1) == 1)
      // What the pipe released until it was read.
      while ticked.wait(limit: .milliseconds(2)) {}
    }
    runtime.stop()
    #expect(!bell.wait(limit: .zero), "cleared by the loop")
    let counters = try #require(runtime.statistics["l"]).counters
    #expect(counters.byInput >= 20 && counters.ran == 0)
  }

  @Test("a pipe at its end beside a doorbell: once a minimum interval, and the bell is still answered")
  func hangUp() throws {
    let ticked = try Doorbell()
    let bell = try Doorbell()
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    close(ends[1])
    defer { close(ends[0]) }
    let runtime = try Runtime {
      Lane("a") {
        Loop(
          "l", every: .period(.seconds(3600)), phase: .seconds(3000), inputs: [bell.loopInput, .descriptor(ends[0])],
          minimumInterval: .milliseconds(20)
        ) { Answering(bell: bell.input, ticked: ticked.button) }
      }
    }
    let from = MonotonicClock.now
    try runtime.start()
    for _ in 0..<5 {
      bell.button.ring()
      #expect(ticked.wait(limit: .seconds(60)))
    }
    runtime.stop()
    let ticks = try #require(runtime.statistics["l"]).counters.byInput
    #expect(ticks >= 5 && ticks <= (MonotonicClock.now - from).count / 20_000_000 + 1)
  }

  @Test("more inputs in a lane than poll is given: refused with the number, whichever loops they belong to")
  func tooMany() throws {
    #expect(throws: RuntimeError.tooManyInputs(lane: "a", count: 61, limit: 60)) {
      try Runtime {
        Lane("a") {
          Loop("one", every: .hertz(1), inputs: Array(repeating: .descriptor(0), count: 30)) { Idle() }
          Loop("two", every: .hertz(1), inputs: Array(repeating: .descriptor(0), count: 31)) { Idle() }
        }
      }
    }
  }

  @Test("the monotonic clock never goes back and is the clock of the ticks")
  func clock() throws {
    let ticked = try Doorbell()
    let runtime = try Runtime {
      Lane("a") { Loop("l", every: .hertz(1), phase: .zero) { Answering(bell: nil, ticked: ticked.button) } }
    }
    let before = MonotonicClock.now
    try runtime.start()
    #expect(ticked.wait(limit: .seconds(60)))
    runtime.stop()
    #expect(before < runtime.epoch && runtime.epoch < MonotonicClock.now)
  }
}
