@testable import PumpDaemon
@testable import TactusDaemon

extension Configuration {
  /// What the file says of the pump, or `nil` if it does not run.
  var pump: ConfiguredSystem<Pump>? { systems[ConfiguredSystem<Pump>.self] }
}
