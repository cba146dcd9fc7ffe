import Buses
@_spi(FromOutside) import Conversions
import Tactus
import TactusGuard

/// The resources that a declared system will open, found without opening them.
struct SystemPlan: Sendable, Equatable {
  var claims: [ResourceClaim] = []
  /// Whether the system accepts datagrams without a token.
  var isOpenToAll = false
  var safeWrites: [SafeStateWrite] = []
  var safeLines: [GPIOLine] = []
  /// Whether the system has actuators.
  var drives = false
  /// Whether the system has an output that can be read back in a simulation.
  var hasReadBackOutput = false
  /// The outputs whose safe state needs no write, with the reason.
  var harmless: [String] = []
  /// The sensors of the kernel that the system reads; empty if it is simulated.
  var sensors: [PlannedSensor] = []
  /// The names of the faults that the simulation of the system offers.
  var faults: [String] = []
}

/// A declared system as configured by a file.
struct ConfiguredSystem<System: DeviceSystem>: AnyConfiguredSystem {
  let at: SystemPlace
  /// The settings that are fixed while the program runs. A secret that the file keeps in a file of its own is empty.
  private(set) var wiring: System.Wiring
  let rules: System.Rules
  let lane: LaneKeys.Values
  /// The value of the file's key `network.bind_address`.
  let bindAddress: String
  let plan: SystemPlan
  /// The values of the file, or `nil` if the system was not read from a file.
  private var given: GivenValues?
  /// The secrets that `readSecrets` has read from files of their own, by the paths of their keys.
  private var secretsRead: [String: ConfigValue] = [:]
  /// The rate of the loop that takes the orders, or `nil` if the declaration makes no such loop.
  let rate: Rate?

  var name: String { at.name }

  /// Plans the system on a bench whose ports lead nowhere.
  ///
  /// - Throws: the errors of `System.loops`, and `Misdeclared` if the declaration is invalid.
  init(_ given: GivenValues, at place: SystemPlace = System.onlyPlace) throws {
    let (wiring, rules) = Self.values(given, at: place)
    try self.init(
      wiring, rules, at: place, lane: System.laneKeys.values(given), bindAddress: given.text("network.bind_address"))
    self.given = given
  }

  /// Returns the values of the system's keys; keys that the file does not give have their defaults.
  static func values(_ given: GivenValues, at place: SystemPlace) -> (System.Wiring, System.Rules) {
    (
      System.Wiring(given) { System.path(of: $0, at: place) }, System.Rules(given) { System.path(of: $0, at: place) }
    )
  }

  /// Plans the system with values that were not read from a file.
  init(
    _ wiring: System.Wiring = .init(), _ rules: System.Rules = .init(), at place: SystemPlace = System.onlyPlace,
    lane: LaneKeys.Values? = nil, bindAddress: String = "127.0.0.1"
  ) throws {
    (self.wiring, self.rules, self.lane) = (wiring, rules, lane ?? System.standardLane)
    self.bindAddress = bindAddress
    at = place
    let parts = BenchParts(.planning, of: System.self, at: place, lane: self.lane)
    let loops = try HostedDoor<System>.Loops(
      state: System.firstState(wiring, rules), rules: System.loopRules(wiring, rules), takesRequests: false)
    let mailbox = System.Inbox(
      loops, bell: nil, stall: nil, counting: .all, instance: place.instance, isPlanned: true)
    _ = try System.loops(Bench(wiring, parts), mailbox)
    rate = mailbox.rate
    // A system that claims a resource twice may lack its loops; the claims report that error with its place.
    let needsLoop = !System.isWithoutLoops && Set(parts.claims.map(\.resource)).count == parts.claims.count
    try Misdeclared.check(System.flaws + parts.flaws + mailbox.flaws + (needsLoop ? mailbox.lack : []))
    let isSimulated = (System.self as? any MayBeSimulated.Type)?.isSimulatedBy(wiring) ?? false
    plan = SystemPlan(
      claims: parts.claims.filter {
        !isSimulated || $0.resource.isOfProgram || parts.lastingClaims.contains($0.resource)
      },
      isOpenToAll: parts.isOpenToAll, safeWrites: isSimulated ? [] : parts.safeWrites,
      safeLines: isSimulated ? [] : parts.safeLines, drives: parts.drives,
      hasReadBackOutput: parts.hasReadBackOutput,
      harmless: parts.harmless.map { "\($0.name) (\($0.reason))" },
      sensors: isSimulated ? [] : parts.sensors, faults: parts.faults.map(\.name))
  }

  func isSame(as other: any AnyConfiguredSystem) -> Bool {
    guard let other = other as? Self, other.lane == lane else { return false }
    return zip(values, other.values).allSatisfy { $0 == $1 } && values.count == other.values.count
  }

  /// The value of each key.
  private var values: [(key: String, value: ConfigValue?)] {
    wiring.values { System.path(of: $0, at: at) } + rules.values { System.path(of: $0, at: at) }
  }

  /// Returns errors for required offers that no other system provides, and for lane settings that the loop cannot have.
  /// Contradictions between the system's keys have been reported before the system was planned.
  func errors(in whole: Configuration, at places: ConfigPlaces) -> [ConfigError] {
    let others = Set(whole.systems.all.map(\.name)).union(whole.mqtt == nil ? [] : ["mqtt"])
    let unmet = (System.self as? any Needs.Type)?.unmet(wiring, rules, at: at, among: others, places) ?? []
    return unmet.map { places.error(whole.file, $0) } + laneErrors(whole, places)
  }

  private func laneErrors(_ whole: Configuration, _ places: ConfigPlaces) -> [ConfigError] {
    guard let period = rate?.period else { return [] }
    let budget = System.laneKeys.budgetErrors(
      lane.scheduling, periodMicroseconds: Int(period.count / 1000), rate: rateKey, file: whole.file, places: places)
    // A rate that the file cannot set contradicts no value of it: a slow loop is given one and a half of its periods in addition.
    guard plan.drives, let rateKey, whole.guardTimeoutSeconds < 2 * period.inSeconds else { return budget }
    return budget + [
      places.error(
        whole.file, "safety.watchdog_timeout",
        "expected at least two periods of \(rateKey.key) (\(2 * period.inSeconds) s), got \(whole.guardTimeoutSeconds)")
    ]
  }

  /// The key of the loop's rate with its value, or `nil` if the file cannot set the rate.
  private var rateKey: (key: String, hertz: Int)? {
    let name = "runtime.\(System.name).rate_hz"
    let value = values.first { $0.key == name }?.value
    guard case .integer(let hertz)? = value ?? nil else { return nil }
    return (name, hertz)
  }

  var claims: [ResourceClaim] { plan.claims }
  var sensors: [PlannedSensor] { plan.sensors }
  var safeWrites: [SafeStateWrite] { plan.safeWrites }
  var safeLines: [GPIOLine] { plan.safeLines }
  var cpus: CPUSet? { lane.cpus }
  var driven: String? {
    guard let introducing = System.self as? any Introduces.Type else { return plan.drives ? "the \(name)" : nil }
    return introducing.driven
  }
  /// The access to the machine that the system needs besides its ports and the files, folders and machines of its keys.
  private var reach: Reach { (System.self as? any Reaches.Type)?.reached(wiring, rules) ?? Reach() }
  var isSimulated: Bool { (System.self as? any MayBeSimulated.Type)?.isSimulatedBy(wiring) ?? false }
  var isOpenToAll: Bool { plan.isOpenToAll }
  var deviceGroups: [String] { reach.deviceGroups }
  var folders: [String] { texts(of: .folder).map(\.text) }
  var files: [String] { texts(of: .file).map(\.text) }
  var looksUpNames: Bool {
    reach.looksUpNames || texts(of: .host).contains { $0.text != "localhost" && !ScalarReader.isAddress($0.text) }
  }
  var secrets: [String] {
    withSecrets.texts(of: .secret).map(\.text).filter { !$0.isEmpty }
  }

  /// Returns the path and the text of each key of a kind that has a value. Rules have no such keys.
  private func texts(of kind: ConfigKind) -> [(key: String, text: String)] {
    wiring.texts(of: kind) { System.path(of: $0, at: at) }
  }

  mutating func readSecrets() throws(ConfigError) {
    for (key, text) in texts(of: .secret) where text.isEmpty {
      guard let file = given?.secretFile(key + Secret.fileSuffix) else { continue }
      secretsRead[key] = .text(try file.read())
    }
  }

  /// The same system with the secrets that have been read from files of their own.
  var withSecrets: Self {
    guard let given, !secretsRead.isEmpty else { return self }
    let values = given.values.merging(secretsRead) { $1 }
    var whole = self
    whole.wiring = Self.values(GivenValues(values: values, counts: given.counts, hidden: given.hidden), at: at).0
    return whole
  }

  /// The resources of the system as text, such as `on the PWM output /sys/class/pwm/pwmchip0/pwm0`.
  var place: String {
    plan.claims.isEmpty ? System.summary : "on " + plan.claims.map { "\($0.resource)" }.joined(separator: ", ")
  }

  /// The description of the system for the log line of the start.
  var introduction: String {
    guard let introducing = System.self as? any Introduces.Type else { return place }
    let line = introducing.summaryLines(wiring, rules, bindAddress).first ?? place
    return line.hasPrefix("\(name): ") ? String(line.dropFirst(name.count + 2)) : line
  }

  func summary(in whole: Configuration) -> [String] {
    let onBroker = (System.self as? any OnBroker.Type)?.summaryLines(wiring, hasBroker: whole.mqtt != nil) ?? []
    if let introducing = System.self as? any Introduces.Type {
      return introducing.summaryLines(wiring, rules, whole.bindAddress) + onBroker
    }
    return ["\(name): \(place)"] + plan.harmless.map { "\(name): no safe state for \($0)" } + onBroker
  }

  /// Returns examples of requests. Each number in an example is its default, or else the middle of its range.
  func invitation(program: String, simulated: Bool, at endpoints: [Endpoint]) -> Invitation {
    if let introducing = System.self as? any Introduces.Type {
      let start = ProgramStart(program: program, isSimulated: simulated, address: bindAddress, endpoints: endpoints)
      return introducing.invited(wiring, rules, start)
    }
    return Invitation(
      title: name + (simulated ? " (simulated)" : " \(place)"),
      calls: System.commands.map { command in
        let members = command.parameters.filter { !$0.isOptional }.map { "\"\($0.name)\": \($0.example)" }
        return .init(
          path: "/api/\(name)/\(command.examplePath)",
          body: members.isEmpty ? nil : "{\(members.joined(separator: ", "))}")
      })
  }

  func open(_ surroundings: SystemSurroundings) throws -> any DaemonSystem {
    if let alone = System.self as? any WithoutLoops.Type { return try alone.open(withSecrets, surroundings) }
    return try HostedSystem(
      withSecrets, simulate: surroundings.simulate || isSimulated, bell: surroundings.bell,
      address: surroundings.configuration.bindAddress, surroundings: surroundings)
  }

  func openForReplay() throws -> (any LoopSystem)? {
    if System.self is any WithoutLoops.Type { return nil }
    return try HostedSystem(self, simulate: true, bell: nil, clock: .tick, now: { .zero })
  }
}

extension Configuration {
  /// Returns the values of a declared system, or of the first one if the file has several; `nil` if the system does not
  /// run.
  public func settings<System: DeviceSystem>(of _: System.Type) -> (wiring: System.Wiring, rules: System.Rules)? {
    systems[ConfiguredSystem<System>.self].map { ($0.wiring, $0.rules) }
  }
}

extension ResourceClaim.Resource {
  /// Whether the resource is also claimed if the hardware is simulated.
  fileprivate var isOfProgram: Bool {
    switch self {
    case .udp, .part: true
    default: false
    }
  }
}
