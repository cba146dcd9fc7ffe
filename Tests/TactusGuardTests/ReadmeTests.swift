import TestSupport
import Testing

@Suite("guard: README")
struct ReadmeTests {
  @Test("every rule of the README names a test that exists")
  func rules() throws { try expectNamedTests(of: "TactusGuard", fewest: 20) }
}
