import Tactus

/// An output that a bench has handed out: what it is now, and how it is brought into its safe state.
struct BenchOutput {
  let name: String
  /// Whether it is in its safe state, as far as that can be read back.
  let isSafe: () -> Bool
  /// Of a simulated one: whether it can be read back and is not in its safe state.
  let isDriving: () -> Bool
  /// Of a simulated one: writes its safe state. Returns whether that was confirmed.
  let makeSafe: (TickInstant) -> Bool
  /// Of a simulated one that is no part of a bus or a bank: whether it refuses what is written to it.
  var refuse: (Bool) -> Void = { _ in }
  /// Of a simulated PWM output: the share of its period in which it is on.
  var duty: () -> Double = { 0 }
}
