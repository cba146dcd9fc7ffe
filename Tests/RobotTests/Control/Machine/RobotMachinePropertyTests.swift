import Tactus
import TestSupport
import Testing
import Wire

@testable import Robot

/// A model of what the rules allow, fed with the same events and with the machine's answers.
private struct SafetyObserver {
  var lastAccepted: TickInstant?
  var output = WheelSpeeds.zero
  var outputAt = TickInstant.zero
  /// The last output of an earlier instant: of several at one instant only the last reaches the motors.
  var base = WheelSpeeds.zero
  var baseAt = TickInstant.zero
  /// The longest tick period in force at `outputAt`: what a wheel at rest is credited.
  var credit = Nanoseconds.zero
  var isLatched = false
  var isShutDown = false

  /// nil, or the rule that the answer breaks.
  mutating func judge(
    _ event: RobotEvent, _ action: RobotAction, _ state: RobotState, _ settings: RobotSettings, at now: TickInstant
  ) -> String? {
    switch event {
    case .command(.drive(let speeds), _, _) where !speeds.isZero && action.verdict == .accepted: lastAccepted = now
    case .command(.twist(let twist), _, _) where !twist.isZero && action.verdict == .accepted: lastAccepted = now
    case .command(.emergencyStop, _, _), .missed: isLatched = true
    case .shutdown: isShutDown = true
    case .command(.reset, _, _) where action.verdict == .accepted: isLatched = false
    default: break
    }
    if now > outputAt, action.output != .none {
      base = output
      baseAt = outputAt
      outputAt = now
      credit = settings.tickPeriod
    }
    credit = max(credit, settings.tickPeriod)
    switch action.output {
    case .none: return nil
    case .stop:
      output = .zero
      base = .zero
      return nil
    case .drive(let next):
      defer { output = next }
      if isShutDown { return "drives after shutdown" }
      if isLatched || !state.isDriving { return "drives while \(state)" }
      guard let lastAccepted, now < lastAccepted + settings.failsafeTimeout else { return "drives past the failsafe" }
      return judge(base.left, output.left, next.left, settings) ?? judge(base.right, output.right, next.right, settings)
    }
  }

  private func judge(_ base: Percent, _ last: Percent, _ next: Percent, _ settings: RobotSettings) -> String? {
    if !next.value.isFinite { return "not finite" }
    if next.value.magnitude > settings.speedLimit.value { return "above the speed limit" }
    for earlier in [base, last] where next.value * earlier.value < 0 { return "changes sign without a zero" }
    guard let slew = settings.slewPerSecond else { return nil }
    // From rest one tick is credited.
    let rise = slew * ((outputAt - baseAt).inSeconds + (base.value == 0 ? credit.inSeconds : 0))
    return next.value.magnitude > base.value.magnitude + rise + 1e-6 ? "rises faster than the ramp" : nil
  }
}

@Suite(.ownThread) struct RobotMachinePropertyTests {
  private func randomSpeeds(_ generator: inout SplitMix64) -> WheelSpeeds {
    switch Int.random(in: 0..<12, using: &generator) {
    case 0: .zero
    case 1: speeds(.nan, .random(in: -100...100, using: &generator))
    case 2: speeds(.infinity, -.infinity)
    case 3: speeds(.random(in: -1e6...1e6, using: &generator), 0)
    case 4: speeds(.leastNonzeroMagnitude, -.leastNonzeroMagnitude)
    default: speeds(.random(in: -100...100, using: &generator), .random(in: -100...100, using: &generator))
    }
  }

  private func randomTwist(_ generator: inout SplitMix64) -> Twist {
    switch Int.random(in: 0..<12, using: &generator) {
    case 0: twist(0, 0)
    case 1: twist(.nan, .random(in: -1...1, using: &generator))
    case 2: twist(.random(in: -100...100, using: &generator), .random(in: -100...100, using: &generator))
    case 3: twist(.leastNonzeroMagnitude, -.leastNonzeroMagnitude)
    default: twist(.random(in: -0.6...0.6, using: &generator), .random(in: -3...3, using: &generator))
    }
  }

  private func randomSettings(_ generator: inout SplitMix64) -> RobotSettings {
    try! RobotSettings(
      failsafeTimeout: .milliseconds(.random(in: 400...2_000, using: &generator)),
      speedLimit: Percent(.random(in: 0...100, using: &generator)),
      acceleration: Bool.random(using: &generator) ? 0 : .random(in: 0...100, using: &generator),
      tickPeriod: .milliseconds(.random(in: 1...200, using: &generator)),
      failuresBeforeFault: .random(in: 1...5, using: &generator),
      geometry: Bool.random(using: &generator) ? RobotSettings.measured.geometry : nil,
      stopWithinMillimetres: Bool.random(using: &generator) ? 200 : nil)
  }

  private func randomEvent(_ generator: inout SplitMix64) -> RobotEvent {
    let source = [sourceA, sourceA, sourceA, sourceB, sourceC].randomElement(using: &generator)!
    let stamp: SenderTimestamp? =
      Bool.random(using: &generator) ? nil : .at((Double.random(in: 0...50, using: &generator) * 4).rounded() / 4)
    let failure = MotorFailure(MotorFailure.Kind.allCases.randomElement(using: &generator)!)
    return switch Int.random(in: 0..<100, using: &generator) {
    case 0..<35: .command(.drive(randomSpeeds(&generator)), timestamp: stamp, from: source)
    case 35..<45: .command(.twist(randomTwist(&generator)), timestamp: stamp, from: source)
    case 45..<48: .command(.stop, timestamp: stamp, from: source)
    case 48: .command(.emergencyStop, from: source)
    case 49: .stale(isDrive: Bool.random(using: &generator))
    case 50..<55: .command(.reset, from: source)
    case 55..<60: .clearance(.distance(millimetres: .random(in: 100...400, using: &generator)))
    case 60..<75: .tick
    case 75..<82: .driveConfirmed
    case 82: .driveFailed(failure)
    case 83..<95: .stopConfirmed
    case 95..<97: .stopFailed(failure)
    case 97: Int.random(in: 0..<10, using: &generator) == 0 ? .missed(releases: 3) : .tick
    case 98: .settings(randomSettings(&generator))
    default: Int.random(in: 0..<20, using: &generator) == 0 ? .shutdown : .tick
    }
  }

  @Test("100,000 random histories: no drive past the failsafe, latched, above the limit, the ramp or across a sign")
  func randomHistories() {
    var drives = 0
    for seed in UInt64(0)..<100_000 {
      var generator = SplitMix64(seed: seed)
      var settings = randomSettings(&generator)
      var machine = RobotMachine(settings)
      var observer = SafetyObserver()
      var now = TickInstant.zero
      for index in 0..<40 {
        let gap = Int.random(in: 0..<8, using: &generator)
        now =
          now
          + .milliseconds(
            gap == 0 ? 0 : gap == 1 ? .random(in: 0...1_500, using: &generator) : .random(in: 0...60, using: &generator)
          )
        // Some events come exactly at the deadline.
        if gap == 2, let deadline = machine.nextDeadline, deadline > now { now = deadline }
        let event = randomEvent(&generator)
        if case .settings(let new) = event { settings = new }
        let action = machine.step(event, at: now)
        if action.drives != nil { drives += 1 }
        if let broken = observer.judge(event, action, machine.state, settings, at: now) {
          Issue.record("seed \(seed), event \(index) at \(now.nanoseconds) ns: \(broken)")
          return
        }
        if let deadline = machine.nextDeadline, deadline <= now {
          Issue.record("seed \(seed), event \(index): the deadline is in the past")
          return
        }
      }
    }
    #expect(drives > 500_000, "the histories drive")
  }
}
