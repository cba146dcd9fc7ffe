/// The keys of declared systems, and which of the table's are a program's.
extension ConfigTable {
  /// Sections of the systems that are not declared yet: only `tactus` has them.
  private static let ownSections: Set<String> = [
    "motors", "leg", "legs", "sprinkler", "pump", "plants", "store", "camera", "video",
  ]
  /// Their keys in sections that every program has.
  private static let ownKeys: Set<String> = [
    "network.motor_udp_port", "network.leg_udp_port", "network.rtsp_port", "safety.safe_mode",
    "safety.safe_mode_speed_limit", "performance.udp_buffer_size",
  ]

  static func sections(of program: DaemonProgram) -> [(name: String, doc: String)] {
    let all = program.hasOwnSystems ? everySection : everySection.filter { !ownSections.contains($0.name) }
    let declared = program.systems.map { (name: $0.name, doc: $0.summary) }
    precondition(
      Set((everySection + declared).map(\.name)).count == everySection.count + declared.count,
      "a declared system is called like a section that there is, or like another system")
    // After network and service.
    return Array(all.prefix(2)) + declared + Array(all.dropFirst(2))
  }

  static func keys(of program: DaemonProgram) -> [ConfigKey] {
    let all =
      program.hasOwnSystems
      ? everyKey
      : everyKey.filter { key in
        let parts = key.path.split(separator: ".")
        let isOfSystem = parts.count == 3 && parts[0] == "runtime" && parts[1] != "strict"
        return !ownSections.contains(String(parts[0].prefix { $0 != "[" })) && !ownKeys.contains(key.path)
          && !isOfSystem
      }
    return all + program.systems.flatMap { keys(of: $0) }
  }

  private static func keys<System: DeviceSystem>(of _: System.Type) -> [ConfigKey] {
    let (wiring, rules) = (System.Wiring.keys, System.Rules.keys)
    let names = wiring.map(\.name) + rules.map(\.name)
    precondition(Set(names).count == names.count, "\(System.self): two of its keys have one name")
    let lane = "runtime.\(System.name)"
    return wiring.map { ConfigKey("\(System.name).\($0.name)", $0.kind, $0.standard, $0.unit.describing($0.meaning)) }
      + rules.map {
        ConfigKey(
          "\(System.name).\($0.name)", $0.kind, $0.standard,
          $0.unit.describing($0.meaning) + " `\(DaemonProgram.current.name) reload` may change it.")
      }
      + [
        ConfigKey(
          "\(lane).scheduling", .choice(["fifo", "deadline", "normal"]), .text("fifo"),
          "Kernel scheduling of the lane \(System.name): fifo (SCHED_FIFO), deadline (SCHED_DEADLINE) or normal."),
        ConfigKey("\(lane).priority", .integer(1...98), .integer(80), "Priority under fifo."),
        ConfigKey(
          "\(lane).budget_us", .integer(20...1_000_000), .integer(2000),
          "Execution time granted per period under deadline, in microseconds; less than the period."),
        ConfigKey("\(lane).cpu", .cpus, nil, "The only CPUs the lane may use; any unless given."),
      ]
  }
}
