import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import Tactus

private final class Watch: Sendable {
  let isDone = Atomic<Bool>(false)
  let wrong = Atomic<Int>(0)
}

@Suite("Rules that change, in any order", .ownThread)
struct RulesModelTests {
  @Test("any order of calls: as a model of one line each has it", arguments: UInt64(1)...40)
  func model(seed: UInt64) {
    let box = RulesBox(MarkedRules(0))
    var input = box.input()
    var random = SplitMix64(seed: seed)
    var (open, prepared, committed, taken) = (UInt64(0), UInt64(0), UInt64(0), UInt64(0))
    var (wanted, waiting): (MarkedRules?, MarkedRules?) = (nil, nil)
    var (rules, pending, isSafe) = (MarkedRules(0), MarkedRules?.none, false)
    for step in 0..<500 {
      switch random.below(6) {
      case 0: open = box.propose()
      case 1:
        box.withdraw(open)
        open = 0
      case 2 where open != 0:
        (wanted, committed) = (MarkedRules(open), open)
        waiting = random.chance(perMille: 600) ? MarkedRules(open, isWide: true) : nil
        box.commit(open, now: wanted!, whenSafe: waiting)
        open = 0
      case 3, 4:
        input.begin()
        if let new = wanted { (rules, pending, wanted, taken) = (new, waiting, nil, committed) }
        if isSafe, let wide = pending { (rules, pending) = (wide, nil) }
        isSafe = false
        if open != 0 { prepared = open }
      default:
        isSafe = random.chance(perMille: 300)
        input.finish(isSafe: isSafe)
      }
      let held = input.rules
      #expect(held == rules && box.inEffect == rules, "seed \(seed), step \(step)")
      if open != 0 { #expect(box.isPrepared(open) == (prepared == open), "seed \(seed), step \(step)") }
      if committed != 0 {
        let progress: RulesProgress = taken < committed ? .waiting : pending == nil ? .taken : .takenInPart
        #expect(box.progress(committed) == progress, "seed \(seed), step \(step)")
      }
    }
  }

  @Test("two threads: rules are whole, never older than before, wide only after the safe state, and the last ones stay")
  func threads() {
    let seed: UInt64 = 5
    let box = RulesBox(MarkedRules(0))
    let watch = Watch()
    let finished = DispatchSemaphore(value: 0)
    DispatchQueue(label: "loop").async {
      var random = SplitMix64(seed: seed)
      var input = box.input()
      var (last, wasSafe) = (MarkedRules(0), false)
      var goesOn = true
      while goesOn {
        goesOn = !watch.isDone.load(ordering: .acquiring)
        input.begin()
        let rules = input.rules
        var isRight = rules.isWhole && rules.number >= last.number
        if rules.isWide, rules != last { isRight = isRight && wasSafe }
        if !rules.isWide, rules.number == last.number { isRight = isRight && !last.isWide }
        if !isRight { watch.wrong.add(1, ordering: .relaxed) }
        wasSafe = random.chance(perMille: 50)
        input.finish(isSafe: wasSafe)
        last = rules
      }
      finished.signal()
    }
    var random = SplitMix64(seed: seed + 1)
    var lastCommitted: UInt64 = 0
    for _ in 0..<20_000 {
      let number = box.propose()
      if random.chance(perMille: 300) {
        box.withdraw(number)
      } else {
        let wide = random.chance(perMille: 500) ? MarkedRules(number, isWide: true) : nil
        box.commit(number, now: MarkedRules(number), whenSafe: wide)
        lastCommitted = number
      }
      let seen = box.inEffect
      if !seen.isWhole || seen.number > number { watch.wrong.add(1, ordering: .relaxed) }
    }
    watch.isDone.store(true, ordering: .releasing)
    finished.wait()
    #expect(watch.wrong.load(ordering: .relaxed) == 0, "seed \(seed)")
    #expect(box.inEffect.number == lastCommitted && box.progress(lastCommitted) != .waiting, "seed \(seed)")
  }
}
