import Tactus

/// What happens to a simulated system, and what must come of it. `Setup` is what the system is made of.
public struct Scenario<Setup, Action, Check> {
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
  /// The seed of all that is random in the run; 1 unless the file or the command line gives another.
  public var seed: UInt64 = 1
  var duration: Nanoseconds
  /// What the file says of the system, over `ScenarioReader.standard`.
  public var setup: Setup
  /// By time.
  var events: [Event] = []
  /// By time.
  var expectations: [Expectation] = []
}
