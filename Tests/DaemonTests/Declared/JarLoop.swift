import Buses
import Tactus

@testable import TactusDaemon

enum GPIOLineNames {
  static let first = GPIOLineName.bcm(5)
}

struct JarLoop: ~Copyable, ControlLoop {
  var ends: Jar.Ends
  var lid: GPIOLines
  var chip: SPIPort
  var state: Jar.State

  init(ends: consuming Jar.Ends, lid: consuming GPIOLines, chip: consuming SPIPort, state: Jar.State) {
    self.state = state
    self.ends = ends
    self.lid = lid
    self.chip = chip
  }

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    ends.begin(tick)
    while let request = ends.next() {
      if case .fill = request.order {
        (state.fills, state.mode) = (state.fills &+ 1, .filled)
        state.level += 0.5
        ends.report(.filled)
      }
      ends.answer(request, .accepted)
    }
    ends.finish(state, isSafe: true)
  }

  @_noLocks @_noAllocation
  mutating func safeState(_ tick: Tick, cause: SafeStateCause) { ends.finish(state, isSafe: true) }
}
