import Tactus

/// What happens to a simulated system, and what must come of it. `Setup` is what the system is made of.
package struct Scenario<Setup, Action, Check> {
  struct Event: ScenarioItem {
    var at: Nanoseconds
    var action: Action
  }

  /// What must be so at an instant.
  struct Expectation: ScenarioItem {
    var at: Nanoseconds
    /// In the order of the file.
    var checks: [Check]
  }

  var name: String
  package var seed: UInt64 = 1
  var duration: Nanoseconds
  package var setup: Setup
  /// By time.
  var events: [Event] = []
  /// By time.
  var expectations: [Expectation] = []
}
