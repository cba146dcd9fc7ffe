import Tactus
import TestSupport
import Testing

@testable import Leg

/// A model of what the rules allow, fed with the same events and with the machine's answers: written from the facts, not from
/// the machine.
private struct SafetyObserver {
  var isArmed = false
  var hasSet = false
  var lastFeed = TickInstant.zero
  var isLatched = false
  var isShutDown = false
  var isOff = true
  /// The last pulse since the leg was armed, in µs, and when.
  var lastPulse: (width: Double, at: TickInstant)?

  /// nil, or the rule that the answer breaks.
  mutating func judge(
    _ event: LegEvent, _ action: LegAction, _ machine: LegMachine, at now: TickInstant
  ) -> String? {
    let settings = machine.settings
    let isTooLate = isArmed && now - lastFeed >= settings.deadmanTimeout
    if isTooLate {
      isArmed = false
      if !isOff, action.output != .off { return "the pulse does not end at the deadman's time-out" }
    }
    switch event {
    case .order(.command(.arm)):
      if !isArmed, !isTooLate, action.verdict == .accepted {
        if isLatched || isShutDown { return "arms while latched" }
        isArmed = true
        hasSet = false
        lastPulse = nil
        lastFeed = now
      }
    case .order(.command(.setServo)):
      if isArmed {
        hasSet = true
        lastFeed = now
      }
    case .order(.command(.ping)):
      if isArmed { lastFeed = now }
    case .order(.command(.disarm)), .order(.linked), .order(.unlinked), .outputFailed, .missed: isArmed = false
    case .order(.emergencyStop):
      isArmed = false
      isLatched = true
    case .shutdown:
      isArmed = false
      isShutDown = true
    case .order(.reset):
      if action.verdict == .accepted { isLatched = false }
    case .order(.battery(let voltage)):
      if let voltage, let limits = settings.battery, voltage < limits.fault { isArmed = false }
    default: break
    }
    switch action.output {
    case .none: break
    case .off: isOff = true
    case .pulse(let pulse):
      isOff = false
      if !isArmed || !hasSet { return "a pulse while not armed and set" }
      if now >= lastFeed + settings.deadmanTimeout { return "a pulse past the deadman" }
      if pulse < settings.lowest || settings.highest < pulse { return "a pulse beyond the limits" }
      let width = Double(pulse.microseconds)
      if let last = lastPulse, let slew = settings.slewMicrosecondsPerSecond,
        // Each is rounded to a microsecond.
        abs(width - last.width) > Double(slew) * (now - last.at).inSeconds + 1
      {
        return "the pulse changes faster than the slew limit"
      }
      lastPulse = (width, now)
    }
    if !isArmed, !isOff { return "no off when the right to a pulse ended" }
    if machine.state.isArmed != isArmed { return "armed: expected \(isArmed), got \(machine.state)" }
    if isArmed, let deadline = machine.nextDeadline, deadline > lastFeed + settings.deadmanTimeout {
      return "the deadline is after the deadman's"
    }
    return nil
  }
}

@Suite(.ownThread) struct LegPropertyTests {
  private func randomSettings(_ random: inout SplitMix64) -> LegSettings {
    let lowest = UInt16.random(in: 500...1400, using: &random)
    return try! LegSettings(
      deadmanTimeout: .milliseconds(.random(in: 50...400, using: &random)), lowest: .microseconds(lowest),
      highest: .microseconds(.random(in: lowest + 1...2500, using: &random)),
      slewMicrosecondsPerSecond: Bool.random(using: &random) ? nil : .random(in: 1...1_000_000, using: &random),
      releaseAfter: Bool.random(using: &random) ? nil : .milliseconds(.random(in: 100...500, using: &random)),
      battery: Bool.random(using: &random)
        ? nil : LegBatteryLimits(warning: Millivolts(6800), fault: Millivolts(6400)))
  }

  private func randomEvent(_ random: inout SplitMix64) -> LegEvent {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<20: .order(.command(.arm))
    case 20..<26: .order(.command(.disarm))
    case 26..<55: .order(.command(.setServo(.microseconds(.random(in: 0...3000, using: &random)))))
    case 55..<62: .order(.command(.ping))
    case 62..<65: .order(.invalidFrame)
    case 65: .order(.linked)
    case 66: .order(.unlinked)
    case 67: .order(.emergencyStop)
    case 68..<71: .order(.reset)
    case 71: .order(.battery(Millivolts(.random(in: 6000...8000, using: &random))))
    case 72: .order(.battery(nil))
    case 73..<84: .tick
    case 84..<94: .offConfirmed
    case 94: .outputFailed
    case 95..<98: .report
    case 98: Int.random(in: 0..<5, using: &random) == 0 ? .missed(releases: 3) : .stale
    default: Int.random(in: 0..<10, using: &random) == 0 ? .shutdown : .tick
    }
  }

  @Test(
    "50,000 random histories: never a pulse unless armed and set since, never past the last feeding command's 200 ms")
  func randomHistories() {
    var pulses = 0
    var trips = 0
    for seed in UInt64(0)..<50_000 {
      var random = SplitMix64(seed: seed)
      var machine = LegMachine(randomSettings(&random))
      var observer = SafetyObserver()
      var now = TickInstant.zero
      for index in 0..<40 {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: break
        case 1: now = now + .milliseconds(.random(in: 0...600, using: &random))
        // Exactly at the deadline.
        case 2: if let deadline = machine.nextDeadline, deadline > now { now = deadline }
        default: now = now + .milliseconds(.random(in: 0...40, using: &random))
        }
        let event = randomEvent(&random)
        let action = machine.step(event, at: now)
        if action.pulse != nil { pulses += 1 }
        if machine.state.fault == .silence { trips += 1 }
        if let broken = observer.judge(event, action, machine, at: now) {
          Issue.record("seed \(seed), event \(index) \(event) at \(now.nanoseconds) ns: \(broken)")
          return
        }
        if let deadline = machine.nextDeadline, deadline <= now {
          Issue.record("seed \(seed), event \(index): the deadline is in the past")
          return
        }
      }
    }
    #expect(pulses > 100_000 && trips > 100_000, "\(pulses) pulses, \(trips) in fault by silence")
  }
}
