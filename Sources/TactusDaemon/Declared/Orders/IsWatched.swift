/// Adopted by a system whose loop does additional work while a client reads its state, such as polling a device more
/// often.
public protocol IsWatched: DeviceSystem {
  /// Returns the order that notifies the loop that a client has read `GET /api/NAME`, which is sent at most once a second;
  /// `nil` if the loop needs no such order.
  static func whenWatched(_ wiring: Wiring) -> Order?
}

extension IsWatched {
  static func watching(_ wiring: any Settings) -> (any Sendable)? { (wiring as? Wiring).flatMap { whenWatched($0) } }
}
