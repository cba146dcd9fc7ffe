import Buses
import Tactus
import TactusGuard
import Yams

/// One declared system as a file describes it, without its types.
protocol AnyConfiguredSystem: Sendable {
  var name: String { get }
  /// What it asks of the machine, and what must be written there when nobody drives it.
  var plan: SystemPlan { get }
  /// For people.
  var summary: String { get }
  /// Its commands, as somebody may try them.
  var examples: [(path: String, body: String?)] { get }
  /// What the file says, by key.
  var values: [String: ConfigValue] { get }
  /// Opens it.
  func open(simulate: Bool, bell: DoorbellButton?) throws -> any DaemonSystem
}

/// What a declared system opens, without opening it.
struct SystemPlan: Sendable, Equatable {
  var claims: [ResourceClaim] = []
  var safeWrites: [SafeStateWrite] = []
  var safeLines: [GPIOLine] = []
  /// Whether it moves, heats or opens something.
  var drives = false
  /// Outputs whose safe state needs nothing written, with the reason.
  var harmless: [String] = []
  /// Names of the faults that its simulation can have.
  var faults: [String] = []
}

/// One declared system as a file describes it.
struct ConfiguredSystem<System: DeviceSystem>: AnyConfiguredSystem {
  let wiring: System.Wiring
  let rules: System.Rules
  let scheduling: Configuration.Scheduling
  let cpus: CPUSet?
  let values: [String: ConfigValue]
  let plan: SystemPlan

  var name: String { System.name }

  /// Plans it: its ports lead nowhere.
  ///
  /// - Throws: what `System.loops` throws.
  init(_ given: GivenValues) throws {
    try self.init(
      System.Wiring(given, section: System.name), System.Rules(given, section: System.name),
      scheduling: Configuration.Scheduling(given, "runtime.\(System.name)"),
      cpus: given.optionalCPUs("runtime.\(System.name).cpu"),
      values: given.values.filter { $0.key.hasPrefix(System.name + ".") })
  }

  /// The same, of values that no file has given.
  init(
    _ wiring: System.Wiring = .init(), _ rules: System.Rules = .init(), scheduling: Configuration.Scheduling = .normal,
    cpus: CPUSet? = nil, values: [String: ConfigValue] = [:]
  ) throws {
    (self.wiring, self.rules, self.scheduling, self.cpus, self.values) = (wiring, rules, scheduling, cpus, values)
    let parts = BenchParts(.planning, system: System.name)
    let loops = try HostedDoor<System>.Loops(state: System.initialState, rules: rules)
    _ = try System.loops(Bench(wiring, parts), System.Inbox(loops, bell: nil, stall: nil, isSimulated: true))
    plan = SystemPlan(
      claims: parts.claims, safeWrites: parts.safeWrites, safeLines: parts.safeLines, drives: parts.drives,
      harmless: parts.harmless.map { "\($0.name) (\($0.reason))" }, faults: parts.faults.map(\.name))
  }

  var summary: String {
    let places = plan.claims.map { "\($0.resource)" }
    return places.isEmpty ? System.summary : "on " + places.joined(separator: ", ")
  }

  /// Each number is the middle of its range.
  var examples: [(path: String, body: String?)] {
    System.commands.map { command in
      guard !command.parameters.isEmpty else { return (command.name, nil) }
      let members = command.parameters.map { "\"\($0.name)\": \($0.kind.example)" }
      return (command.name, "{\(members.joined(separator: ", "))}")
    }
  }

  func open(simulate: Bool, bell: DoorbellButton?) throws -> any DaemonSystem {
    try HostedSystem(self, simulate: simulate, bell: bell)
  }
}

extension Configuration {
  /// The declared systems whose sections the file has. What contradicts itself is reported, and not planned.
  static func declared(
    _ found: ConfigReader.Result, file: String, in program: DaemonProgram = .current
  ) -> (systems: [any AnyConfiguredSystem], errors: [ConfigError]) {
    let given = GivenValues(values: found.values)
    let places = ConfigPlaces(marks: found.places)
    var systems: [any AnyConfiguredSystem] = []
    var errors: [ConfigError] = []
    for system in program.systems where found.sections.contains(system.name) {
      let wrong = contradictions(system, given)
      errors += wrong.map { places.error(file, "\(system.name).\($0.key)", $0.message) }
      guard wrong.isEmpty else { continue }
      do {
        systems.append(try configured(system, given))
      } catch {
        errors.append(places.error(file, system.name, "\(error)"))
      }
    }
    return (systems, errors)
  }

  // `any DeviceSystem.Type` opens itself when it is given to a generic function.

  private static func contradictions<System: DeviceSystem>(
    _: System.Type, _ given: GivenValues
  ) -> [(key: String, message: String)] {
    System.Wiring(given, section: System.name).contradictions
      + System.Rules(given, section: System.name).contradictions
  }

  private static func configured<System: DeviceSystem>(
    _: System.Type, _ given: GivenValues
  ) throws -> any AnyConfiguredSystem {
    try ConfiguredSystem<System>(given)
  }
}

/// The declared systems of a file; equal when the file says the same of them.
struct DeclaredSystems: Sendable, Equatable {
  var all: [any AnyConfiguredSystem] = []

  static func == (one: DeclaredSystems, other: DeclaredSystems) -> Bool {
    one.all.map(\.name) == other.all.map(\.name) && one.all.map(\.values) == other.all.map(\.values)
  }
}
