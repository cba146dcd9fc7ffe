import Tactus

/// Rings at every tick: the main thread's metronome.
public struct BellLoop: ControlLoop, NoOutput {
  let bell: DoorbellButton

  /// Rings `bell` at every tick. The bell must outlive the loop.
  public init(bell: DoorbellButton) { self.bell = bell }

  @_noLocks @_noAllocation
  public mutating func tick(_ tick: Tick) { bell.ring() }
}
