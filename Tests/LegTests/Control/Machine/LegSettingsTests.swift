import Tactus
import TestSupport
import Testing

@testable import Leg

/// Settings that change while a leg runs.
@Suite(.ownThread) struct LegSettingsTests {
  @Test("a shorter deadman that has run out by then cuts the pulse at once; a longer one counts from the last command")
  func otherDeadman() throws {
    var leg = Timeline()
    leg.arm(0)
    leg.set(0, 1500)
    #expect(leg.at(100, .settings(try LegSettings(deadmanTimeout: .milliseconds(500)))).output == .none)
    #expect(leg.deadline == .milliseconds(500) && leg.state.isArmed)
    #expect(leg.at(150, .settings(try LegSettings(deadmanTimeout: .milliseconds(100)))).output == .off)
    #expect(leg.state.fault == .silence)
  }

  @Test("another slew: the pulse goes on from where it is")
  func otherSlew() throws {
    func settings(_ slew: Int64?) throws -> LegSettings {
      try LegSettings(deadmanTimeout: .seconds(10), slewMicrosecondsPerSecond: slew)
    }
    var leg = Timeline(try settings(1_000))
    leg.arm(0)
    leg.set(0, 1500)
    leg.set(0, 2000)
    #expect(leg.at(100, .tick).pulse == 1600)
    leg.at(200, .settings(try settings(100)))
    #expect(leg.at(200, .tick).pulse == 1700 && leg.at(300, .tick).pulse == 1710)
    leg.at(300, .settings(try settings(nil)))
    #expect(leg.at(300, .tick).pulse == 2000)
  }

  @Test("tighter: of two settings each limit that allows less; the travel is the first's")
  func tighter() throws {
    let limits = { LegBatteryLimits(warning: Millivolts($0), fault: Millivolts($1)) }
    let one = try LegSettings(
      deadmanTimeout: .milliseconds(100), highest: .microseconds(1800), releaseAfter: .seconds(2),
      battery: limits(7000, 6000))
    let other = try LegSettings(
      deadmanTimeout: .milliseconds(300), slewMicrosecondsPerSecond: 50, releaseAfter: .seconds(1),
      battery: limits(6900, 6500))
    let both = try LegSettings(
      deadmanTimeout: .milliseconds(100), highest: .microseconds(1800), slewMicrosecondsPerSecond: 50,
      releaseAfter: .seconds(1),
      battery: limits(7000, 6500))
    #expect(one.tighter(than: other) == both && one.tighter(than: one) == one)
    let rules = LegRules([one, other]).tighter(than: LegRules([other, other]))
    #expect(rules.all == [both, other])
  }

  @Test("a deadman that has run out is not brought back by a longer one in the same step")
  func notBroughtBack() throws {
    var leg = Timeline()
    leg.arm(0)
    leg.set(0, 1500)
    #expect(leg.at(200, .settings(try LegSettings(deadmanTimeout: .seconds(10)))).output == .off)
    #expect(leg.state.fault == .silence)
  }

  @Test("safe: disarmed, in fault, stopped or shut down, once the chip has confirmed it; never while armed")
  func safe() {
    for row in LegTableRow.allCases {
      let isSafe = [.disarmed, .empty, .faultDone, .stoppedDone, .downDone].contains(row)
      #expect(row.machine.state.isSafe == isSafe, "\(row)")
    }
  }
}
