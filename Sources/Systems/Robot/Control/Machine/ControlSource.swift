import Buses

/// The sender of a command. Only one source controls the robot at a time.
public enum ControlSource: Sendable, Hashable, BitwiseCopyable {
  /// A UDP sender, identified by address and port.
  case datagram(Endpoint)
  /// A client inside the daemon (an HTTP or WebSocket session), identified by a number that its service never reuses.
  case local(UInt32)

  /// Returns whether both sources are equal. Ticks use this because the compiler cannot prove that the derived `==` takes no lock and
  /// allocates nothing.
  @_noLocks @_noAllocation
  func isSame(as other: ControlSource) -> Bool {
    switch (self, other) {
    case (.datagram(let one), .datagram(let two)): one.isSame(as: two)
    case (.local(let one), .local(let two)): one == two
    case (.datagram, .local), (.local, .datagram): false
    }
  }
}

extension ControlSource: CustomStringConvertible {
  public var description: String {
    switch self {
    case .datagram(let endpoint): "\(endpoint)"
    case .local(let number): "local client \(number)"
    }
  }
}
