import TestSupport
import Testing

@Suite(.ownThread) struct ReadmeTests {
  @Test("README: every test that a rule names exists")
  func namedTestsExist() throws { try expectNamedTests(of: "Systems/Plants", fewest: 25) }
}
