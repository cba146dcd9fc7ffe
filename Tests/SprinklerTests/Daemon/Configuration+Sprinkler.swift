@testable import SprinklerDaemon
@testable import TactusDaemon

extension Configuration {
  /// The wiring and the rules of the sprinkler, or `nil` if it does not run.
  var sprinkler: (wiring: Sprinkler.Wiring, rules: Sprinkler.Rules)? { settings(of: Sprinkler.self) }
}
