import Tactus
import TestSupport
import Testing
import Wire

@testable import Robot

private func reply(_ echo: UInt64) -> RobotReply { RobotReply(echo: echo, state: .driving, speeds: .zero) }

@Suite(.ownThread) struct OperatorMachineTests {
  private struct Timeline {
    var machine = OperatorMachine(wallClockAtStart: 1_700_000_000_000_000)
    @discardableResult
    mutating func at(_ milliseconds: Int64, _ event: OperatorEvent) -> OperatorAction {
      machine.step(event, at: .milliseconds(5_000 + milliseconds))
    }
    /// The reply to what was sent 5 ms ago.
    mutating func hear(_ milliseconds: Int64, reason: ShortText?) {
      let echo = machine.echo(at: .milliseconds(4_995 + milliseconds))
      at(milliseconds, .reply(RobotReply(echo: echo, state: .driving, speeds: .zero, reason: reason)))
    }
    /// What the tick sends.
    mutating func tick(_ milliseconds: Int64) -> RobotCommand? { at(milliseconds, .tick).datagram }
  }

  // MARK: mapping

  @Test(
    "joystick: forward and turn become wheel speeds, scaled together beyond full speed",
    arguments: [
      (0.0, 0.0, 0.0, 0.0), (0, 1, 100, 100), (0, -1, -100, -100), (1, 0, 100, -100), (-1, 0, -100, 100),
      (0.25, 0.5, 75, 25), (1, 1, 100, 0), (0.5, 1, 100, 100.0 / 3), (0, 3, 100, 100), (.nan, 1, 0, 0),
      (0, .infinity, 0, 0),
    ])
  func joystick(x: Double, y: Double, left: Double, right: Double) {
    let wheels = OperatorInput.joystick(x: x, y: y).speeds
    #expect(abs(wheels.left.value - left) < 1e-9 && abs(wheels.right.value - right) < 1e-9)
  }

  @Test("wheels: passed on, clamped, zero when not finite")
  func wheels() {
    #expect(OperatorInput.wheels(speeds(30, -40)).speeds == speeds(30, -40))
    #expect(OperatorInput.wheels(speeds(300, -400)).speeds == speeds(100, -100))
    #expect(OperatorInput.wheels(speeds(.nan, 10)).speeds == .zero)
  }

  // MARK: states

  @Test("driving: one datagram a tick with the newest controls; at rest a question, zero speeds once it has driven")
  func sends() {
    var line = Timeline()
    #expect(line.tick(0) == .query)
    line.at(10, .input(.joystick(x: 0, y: 0.5)))
    #expect(line.tick(50) == .drive(speeds(50, 50)))
    #expect(line.tick(100) == .drive(speeds(50, 50)))
    line.at(110, .input(.rest))
    #expect(line.tick(150) == .drive(.zero))
    #expect(line.tick(2_000) == .drive(.zero), "a stick at rest keeps control")
  }

  @Test("refused because another drives: letting go, quitting and ending send nothing that would stop that one")
  func refusedStopsNobody() {
    var line = Timeline()
    _ = line.tick(0)
    line.at(10, .input(.wheels(speeds(50, 50))))
    for time in stride(from: Int64(50), through: 500, by: 50) {
      #expect(line.tick(time) == .drive(speeds(50, 50)))
      line.hear(time + 5, reason: ShortText("not-controller"))
    }
    // Held on: nothing has been heard of the newest one when the stick is let go.
    #expect(line.tick(550) == .drive(speeds(50, 50)))
    line.at(560, .input(.rest))
    #expect(line.tick(600) == .query)
    var other = line
    #expect(other.at(610, .shutdown).datagram == nil)
    line.at(610, .ask(.quit))
    #expect(line.tick(650) == nil && line.machine.state == .finished)
  }

  @Test("obeyed again after a refusal: the stick let go is a stop again")
  func obeyedAfterRefusal() {
    var line = Timeline()
    line.at(0, .input(.wheels(speeds(50, 50))))
    for (time, reason) in [(Int64(50), Optional(ShortText("not-controller"))), (100, nil)] {
      _ = line.tick(time)
      line.hear(time + 5, reason: reason)
    }
    _ = line.tick(150)
    line.at(160, .input(.rest))
    #expect(line.tick(200) == .drive(.zero))
    #expect(line.at(210, .shutdown) == OperatorAction(.stop, copies: 3))
  }

  @Test("a bystander who never touches the stick: questions, and nothing at the end; an explicit stop is sent")
  func bystander() {
    for event in [OperatorEvent.ask(.quit), .shutdown, .ask(.reset)] {
      var line = Timeline()
      for time in stride(from: Int64(0), through: 500, by: 50) { #expect(line.tick(time) == .query) }
      let action = line.at(510, event)
      #expect(action.datagram == (event == .ask(.reset) ? .reset : nil))
      #expect(line.at(520, .shutdown).datagram == nil)
    }
    var line = Timeline()
    line.at(0, .ask(.stop))
    #expect(line.tick(50) == .stop)
  }

  @Test("emergency stop: sent at once and at every tick until reset, whatever the controls say")
  func emergencyStopRepeats() {
    var line = Timeline()
    line.at(0, .input(.wheels(speeds(50, 50))))
    #expect(line.at(10, .ask(.emergencyStop)).datagram == .emergencyStop)
    for time in stride(from: Int64(50), through: 5_000, by: 50) { #expect(line.tick(time) == .emergencyStop) }
    line.at(5_010, .ask(.stop))
    #expect(line.tick(5_050) == .emergencyStop, "a stop does not end it")
    #expect(line.at(5_060, .ask(.reset)) == OperatorAction(nil, isRefused: true), "the stick is held")
    #expect(line.tick(5_100) == .emergencyStop)
    line.at(5_110, .input(.rest))
    #expect(line.at(5_120, .ask(.reset)).datagram == .reset)
    #expect(line.tick(5_150) == .drive(.zero), "one reset for one press")
  }

  @Test("stop: sent three times, then zero until the stick has been at zero")
  func stopRepeats() {
    var line = Timeline()
    line.at(0, .input(.wheels(speeds(50, 50))))
    line.at(1, .ask(.stop))
    for time in [Int64(50), 100, 150] { #expect(line.tick(time) == .stop) }
    for time in [Int64(200), 250] { #expect(line.tick(time) == .drive(.zero)) }
    line.at(260, .input(.rest))
    #expect(line.tick(300) == .drive(.zero))
    line.at(310, .input(.wheels(speeds(50, 50))))
    #expect(line.tick(350) == .drive(speeds(50, 50)))
  }

  @Test("it stood still for a second, as when it is suspended: it stops, and drives on when the stick was let go")
  func stoodStill() {
    var line = Timeline()
    line.at(0, .input(.wheels(speeds(50, 50))))
    for time in [Int64(0), 999] { #expect(line.tick(time) == .drive(speeds(50, 50))) }
    for time in [Int64(1_999), 2_000, 2_050] { #expect(line.tick(time) == .stop) }
    #expect(line.tick(2_100) == .drive(.zero) && line.machine.standstills == 1)
    line.at(2_110, .input(.rest))
    #expect(line.tick(2_150) == .drive(.zero))
    line.at(2_160, .input(.wheels(speeds(50, 50))))
    #expect(line.tick(2_200) == .drive(speeds(50, 50)))
  }

  @Test("it stood still while another drove: it neither stops that one afterwards, nor drives when that one ends")
  func stoodStillRefused() {
    var line = Timeline()
    line.at(0, .input(.wheels(speeds(50, 50))))
    #expect(line.tick(0) == .drive(speeds(50, 50)))
    line.hear(10, reason: IgnoreReason.notController.shortText)
    for time in [Int64(2_000), 2_050] { #expect(line.tick(time) == .query) }
    line.hear(2_060, reason: nil)
    #expect(line.tick(2_100) == .query && line.machine.standstills == 1)
  }

  @Test("quit: stop three times, then silence; shutdown: the three at once")
  func quit() {
    var line = Timeline()
    line.at(0, .input(.wheels(speeds(50, 50))))
    _ = line.tick(0)
    line.at(0, .ask(.quit))
    for time in [Int64(50), 100, 150] { #expect(line.tick(time) == .stop) }
    #expect(line.tick(200) == nil && line.machine.state == .finished)
    #expect(line.at(210, .shutdown).datagram == nil)
    #expect(line.at(210, .ask(.emergencyStop)).datagram == nil)

    var other = Timeline()
    other.at(0, .ask(.emergencyStop))
    #expect(other.at(10, .shutdown) == OperatorAction(.stop, copies: 3))
    #expect(other.tick(50) == nil)
  }

  // MARK: time and health

  @Test("timestamps: the wall clock at the start plus the time since, in microseconds")
  func timestamps() {
    var line = Timeline()
    _ = line.tick(0)
    #expect(line.machine.timestamp(at: .milliseconds(5_000)) == 1_700_000_000_000_000)
    #expect(line.machine.timestamp(at: .milliseconds(5_050)) == 1_700_000_000_050_000)
  }

  @Test("connection: no reply yet, alive with its round trip, lost a second after the newest reply")
  func connection() {
    var line = Timeline()
    _ = line.tick(0)
    #expect(line.machine.connection(at: .milliseconds(9_000)) == .noReplyYet)
    _ = line.tick(50)
    line.at(62, .reply(reply(50_000)))
    #expect(line.machine.connection(at: .milliseconds(5_062)) == .alive(roundTrip: .milliseconds(12)))
    #expect(
      line.machine.connection(at: TickInstant(nanoseconds: 6_061_999_999)) == .alive(roundTrip: .milliseconds(12)))
    #expect(line.machine.connection(at: .milliseconds(6_062)) == .lost(silence: .seconds(1)))
    line.at(2_000, .reply(reply(1_990_000)))
    #expect(line.machine.connection(at: .milliseconds(7_000)) == .alive(roundTrip: .milliseconds(10)))
  }

  @Test("reply: repeated, overtaken or from the future, changes nothing")
  func foreignReplies() {
    var line = Timeline()
    _ = line.tick(0)
    line.at(100, .reply(reply(90_000)))
    let heard = line.machine.heard
    for echo in [UInt64(90_000), 50_000, 0, 120_001, 1 << 53] { line.at(120, .reply(reply(echo))) }
    #expect(line.machine.heard == heard)
  }
}
