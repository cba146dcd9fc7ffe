import Buses
import Logging
import Store
import Synchronization
import Tactus
import TactusGuard
import WallTime

/// A declared system as configured by a file, without its type; see `ConfiguredSystem`.
protocol AnyConfiguredSystem: Sendable {
  /// The name of the system, which is that of its kind: `pump`.
  var name: String { get }
  /// Returns whether both files configure the system in the same way.
  func isSame(as other: any AnyConfiguredSystem) -> Bool
  /// Returns the errors of constraints on more than one key.
  func errors(in whole: Configuration, at places: ConfigPlaces) -> [ConfigError]
  /// The resources of the machine that the system claims. Also valid for a file with errors.
  var claims: [ResourceClaim] { get }
  /// The CPUs to which the system's lane is restricted, or `nil` if it may use any.
  var cpus: CPUSet? { get }
  /// The sensors of the kernel that the system reads; empty if it is simulated.
  var sensors: [PlannedSensor] { get }
  /// The writes that bring the outputs into their safe state; empty if the system is simulated. This property,
  /// `safeLines` and everything below are read only for a file without errors.
  var safeWrites: [SafeStateWrite] { get }
  /// The output lines whose safe state is the inactive level; empty if the system is simulated.
  var safeLines: [GPIOLine] { get }
  /// The noun in sentences for the actuators of the system, such as `the motors`, or `nil` if the system has no
  /// actuator.
  var driven: String? { get }
  /// Whether the system's section of the file selects the simulated backend.
  var isSimulated: Bool { get }
  /// Whether the system accepts commands without a token on ports of its own.
  var isOpenToAll: Bool { get }
  /// The user groups whose members may open the system's devices, besides those of buses and lines.
  var deviceGroups: [String] { get }
  /// The folders in which the system creates files, besides those of the program.
  var folders: [String] { get }
  /// The files that the system reads.
  var files: [String] { get }
  /// Whether the system resolves host names to connect to other machines.
  var looksUpNames: Bool { get }
  /// The values that must never be logged; those in files of their own after `readSecrets`.
  var secrets: [String] { get }
  /// Reads the secrets that the configuration keeps in files of their own, with which the system is opened.
  mutating func readSecrets() throws(ConfigError)
  /// Returns a few lines without indentation that describe the configuration to users.
  func summary(in whole: Configuration) -> [String]
  /// Returns examples of commands that a user can try after the start.
  ///
  /// - Parameter simulated: whether the whole program is simulated.
  func invitation(program: String, simulated: Bool, at endpoints: [Endpoint]) -> Invitation
  /// Opens the system's ports. Nothing is written to an actuator yet.
  func open(_ surroundings: SystemSurroundings) throws -> any DaemonSystem
  /// Returns the system with simulated ports for a replay of its loops, or `nil` if it has no loop.
  func openForReplay() throws -> (any LoopSystem)?
}

/// Examples of commands that a user can try after the start.
public struct Invitation: Sendable {
  /// An example for `curl`.
  public struct Call: Sendable {
    var options = "-X POST"
    /// The path below the service's address: `/api/pump/on`.
    let path: String
    var body: String?
    /// The time for which the shell waits after the command, in seconds, or `nil` if it does not wait.
    var pauseSeconds: Double?

    /// Creates an example.
    ///
    /// - Parameters:
    ///   - options: the options of `curl` before the address.
    ///   - path: the path below the service's address: `/api/pump/on`.
    ///   - body: the JSON body, which is put between single quotes for the shell, or `nil` if no body is sent.
    ///   - pauseSeconds: the time after which the next example works, in seconds, or `nil` if it works at once.
    public init(options: String = "-X POST", path: String, body: String? = nil, pauseSeconds: Double? = nil) {
      self.options = options
      self.path = path
      self.body = body
      self.pauseSeconds = pauseSeconds
    }
  }

  /// A few words that say which system runs.
  var title: String
  /// Examples that need no service.
  var lines: [String] = []
  var calls: [Call] = []

  /// Creates an invitation.
  ///
  /// - Parameters:
  ///   - title: a few words that say which system runs.
  ///   - lines: examples that need no service, printed unchanged.
  ///   - calls: examples that are printed if the service runs.
  public init(title: String, lines: [String] = [], calls: [Call] = []) {
    self.title = title
    self.lines = lines
    self.calls = calls
  }
}

/// The parts of the program with which a system is opened.
struct SystemSurroundings {
  /// The whole configuration, which has no errors.
  let configuration: Configuration
  /// The store, or `nil` if no system of the configuration keeps anything.
  let store: DaemonStore?
  /// Whether the whole program is simulated. The section of a system may also select simulated hardware for that system
  /// alone.
  let simulate: Bool
  /// The bell that is rung when there are answers or notices to take.
  let bell: DoorbellButton
  /// The wall clock with its trustworthiness. The program has only one.
  let clock: WatchedWallClock
  /// The time zone of the machine.
  let zone: ZoneRules
  /// The program's logger, whose lines have the label `tactus`.
  let logger: Logger
  /// The program's log, for a logger with another label.
  let log: ProgramLog
  /// The writes of the guard after the program's last end in the present boot, or `nil` if that end was orderly or
  /// nothing is known about it.
  let madeSafe: MadeSafe?
  /// Whether the program last ended, in the present boot, without stopping its outputs in order, because it died with
  /// or without its guard.
  let endedWithoutStop: Bool
  /// The programs that had the program's ports before it confined itself.
  let portOwners: PortOwners
  /// Interfaces that systems opened earlier have published for other systems.
  let offers = Offers()

  /// The store's file, for a system whose kind keeps something. The property traps for other systems.
  var storeFile: StoreFile {
    guard let store else { preconditionFailure("a system whose kind keeps nothing wants the store") }
    return store.file
  }

  /// Interfaces between two systems, found by their type, so that neither system knows the other.
  final class Offers: Sendable {
    private let offers = Mutex<[any Sendable]>([])
    /// Publishes an interface to the other systems.
    func give(_ offer: some Sendable) { offers.withLock { $0.append(offer) } }
    /// Returns the first offer of this type, or `nil` if no system has made one.
    func find<Offer: Sendable>(_: Offer.Type) -> Offer? {
      offers.withLock { offers in offers.lazy.compactMap { $0 as? Offer }.first }
    }
  }
}

/// The systems of a file in the program's order. Two values are equal if the files configure the systems in the same
/// way.
struct ConfiguredSystems: Sendable, Equatable {
  /// The systems in the program's order.
  var all: [any AnyConfiguredSystem] = []

  /// Returns the system of this type, or `nil` if the file does not have it.
  subscript<System: AnyConfiguredSystem>(_: System.Type) -> System? {
    all.lazy.compactMap { $0 as? System }.first
  }

  static func == (one: ConfiguredSystems, other: ConfiguredSystems) -> Bool {
    one.all.count == other.all.count && zip(one.all, other.all).allSatisfy { $0.isSame(as: $1) }
  }
}
