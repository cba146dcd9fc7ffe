import Tactus

/// The used part of the pump's run limit, as it is stored across restarts of the program.
public struct PumpLimit: Sendable, Hashable {
  /// The boot of the machine to whose clock `since` belongs, or `nil` if it was not known.
  var boot: BootID?
  /// Whether the pump has been running since `since`; otherwise it has been resting.
  var isPumping: Bool
  var since: TickInstant
  /// The running time between the last rest and `since`.
  var before: Nanoseconds
}
