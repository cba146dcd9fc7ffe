import Buses

/// Adopted by a system that describes itself at the start and in `check` in more detail than its declaration.
public protocol Introduces: DeviceSystem {
  /// The noun in sentences for the actuators of the system, such as `the motors`, or `nil` if the system has no
  /// actuator.
  static var driven: String? { get }
  /// Returns a few lines for `check`, without indentation.
  ///
  /// - Parameter address: the file's `network.bind_address`.
  static func summary(_ wiring: Wiring, _ rules: Rules, address: String) -> [String]
  /// Returns suggestions for a user to try once the system runs.
  static func invitation(_ wiring: Wiring, _ rules: Rules, _ start: ProgramStart) -> Invitation
  /// Examples of `call` for its help, such as `zone/1 on minutes=1`, in place of those that are made of the commands;
  /// `nil`, the default, for the made ones.
  static var callExamples: [String]? { get }
}

extension Introduces {
  /// `nil`: the examples are made of the commands.
  public static var callExamples: [String]? { nil }
}

/// The facts about a program that are known at its start.
public struct ProgramStart: Sendable {
  /// The name of the program's command.
  public let program: String
  /// Whether the whole program is simulated.
  public let isSimulated: Bool
  /// The file's `network.bind_address`.
  public let address: String
  /// The addresses on which the system listens, with the ports in effect.
  public let endpoints: [Endpoint]
}

extension Introduces {
  static func summaryLines(_ wiring: Any, _ rules: Any, _ address: String) -> [String] {
    // Of this system.
    summary(wiring as! Wiring, rules as! Rules, address: address)
  }

  static func invited(_ wiring: Any, _ rules: Any, _ start: ProgramStart) -> Invitation {
    invitation(wiring as! Wiring, rules as! Rules, start)
  }
}
