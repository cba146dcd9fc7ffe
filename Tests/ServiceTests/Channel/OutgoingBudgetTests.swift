import Synchronization
import Tactus
import Testing

@testable import Service

@Suite("What waits for all clients together")
struct OutgoingBudgetTests {
  private final class Clients: Sendable {
    let budget = OutgoingBudget(100)
    private let names = Mutex<[String]>([])
    var closed: [String] { names.withLock { $0 } }

    func enter(_ name: String) -> OutgoingBudget.Account {
      budget.account { [weak self] in self?.names.withLock { $0.append(name) } }
    }
  }

  private func at(_ seconds: Int64) -> TickInstant { .zero + .seconds(seconds) }

  @Test("too much: who has read nothing for the longest time goes first, and no more of them than needed")
  func slowest() {
    let clients = Clients()
    let (first, second, third) = (clients.enter("first"), clients.enter("second"), clients.enter("third"))
    first.set(50, at: at(0))
    second.set(40, at: at(1))
    // It has waited for the longest time, and has read something since.
    first.set(45, at: at(2))
    #expect(clients.closed.isEmpty && clients.budget.waiting == 85)
    third.set(16, at: at(3))
    #expect(clients.closed == ["second"] && clients.budget.waiting == 61)
    third.set(200, at: at(4))
    #expect(clients.closed == ["second", "first"], "the last one has room whatever it is")
    #expect(clients.budget.waiting == 200)
  }

  @Test("who is closed counts no more, whatever still comes of it, and is closed once")
  func closed() {
    let clients = Clients()
    let (first, second) = (clients.enter("first"), clients.enter("second"))
    first.set(60, at: at(0))
    second.set(60, at: at(1))
    #expect(clients.closed == ["first"] && clients.budget.waiting == 60)
    first.set(90, at: at(2))
    #expect(clients.closed == ["first"] && clients.budget.waiting == 60)
    first.set(0, at: at(3))
    second.set(0, at: at(3))
    #expect(clients.budget.waiting == 0)
  }
}
