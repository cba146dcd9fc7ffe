import Tactus
import TestSupport
import Testing

@Suite("supervision machine", .ownThread)
struct SupervisionMachineTests {
  private let start = TickInstant(nanoseconds: 1_000_000_000)

  private func at(_ seconds: Double) -> TickInstant { start + .seconds(seconds) }

  @Test("at the start: spawned at once; a sign of life in time keeps it")
  func begins() {
    var machine = SupervisionMachine(at: at(0))
    #expect(machine.step(.time, at: at(0)) == .spawn)
    for second in 1...100 {
      #expect(machine.step(.heard, at: at(Double(second) * 4.9)) == .none)
      #expect(machine.step(.time, at: at(Double(second) * 4.9 + 4.8)) == .none)
    }
    #expect(machine.starts == 1)
  }

  @Test("silent for five seconds: killed once, and started again when it has ended")
  func hangs() {
    var machine = SupervisionMachine(at: at(0))
    _ = machine.step(.time, at: at(0))
    _ = machine.step(.heard, at: at(1))
    #expect(machine.nextDeadline == at(6))
    #expect(machine.step(.time, at: at(6)) == .kill)
    #expect(machine.nextDeadline == nil)
    #expect(machine.step(.time, at: at(60)) == .none)
    #expect(machine.step(.heard, at: at(60)) == .none)
    #expect(machine.step(.ended("signal 9"), at: at(61)) == .none)
    guard case .waiting(_, let cause) = machine.state else { return #expect(Bool(false), "\(machine.state)") }
    #expect(cause?.contains("said nothing") == true)
    #expect(machine.step(.time, at: at(61.5)) == .spawn)
  }

  @Test("ends again and again: ever longer pauses; short ones again after one that lived")
  func crashes() {
    var machine = SupervisionMachine(at: at(0))
    var now = 0.0
    var pauses: [Double] = []
    for _ in 0..<8 {
      #expect(machine.step(.time, at: at(now)) == .spawn)
      _ = machine.step(.ended("signal 11"), at: at(now))
      guard let deadline = machine.nextDeadline else { return #expect(Bool(false), "no deadline") }
      pauses.append((deadline - at(now)).inSeconds)
      now += pauses.last ?? 0
    }
    #expect(pauses == [0.5, 1, 2, 4, 8, 16, 30, 30])
    _ = machine.step(.time, at: at(now))
    _ = machine.step(.heard, at: at(now + 29))
    _ = machine.step(.ended("signal 11"), at: at(now + 31))
    #expect(machine.nextDeadline == at(now + 31.5))
    #expect((machine.starts, machine.ends) == (9, 9))
  }

  @Test("replaced: killed once, and another started as soon as it has ended, without a cause and with no longer pause")
  func replaced() {
    var machine = SupervisionMachine(at: at(0))
    _ = machine.step(.time, at: at(0))
    #expect(machine.step(.replace, at: at(1)) == .kill)
    #expect(machine.nextDeadline == at(2))
    #expect(machine.step(.replace, at: at(1)) == .none)
    #expect(machine.step(.time, at: at(1.9)) == .none)
    // One that hangs in a driver: said once.
    #expect(machine.step(.time, at: at(2)) == .tell && machine.nextDeadline == nil)
    #expect(machine.step(.time, at: at(60)) == .none)
    #expect(machine.step(.ended("signal 9"), at: at(61)) == .none)
    #expect(machine.state == .waiting(until: at(61), cause: nil))
    #expect(machine.step(.time, at: at(61)) == .spawn)
    #expect((machine.starts, machine.ends) == (2, 1))
    _ = machine.step(.ended("signal 11"), at: at(62))
    #expect(machine.nextDeadline == at(62.5))
  }

  @Test("replaced while it waits for its next start: started at once, since the settings may have been what was wrong")
  func replacedWhileWaiting() {
    var machine = endedOften()
    _ = machine.step(.ended("no camera"), at: at(1))
    #expect(machine.nextDeadline == at(9))
    #expect(machine.step(.replace, at: at(2)) == .none)
    #expect(machine.step(.time, at: at(2)) == .spawn)
  }

  /// Spawned for the fifth time, at 0 s; the next pause is 8 s.
  private func endedOften() -> SupervisionMachine {
    var machine = SupervisionMachine(at: at(-7.5))
    for _ in 0..<4 {
      let now = machine.nextDeadline!
      _ = machine.step(.time, at: now)
      _ = machine.step(.ended("signal 11"), at: now)
    }
    _ = machine.step(.time, at: at(0))
    return machine
  }

  @Test(
    "lived for thirty seconds: the next start comes soon; for less: it does not", arguments: [(29.9, 8.0), (30, 0.5)])
  func proven(end: Double, pause: Double) {
    var machine = endedOften()
    _ = machine.step(.heard, at: at(20))
    _ = machine.step(.ended("signal 11"), at: at(end))
    #expect(machine.nextDeadline == at(end + pause))
  }

  @Test("killed for its silence or for nonsense: its life counts from its start", arguments: [true, false])
  func livedUntilKilled(isSilent: Bool) {
    var machine = endedOften()
    _ = machine.step(.heard, at: at(26))
    #expect(machine.step(isSilent ? .time : .nonsense("kind 0"), at: at(31)) == .kill)
    _ = machine.step(.ended("signal 9"), at: at(32))
    #expect(machine.nextDeadline == at(32.5))
  }

  @Test("waiting: what is still heard of the one before changes nothing")
  func late() {
    var machine = SupervisionMachine(at: at(0))
    for event in [SupervisionMachine.Event.ended("signal 9"), .heard, .nonsense("kind 0")] {
      #expect(machine.step(event, at: at(0)) == .none)
      #expect(machine.state == .waiting(until: at(0), cause: nil))
    }
    #expect(machine.ends == 0)
  }

  @Test("the daemon stops: killed, nothing is started any more, and one that hangs in a driver is waited for a second")
  func stopped() {
    func running() -> SupervisionMachine {
      var machine = SupervisionMachine(at: at(0))
      _ = machine.step(.time, at: at(0))
      return machine
    }
    var waiting = SupervisionMachine(at: at(0))
    #expect(waiting.step(.stop, at: at(0)) == .none && waiting.state == .stopped && waiting.nextDeadline == nil)

    for event in [SupervisionMachine.Event.heard, .nonsense("kind 0"), .replace] {
      var machine = running()
      _ = machine.step(event, at: at(1))
      #expect(machine.step(.stop, at: at(2)) == .kill && machine.state == .stopping(since: at(2)))
      for event in [SupervisionMachine.Event.heard, .nonsense("kind 0"), .replace, .stop, .time] {
        #expect(machine.step(event, at: at(2.9)) == .none && machine.state == .stopping(since: at(2)))
      }
      #expect(machine.nextDeadline == at(3))
      var hung = machine
      #expect(hung.step(.time, at: at(3)) == .none && hung.state == .stopped && hung.ends == 0)
      #expect(machine.step(.ended("signal 9"), at: at(2.9)) == .none && machine.state == .stopped)
      #expect((machine.starts, machine.ends) == (1, 1))
      for event in [SupervisionMachine.Event.heard, .ended("x"), .nonsense("kind 0"), .replace, .stop, .time] {
        #expect(machine.step(event, at: at(60)) == .none && machine.state == .stopped)
      }
      #expect(machine.starts == 1 && machine.ends == 1)
    }
  }

  @Test("nonsense: killed")
  func nonsense() {
    var machine = SupervisionMachine(at: at(0))
    _ = machine.step(.time, at: at(0))
    #expect(machine.step(.nonsense("kind 0"), at: at(1)) == .kill)
    _ = machine.step(.ended("signal 9"), at: at(1))
    guard case .waiting(_, let cause) = machine.state else { return #expect(Bool(false), "\(machine.state)") }
    #expect(cause?.contains("kind 0") == true)
  }
}
