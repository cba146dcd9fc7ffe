import Tactus

/// How much of its limit the pump has used, as it is kept over a restart of the program.
public struct PumpLimit: Sendable, Hashable {
  /// The boot of the machine whose clock `since` is on, or `nil` if it was not known.
  var boot: BootID?
  /// Whether it has been pumping since `since`; otherwise it has been resting.
  var isPumping: Bool
  var since: TickInstant
  /// Pumped before `since`, since the last rest.
  var before: Nanoseconds
}
