import Tactus
import Testing

@testable import TactusDaemon

@Suite("healthy: what it decides")
struct HealthWatchTests {
  private func document(
    _ status: String = "ok", ok: Bool = true, version: String = "1.2.3", robot: String = "stopped",
    message: String? = nil, replacedGuards: Int? = nil
  ) -> HealthWatch.Answer {
    let text =
      #"{"ok":\#(ok),"status":"\#(status)","version":"\#(version)","systems":{"robot":"\#(robot)","leg":"disarmed"}"#
      + (message.map { #","code":"X","message":"\#($0)""# } ?? "")
      + (replacedGuards.map { #","guard":{"state":"watching","replacements":\#($0)}"# } ?? "") + "}"
    return .document(status: 200, body: Array(text.utf8))
  }

  private func watch(loopsOnly: Bool = false) -> HealthWatch {
    HealthWatch(
      since: .zero, within: .seconds(30), steady: .seconds(3), version: "1.2.3", loopsOnly: loopsOnly)
  }

  private func at(_ seconds: Double) -> TickInstant { .zero + .seconds(seconds) }

  @Test("healthy for the whole of the time without a break, and not before; a break begins it anew")
  func steady() {
    var watch = watch()
    #expect(watch.receive(.silence("refused"), at: at(0)) == .askAgain)
    #expect(watch.receive(document(), at: at(1)) == .askAgain)
    #expect(watch.receive(document(), at: at(3.9)) == .askAgain)
    #expect(watch.receive(.silence("refused"), at: at(3.95)) == .askAgain)
    #expect(watch.receive(document(), at: at(4)) == .askAgain)
    #expect(watch.receive(document(), at: at(6.9)) == .askAgain)
    #expect(watch.receive(document(), at: at(7)) == .healthy("tactus 1.2.3, leg disarmed, robot stopped"))
  }

  @Test("the time is up: one line with the last reason")
  func late() {
    func reason(_ answer: HealthWatch.Answer, loopsOnly: Bool = false) -> HealthWatch.Verdict {
      var watch = watch(loopsOnly: loopsOnly)
      #expect(watch.receive(answer, at: at(29.9)) == .askAgain)
      return watch.receive(answer, at: at(30))
    }
    #expect(
      reason(.silence("Connection refused"))
        == .unhealthy("the daemon does not answer: Connection refused, after 30 s"))
    #expect(
      reason(.document(status: 404, body: Array("<html>".utf8)))
        == .unhealthy("what answers is not tactus: status 404, after 30 s"))
    #expect(
      reason(document("degraded", message: "not ticking: robot"))
        == .unhealthy("degraded: not ticking: robot, after 30 s"))
    #expect(
      reason(document(version: "1.2.2"))
        == .unhealthy("version 1.2.3 was expected, version 1.2.2 answers, after 30 s"))
    #expect(reason(document(robot: "fault")) == .unhealthy("in a fault: robot, after 30 s"))
    #expect(
      reason(document("degraded", ok: false, message: "not ticking: robot"), loopsOnly: true)
        == .unhealthy("degraded: not ticking: robot, after 30 s"))
    #expect(reason(document(), loopsOnly: true) == .unhealthy("healthy for less than 3 s within 30 s"))
  }

  @Test(
    "a guard that was replaced meanwhile begins it anew; one replaced before does not; loops only: none of it counts")
  func guardReplaced() {
    var calm = watch()
    #expect(calm.receive(document(replacedGuards: 2), at: at(0)) == .askAgain)
    #expect(
      calm.receive(document(replacedGuards: 2), at: at(3))
        == .healthy("tactus 1.2.3, leg disarmed, robot stopped, guard watching"))
    var replaced = watch()
    #expect(replaced.receive(document(replacedGuards: 0), at: at(0)) == .askAgain)
    #expect(replaced.receive(document(replacedGuards: 1), at: at(2)) == .askAgain)
    #expect(replaced.receive(document(replacedGuards: 1), at: at(3)) == .askAgain)
    #expect(
      replaced.receive(document(replacedGuards: 2), at: at(30))
        == .unhealthy("the guard had to be replaced, after 30 s"))
    var lenient = watch(loopsOnly: true)
    #expect(lenient.receive(document(replacedGuards: 0), at: at(0)) == .askAgain)
    #expect(lenient.receive(document(replacedGuards: 1), at: at(3)) != .askAgain)
  }

  @Test(
    "loops only: a fault and a store that cannot be used are healthy, too; an emergency stop always: a person has asked for it"
  )
  func allowed() {
    for (state, loopsOnly) in [("fault", true), ("emergencyStopped", false)] {
      var watch = watch(loopsOnly: loopsOnly)
      _ = watch.receive(document(robot: state), at: at(0))
      #expect(
        watch.receive(document(robot: state), at: at(3)) == .healthy("tactus 1.2.3, leg disarmed, robot \(state)"))
    }
    var degraded = watch(loopsOnly: true)
    _ = degraded.receive(document("degraded", message: "the store"), at: at(0))
    #expect(degraded.receive(document("degraded", message: "the store"), at: at(3)) != .askAgain)
    var any = HealthWatch(since: .zero, within: .seconds(30), steady: .zero, version: nil, loopsOnly: false)
    #expect(any.receive(document(version: "9"), at: at(0)) == .healthy("tactus 9, leg disarmed, robot stopped"))
  }
}
