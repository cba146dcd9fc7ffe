import Testing

@testable import Service

@Suite("How many bytes of bodies are held")
struct BodyBudgetTests {
  @Test("all connections together never hold more than the budget; room again when one gives back")
  func shared() {
    let budget = BodyBudget(10_000)
    var taken = [0, 0, 0]
    #expect(budget.hold(6000, taken: &taken[0]) && budget.hold(4000, taken: &taken[1]))
    #expect(!budget.hold(2000, taken: &taken[2]) && !budget.hold(6001, taken: &taken[0]))
    // What was refused has taken nothing, and a body that grew shorter than its room keeps it.
    #expect(taken == [6000, 4000, 0] && budget.hold(5000, taken: &taken[0]) && taken[0] == 6000)
    budget.giveBack(taken[1])
    #expect(budget.hold(4000, taken: &taken[2]) && !budget.hold(4001, taken: &taken[2]))
  }

  @Test("a short body is free, and a single one has room whatever its length")
  func alone() {
    let budget = BodyBudget(10_000)
    var (long, short) = (0, 0)
    #expect(budget.hold(2000, taken: &long) && budget.hold(50_000, taken: &long))
    #expect(budget.hold(BodyBudget.freeBytes, taken: &short) && short == 0)
    #expect(!budget.hold(BodyBudget.freeBytes + 1, taken: &short))
  }
}
