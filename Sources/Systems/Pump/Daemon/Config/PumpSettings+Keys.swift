import Pump
import Tactus
import TactusDaemon

extension PumpOperatorSettings: ReloadableRules {
  package var keys: [(key: String, value: ConfigValue?)] {
    [
      ("pump.run_limit_min", runLimit.map { .integer($0.wholeMinutes) }),
      ("pump.rest_min", .integer(rest.wholeMinutes)),
      ("pump.on_link_loss", .text(linkLoss == .stopsOnReturn ? "stop" : "keep")),
      ("pump.on_overheat", .text(overheatAction == .stop ? "stop" : "keep")),
    ]
  }
}

extension PumpDeviceSettings: ReloadableRules {
  package var keys: [(key: String, value: ConfigValue?)] {
    [
      ("pump.run_limit_min", .integer(runLimit.wholeMinutes)), ("pump.rest_min", .integer(rest.wholeMinutes)),
      ("pump.silence_limit_s", silenceLimit.map { .integer(Int($0.inSeconds)) }),
      ("pump.on_overheat", .text(overheatAction == .stop ? "stop" : "keep")),
    ]
  }
}

extension Nanoseconds {
  fileprivate var wholeMinutes: Int { Int(inSeconds / 60) }
}
