import ArgumentParser
import Buses
import Service
import ServiceDocuments
import Tactus

/// A protocol for a system that shows its state on a hand-written card. The page makes the frame as for every system:
/// title, state, trouble, commands, e-stop and reset, settings and faults. The card fills the area beside the commands.
///
/// ```swift
/// enum Kettle: DeviceSystem, HasCard {
///   static let card = Card(
///     html: PackageResources.card_html, script: PackageResources.card_js, style: PackageResources.card_css)
/// }
/// ```
///
/// The package manifest needs `resources: [.embedInCode("Card")]`.
public protocol HasCard: DeviceSystem {
  /// The card, which all systems of this kind share.
  static var card: Card { get }
}

/// The files of a card.
public struct Card: Sendable {
  let html: [UInt8]
  let script: [UInt8]
  let style: [UInt8]

  /// Creates a card from the contents of its files.
  ///
  /// - Parameters:
  ///   - html: the elements of the card without scripts or styles, and without any `id`, since the page may show
  ///     several systems of a kind.
  ///   - script: a script that calls `ownCard("kettle", show)` once. `show(root, event, system)` receives the element
  ///     with the card's copy of `html`, each state of the system with its fields as members, and the system's item of
  ///     `GET /api/systems`.
  ///   - style: the rules for elements that only this card has, such as `.kettle-chart { … }`.
  public init(html: [UInt8], script: [UInt8], style: [UInt8] = []) {
    (self.html, self.script, self.style) = (html, script, style)
  }
}

extension OwnCard {
  init(kind: String, _ card: Card) { self.init(kind: kind, html: card.html, script: card.script, style: card.style) }
}

/// A protocol for a system whose card, and a part of whose OpenAPI description, is written by hand. The files take
/// precedence over the parts that are generated from the declaration. `GET /api/systems` does not describe the system.
public protocol HasDocuments: DeviceSystem {
  /// The files that are written by hand.
  static var documents: SystemDocuments { get }
  /// The name of the schema of the state in OpenAPI; by default `PumpSnapshot` for `pump`.
  static var stateSchema: String { get }
  /// The name of the schema of the answer to `GET /api/NAME`, which is the state and `ok`; by default `Pump` for `pump`.
  static var documentSchema: String { get }
}

extension HasDocuments {
  /// The title of the system followed by `Snapshot`, such as `PumpSnapshot`.
  public static var stateSchema: String { "\(documentSchema)Snapshot" }
  /// The name of the system as a title, such as `Pump` for `pump`.
  public static var documentSchema: String { name.titled }
}

/// A protocol for a system with additional commands in the terminal, such as `tactus drive`.
///
/// ```swift
/// static var terminal: [any ParsableCommand.Type] { [DriveCommand.self] }
/// ```
///
/// Orders to the loop do not need such a command: `call` already offers all of them.
public protocol HasCommands: DeviceSystem {
  /// The commands. No other command of the program may have the same name.
  static var terminal: [any ParsableCommand.Type] { get }
  /// The commands below `sim`, which simulate a device in real time for other programs to connect to; none by default. Each name must be unique among the
  /// simulated devices of the program.
  static var simulatedDevices: [any ParsableCommand.Type] { get }
}

extension HasCommands {
  /// An empty list, because the system simulates no device for other programs.
  public static var simulatedDevices: [any ParsableCommand.Type] { [] }
}

/// A protocol for a system that describes itself at the start and in `check` in more detail than its declaration.
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
  /// Examples of `call` for its help, such as `zone/1 on minutes=1`, in place of those made from the commands; by
  /// default `nil`, which keeps the made ones.
  static var callExamples: [String]? { get }
}

extension Introduces {
  /// The value `nil`, so that the examples are made from the commands.
  public static var callExamples: [String]? { nil }
}

/// The facts about a program that are known at its start.
public struct ProgramStart: Sendable {
  /// The name of the program's command.
  public let program: String
  /// Whether the whole program is simulated.
  public let isSimulated: Bool
  /// The value of the file's key `network.bind_address`.
  public let address: String
  /// The addresses on which the system listens, with the ports in effect.
  public let endpoints: [Endpoint]
}

extension Introduces {
  static func summaryLines(_ wiring: Any, _ rules: Any, _ address: String) -> [String] {
    // The values are this system's, passed without their types.
    summary(wiring as! Wiring, rules as! Rules, address: address)
  }

  static func invited(_ wiring: Any, _ rules: Any, _ start: ProgramStart) -> Invitation {
    invitation(wiring as! Wiring, rules as! Rules, start)
  }
}
