public import Tactus

/// How much of its limit the pump has used, as it is kept over a restart of the program.
public struct PumpLimit: Sendable, Hashable {
  /// The boot of the machine whose clock `since` is on; `nil` if it was not known.
  public var boot: BootID?
  /// Whether it pumps since then, or rests.
  public var isPumping: Bool
  public var since: TickInstant
  /// Pumped before `since`, since the last rest.
  public var before: Nanoseconds

  public init(boot: BootID?, isPumping: Bool, since: TickInstant, before: Nanoseconds) {
    self.boot = boot
    self.isPumping = isPumping
    self.since = since
    self.before = before
  }
}
