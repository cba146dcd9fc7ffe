import Leg
import Tactus
import TactusDaemon

extension Configuration.Legs {
  /// What of the file may change while the program runs, as the loop takes it.
  var rules: LegRules { LegRules(configurations.map(\.settings)) }
}

extension LegRules: ReloadableRules {
  package var keys: [(key: String, value: ConfigValue?)] {
    let first = self[0]
    let ofAll: [(String, ConfigValue?)] = [
      ("leg.deadman_ms", .integer(Int(first.deadmanTimeout.inMilliseconds))),
      ("leg.battery.warn_mv", first.battery.map { .integer(Int($0.warning.count)) }),
      ("leg.battery.fault_mv", first.battery.map { .integer(Int($0.fault.count)) }),
      ("leg.compat_stub", .boolean(first.reportsStubBattery)),
    ]
    let ofEach = all.enumerated().flatMap { index, leg -> [(String, ConfigValue?)] in
      [
        ("legs[\(index)].slew_us_per_s", leg.slewMicrosecondsPerSecond.map { .integer(Int($0)) }),
        ("legs[\(index)].release_after_s", leg.releaseAfter.map { .number($0.inSeconds) }),
      ]
    }
    return ofAll + ofEach
  }
}
