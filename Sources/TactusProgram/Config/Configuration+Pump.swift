import Pump
import Tactus

extension Configuration {
  /// The cooling pump.
  struct Pump: Equatable {
    enum Backend: String, Equatable {
      case serial
      case sim
    }

    var backend: Backend
    var device: String
    var baud: Int
    var runLimitMinutes: Int
    var restMinutes: Int
    var stopsOnReturn: Bool
    var stopsWhenTooWarm: Bool
  }
}

extension Configuration.Pump {
  /// nil: the file has no such section.
  init?(_ found: ConfigReader.Result) {
    guard found.sections.contains("pump") else { return nil }
    let given = GivenValues(values: found.values)
    self.init(
      // The table lists exactly the raw values.
      backend: Backend(rawValue: given.text("pump.backend"))!, device: given.text("pump.device"),
      baud: Int(given.text("pump.baud"))!, runLimitMinutes: given.integer("pump.run_limit_min"),
      restMinutes: given.integer("pump.rest_min"), stopsOnReturn: given.text("pump.on_link_loss") == "stop",
      stopsWhenTooWarm: given.text("pump.on_overheat") == "stop")
  }

  var settings: PumpOperatorSettings {
    do {
      return try PumpOperatorSettings(
        runLimit: .seconds(Int64(runLimitMinutes) * 60), rest: .seconds(Int64(restMinutes) * 60),
        linkLoss: stopsOnReturn ? .stopsOnReturn : .keepsRunning,
        overheatAction: stopsWhenTooWarm ? .stop : .keepCooling)
    } catch {
      preconditionFailure("the configuration let through what the pump refuses: \(error)")
    }
  }

  var summary: String {
    switch backend {
    case .serial: "pump on \(device) at \(baud) bit/s"
    case .sim: "simulated pump"
    }
  }
}
