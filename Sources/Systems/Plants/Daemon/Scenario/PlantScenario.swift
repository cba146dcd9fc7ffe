import Plants
import Tactus
import TactusDaemon

/// What happens to plants, their probes, the app and a sprinkler, and what must come of it.
enum PlantScenario {
  typealias Script = Scenario<Configuration.Plants, Action, Check>

  enum Action {
    /// A message of the app's protocol, from a client of that name.
    case request(sender: String, operation: String, payload: String)
    /// Bytes on the clients' topic, whatever they are.
    case message(String)
    case soil(PlantSensorID, Soil)
    /// Nothing gets through, in either direction, until it is up again.
    case broker(isUp: Bool)
    case bus(Bus)
    case sprinkler(Sprinkler)
    /// The probes' next tick takes this much longer.
    case stall(Nanoseconds)
  }

  enum Soil {
    case moisture(percent: Double)
    /// Somebody waters it: so many percentage points.
    case poured(percent: Double)
    case temperature(celsius: Double)
    case fault(SimulatedSoil.Fault)
  }

  enum Bus: String, CaseIterable {
    case ok
    /// A chip holds a line low.
    case stuck
  }

  /// What the zones that dry plants ask for belong to.
  enum Sprinkler: String, CaseIterable {
    case ready
    case rainDelay = "rain-delay"
    case stopped
  }

  enum Check {
    /// There is a plant of that name.
    case plant(String)
    /// By name, or `none`.
    case alerts(plant: String, [String])
    /// Whether it was ever seen watered.
    case watered(plant: String, Bool)
    case plantQuantity(plant: String, PlantQuantity, ClosedRange<Double>)
    /// Operation and payload of the last reply; `none`: the last message had none.
    case reply(String)
    case payload(String)
    case quantity(Quantity, ClosedRange<Double>)
  }

  /// Of one plant; its raw value is its name in the file, unit last.
  enum PlantQuantity: String, CaseIterable {
    case moisture = "moisture_percent"
    case temperature = "celsius"
  }

  enum Quantity: String, CaseIterable {
    /// Plants of all users.
    case plants
    /// Replies to the last message, and so far.
    case replies
    case repliesSoFar = "replies_so_far"
    /// Requests of dry plants to the sprinkler so far.
    case asked
    /// Readings that failed so far, of all probes.
    case failures
  }
}
