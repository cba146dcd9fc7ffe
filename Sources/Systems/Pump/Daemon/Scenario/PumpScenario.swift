import Pump
import Tactus
import TactusDaemon
import Wire

/// What happens to a simulated pump, its operator and the line between them, and what must come of it.
enum PumpScenario {
  typealias Script = Scenario<PumpSimulation.Configuration, Action, Check>

  enum Action {
    case request(PumpRequest.Order)
    case line(Line)
    case fault(PumpWorld.Fault)
    /// Every fault is mended.
    case mended
    /// Somebody presses the button at the pump.
    case button
    /// What the skin tends to, °C.
    case body(celsius: Double)
    /// Holds the skin there, °C, or `nil` to let it go.
    case skin(celsius: Double?)
    /// The operator's next tick takes this much longer.
    case stall(Nanoseconds)
  }

  enum Line: String, CaseIterable {
    case plugged
    /// The operator's computer sees that it is gone.
    case unplugged
    /// Nothing is seen.
    case cut
  }

  enum Check {
    /// As the operator side knows it, and whether its off is confirmed.
    case state(String)
    case offConfirmed(Bool)
    case fault(String)
    case reason(String)
    case contact(String)
    case source(String)
    /// As it is.
    case pump(String)
    case quantity(Quantity, ClosedRange<Double>)
  }

  /// A number that can be expected; its raw value is its name in the file, unit last.
  enum Quantity: String, CaseIterable {
    /// Of the motor.
    case motor = "motor_percent"
    case skin = "skin_celsius"
    case water = "water_celsius"
    /// Since the last rest, and what is left of the limit.
    case pumped = "pumped_s"
    case left = "left_s"
    /// Requests that were refused so far.
    case refused
  }
}

extension PumpOperatorState {
  static let scenarioNames = ["unknown", "off", "starting", "on", "fault", "e-stop", "shut-down"]

  /// The state's name in a scenario file.
  var scenarioName: String {
    switch self {
    case .unknown: "unknown"
    case .off: "off"
    case .starting: "starting"
    case .on: "on"
    case .fault: "fault"
    case .emergencyStopped: "e-stop"
    case .shutDown: "shut-down"
    }
  }
}

extension PumpDeviceState {
  static let scenarioNames = ["off", "on", "fault", "e-stop", "shut-down"]

  var scenarioName: String {
    switch self {
    case .off: "off"
    case .on: "on"
    case .error: "fault"
    case .emergencyStopped: "e-stop"
    case .shutDown: "shut-down"
    }
  }
}
