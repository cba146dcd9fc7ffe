import Synchronization
import Tactus

/// The bytes of answers and events that wait for clients which have not read them yet, of all connections together. When they become too many, the client
/// that has read nothing for the longest time is closed, then the next one, until they are not: a client that does read never pays for one that does not.
///
/// An event counts once for each client that it waits for, though without TLS its bytes are in memory once for all: the
/// count is never less than the memory in use, and is independent of the other clients. Answers from bytes that all
/// clients share do not count, since the daemon keeps those in any case. It may be used from any thread.
final class OutgoingBudget: Sendable {
  /// The bytes that wait for one client.
  final class Account: Sendable {
    private let budget: OutgoingBudget
    fileprivate let close: @Sendable () -> Void

    fileprivate init(_ budget: OutgoingBudget, close: @escaping @Sendable () -> Void) {
      (self.budget, self.close) = (budget, close)
    }

    /// Sets how many bytes wait for the client; fewer than before mean that it has read some of them. 0 ends the account, also that of a client which has
    /// been closed, and is to be set in any case at the end.
    func set(_ bytes: Int, at now: TickInstant) { budget.set(bytes, of: self, at: now) }
  }

  private struct Waiting {
    let account: Account
    var bytes: Int
    /// The instant at which the client last read something, or began to be waited for.
    var readAt: TickInstant
    /// Whether the client is being closed. The client's bytes no longer count, because they are discarded with the client.
    var isClosed = false
  }

  private struct State {
    var clients: [ObjectIdentifier: Waiting] = [:]
    /// The bytes of all that are not being closed.
    var sum = 0

    mutating func set(_ bytes: Int, of account: Account, at now: TickInstant) {
      let key = ObjectIdentifier(account)
      let before = clients[key]
      guard before?.isClosed != true else {
        if bytes == 0 { clients[key] = nil }
        return
      }
      sum += bytes - (before?.bytes ?? 0)
      guard bytes > 0 else {
        clients[key] = nil
        return
      }
      let readAt = before.map { bytes < $0.bytes ? now : $0.readAt } ?? now
      clients[key] = Waiting(account: account, bytes: bytes, readAt: readAt)
    }

    /// Counts the slowest client as closed, and returns it; `nil` if it is the only one, which has room whatever its length.
    mutating func takeSlowest() -> Account? {
      let open = clients.filter { !$0.value.isClosed }
      guard open.count > 1, let (key, slowest) = open.min(by: { $0.value.readAt < $1.value.readAt }) else { return nil }
      clients[key]?.isClosed = true
      sum -= slowest.bytes
      return slowest.account
    }
  }

  private let limit: Int
  private let state = Mutex(State())

  /// Makes a budget of `limit` bytes, none of which are in use.
  init(_ limit: Int) { self.limit = limit }

  /// Opens the account of one client.
  ///
  /// - Parameter close: closes the client's connection; called at most once, on any thread.
  func account(closing close: @escaping @Sendable () -> Void) -> Account { Account(self, close: close) }

  /// The bytes that wait for all clients which are not being closed.
  var waiting: Int { state.withLock { $0.sum } }

  private func set(_ bytes: Int, of account: Account, at now: TickInstant) {
    let slowest = state.withLock { state in
      state.set(bytes, of: account, at: now)
      var slowest: [Account] = []
      while state.sum > limit, let next = state.takeSlowest() { slowest.append(next) }
      return slowest
    }
    for account in slowest { account.close() }
  }
}
