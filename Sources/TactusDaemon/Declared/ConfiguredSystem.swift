import Buses
import Tactus
import TactusGuard
import Yams

/// What a declared system opens, without opening it.
struct SystemPlan: Sendable, Equatable {
  var claims: [ResourceClaim] = []
  /// Whether it takes what comes without a token.
  var isOpenToAll = false
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
  let lane: LaneKeys.Values
  let plan: SystemPlan
  /// Of the loop that takes the orders, or `nil` if the declaration makes none.
  let rate: Rate?

  var name: String { at.name }

  /// Plans it: its ports lead nowhere.
  ///
  /// - Throws: what `System.loops` throws.
  init(_ given: GivenValues, at place: SystemPlace = System.onlyPlace) throws {
    let (wiring, rules) = Self.values(given, at: place)
    try self.init(wiring, rules, at: place, lane: System.laneKeys.values(given))
  }

  /// What the file says of its keys, over the defaults.
  static func values(_ given: GivenValues, at place: SystemPlace) -> (System.Wiring, System.Rules) {
    (
      System.Wiring(given) { System.path(of: $0, at: place) }, System.Rules(given) { System.path(of: $0, at: place) }
    )
  }

  /// The same, of values that no file has given.
  init(
    _ wiring: System.Wiring = .init(), _ rules: System.Rules = .init(), at place: SystemPlace = System.onlyPlace,
    lane: LaneKeys.Values? = nil
  ) throws {
    (self.wiring, self.rules, self.lane) = (wiring, rules, lane ?? System.standardLane)
    at = place
    let parts = BenchParts(.planning, of: System.self, at: place, lane: self.lane)
    let loops = try HostedDoor<System>.Loops(state: System.initialState, rules: System.loopRules(wiring, rules))
    let mailbox = System.Inbox(loops, bell: nil, stall: nil, isSimulated: true, instance: place.instance)
    _ = try System.loops(Bench(wiring, parts), mailbox)
    rate = mailbox.rate
    let isSimulated = (System.self as? any MayBeSimulated.Type)?.isSimulatedBy(wiring) ?? false
    plan = SystemPlan(
      claims: parts.claims.filter { !isSimulated || $0.resource.isPort },
      isOpenToAll: parts.isOpenToAll, safeWrites: isSimulated ? [] : parts.safeWrites,
      safeLines: isSimulated ? [] : parts.safeLines, drives: parts.drives,
      harmless: parts.harmless.map { "\($0.name) (\($0.reason))" }, faults: parts.faults.map(\.name))
  }

  func isSame(as other: any AnyConfiguredSystem) -> Bool {
    guard let other = other as? Self, other.lane == lane else { return false }
    return zip(values, other.values).allSatisfy { $0 == $1 } && values.count == other.values.count
  }

  /// The value of each key.
  private var values: [(key: String, value: ConfigValue?)] {
    wiring.values { System.path(of: $0, at: at) } + rules.values { System.path(of: $0, at: at) }
  }

  /// What the file says of its lane that its loop cannot have. What its keys contradict has been reported before it was planned.
  func errors(in whole: Configuration, at places: ConfigPlaces) -> [ConfigError] {
    guard let period = rate?.period else { return [] }
    return System.laneKeys.budgetErrors(
      lane.scheduling, periodMicroseconds: Int(period.count / 1000), rate: rateKey, file: whole.file, places: places)
  }

  /// The key of the loop's rate and its value, if the file decides it.
  private var rateKey: (key: String, hertz: Int)? {
    let name = "runtime.\(System.name).rate_hz"
    guard case .integer(let hertz)?? = values.first(where: { $0.key == name })?.value else { return nil }
    return (name, hertz)
  }

  var claims: [ResourceClaim] { plan.claims }
  var safeWrites: [SafeStateWrite] { plan.safeWrites }
  var safeLines: [GPIOLine] { plan.safeLines }
  var driven: String? { plan.drives ? "the \(name)" : nil }
  var isSimulated: Bool { (System.self as? any MayBeSimulated.Type)?.isSimulatedBy(wiring) ?? false }
  var isOpenToAll: Bool { plan.isOpenToAll }
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
    try HostedSystem(
      self, simulate: surroundings.simulate || isSimulated, bell: surroundings.bell,
      address: surroundings.configuration.bindAddress, surroundings: surroundings)
  }
}

extension ResourceClaim.Resource {
  /// Whether it is taken also where the hardware is simulated.
  fileprivate var isPort: Bool { if case .udp = self { true } else { false } }
}
