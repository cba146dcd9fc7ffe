import Synchronization

/// Who has how many connections open.
final class ConnectionCount: Sendable {
  private struct Open {
    var total = 0
    var refused = 0
    var ofAddress: [String: Int] = [:]
  }

  enum Verdict {
    case welcome
    /// To be told 503.
    case full
    /// So many are being told that this one is closed without a word.
    case flooded
  }

  private let limit: Int
  private let limitOfAddress: Int
  private let open = Mutex(Open())

  init(_ limits: ConnectionLimits) {
    (limit, limitOfAddress) = (limits.connections, limits.connectionsOfOneAddress)
  }

  /// Every `enter` is followed by one `leave` with its verdict.
  func enter(_ address: String) -> Verdict {
    open.withLock { open in
      let count = open.ofAddress[address, default: 0]
      if open.total < limit, count < limitOfAddress || Self.isLoopback(address) {
        open.total += 1
        open.ofAddress[address] = count + 1
        return .welcome
      }
      open.refused += 1
      return open.refused <= 64 ? .full : .flooded
    }
  }

  func leave(_ address: String, _ verdict: Verdict) {
    open.withLock { open in
      guard case .welcome = verdict else {
        open.refused -= 1
        return
      }
      open.total -= 1
      let count = open.ofAddress[address, default: 1] - 1
      open.ofAddress[address] = count == 0 ? nil : count
    }
  }

  private static func isLoopback(_ address: String) -> Bool { address.hasPrefix("127.") || address == "::1" }
}
