import Tactus

/// An output that a bench has opened: its current state, and how it is brought into its safe state.
struct BenchOutput {
  let name: String
  /// Returns whether the output is in its safe state, as far as that can be read back.
  let isSafe: () -> Bool
  /// Returns whether a simulated output can be read back and is not in its safe state.
  let isDriving: () -> Bool
  /// Whether a simulated output can be read back.
  var isReadBack = true
  /// Writes the safe state of a simulated output. Returns whether the write was confirmed.
  let makeSafe: (TickInstant) -> Bool
  /// Sets whether a simulated output that is not part of a bus or a bank rejects writes.
  var refuse: (Bool) -> Void = { _ in }
  /// Returns the duty of a simulated PWM output: the share of its period in which it is on.
  var duty: () -> Double = { 0 }
}
