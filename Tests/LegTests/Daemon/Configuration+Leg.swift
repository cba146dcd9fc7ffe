import Leg

@testable import LegDaemon
@testable import TactusDaemon

extension Configuration {
  /// The legs as a file describes them, or `nil` if it has none.
  var legs: ConfiguredSystem<Legs>? { systems[ConfiguredSystem<Legs>.self] }
}

extension ConfiguredSystem<Legs> {
  /// What the loop begins with.
  var loopRules: LegRules { Legs.loopRules(wiring, rules) }
}
