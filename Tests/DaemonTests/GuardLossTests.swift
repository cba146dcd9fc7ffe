import Tactus
import Testing

@testable import TactusDaemon

@Suite("guard loss")
struct GuardLossTests {
  private static let replace = GuardLossMachine.Action(replaces: true)
  private static let makeSafe = GuardLossMachine.Action(makesSafe: true)

  private func at(_ milliseconds: Int64) -> TickInstant { .zero + .milliseconds(milliseconds) }

  @Test(
    "watching: a guard that died or hung is replaced at once, its end is no further news",
    arguments: GuardLossMachine.Reason.allCases)
  func replaced(reason: GuardLossMachine.Reason) {
    var machine = GuardLossMachine()
    #expect(machine.step(.lost(reason), at: at(0)) == Self.replace)
    #expect(machine.step(.lost(.died), at: at(1)) == .init())
    #expect(machine.step(.beat, at: at(1999)) == .init())
    #expect(machine.state == .replacing(reason, since: at(0)))
    #expect(machine.step(.ready, at: at(1999)) == .init())
    #expect(machine.state == .watching)
    #expect(machine.step(.beat, at: at(9999)) == .init())
  }

  @Test(
    "no successor can be started: outputs safe at once and at every beat, the next start after a second, until one is ready"
  )
  func failed() {
    var machine = GuardLossMachine()
    _ = machine.step(.lost(.died), at: at(0))
    #expect(machine.step(.failed, at: at(10)) == Self.makeSafe)
    #expect(machine.step(.beat, at: at(1009)) == Self.makeSafe)
    #expect(machine.step(.beat, at: at(1010)) == .init(replaces: true, makesSafe: true))
    #expect(machine.step(.beat, at: at(1110)) == Self.makeSafe)
    #expect(machine.step(.failed, at: at(1120)) == Self.makeSafe)
    #expect(machine.step(.lost(.died), at: at(1130)) == .init())
    #expect(machine.step(.beat, at: at(2120)) == .init(replaces: true, makesSafe: true))
    #expect(machine.step(.ready, at: at(2130)) == .init())
    #expect(machine.state == .watching)
  }

  @Test("a successor that is not ready after 2 s: outputs safe, no second start meanwhile, ready after all: watching")
  func slow() {
    var machine = GuardLossMachine()
    _ = machine.step(.lost(.hung), at: at(0))
    #expect(machine.step(.beat, at: at(2000)) == Self.makeSafe)
    #expect(machine.state == .unguarded(.hung, retry: nil))
    for beat in 21...60 { #expect(machine.step(.beat, at: at(Int64(beat) * 100)) == Self.makeSafe) }
    #expect(machine.step(.ready, at: at(6100)) == .init())
    #expect(machine.state == .watching)
  }

  @Test("the eleventh loss within a minute: outputs safe; ten in a minute, and one a minute later: replaced")
  func crashLoop() {
    for pause in [Int64(5000), 6100] {
      var machine = GuardLossMachine()
      for loss in 0..<10 {
        #expect(machine.step(.lost(.died), at: at(Int64(loss) * pause)) == Self.replace)
        _ = machine.step(.ready, at: at(Int64(loss) * pause + 1))
      }
      let last = machine.step(.lost(.died), at: at(10 * pause))
      #expect(last == (pause == 5000 ? Self.makeSafe : Self.replace))
    }
  }
}
