import Tactus
import TestSupport
import Testing
import Video

@Suite("capture machine", .ownThread)
struct CaptureMachineTests {
  private let start = TickInstant(nanoseconds: 1_000_000_000)

  private func at(_ seconds: Double) -> TickInstant { start + .seconds(seconds) }

  /// One that runs, its first frame a second after the start.
  private func running() -> CaptureMachine {
    var machine = CaptureMachine()
    _ = machine.step(.wanted(true), at: at(0))
    _ = machine.step(.frames, at: at(1))
    return machine
  }

  @Test("idle: somebody looks, and the camera starts; frames, and it runs")
  func begins() {
    var machine = CaptureMachine()
    #expect(machine.nextDeadline == nil)
    #expect(machine.step(.time, at: at(0)) == .none)
    #expect(machine.step(.wanted(true), at: at(1)) == .start)
    #expect(machine.state == .starting(since: at(1)))
    #expect(machine.step(.frames, at: at(2)) == .none)
    #expect(machine.state == .running(since: at(1), lastFrame: at(2)))
  }

  @Test("running: the last viewer leaves, and the camera goes on for five seconds; a new one in time costs no start")
  func lingers() {
    var machine = running()
    #expect(machine.step(.wanted(false), at: at(2)) == .none)
    #expect(machine.step(.frames, at: at(6.9)) == .none)
    #expect(machine.step(.wanted(true), at: at(6.95)) == .none)
    #expect(machine.state == .running(since: at(0), lastFrame: at(6.9)))
    #expect(machine.step(.wanted(false), at: at(7)) == .none)
    #expect(machine.nextDeadline == at(11.9))
    #expect(machine.step(.time, at: at(12)) == .stop)
    #expect(machine.state == .idle)
  }

  @Test("100 times the last viewer leaves and a new one comes: as many starts as rests")
  func again() {
    var machine = CaptureMachine()
    var actions: [CaptureMachine.Action] = []
    for round in 0..<100 {
      let begin = Double(round) * 20
      actions.append(machine.step(.wanted(true), at: at(begin)))
      _ = machine.step(.frames, at: at(begin + 0.3))
      _ = machine.step(.wanted(false), at: at(begin + 1))
      actions.append(machine.step(.time, at: at(begin + 6)))
    }
    #expect(actions == Array(repeating: [.start, .stop], count: 100).flatMap(\.self))
  }

  @Test(
    "a camera that is missing: tried again while somebody watches, ever more seldom; nobody watches, and it is left alone"
  )
  func missing() {
    var machine = CaptureMachine()
    #expect(machine.step(.wanted(true), at: at(0)) == .start)
    var now = 0.0
    var pauses: [Double] = []
    for _ in 0..<9 {
      #expect(machine.step(.failed("no device"), at: at(now)) == .stop)
      let pause = machine.pauseLeft(at: at(now)).inSeconds
      pauses.append(pause)
      #expect(machine.step(.time, at: at(now + pause - 0.01)) == .none)
      now += pause
      #expect(machine.step(.time, at: at(now)) == .start)
    }
    #expect(pauses == [0.5, 1, 2, 4, 8, 16, 30, 30, 30])
    #expect(machine.failures == 9)
    _ = machine.step(.failed("no device"), at: at(now))
    #expect(machine.step(.wanted(false), at: at(now + 1)) == .none)
    #expect(machine.step(.time, at: at(now + 1000)) == .none)
    #expect(machine.state == .idle)
  }

  /// Started for the fifth time, at 4 s; the next pause is 8 s.
  private func failedOften() -> CaptureMachine {
    var machine = CaptureMachine()
    _ = machine.step(.wanted(true), at: at(0))
    for _ in 0..<4 {
      _ = machine.step(.failed("x"), at: at(0))
      _ = machine.step(.time, at: at(0) + machine.pauseLeft(at: at(0)))
    }
    return machine
  }

  @Test(
    "running for ten seconds since the start: a failure, and the next attempt comes soon again; for less: it does not",
    arguments: [(13.9, 8), (14, 0.5)])
  func proven(failure: Double, pause: Double) {
    var machine = failedOften()
    _ = machine.step(.frames, at: at(10))
    _ = machine.step(.frames, at: at(13))
    #expect(machine.step(.failed("unplugged"), at: at(failure)) == .stop)
    #expect(machine.pauseLeft(at: at(failure)).inSeconds == pause)
    #expect(machine.pauseLeft(at: at(failure + pause + 1)) == .zero)
  }

  @Test("it has run and rested: the first attempt after the next failure comes soon again")
  func rested() {
    var machine = failedOften()
    _ = machine.step(.frames, at: at(5))
    _ = machine.step(.wanted(false), at: at(6))
    #expect(machine.step(.time, at: at(11)) == .stop)
    #expect(machine.step(.wanted(true), at: at(12)) == .start)
    #expect(machine.pauseLeft(at: at(12)) == .zero)
    _ = machine.step(.failed("unplugged"), at: at(13))
    #expect(machine.pauseLeft(at: at(13)) == CaptureMachine.shortestPause)
  }

  @Test(
    "lingering: it rests with the frame that comes when its time is over; each before is a sign of life and no more")
  func lingersWithFrames() {
    var machine = running()
    _ = machine.step(.wanted(false), at: at(2))
    for second in [3.0, 4, 5, 6] {
      #expect(machine.step(.frames, at: at(second)) == .none)
      #expect(machine.state == .lingering(since: at(0), until: at(7), lastFrame: at(second)))
    }
    #expect(machine.step(.frames, at: at(7)) == .stop)
    #expect(machine.state == .idle)
  }

  @Test("lingering: a failure stops it, is counted, and is no reason for another attempt")
  func failsForNobody() {
    var machine = running()
    _ = machine.step(.wanted(false), at: at(2))
    #expect(machine.step(.failed("unplugged"), at: at(3)) == .stop)
    #expect(machine.state == .idle)
    #expect(machine.failures == 1)
    #expect(machine.nextDeadline == nil)
  }

  @Test("lingering: no frame for five seconds stops it, which is a failure and no reason for another attempt")
  func silentForNobody() {
    var machine = running()
    _ = machine.step(.frames, at: at(3))
    _ = machine.step(.wanted(false), at: at(6))
    #expect(machine.nextDeadline == at(8))
    #expect(machine.step(.time, at: at(7.9)) == .none)
    #expect(machine.step(.time, at: at(8)) == .stop)
    #expect(machine.state == .idle)
    #expect(machine.failures == 1)
  }

  @Test("no first frame for ten seconds, no frame for five: a failure with its cause")
  func silence() {
    var machine = CaptureMachine()
    _ = machine.step(.wanted(true), at: at(0))
    #expect(machine.nextDeadline == at(10))
    #expect(machine.step(.time, at: at(9.9)) == .none)
    #expect(machine.step(.time, at: at(10)) == .stop)
    guard case .waiting(_, let cause) = machine.state else { return #expect(Bool(false), "\(machine.state)") }
    #expect(cause.contains("no frame within"))

    machine = running()
    _ = machine.step(.frames, at: at(3))
    #expect(machine.nextDeadline == at(8))
    #expect(machine.step(.time, at: at(7.9)) == .none)
    #expect(machine.step(.time, at: at(8)) == .stop)
    guard case .waiting(_, let cause) = machine.state else { return #expect(Bool(false), "\(machine.state)") }
    #expect(cause.contains("no frame for"))
  }

  @Test("starting, and nobody watches any more: it lingers once it runs, and a failure ends it without another attempt")
  func unwantedWhileStarting() {
    var machine = CaptureMachine()
    _ = machine.step(.wanted(true), at: at(0))
    #expect(machine.step(.wanted(false), at: at(0.1)) == .none)
    var other = machine
    #expect(machine.step(.frames, at: at(1)) == .none)
    #expect(machine.nextDeadline == at(6))
    #expect(other.step(.failed("x"), at: at(1)) == .stop)
    #expect(other.state == .idle)
  }

  @Test("any order of events, seeded: starts and stops alternate, and nothing runs that nobody has wanted for long")
  func anything() {
    let seed: UInt64 = 20_261_121
    var random = SplitMix64(seed: seed)
    var machine = CaptureMachine()
    var isRunning = false
    var now = start
    var unwantedSince: TickInstant? = now
    for _ in 0..<20_000 {
      now = now + .milliseconds(Int64(random.next() % 2000))
      let event: CaptureMachine.Event =
        switch random.next() % 6 {
        case 0: .wanted(true)
        case 1: .wanted(false)
        case 2: .failed("x")
        case 3: .time
        default: .frames
        }
      // Only a pipeline that is there can fail or give frames.
      if !isRunning, [.frames, .failed("x")].contains(event) { continue }
      if case .wanted(let isWanted) = event { unwantedSince = isWanted ? nil : unwantedSince ?? now }
      switch machine.step(event, at: now) {
      case .none: break
      case .start:
        #expect(!isRunning, "seed \(seed)")
        isRunning = true
      case .stop:
        #expect(isRunning, "seed \(seed)")
        isRunning = false
      }
      if isRunning, let unwantedSince, case .running = machine.state {
        #expect(now == unwantedSince, "seed \(seed): runs for nobody")
      }
    }
  }
}
