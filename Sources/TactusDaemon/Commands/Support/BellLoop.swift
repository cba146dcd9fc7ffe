import Tactus

/// A loop that rings a bell at every tick, by which the main thread is paced.
public struct BellLoop: ControlLoop, NoOutput {
  let bell: DoorbellButton

  /// Makes a loop that rings `bell` at every tick. The bell must outlive the loop.
  public init(bell: DoorbellButton) { self.bell = bell }

  @_noLocks @_noAllocation
  public mutating func tick(_ tick: Tick) { bell.ring() }
}
