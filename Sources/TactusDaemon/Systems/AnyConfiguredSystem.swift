import Buses
import Logging
import Store
import Tactus
import TactusGuard

/// One system as a file describes it. Without defaults: see `SystemKind`.
public protocol AnyConfiguredSystem: Sendable {
  /// The same as its kind's: `pump`.
  var name: String { get }
  /// Whether the file says the same of both.
  func isSame(as other: any AnyConfiguredSystem) -> Bool
  /// Errors of rules over more than one key.
  func errors(in whole: Configuration, at places: ConfigPlaces) -> [ConfigError]
  /// The resources of the machine that it needs. Also valid for a file with errors.
  var claims: [ResourceClaim] { get }
  /// The writes that bring its outputs into the safe state; empty if it is simulated. This, `safeLines` and everything below is
  /// read only for a file without errors.
  var safeWrites: [SafeStateWrite] { get }
  /// The output lines whose safe state is inactive; empty if it is simulated.
  var safeLines: [GPIOLine] { get }
  /// What it moves, heats or opens, for sentences: `the motors`, or `nil` if it has no actuator.
  var driven: String? { get }
  /// Whether its section of the file selects the simulated backend.
  var isSimulated: Bool { get }
  /// Whether it accepts commands on its own ports, where no token is needed.
  var isOpenToAll: Bool { get }
  /// Groups of users whose members may open its devices, beside those of buses and lines.
  var deviceGroups: [String] { get }
  /// Folders in which it makes files, beside the program's own.
  var folders: [String] { get }
  /// Files that it reads; a folder ends in "/".
  var files: [String] { get }
  /// Whether it connects to another machine by that machine's name.
  var looksUpNames: Bool { get }
  /// Values that must never be logged.
  var secrets: [String] { get }
  /// For people: a few lines without indentation.
  func summary(in whole: Configuration) -> [String]
  /// Returns examples of what a user can try after the start.
  ///
  /// - Parameter simulated: whether the whole program is.
  func invitation(program: String, simulated: Bool, at endpoints: [Endpoint]) -> Invitation
  /// Opens its ports. Nothing is written to an actuator yet.
  func open(_ surroundings: SystemSurroundings) throws -> any DaemonSystem
}

extension AnyConfiguredSystem where Self: Equatable {
  public func isSame(as other: any AnyConfiguredSystem) -> Bool { (other as? Self) == self }
}

/// Examples of what a user can try after the start.
public struct Invitation: Sendable {
  /// An example for `curl`.
  public struct Call: Sendable {
    var options = "-X POST"
    /// Below the service's address: `/api/pump/on`.
    let path: String
    var body: String?

    /// - Parameters:
    ///   - options: of `curl`, before the address.
    ///   - path: below the service's address: `/api/pump/on`.
    ///   - body: JSON, which the shell gets between single quotes, or `nil` if nothing is sent.
    public init(options: String = "-X POST", path: String, body: String? = nil) {
      self.options = options
      self.path = path
      self.body = body
    }
  }

  /// What runs, in a few words.
  var title: String
  /// Besides the service.
  var lines: [String] = []
  var calls: [Call] = []

  /// - Parameters:
  ///   - title: what runs, in a few words.
  ///   - lines: examples that need no service, printed as they are.
  ///   - calls: printed if the service runs.
  public init(title: String, lines: [String] = [], calls: [Call] = []) {
    self.title = title
    self.lines = lines
    self.calls = calls
  }
}

/// What a system is opened with.
public struct SystemSurroundings {
  /// The whole file, free of errors.
  public let configuration: Configuration
  /// There if a system of the configuration keeps something.
  let store: DaemonStore?
  /// Whether the whole program is simulated; a system's own section may ask for it besides.
  public let simulate: Bool
  /// Rung when there are answers or notices to take.
  let bell: DoorbellButton
  /// The time of day, with how far it can be believed: the only one in the program.
  public let clock: WatchedWallClock
  /// The program's logger: its lines have the label `tactus`.
  public let logger: Logger
  /// For a logger with a label of its own.
  public let log: ProgramLog
  /// What the guard wrote after the program's last end, in the present boot, or `nil` if it had ended in an orderly way, or nothing is known of it.
  public let madeSafe: MadeSafe?
  /// Whether the program's last end, in the present boot, left the outputs to others: it died, with or without its guard.
  public let endedWithoutStop: Bool
  /// The holders of the program's ports before it confined itself.
  public let portOwners: PortOwners
  /// Interfaces that systems opened earlier have published for other systems.
  public let offers = Offers()

  /// Of a system whose kind keeps something.
  public var storeFile: StoreFile {
    guard let store else { preconditionFailure("a system whose kind keeps nothing wants the store") }
    return store.file
  }

  /// Interfaces between two systems, found by their type, so that neither system knows the other.
  public final class Offers {
    private var offers: [any Sendable] = []
    /// Publishes an interface to the systems that are opened later.
    public func give(_ offer: some Sendable) { offers.append(offer) }
    /// Returns the first offer of this type, or `nil` if no system has made one.
    public func take<Offer>(_: Offer.Type) -> Offer? { offers.lazy.compactMap { $0 as? Offer }.first }
  }
}

/// The systems of a file, in the program's order; equal when the file says the same of them.
public struct ConfiguredSystems: Sendable, Equatable {
  /// In the program's order, at most one of each type.
  public var all: [any AnyConfiguredSystem] = []

  /// Returns the system of this type, or `nil` if the file does not have it.
  public subscript<System: AnyConfiguredSystem>(_: System.Type) -> System? {
    all.lazy.compactMap { $0 as? System }.first
  }

  public static func == (one: ConfiguredSystems, other: ConfiguredSystems) -> Bool {
    one.all.count == other.all.count && zip(one.all, other.all).allSatisfy { $0.isSame(as: $1) }
  }
}
