@testable import Tactus

/// Does nothing.
struct Idle: ControlLoop, NoOutput {
  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {}
}

/// Writes every tick it gets, and every safe state, into memory that the test reads afterwards.
final class Log {
  let ticks = UnsafeMutablePointer<Tick>.allocate(capacity: 100_000)
  let safeStates = UnsafeMutablePointer<SafeStateCause>.allocate(capacity: 1_000)
  let counts = UnsafeMutablePointer<(ticks: Int, safeStates: Int)>.allocate(capacity: 1)

  init() { counts.initialize(to: (0, 0)) }

  deinit {
    ticks.deallocate()
    safeStates.deallocate()
    counts.deallocate()
  }

  var all: [Tick] { (0..<counts.pointee.ticks).map { ticks[$0] } }
  var safe: [SafeStateCause] { (0..<counts.pointee.safeStates).map { safeStates[$0] } }

  func loop(deadlines: [Int64] = []) -> Logged {
    Logged(ticks: ticks, safeStates: safeStates, counts: counts, deadlines: deadlines)
  }
}

struct Logged: ControlLoop {
  let ticks: UnsafeMutablePointer<Tick>
  let safeStates: UnsafeMutablePointer<SafeStateCause>
  let counts: UnsafeMutablePointer<(ticks: Int, safeStates: Int)>
  /// Deadlines in nanoseconds, ascending; the first one that has not passed is asked for.
  let deadlines: [Int64]
  var now = TickInstant.zero

  init(
    ticks: UnsafeMutablePointer<Tick>, safeStates: UnsafeMutablePointer<SafeStateCause>,
    counts: UnsafeMutablePointer<(ticks: Int, safeStates: Int)>, deadlines: [Int64]
  ) {
    self.ticks = ticks
    self.safeStates = safeStates
    self.counts = counts
    self.deadlines = deadlines
  }

  mutating func tick(_ tick: Tick) {
    now = tick.started
    guard counts.pointee.ticks < 100_000 else { return }
    ticks[counts.pointee.ticks] = tick
    counts.pointee.ticks += 1
  }

  var nextDeadline: TickInstant? {
    deadlines.first { $0 > now.nanoseconds }.map(TickInstant.init(nanoseconds:))
  }

  mutating func safeState(_ tick: Tick, cause: SafeStateCause) {
    safeStates[counts.pointee.safeStates] = cause
    counts.pointee.safeStates += 1
  }
}

/// Notes which loop ticked, into one list for the whole lane: its number stands in `Tick.missed`.
struct Noted: ControlLoop, NoOutput {
  let number: Int
  let log: Log

  mutating func tick(_ tick: Tick) {
    let count = log.counts.pointee.ticks
    guard count < 100_000 else { return }
    var tick = tick
    tick.missed = Int64(number)
    log.ticks[count] = tick
    log.counts.pointee.ticks = count + 1
  }
}

func milliseconds(_ ticks: [Tick]) -> [Int64] { ticks.map { $0.started.nanoseconds / 1_000_000 } }
