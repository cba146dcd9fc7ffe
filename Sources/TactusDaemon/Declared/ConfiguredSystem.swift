import Buses
import Tactus
import TactusGuard
import Yams

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
  let at: SystemPlace
  let wiring: System.Wiring
  let rules: System.Rules
  let scheduling: Configuration.Scheduling
  let cpus: CPUSet?
  let values: [String: ConfigValue]
  let plan: SystemPlan
  /// Of the loop that takes the orders; `nil` if the declaration makes none.
  let rate: Rate?

  var name: String { at.name }

  /// Plans it: its ports lead nowhere.
  ///
  /// - Throws: what `System.loops` throws.
  init(_ given: GivenValues, at place: SystemPlace = SystemPlace(only: System.name)) throws {
    let lane = ConfigTable.lane(of: System.self).values(given)
    try self.init(
      System.Wiring(given, section: place.section), System.Rules(given, section: place.section), at: place,
      scheduling: lane.scheduling, cpus: lane.cpus,
      values: given.values.filter { $0.key.hasPrefix(place.section + ".") })
  }

  /// The same, of values that no file has given.
  init(
    _ wiring: System.Wiring = .init(), _ rules: System.Rules = .init(),
    at place: SystemPlace = SystemPlace(only: System.name), scheduling: Configuration.Scheduling = .normal,
    cpus: CPUSet? = nil, values: [String: ConfigValue] = [:]
  ) throws {
    (self.wiring, self.rules, self.scheduling, self.cpus, self.values) = (wiring, rules, scheduling, cpus, values)
    at = place
    let parts = BenchParts(.planning, at: place)
    let loops = try HostedDoor<System>.Loops(state: System.initialState, rules: rules)
    let mailbox = System.Inbox(loops, bell: nil, stall: nil, isSimulated: true, instance: place.instance)
    _ = try System.loops(Bench(wiring, parts), mailbox)
    rate = mailbox.rate
    plan = SystemPlan(
      claims: parts.claims, safeWrites: parts.safeWrites, safeLines: parts.safeLines, drives: parts.drives,
      harmless: parts.harmless.map { "\($0.name) (\($0.reason))" }, faults: parts.faults.map(\.name))
  }

  func isSame(as other: any AnyConfiguredSystem) -> Bool { (other as? Self)?.values == values }

  /// What the file says of its lane that its loop cannot have. What its keys contradict has been reported before it was planned.
  func errors(in whole: Configuration, at places: ConfigPlaces) -> [ConfigError] {
    guard let period = rate?.period else { return [] }
    return ConfigTable.lane(of: System.self).budgetErrors(
      scheduling, periodMicroseconds: Int(period.count / 1000), file: whole.file, places: places)
  }

  var claims: [ResourceClaim] { plan.claims }
  var safeWrites: [SafeStateWrite] { plan.safeWrites }
  var safeLines: [GPIOLine] { plan.safeLines }
  var driven: String? { plan.drives ? "the \(name)" : nil }
  var isSimulated: Bool { false }
  var isOpenToAll: Bool { false }
  var deviceGroups: [String] { [] }
  var folders: [String] { [] }
  /// What its loops are made of, a table of calibration perhaps, only they know.
  var files: [String] { ["/"] }
  var looksUpNames: Bool { true }
  var secrets: [String] { [] }

  /// `on the PWM output /sys/class/pwm/pwmchip0/pwm0`
  var place: String {
    plan.claims.isEmpty ? System.summary : "on " + plan.claims.map { "\($0.resource)" }.joined(separator: ", ")
  }

  func summary(in whole: Configuration) -> [String] {
    ["\(name): \(place)"] + plan.harmless.map { "\(name): no safe state for \($0)" }
  }

  /// Each number of an example is its default, or else the middle of its range.
  func invitation(program: String, simulated: Bool, at endpoints: [Endpoint]) -> Invitation {
    Invitation(
      title: name + (simulated ? " (simulated)" : " \(place)"),
      calls: System.commands.map { command in
        let members = command.parameters.map { "\"\($0.name)\": \($0.example)" }
        return .init(
          path: "/api/\(name)/\(command.name)", body: members.isEmpty ? nil : "{\(members.joined(separator: ", "))}")
      })
  }

  func open(_ surroundings: SystemSurroundings) throws -> any DaemonSystem {
    try HostedSystem(self, simulate: surroundings.simulate, bell: surroundings.bell, surroundings: surroundings)
  }
}
