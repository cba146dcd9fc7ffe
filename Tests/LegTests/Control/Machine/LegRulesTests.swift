import Tactus
import TestSupport
import Testing

@testable import Leg

@Suite(.ownThread) struct LegRulesTests {
  // MARK: arming

  @Test("armed: no pulse before the first set")
  func armingMakesNoPulse() {
    var leg = Timeline()
    #expect(leg.arm(10).output == .none)
    #expect(leg.at(20, .tick).output == .none)
    #expect(leg.ping(30).output == .none)
    #expect(leg.set(40, 1200).pulse == 1200)
  }

  @Test("disarmed, in fault, latched or shut down: a set is ignored silently, clamped or not")
  func setOnlyWhenArmed() {
    for (event, reason) in [
      (nil, .notArmed), (.order(.unlinked), .inFault), (.order(.emergencyStop), .emergencyStopped),
      (.shutdown, .shutDown),
    ] as [(LegEvent?, LegIgnoreReason)] {
      var leg = Timeline()
      if let event { leg.at(5, event) }
      let before = leg.report(6)
      let action = leg.set(10, 9000)
      #expect(action.output == .none && action.ignored == reason)
      #expect(leg.report(10) == before)
    }
  }

  @Test("fault: an arm is refused, a disarm leads out, the next arm is obeyed and needs a set again")
  func faultNeedsDisarm() {
    var leg = Timeline()
    leg.arm(0)
    leg.set(0, 1500)
    leg.at(200, .tick)
    #expect(leg.arm(210).ignored == .inFault)
    #expect(leg.disarm(220).output == .off)
    #expect(leg.report(230) == "disarmed none 0")
    leg.arm(240)
    #expect(leg.at(250, .tick).pulse == nil)
    #expect(leg.state.isArmed)
  }

  @Test("armed: another arm has no effect and does not feed the deadman")
  func armTwice() {
    var leg = Timeline()
    leg.arm(0)
    leg.at(50, .invalidFrame)
    #expect(leg.arm(100).ignored == .alreadyArmed)
    #expect(leg.deadline == .milliseconds(200))
    #expect(leg.report(150) == "armed invalid command 150", "nor does it clear the error")
    #expect(leg.at(200, .tick).output == .off)
  }

  // MARK: deadman

  @Test("armed: silence for 200 ms cuts the pulse, to the nanosecond")
  func silence() {
    var leg = Timeline()
    leg.arm(0)
    leg.set(10, 1500)
    #expect(leg.deadline == .milliseconds(210))
    #expect(leg.at(TickInstant(nanoseconds: 209_999_999), .tick).pulse == 1500)
    #expect(leg.at(210, .tick).output == .off)
    #expect(leg.state.fault == .silence)
    #expect(leg.deadline == nil)
    #expect(leg.report(210) == "fault deadman time-out 200")
  }

  @Test("armed: whatever comes at the deadline, the pulse ends, even if it is the command that comes too late")
  func anythingAtTheDeadline() {
    for event in LegTableColumn.allCases.map(\.event) {
      var leg = Timeline()
      leg.arm(0)
      leg.set(0, 1500)
      let action = leg.at(200, event)
      #expect(action.output == .off, "\(event)")
      #expect(!leg.state.isArmed, "\(event)")
    }
  }

  @Test("deadman: fed by the arm that armed, by sets and pings while armed, and by nothing else")
  func feeding() {
    var leg = Timeline()
    leg.ping(0)
    leg.set(0, 1500)
    #expect(leg.deadline == nil)
    leg.arm(100)
    #expect(leg.deadline == .milliseconds(300))
    leg.ping(150)
    #expect(leg.deadline == .milliseconds(350))
    leg.set(200, 9000)
    #expect(leg.deadline == .milliseconds(400), "clamped, but a command")
    for event in [
      .order(.invalidFrame), .tick, .report, .order(.command(.arm)), .order(.battery(Millivolts(8000))), .offConfirmed,
      .stale, .order(.reset),
    ] as [LegEvent] {
      leg.at(250, event)
    }
    #expect(leg.deadline == .milliseconds(400))
  }

  @Test("deadman: another time-out from the settings")
  func otherTimeout() throws {
    var leg = Timeline(try LegSettings(deadmanTimeout: .milliseconds(50)))
    leg.arm(0)
    #expect(leg.deadline == .milliseconds(50))
    leg.at(50, .tick)
    #expect(leg.state.fault == .silence)
  }

  // MARK: telemetry

  @Test("age: 0 while disarmed, grows while armed and in fault, saturates at 65535, is 0 after the disarm")
  func age() {
    var leg = Timeline()
    leg.ping(100)
    #expect(leg.report(5_000) == "disarmed none 0")
    leg.arm(6_000)
    #expect(leg.report(6_050) == "armed none 50")
    leg.at(6_200, .tick)
    leg.ping(6_500)
    #expect(leg.report(7_000) == "fault deadman time-out 1000", "a ping feeds only while armed")
    #expect(leg.report(71_534) == "fault deadman time-out 65534")
    #expect(leg.report(71_535) == "fault deadman time-out 65535")
    #expect(leg.report(71_536) == "fault deadman time-out 65535")
    #expect(leg.report(9_000_000) == "fault deadman time-out 65535")
    leg.disarm(9_000_001)
    #expect(leg.report(9_000_002) == "disarmed none 0")
  }

  @Test(
    "out of range: clamped and obeyed, reported as an invalid command in exactly one telemetry frame, then as before")
  func clamp() throws {
    var leg = Timeline(try LegSettings(lowest: .microseconds(1000), highest: .microseconds(2000)))
    leg.arm(0)
    #expect(leg.set(10, 400).pulse == 1000)
    #expect(leg.set(20, 1500).pulse == 1500)
    #expect(leg.report(100) == "armed invalid command 80")
    leg.ping(150)
    #expect(leg.report(200) == "armed none 50")
    #expect(leg.set(210, 2001).pulse == 2000)
    #expect(leg.set(220, 65_535).pulse == 2000)
    leg.at(230, .invalidFrame)
    #expect(leg.report(300) == "armed invalid command 80")
    #expect(leg.report(300) == "armed invalid command 80", "an invalid frame stays")
    #expect(leg.set(310, 2001).pulse == 2000)
    leg.disarm(320)
    #expect(leg.report(400) == "disarmed none 0")
  }

  @Test("invalid frame: error 4 in every state, no change of state, until arm, disarm or a new connection")
  func invalidFrame() {
    var leg = Timeline()
    #expect(leg.at(0, .invalidFrame).output == .none)
    #expect(leg.report(1) == "disarmed invalid command 0")
    #expect(leg.report(200) == "disarmed invalid command 0")
    leg.arm(300)
    #expect(leg.report(301) == "armed none 1")
    leg.at(310, .invalidFrame)
    leg.set(320, 1500)
    #expect(leg.report(330) == "armed invalid command 10")
    leg.at(340, .linked)
    #expect(leg.report(341) == "disarmed none 0")
    leg.at(350, .invalidFrame)
    leg.disarm(351)
    #expect(leg.report(352) == "disarmed none 0")
  }

  @Test("battery: no sensor is 0 mV, the stub is 7400 mV, a reading is a reading")
  func batteryReading() throws {
    var leg = Timeline()
    #expect(leg.at(0, .report).telemetry?.battery == Millivolts(0))
    leg.at(1, .battery(Millivolts(7123)))
    #expect(leg.at(2, .report).telemetry?.battery == Millivolts(7123))
    leg.at(3, .battery(nil))
    #expect(leg.at(4, .report).telemetry?.battery == Millivolts(0))
    var stub = Timeline(try LegSettings(reportsStubBattery: true))
    stub.at(1, .battery(Millivolts(7123)))
    #expect(stub.at(2, .report).telemetry?.battery == Millivolts(7400))
  }

  @Test("battery low: a warning in telemetry; empty: fault while armed, no arming; without limits neither")
  func batteryLimits() throws {
    let limits = LegBatteryLimits(warning: Millivolts(6800), fault: Millivolts(6400))
    var leg = Timeline(try LegSettings(battery: limits))
    leg.arm(0)
    leg.at(1, .battery(Millivolts(6799)))
    #expect(leg.state.isArmed && leg.report(2) == "armed low battery 2")
    leg.at(3, .battery(Millivolts(6800)))
    #expect(leg.report(4) == "armed none 4")
    leg.set(5, 1500)
    #expect(leg.at(6, .battery(Millivolts(6399))).output == .off)
    #expect(leg.state.fault == .lowBattery && leg.report(7) == "fault low battery 2")
    leg.disarm(8)
    #expect(leg.arm(9).ignored == .lowBattery)
    #expect(leg.report(10) == "disarmed low battery 0")
    leg.at(11, .battery(Millivolts(7000)))
    leg.arm(12)
    #expect(leg.state.isArmed)
    var other = Timeline()
    other.arm(0)
    other.at(1, .battery(Millivolts(100)))
    #expect(other.state.isArmed && other.report(2) == "armed none 2")
  }

  // MARK: links, chip, daemon

  @Test("link lost: fault at once, output off, no error; a new connection disarms")
  func link() {
    var leg = Timeline()
    leg.arm(0)
    leg.set(10, 1500)
    #expect(leg.at(50, .unlinked).output == .off)
    #expect(leg.state.fault == .linkLost)
    #expect(leg.report(60) == "fault none 50")
    #expect(leg.at(70, .linked).output == .off)
    #expect(leg.report(80) == "disarmed none 0")
  }

  @Test("write failed: fault, error 3, the off at every tick until confirmed")
  func writeFails() {
    var leg = Timeline()
    leg.arm(0)
    leg.set(10, 1500)
    #expect(leg.at(10, .outputFailed).output == .off)
    #expect(leg.state.fault == .output && leg.report(20) == "fault I2C fault 10")
    #expect(leg.at(20, .tick).output == .off)
    #expect(leg.at(40, .tick).output == .off)
    leg.at(40, .offConfirmed)
    #expect(leg.at(60, .tick).output == .none)
    leg.disarm(70)
    leg.at(70, .outputFailed)
    #expect(leg.state.fault == .output, "a disarm that cannot be written is a fault again")
  }

  @Test(
    "emergency stop: off at once, latched against arm, disarm, set and a new connection; reset once off is confirmed")
  func emergencyStop() {
    var leg = Timeline()
    leg.arm(0)
    leg.set(10, 1500)
    #expect(leg.at(20, .emergencyStop).output == .off)
    #expect(leg.report(21) == "fault unknown 11")
    for order in [.command(.arm), .command(.disarm), .command(.setServo(.middle)), .linked, .command(.ping)]
      as [LegOrder]
    {
      #expect(leg.at(30, order).pulse == nil)
      #expect(leg.state == .emergencyStopped(.pending))
    }
    #expect(leg.at(40, .reset).ignored == .offNotConfirmed)
    leg.at(41, .offConfirmed)
    leg.at(42, .reset)
    #expect(leg.report(43) == "disarmed none 0")
    #expect(leg.state == .disarmed(.confirmed))
  }

  @Test("missed releases: fault that names the count")
  func missed() {
    var leg = Timeline()
    leg.arm(0)
    leg.set(10, 1500)
    #expect(leg.at(90, .missed(releases: 4)).output == .off)
    #expect(leg.state.fault == .missedReleases(4) && leg.report(90) == "fault unknown 80")
  }

  @Test("stopped from outside: settings and an arm move nothing; after a disarm and an arm they do")
  func externalStop() {
    var leg = Timeline()
    leg.arm(0)
    leg.set(10, 1500)
    #expect(leg.at(90, .externalStop).output == .off)
    #expect(leg.state.fault == .externalStop)
    #expect(leg.at(100, .command(.setServo(.microseconds(1500)))) == .ignored(.inFault))
    #expect(leg.at(110, .command(.arm)) == .ignored(.inFault))
    leg.at(120, .command(.disarm))
    leg.at(121, .offConfirmed)
    leg.arm(130)
    #expect(leg.at(140, .command(.setServo(.microseconds(1500)))).output == .pulse(.microseconds(1500)))
  }

  @Test("shutdown: off, and no pulse ever after")
  func shutdown() {
    var leg = Timeline()
    leg.arm(0)
    leg.set(10, 1500)
    #expect(leg.at(20, .shutdown).output == .off)
    for event in LegTableColumn.allCases.map(\.event) { #expect(leg.at(30, event).pulse == nil, "\(event)") }
    #expect(leg.at(40, .shutdown).output == .off)
  }

  // MARK: motion

  @Test("slew: the first pulse is at once, later ones change at the rate, by elapsed time however often stepped")
  func slew() throws {
    let settings = try LegSettings(deadmanTimeout: .seconds(10), slewMicrosecondsPerSecond: 1_000)
    for step in [1, 7, 20] as [Int64] {
      var leg = Timeline(settings)
      leg.arm(0)
      #expect(leg.set(0, 2000).pulse == 2000)
      #expect(leg.set(100, 1000).pulse == 2000)
      for now in stride(from: 100 + step, to: 500, by: Int(step)) { leg.at(Int64(now), .tick) }
      #expect(leg.at(500, .tick).pulse == 1600)
      #expect(leg.set(600, 1700).pulse == 1500)
      #expect(leg.at(700, .tick).pulse == 1600)
      #expect(leg.at(900, .tick).pulse == 1700)
    }
  }

  @Test("slew: half a pulse's way by a new command every 20 ms, no step is lost to rounding")
  func slewUpdates() throws {
    var leg = Timeline(try LegSettings(slewMicrosecondsPerSecond: 333))
    leg.arm(0)
    leg.set(0, 1000)
    var pulse: UInt16 = 0
    for number in 1...50 as ClosedRange<Int64> { pulse = leg.set(20 * number, 2000 + UInt16(number)).pulse ?? 0 }
    // The first of them set off at 20 ms.
    #expect((1325...1327).contains(pulse))
  }

  @Test("slew, released: sent elsewhere it sets off from where it was let go, not with a jump")
  func slewAfterRelease() throws {
    let settings = try LegSettings(
      deadmanTimeout: .seconds(10), slewMicrosecondsPerSecond: 200, releaseAfter: .milliseconds(300))
    var leg = Timeline(settings)
    leg.arm(0)
    leg.set(0, 1000)
    #expect(leg.at(300, .tick).output == .off)
    #expect(leg.set(3_000, 2000).pulse == 1000)
    #expect(leg.at(4_000, .tick).pulse == 1200)
    #expect(leg.at(8_000, .tick).pulse == 2000)
    leg.disarm(8_100)
    leg.arm(8_200)
    #expect(leg.set(8_300, 1000).pulse == 1000, "after arming nobody knows where it is")
  }

  @Test("release: a servo that stood still gets no pulse, the same command does not hold it again, another one does")
  func release() throws {
    var leg = Timeline(try LegSettings(slewMicrosecondsPerSecond: 1_000, releaseAfter: .milliseconds(300)))
    leg.arm(0)
    leg.set(0, 1500)
    for now in stride(from: Int64(50), to: 300, by: 50) { #expect(leg.set(now, 1500).pulse == 1500) }
    #expect(leg.deadline == .milliseconds(300))
    #expect(leg.at(300, .tick).output == .off)
    leg.at(300, .offConfirmed)
    #expect(leg.set(310, 1500).output == .none)
    #expect(leg.state.isArmed && leg.report(320) == "armed none 10")
    #expect(leg.set(330, 1600).pulse == 1500, "where it was let go")
    #expect(leg.set(380, 1500).pulse == 1550, "the way back takes 50 ms; then the 300 ms begin")
    for now in stride(from: Int64(400), through: 700, by: 100) { leg.set(now, 1500) }
    #expect(leg.deadline == .milliseconds(730))
    leg.at(730, .tick)
    #expect(leg.state == .armed(.released(at: .microseconds(1500), .pending)))
    leg.at(900, .tick)
    #expect(leg.state.fault == .silence, "released or not, silence is silence")
  }

  @Test("settings: what is out of range is an error that names the value")
  func settings() {
    #expect(throws: LegSettingsError.deadmanTimeout(.milliseconds(49))) {
      _ = try LegSettings(deadmanTimeout: .milliseconds(49))
    }
    #expect(throws: LegSettingsError.travel(lowest: .microseconds(499), highest: .longest)) {
      _ = try LegSettings(lowest: .microseconds(499))
    }
    #expect(throws: LegSettingsError.travel(lowest: .middle, highest: .middle)) {
      _ = try LegSettings(lowest: .middle, highest: .middle)
    }
    #expect(throws: LegSettingsError.slew(microsecondsPerSecond: 0)) {
      _ = try LegSettings(slewMicrosecondsPerSecond: 0)
    }
    #expect(throws: LegSettingsError.releaseAfter(.milliseconds(99))) {
      _ = try LegSettings(releaseAfter: .milliseconds(99))
    }
    let upsideDown = LegBatteryLimits(warning: Millivolts(6000), fault: Millivolts(6001))
    #expect(throws: LegSettingsError.battery(upsideDown)) { _ = try LegSettings(battery: upsideDown) }
  }
}
