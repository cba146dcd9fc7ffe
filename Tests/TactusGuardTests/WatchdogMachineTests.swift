import Tactus
import Testing

@testable import TactusGuard

/// A watchdog's device in the test's hands.
private final class FakeWatchdog: WatchdogDevice {
  var timeout: Nanoseconds? = .seconds(8)
  var feedFailure: String?
  var disarmFailure: String?
  private(set) var said: [String] = []
  private(set) var fed = 0

  func open() -> Result<Nanoseconds, WatchdogFailure> {
    said.append("open")
    return timeout.map { .success($0) } ?? .failure(WatchdogFailure(reason: "busy"))
  }
  func feed() -> String? {
    fed += 1
    return feedFailure
  }
  func disarm() -> String? {
    said.append("disarm")
    return disarmFailure
  }
}

@Suite("hardware watchdog")
struct WatchdogMachineTests {
  private static let lapse = GuardMachine.Cause.lapse

  private func opened(timeout: Nanoseconds = .seconds(8)) -> WatchdogMachine {
    var machine = WatchdogMachine(at: .zero)
    #expect(machine.step(.look(.watching), at: .zero) == .open)
    #expect(machine.step(.opened(timeout: timeout), at: .zero) == .none)
    return machine
  }

  @Test("watching or holding: fed once a second, or four times in each shorter time-out")
  func fed() {
    for state in [GuardMachine.State.watching, .holding(Self.lapse, until: .zero)] {
      for (timeout, period) in [(Nanoseconds.seconds(8), Nanoseconds.seconds(1)), (.seconds(2), .milliseconds(500))] {
        var machine = opened(timeout: timeout)
        var fed: [TickInstant] = []
        var now = TickInstant.zero
        while now < .zero + .seconds(4) {
          now = now + .milliseconds(100)
          if machine.step(.look(state), at: now) == .feed { fed.append(now) }
        }
        #expect(fed.first == TickInstant.zero + period)
        #expect(zip(fed, fed.dropFirst()).allSatisfy { $1 - $0 == period })
      }
    }
  }

  @Test("a safe state that is not confirmed: not fed; confirmed: fed at once")
  func starving() {
    var machine = opened()
    for second in 1...100 {
      let state: GuardMachine.State =
        second.isMultiple(of: 2)
        ? .writing(Self.lapse, attempt: second) : .retrying(.death, attempt: second, at: .zero)
      #expect(machine.step(.look(state), at: .zero + .seconds(Double(second))) == .none)
    }
    #expect(machine.state == .starving && machine.nextDeadline == nil)
    #expect(machine.step(.look(.holding(Self.lapse, until: .zero)), at: .zero + .seconds(101)) == .feed)
    #expect(machine.nextDeadline == .zero + .seconds(102))
  }

  @Test("a safe state that is confirmed within a feeding period: no feeding is late by more than the write")
  func shortWrite() {
    var machine = opened()
    #expect(machine.step(.look(.writing(Self.lapse, attempt: 1)), at: .zero + .milliseconds(300)) == .none)
    #expect(machine.step(.look(.watching), at: .zero + .milliseconds(330)) == .feed)
  }

  @Test("dismissed, or gone with a confirmed safe state: disarmed; given up: left counting; nothing after that")
  func ended() {
    for (isSafe, action) in [(true, WatchdogMachine.Action.disarm), (false, .none)] {
      var machine = opened()
      #expect(machine.step(.ended(isSafe: isSafe), at: .zero) == action)
      #expect(machine.state == .finished)
      #expect(machine.step(.look(.watching), at: .zero + .seconds(9)) == .none)
      #expect(machine.step(.ended(isSafe: true), at: .zero + .seconds(9)) == .none)
    }
    var starving = opened()
    _ = starving.step(.look(.retrying(.death, attempt: 3, at: .zero)), at: .zero)
    #expect(starving.step(.ended(isSafe: false), at: .zero) == .none)
  }

  @Test("not opened: tried again every 0.2 s, and nothing is disarmed at the end")
  func notOpened() {
    var machine = WatchdogMachine(at: .zero)
    #expect(machine.step(.look(.watching), at: .zero) == .open)
    _ = machine.step(.notOpened, at: .zero)
    #expect(machine.step(.look(.watching), at: .zero + .milliseconds(199)) == .none)
    #expect(machine.step(.look(.watching), at: .zero + .milliseconds(200)) == .open)
    _ = machine.step(.notOpened, at: .zero + .milliseconds(200))
    #expect(machine.step(.ended(isSafe: true), at: .zero + .seconds(1)) == .none)
  }

  @Test("a guard whose predecessor still has the device: says so once, opens it when it is free, and says that")
  func predecessor() {
    let device = FakeWatchdog()
    device.timeout = nil
    var feeder = WatchdogFeeder(device, at: .zero)
    var now = TickInstant.zero
    func look() -> [GuardReport.Subject] {
      now = now + .milliseconds(200)
      return feeder.check(.watching, at: now).map(\.subject)
    }
    #expect(look() == [.watchdogNotOpened] && look() == [])
    #expect(feeder.failure == "busy" && feeder.timeout == nil)
    device.timeout = .seconds(15)
    #expect(look() == [.watchdogOpened] && look() == [])
    #expect(feeder.failure == nil && feeder.timeout == .seconds(15))
    #expect(device.said == ["open", "open", "open"])
  }

  @Test("the whole guard in simulated time: silence with a bus that never answers is not fed, one that answers is")
  func withGuard() {
    for answers in [true, false] {
      let device = FakeWatchdog()
      var feeder = WatchdogFeeder(device, at: .zero)
      var guardMachine = GuardMachine(
        window: HeartbeatWindow(shortest: .milliseconds(50), longest: .seconds(1)), at: .zero)
      var now = TickInstant.zero
      while now < .zero + .seconds(60) {
        #expect(feeder.check(guardMachine.state, at: now).isEmpty)
        switch guardMachine.step(.nothing, at: now) {
        case .write:
          _ = feeder.check(guardMachine.state, at: now)
          _ = guardMachine.step(answers ? .confirmed : .failed, at: now)
        case .wait, .finish: now = now + .milliseconds(10)
        }
      }
      #expect(answers ? device.fed >= 55 : device.fed <= 1, "\(device.fed)")
    }
  }

  @Test("a driver that does not take what it is told: said once")
  func notFed() {
    let device = FakeWatchdog()
    var feeder = WatchdogFeeder(device, at: .zero)
    _ = feeder.check(.watching, at: .zero)
    device.feedFailure = "no such device"
    #expect(feeder.check(.watching, at: .zero + .seconds(1)).map(\.failures) == [["no such device"]])
    #expect(feeder.check(.watching, at: .zero + .seconds(2)).isEmpty)
    #expect(feeder.end(isSafe: false, at: .zero + .seconds(3)).map(\.subject) == [.watchdogLeft])
    #expect(device.said == ["open"])
  }

  @Test("one that cannot be stopped: after an orderly end it is told that it resets the board, and why")
  func unstoppable() {
    let device = FakeWatchdog()
    device.disarmFailure = "it cannot be stopped"
    var feeder = WatchdogFeeder(device, at: .zero)
    _ = feeder.check(.watching, at: .zero)
    let said = feeder.end(isSafe: true, at: .zero + .seconds(1))
    #expect(said == [GuardReport(subject: .watchdogLeft, failures: ["it cannot be stopped"])])
    #expect(said.first?.message().contains("resets the board") == true)
    #expect(device.said == ["open", "disarm"])
  }

  @Test("a path that is no watchdog: never opened")
  func noWatchdog() {
    for path in ["/dev/null", "/proc/self/status"] {
      #expect(HardwareWatchdog.flaw(path: path) == "expected a watchdog, got something else")
      let failure = WatchdogFailure(reason: "\(path): expected a watchdog, got something else")
      #expect(LinuxWatchdog(HardwareWatchdog(path: path, timeoutSeconds: 10)).open() == .failure(failure))
    }
    #expect(HardwareWatchdog.flaw(path: "/nowhere") == nil && !HardwareWatchdog.isThere("/nowhere"))
  }
}
