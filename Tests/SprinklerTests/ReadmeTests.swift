import TestSupport
import Testing

@Suite(.ownThread) struct ReadmeTests {
  @Test("README: every test that a rule names exists")
  func namedTestsExist() throws { try expectNamedTests(of: "Systems/Sprinkler", fewest: 40) }

  @Test("README of the schedule: every test that a rule names exists")
  func schedule() throws {
    try expectNamedTests(of: "Systems/Sprinkler/Control/Schedule", and: ["WallTimeTests"], fewest: 26)
  }
}
