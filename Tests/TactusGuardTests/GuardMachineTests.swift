import Tactus
import Testing

@testable import TactusGuard

/// A guard's machine in simulated time: heartbeats every 100 ms, none two of which may be due less than 50 ms apart; the time-out 1 s.
private struct Watched {
  var machine = GuardMachine(window: HeartbeatWindow(shortest: .milliseconds(50), longest: .seconds(1)), at: .zero)
  var now = TickInstant.zero
  var number: UInt64 = 0

  /// The next heartbeat, this long after the last event.
  @discardableResult
  mutating func beat(
    after: Nanoseconds = .milliseconds(100), number: UInt64? = nil, due: TickInstant? = nil, sent: TickInstant? = nil,
    watched: UInt64 = 0, advanced: UInt64 = 0
  ) -> GuardMachine.Action {
    now = now + after
    self.number = number ?? self.number + 1
    return machine.step(
      .heartbeat(
        Heartbeat(
          number: self.number, due: due ?? sent ?? now, sent: sent ?? now, watched: watched, advanced: advanced)),
      at: now)
  }

  @discardableResult
  mutating func step(_ event: GuardMachine.Event, after: Nanoseconds = .zero) -> GuardMachine.Action {
    now = now + after
    return machine.step(event, at: now)
  }

  static func after(_ events: [GuardMachine.Event]) -> Watched {
    var watched = Watched()
    watched.beat()
    for event in events { watched.step(event, after: event == .nothing ? .seconds(1) : .zero) }
    return watched
  }
}

@Suite("guard machine")
struct GuardMachineTests {
  @Test("a first heartbeat that may take longer: written at that time, not before; once it is there the window holds")
  func firstHeartbeat() {
    let window = HeartbeatWindow(shortest: .milliseconds(50), longest: .seconds(1))
    // As GuardProcess makes it for a program that has 30 s to start.
    let start = GuardMachine(window: window, at: .zero + .seconds(29))
    var silent = start
    #expect(silent.step(.nothing, at: .zero + .seconds(29.9)) == .wait(until: .zero + .seconds(30)))
    #expect(silent.step(.nothing, at: .zero + .seconds(30)) == .write)
    var begun = start
    let first = TickInstant.zero + .seconds(4)
    let wait = begun.step(.heartbeat(Heartbeat(number: 1, due: first, sent: first)), at: first)
    #expect(wait == .wait(until: first + .seconds(1)))
    #expect(begun.step(.nothing, at: first + .seconds(1)) == .write)
  }

  @Test("watching: a heartbeat restarts the wait, which is counted from its sending")
  func heartbeat() {
    var watched = Watched()
    #expect(watched.beat() == .wait(until: watched.now + .seconds(1)))
    let sent = watched.now + .milliseconds(100)
    #expect(watched.beat(after: .milliseconds(400), due: sent, sent: sent) == .wait(until: sent + .seconds(1)))
    #expect(watched.machine.state == .watching)
  }

  @Test("watching: a dismissal ends it without a write")
  func dismissal() {
    var watched = Watched.after([])
    #expect(watched.step(.dismissed) == .finish(status: 0))
    #expect(watched.machine.state == .finished)
    #expect(watched.beat() == .finish(status: 0))
  }

  @Test("watching: the socket closes without a dismissal, the safe state is written, then it ends")
  func death() {
    var watched = Watched.after([])
    #expect(watched.step(.closed) == .write)
    #expect(watched.step(.confirmed) == .finish(status: 0))
  }

  @Test("watching: a wake-up before the time-out does nothing, at the time-out the safe state is written and held")
  func lapse() {
    var watched = Watched.after([])
    #expect(watched.step(.nothing, after: .milliseconds(999)) == .wait(until: watched.now + .milliseconds(1)))
    #expect(watched.step(.nothing, after: .milliseconds(1)) == .write)
    #expect(watched.machine.state == .writing(.lapse, attempt: 1))
    #expect(watched.step(.confirmed) == .wait(until: watched.now + .seconds(1)))
    #expect(watched.machine.state == .holding(.lapse, until: watched.now + .seconds(1)))
  }

  @Test("no heartbeat at all: written at the time-out from the start")
  func never() {
    var watched = Watched()
    #expect(watched.step(.nothing, after: .seconds(1)) == .write)
  }

  @Test("a first heartbeat that was given longer is due within the time-out once the program has begun")
  func begun() {
    for (event, rest) in [(GuardMachine.Event.begun, Nanoseconds.seconds(1)), (.nothing, .seconds(7))] {
      // As GuardProcess makes it for a program that has 10 s to start.
      var machine = GuardMachine(
        window: HeartbeatWindow(shortest: .milliseconds(50), longest: .seconds(1)),
        at: TickInstant(nanoseconds: 9_000_000_000))
      #expect(
        machine.step(event, at: TickInstant(nanoseconds: 3_000_000_000))
          == .wait(until: TickInstant(nanoseconds: 3_000_000_000) + rest))
      let due = TickInstant(nanoseconds: 3_000_000_000) + rest
      #expect(machine.step(.nothing, at: due - .milliseconds(1)) == .wait(until: due))
      #expect(machine.step(.nothing, at: due) == .write)
    }
    // It gives nobody more time, and means nothing later.
    var watched = Watched()
    _ = watched.beat()
    let end = watched.now + .seconds(1)
    #expect(watched.step(.begun, after: .milliseconds(500)) == .wait(until: end))
  }

  @Test("holding: further silence writes again, a good heartbeat returns to watching, a death is written")
  func holding() {
    let events: [GuardMachine.Event] = [.nothing, .confirmed]
    var watched = Watched.after(events)
    #expect(watched.step(.nothing, after: .seconds(1)) == .write)
    watched = Watched.after(events)
    #expect(watched.beat() == .wait(until: watched.now + .seconds(1)))
    #expect(watched.machine.state == .watching)
    watched = Watched.after(events)
    #expect(watched.step(.closed) == .write)
    #expect(watched.machine.state == .writing(.death, attempt: 1))
  }

  @Test("a write that fails: repeated every 20 ms until it is confirmed")
  func retries() {
    var watched = Watched.after([.closed])
    for attempt in 1...10 {
      #expect(watched.machine.state == .writing(.death, attempt: attempt))
      #expect(watched.step(.failed) == .wait(until: watched.now + .milliseconds(20)))
      #expect(watched.step(.nothing, after: .milliseconds(20)) == .write)
    }
    #expect(watched.step(.confirmed) == .finish(status: 0))
  }

  @Test("retrying after a lapse: a good heartbeat returns to watching, a death keeps writing")
  func retryingAfterLapse() {
    var watched = Watched.after([.nothing, .failed])
    watched.beat()
    #expect(watched.machine.state == .watching)
    watched = Watched.after([.nothing, .failed])
    #expect(watched.step(.closed) == .write)
    #expect(watched.machine.state == .writing(.death, attempt: 1))
  }

  @Test("after a death a bus that never answers: given up after about a minute, with status 1")
  func givesUp() {
    var watched = Watched.after([.closed])
    let died = watched.now
    var action = watched.step(.failed)
    while case .wait(let instant) = action {
      #expect(watched.step(.nothing, after: instant - watched.now) == .write)
      action = watched.step(.failed)
    }
    #expect(action == .finish(status: 1))
    #expect((.seconds(55)...(.seconds(65))).contains(watched.now - died))
  }

  @Test("after a lapse a bus that never answers: never given up while the program lives")
  func neverGivesUpOnLapse() {
    var watched = Watched.after([.nothing])
    for _ in 0..<10_000 {
      guard case .wait(let instant) = watched.step(.failed) else {
        Issue.record("stopped waiting in \(watched.machine.state)")
        return
      }
      #expect(watched.step(.nothing, after: instant - watched.now) == .write)
    }
  }

  @Test(
    "the program asks for it: written once, then it is watched as before; a failure is repeated, whatever heartbeats come"
  )
  func asked() {
    var watched = Watched.after([])
    #expect(watched.step(.asked) == .write)
    #expect(watched.step(.confirmed) == .wait(until: watched.now + .seconds(1)))
    #expect(watched.machine.state == .watching)
    #expect(watched.step(.asked) == .write)
    guard case .wait(let again) = watched.step(.failed) else { preconditionFailure() }
    #expect(watched.beat() == .wait(until: again))
    #expect(watched.step(.nothing) == .write)
    #expect(watched.machine.state == .writing(.asked, attempt: 2))
  }
}

@Suite("guard machine: heartbeats")
struct GuardHeartbeatTests {
  private static func expectFault(
    _ fault: HeartbeatFault, sourceLocation: SourceLocation = #_sourceLocation,
    of send: (inout Watched) -> GuardMachine.Action
  ) {
    var watched = Watched()
    for _ in 0..<5 { watched.beat(watched: 0b11, advanced: 0b11) }
    #expect(send(&watched) == .write, sourceLocation: sourceLocation)
    #expect(watched.machine.state == .writing(.fault(fault), attempt: 1), sourceLocation: sourceLocation)
    watched.step(.confirmed)
    let held = GuardMachine.State.holding(.fault(fault), until: watched.now + .seconds(1))
    #expect(watched.machine.state == held, sourceLocation: sourceLocation)
    // The next in order and in the window leads back.
    watched.number = 100
    watched.beat(watched: 0b11, advanced: 0b11)
    watched.beat(watched: 0b11, advanced: 0b11)
    #expect(watched.machine.state == .watching, sourceLocation: sourceLocation)
  }

  @Test(
    "early: due less than the shortest after the one before, sent before it is due, or stamped in the future: a fault")
  func early() {
    Self.expectFault(.early) { $0.beat(after: .nanoseconds(49_999_999), watched: 0b11, advanced: 0b11) }
    Self.expectFault(.early) { watched in
      watched.beat(
        due: watched.now + .milliseconds(101), sent: watched.now + .milliseconds(100), watched: 3, advanced: 3)
    }
    Self.expectFault(.early) { watched in
      watched.beat(
        due: watched.now + .milliseconds(100), sent: watched.now + .milliseconds(101), watched: 3, advanced: 3)
    }
  }

  @Test("repeated: the number of the one before: a fault")
  func repeated() { Self.expectFault(.repeated) { $0.beat(number: 5, watched: 0b11, advanced: 0b11) } }

  @Test("out of order: one left out, or an older one again: a fault", arguments: [7, 4, 1, UInt64.max])
  func outOfOrder(number: UInt64) {
    guard number < 100 else { return }
    Self.expectFault(.outOfOrder) { $0.beat(number: number, watched: 0b11, advanced: 0b11) }
  }

  @Test("a loop is watched no longer: a fault")
  func forgetful() { Self.expectFault(.forgetful) { $0.beat(watched: 0b01, advanced: 0b01) } }

  @Test("a message that is none: a fault")
  func malformed() { Self.expectFault(.malformed) { $0.step(.malformed) } }

  @Test("sender held up, heartbeats bunched: none is early, since each was due in time")
  func bunched() {
    var watched = Watched()
    watched.beat()
    let due = watched.now + .milliseconds(100)
    // Sent 99 ms late, and the next on time, a millisecond later.
    #expect(watched.beat(after: .milliseconds(199), due: due) != .write)
    #expect(watched.beat(after: .milliseconds(1), due: due + .milliseconds(100)) != .write)
    #expect(watched.machine.state == .watching)
  }

  @Test("guard held up for 5 s while heartbeats wait: none is late by its own stamp, nothing is written")
  func held() {
    var watched = Watched()
    watched.beat()
    let first = watched.now
    watched.now = first + .seconds(5)
    for index in 1...50 {
      let sent = first + .milliseconds(100) * Int64(index)
      #expect(watched.beat(after: .zero, due: sent, sent: sent) != .write)
    }
    #expect(watched.step(.nothing) == .wait(until: watched.now + .seconds(1)))
  }

  @Test("sender and guard held up: the heartbeat after the gap is late by its stamp, and the safe state is written")
  func late() {
    var watched = Watched()
    watched.beat()
    #expect(watched.beat(after: .milliseconds(1001)) == .write)
    #expect(watched.machine.state == .writing(.lapse, attempt: 1))
  }

  @Test(
    "a loop does not advance: written at the time-out from its last advance, though heartbeats come; it advances: watching again"
  )
  func hang() {
    var watched = Watched()
    watched.beat(watched: 0b11, advanced: 0b11)
    let last = watched.now
    for _ in 0..<9 { #expect(watched.beat(watched: 0b11, advanced: 0b01) == .wait(until: last + .seconds(1))) }
    #expect(watched.step(.nothing, after: .milliseconds(100)) == .write)
    #expect(watched.machine.state == .writing(.hang(loop: 1), attempt: 1))
    watched.step(.confirmed)
    watched.beat(watched: 0b11, advanced: 0b01)
    guard case .holding(.hang(loop: 1), _) = watched.machine.state else {
      Issue.record("\(watched.machine.state)")
      return
    }
    watched.beat(watched: 0b11, advanced: 0b10)
    #expect(watched.machine.state == .watching)
  }

  @Test("a loop that is watched from now on: its time is counted from here")
  func newLoop() {
    var watched = Watched()
    for _ in 0..<20 { watched.beat(watched: 0b01, advanced: 0b01) }
    #expect(watched.beat(watched: 0b11, advanced: 0b01) == .wait(until: watched.now + .seconds(1)))
  }

  @Test("continued after a stop, its loops not yet: held until each has advanced")
  func continued() {
    var watched = Watched()
    watched.beat(watched: 0b11, advanced: 0b11)
    watched.step(.nothing, after: .seconds(1))
    watched.step(.confirmed)
    watched.beat(after: .seconds(3), watched: 0b11, advanced: 0b01)
    #expect(watched.machine.state != .watching)
    watched.beat(watched: 0b11, advanced: 0b11)
    #expect(watched.machine.state == .watching)
  }

  @Test("another guard in the middle of a program's life: takes any number to begin with")
  func joins() {
    var watched = Watched()
    watched.number = 4711
    #expect(watched.beat() == .wait(until: watched.now + .seconds(1)))
    #expect(watched.machine.state == .watching)
  }

  /// Whatever comes: from the last good heartbeat on the safe state is being written, or was, when the window has passed.
  @Test(
    "random histories: written within the window after the last good heartbeat, and of every loop's last advance",
    arguments: 0..<100)
  func random(seed: UInt64) {
    var generator = SplitMix64(seed: seed)
    func chance(_ one: UInt64, in all: UInt64) -> Bool { generator.next() % all < one }
    var watched = Watched()
    var last = Watched().now
    var advances = [TickInstant](repeating: .zero, count: 2)
    var lastNumber: UInt64 = 0
    var lastDue: TickInstant?
    var lastSent: TickInstant?
    for step in 0..<200 {
      let pause = Nanoseconds.milliseconds(
        Int64(chance(1, in: 12) ? generator.next() % 1500 : 60 + generator.next() % 90))
      // The process wakes at the instant that it was told, if nothing comes before.
      let arrival = watched.now + pause
      var action = watched.step(.nothing)
      while case .wait(let instant) = action, instant <= arrival {
        action = finish(&watched, watched.step(.nothing, after: max(.zero, instant - watched.now)))
      }
      action = finish(&watched, action)
      watched.now = max(arrival, watched.now)
      let number = chance(1, in: 20) ? lastNumber - min(lastNumber, generator.next() % 3) : lastNumber + 1
      let due = chance(1, in: 20) ? watched.now - .milliseconds(80) : watched.now
      let advanced = chance(1, in: 5) ? generator.next() % 4 : 3
      let isGood =
        (lastDue.map { number == lastNumber + 1 && due - $0 >= .milliseconds(50) } ?? true)
        && lastSent.map { watched.now >= $0 } ?? true
      _ = finish(
        &watched,
        watched.beat(after: .zero, number: number, due: due, sent: watched.now, watched: 3, advanced: advanced))
      if lastDue == nil || number > lastNumber { (lastNumber, lastDue, lastSent) = (number, due, watched.now) }
      if isGood {
        last = watched.now
        for loop in 0..<2 where advanced >> UInt64(loop) & 1 != 0 || step == 0 { advances[loop] = watched.now }
      }
      let overdue = ([last] + advances).min()! + .seconds(1)
      if watched.now > overdue {
        #expect(watched.machine.state != .watching, "seed \(seed), step \(step)")
      }
    }

    /// Writes if that was decided: now and then a write fails.
    func finish(_ watched: inout Watched, _ action: GuardMachine.Action) -> GuardMachine.Action {
      var action = action
      while action == .write { action = watched.step(chance(1, in: 4) ? .failed : .confirmed) }
      return action
    }
  }
}
