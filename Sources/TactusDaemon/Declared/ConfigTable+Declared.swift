/// The keys of declared systems.
extension ConfigTable {
  static func keys<System: DeviceSystem>(of _: System.Type) -> [ConfigKey] {
    let (wiring, rules) = (System.Wiring.keys, System.Rules.keys)
    let names = wiring.map(\.name) + rules.map(\.name)
    precondition(Set(names).count == names.count, "\(System.self): two of its keys have one name")
    return wiring.map { ConfigKey("\(System.name).\($0.name)", $0.kind, $0.standard, $0.unit.describing($0.meaning)) }
      + rules.map {
        ConfigKey(
          "\(System.name).\($0.name)", $0.kind, $0.standard,
          $0.unit.describing($0.meaning), mayChange: true)
      }
      + lane(of: System.self).table
  }

  static func lane<System: DeviceSystem>(of _: System.Type) -> LaneKeys {
    LaneKeys("runtime.\(System.name)", "the lane \(System.name)", priority: 80)
  }
}
