import TestSupport
import Testing

@testable import Tactus

/// Rules that show when they are torn, and which commit they are of; wide ones are for the safe state.
struct MarkedRules: BitwiseCopyable, Sendable, Equatable {
  var number: UInt64
  var isWide: Bool
  var again: UInt64

  init(_ number: UInt64, isWide: Bool = false) {
    (self.number, self.isWide, again) = (number, isWide, ~number)
  }

  var isWhole: Bool { again == ~number }
}

@Suite("Rules that change while a loop runs", .ownThread)
struct RulesTests {
  @Test("proposed: prepared by the next tick, and nothing has changed; withdrawn: nothing ever does")
  func withdrawn() {
    let box = RulesBox(MarkedRules(0))
    var input = box.input()
    let number = box.propose()
    #expect(!box.isPrepared(number))
    input.begin()
    #expect(box.isPrepared(number) && !box.isPrepared(number + 1) && !box.isPrepared(0))
    #expect(box.progress(number) == .waiting)
    input.finish(isSafe: true)
    box.withdraw(number)
    #expect(!box.isPrepared(number))
    input.begin()
    let rules = input.rules
    #expect(rules == MarkedRules(0) && box.inEffect == MarkedRules(0) && box.progress(number) == .waiting)
  }

  @Test("committed: all of it holds from the next tick on, not earlier")
  func committed() {
    let box = RulesBox(MarkedRules(0))
    var input = box.input()
    let number = box.propose()
    input.begin()
    box.commit(number, now: MarkedRules(1), whenSafe: nil)
    let during = input.rules
    #expect(during == MarkedRules(0) && box.inEffect == MarkedRules(0) && box.progress(number) == .waiting)
    input.finish(isSafe: false)
    input.begin()
    let after = input.rules
    #expect(after == MarkedRules(1) && box.inEffect == MarkedRules(1) && box.progress(number) == .taken)
    #expect(box.isPrepared(number))
  }

  @Test("a loop that does not tick never prepares and takes nothing; a commit that it has not seen outlasts a proposal")
  func silent() {
    let box = RulesBox(MarkedRules(0))
    var input = box.input()
    let first = box.propose()
    #expect(!box.isPrepared(first))
    box.commit(first, now: MarkedRules(1), whenSafe: nil)
    let second = box.propose()
    #expect(!box.isPrepared(first) && !box.isPrepared(second))
    #expect(box.progress(first) == .waiting && box.inEffect == MarkedRules(0))
    input.begin()
    let rules = input.rules
    #expect(rules == MarkedRules(1) && box.progress(first) == .taken && box.isPrepared(second))
    #expect(box.progress(second) == .waiting)
  }

  @Test("a newer proposal replaces an older one; withdrawing the older one leaves the newer")
  func replaced() {
    let box = RulesBox(MarkedRules(0))
    var input = box.input()
    let older = box.propose()
    let newer = box.propose()
    input.begin()
    #expect(newer > older && !box.isPrepared(older) && box.isPrepared(newer))
    box.withdraw(older)
    #expect(box.isPrepared(newer))
    box.commit(newer, now: MarkedRules(2), whenSafe: nil)
    box.withdraw(newer)
    input.begin()
    let rules = input.rules
    #expect(rules == MarkedRules(2))
  }

  @Test("tighter at once, wider only when a tick begins after the loop has finished in its safe state")
  func wider() {
    let box = RulesBox(MarkedRules(0))
    var input = box.input()
    input.begin()
    input.finish(isSafe: false)
    let number = box.propose()
    box.commit(number, now: MarkedRules(1), whenSafe: MarkedRules(1, isWide: true))
    for _ in 0..<3 {
      input.begin()
      let rules = input.rules
      #expect(rules == MarkedRules(1) && box.progress(number) == .takenInPart && box.inEffect == MarkedRules(1))
      input.finish(isSafe: false)
    }
    input.begin()
    input.finish(isSafe: true)
    let sameTick = input.rules
    #expect(sameTick == MarkedRules(1) && box.progress(number) == .takenInPart)
    input.begin()
    let next = input.rules
    #expect(next == MarkedRules(1, isWide: true) && box.progress(number) == .taken && box.inEffect == next)
    input.finish(isSafe: false)
    input.begin()
    let later = input.rules
    #expect(later == MarkedRules(1, isWide: true))
  }

  @Test("the safe state counts only while it lasts: taken back before the tick ends, or a tick ago, wider rules wait")
  func noLongerSafe() {
    let box = RulesBox(MarkedRules(0))
    var input = box.input()
    input.begin()
    input.finish(isSafe: true)
    input.begin()  // it may move something now, and does not finish
    let number = box.propose()
    box.commit(number, now: MarkedRules(1), whenSafe: MarkedRules(1, isWide: true))
    input.begin()
    let afterAGap = input.rules
    #expect(afterAGap == MarkedRules(1) && box.progress(number) == .takenInPart)
    input.finish(isSafe: true)
    input.finish(isSafe: false)
    input.begin()
    let afterTakenBack = input.rules
    #expect(afterTakenBack == MarkedRules(1) && box.progress(number) == .takenInPart)
  }

  @Test("a loop that rests in its safe state takes the wider rules at once")
  func resting() {
    let box = RulesBox(MarkedRules(0))
    var input = box.input()
    input.begin()
    input.finish(isSafe: true)
    let number = box.propose()
    box.commit(number, now: MarkedRules(1), whenSafe: MarkedRules(1, isWide: true))
    input.begin()
    let rules = input.rules
    #expect(rules == MarkedRules(1, isWide: true) && box.progress(number) == .taken)
  }

  @Test("a second commit replaces the wider rules of the first that still wait", arguments: [true, false])
  func second(isWide: Bool) {
    let box = RulesBox(MarkedRules(0))
    var input = box.input()
    let first = box.propose()
    box.commit(first, now: MarkedRules(1), whenSafe: MarkedRules(1, isWide: true))
    input.begin()
    #expect(box.progress(first) == .takenInPart)
    let second = box.propose()
    box.commit(second, now: MarkedRules(2), whenSafe: isWide ? MarkedRules(2, isWide: true) : nil)
    input.finish(isSafe: false)
    input.begin()
    let rules = input.rules
    #expect(rules == MarkedRules(2) && box.progress(second) == (isWide ? .takenInPart : .taken))
    #expect(box.progress(first) == box.progress(second))
    input.finish(isSafe: true)
    input.begin()
    let safe = input.rules
    #expect(safe == MarkedRules(2, isWide: isWide) && box.progress(second) == .taken && box.inEffect == safe)
  }

  @Test("a second end goes on where the first was: with its rules, and those that wait for the safe state")
  func again() {
    let box = RulesBox(MarkedRules(0))
    let number = box.propose()
    func run(_ body: (inout RulesInput<MarkedRules>) -> Void) {
      var input = box.input()
      body(&input)
    }
    run { input in
      box.commit(number, now: MarkedRules(1), whenSafe: MarkedRules(1, isWide: true))
      input.begin()
      input.finish(isSafe: true)
    }
    run { input in
      let first = input.rules
      // Whether its outputs are safe is for the new loop to say.
      input.begin()
      let second = input.rules
      #expect(first == MarkedRules(1) && second == MarkedRules(1) && box.progress(number) == .takenInPart)
      input.finish(isSafe: true)
      input.begin()
      let third = input.rules
      #expect(third == MarkedRules(1, isWide: true) && box.progress(number) == .taken)
    }
  }

  @Test("rules that were not proposed last are not committed: a trap")
  func mistakes() async {
    await #expect(processExitsWith: .failure) {
      let box = RulesBox(0)
      let number = box.propose()
      box.withdraw(number)
      box.commit(number, now: 1, whenSafe: nil)
    }
    await #expect(processExitsWith: .failure) { RulesBox(0).commit(0, now: 1, whenSafe: nil) }
  }
}
