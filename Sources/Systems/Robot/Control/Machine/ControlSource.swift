import Buses

/// Who sent a command: the unit of "one controlling source at a time".
public enum ControlSource: Sendable, Hashable, BitwiseCopyable {
  /// A UDP sender, by address and port.
  case datagram(Endpoint)
  /// A client inside the daemon (an HTTP or WebSocket session), by a number its service gives out once.
  case local(UInt32)

  /// `==` for ticks: the compiler cannot prove the derived operator.
  @_noLocks @_noAllocation
  func isSame(as other: ControlSource) -> Bool {
    switch (self, other) {
    case (.datagram(let one), .datagram(let two)): one.isSame(as: two)
    case (.local(let one), .local(let two)): one == two
    case (.datagram, .local), (.local, .datagram): false
    }
  }
}

extension Endpoint {
  /// `==` for ticks.
  @_noLocks @_noAllocation
  func isSame(as other: Endpoint) -> Bool {
    low == other.low && port == other.port && high == other.high && scope == other.scope
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
