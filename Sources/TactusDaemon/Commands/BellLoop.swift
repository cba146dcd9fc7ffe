import Tactus

/// Rings at every tick: the main thread's metronome.
package struct BellLoop: ControlLoop, NoOutput {
  let bell: DoorbellButton

  package init(bell: DoorbellButton) { self.bell = bell }

  @_noLocks @_noAllocation
  package mutating func tick(_ tick: Tick) { bell.ring() }
}
