import Buses
import Robot
import Service
import Tactus
import TactusDaemon

/// What happens to a simulated robot, and what must come of it.
enum RobotScenario {
  typealias Script = Scenario<Setup, Event, Check>

  struct Setup {
    var operators = 1
    var settings = RobotSettings.standard
    var conditions = SimulatedNetwork.Conditions()
  }

  struct Event: Equatable {
    /// Which operator, from 0.
    var person: Int
    var action: Action
  }

  enum Action: Equatable {
    /// The controls, as left until the next such event.
    case controls(OperatorInput)
    case stop
    case emergencyStop
    case reset
    /// Nothing gets through, in either direction, until it is up again.
    case link(isUp: Bool)
    /// From now on.
    case network(SimulatedNetwork.Conditions)
    case bus(BusFault)
    /// The robot's next tick takes this much longer.
    case stall(Nanoseconds)
  }

  enum BusFault: Equatable {
    case none
    /// A chip holds a line low.
    case stuck
    /// The board does not answer.
    case noAcknowledge
    /// So many of 1,000 transfers are not acknowledged.
    case refuses(perMille: Int)
  }

  enum Check: Equatable {
    case state(String)
    /// The robot's words about its state contain this.
    case reason(String)
    case link(String)
    case quantity(Quantity, ClosedRange<Double>)
  }

  /// A number that can be expected; its raw value is its name in the file, unit last.
  enum Quantity: String, CaseIterable {
    case leftPercent = "left_percent"
    case rightPercent = "right_percent"
    case speed = "speed_m_s"
    case x = "x_m"
    case y = "y_m"
    /// Ticks of the robot's loop given up so far.
    case skipped
    /// Motor writes that failed so far, after their retries.
    case writeFailures = "write_failures"
  }
}
