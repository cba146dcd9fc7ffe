import Plants
import PlantsDaemon
import Tactus
import TactusDaemon
import TactusSwarm
import Wire

/// Random users of plants, by the app and through the door, and faults of probes, store, clock and broker.
enum PlantSwarmPlan {
  static let users = ["anna", "bruno", "carla"]
  static let names = ["Basil", "Mint", "Fern", "Aloe", "Ivy"]
  private static let part = "plants"

  static func actions(
    until end: TickInstant, around incidents: [TickInstant], _ random: inout SplitMix64
  ) -> [SwarmAction] {
    var actions: [SwarmAction] = []
    func add(_ at: TickInstant, _ verb: String, _ numbers: [Int64]) {
      var action = SwarmAction(at, part, verb)
      action.numbers = numbers
      actions.append(action)
    }
    for _ in 0..<random.within(2...40) {
      let at = random.instant(until: end, before: incidents)
      let user = random.within(0...2)
      let (name, other) = (random.within(0...4), random.within(0...4))
      let sensors = random.within(1...15)
      let copies = random.chance(perMille: 250) ? random.within(2...3) : 1
      switch random.below(20) {
      case 0...4: add(at, "app-add", [user, name, sensors, copies])
      case 5: add(at, "app-delete", [user, name, copies])
      case 6...7: add(at, "app-rename", [user, name, other, copies])
      case 8...9: add(at, "app-count", [user, copies])
      case 10...11: add(at, "app-data", [user, copies])
      case 12: add(at, "app-noise", [user, random.within(0...9)])
      case 13: add(at, "app-kept", [user, name, sensors])
      case 14...15: add(at, "rest-add", [user, name, sensors])
      case 16: add(at, "rest-delete", [user, name])
      case 17: add(at, "rest-rename", [user, name, other])
      case 18: add(at, "rest-watered", [user, name])
      default: add(at, "soil", [random.within(0...3), random.within(0...100)])
      }
    }
    // A crowd that sends more than the limit allows.
    if random.chance(perMille: 100) {
      let (at, user) = (random.instant(until: end), random.within(0...2))
      for index in 0..<random.within(10...25) { add(at + .milliseconds(index * 100), "app-count", [user, 1]) }
    }
    faults(until: end, &random, add)
    broker(until: end, &random, add)
    buttons(until: end, around: incidents, &random, add)
    return actions
  }

  private static func faults(
    until end: TickInstant, _ random: inout SplitMix64, _ add: (TickInstant, String, [Int64]) -> Void
  ) {
    if random.chance(perMille: 400) {
      for _ in 0..<random.within(1...3) {
        let (at, probe) = (random.instant(until: end), random.within(0...3))
        add(at, "probe-gone", [probe, 1])
        add(at + .milliseconds(random.within(1...30_000)), "probe-gone", [probe, 0])
      }
    }
    if random.chance(perMille: 250) {
      let at = random.instant(until: end)
      add(at, "disk-full", [1])
      add(at + .milliseconds(random.within(1...20_000)), "disk-full", [0])
    }
    if random.chance(perMille: 400) {
      for _ in 0..<random.within(1...3) { add(random.instant(until: end), "crash-in-write", [random.within(0...1)]) }
    }
    if random.chance(perMille: 200) {
      add(random.instant(until: end), "disk-slow", [random.within(20...3_000)])
    }
    if random.chance(perMille: 250) {
      for _ in 0..<random.within(1...3) { add(random.instant(until: end), "clock", [random.within(-3_600...3_600)]) }
    }
    if random.chance(perMille: 250) {
      let at = random.instant(until: end)
      let verb = ["rain", "water-stopped", "water-refuses"][Int(clamping: random.below(3))]
      add(at, verb, [1])
      add(at + .milliseconds(random.within(1...30_000)), verb, [0])
    }
    if random.chance(perMille: 150) {
      add(random.instant(until: end), "stall", [random.within(10...4_000)])
    }
  }

  private static func broker(
    until end: TickInstant, _ random: inout SplitMix64, _ add: (TickInstant, String, [Int64]) -> Void
  ) {
    if random.chance(perMille: 300) {
      for _ in 0..<random.within(1...3) { add(random.instant(until: end), "link-lost", []) }
    }
    if random.chance(perMille: 300) {
      for _ in 0..<random.within(1...2) {
        add(random.instant(until: end), "broker-gone", [random.within(10...8_000), random.within(0...1)])
      }
    }
  }

  /// Commands for single plants over the broker: retained one time in five, repeated by their publisher one time in five.
  private static func buttons(
    until end: TickInstant, around incidents: [TickInstant], _ random: inout SplitMix64,
    _ add: (TickInstant, String, [Int64]) -> Void
  ) {
    for _ in 0..<random.within(0...8) {
      let at = random.instant(until: end, before: incidents)
      let kind = random.within(0...4)
      add(at, "button", [random.within(1...PlantButtons.plants), kind > 2 ? 0 : kind])
    }
  }

  /// The sensors of a mask.
  static func sensors(_ mask: Int64) -> [String] {
    let all = PlantSwarm.sensors.indices.filter { mask >> Int64($0) & 1 != 0 }
    return all.map { PlantSwarm.sensors[$0].id.text }
  }

  /// A change that a client asks for; `nil` if the action is none.
  static func change(_ action: SwarmAction) -> PlantOracle.Change? {
    let words = action.verb.split(separator: "-")
    guard words.count == 2, words[0] == "app" || words[0] == "rest" else { return nil }
    let user = users[Int(min(max(action[0], 0), 2))]
    let (name, other) = (Self.name(action[1]), Self.name(action[2]))
    switch words[1] {
    case "add", "kept": return .add(user: user, name: name, sensors: sensors(action[2]))
    case "delete": return .delete(user: user, name: name)
    case "rename": return .rename(user: user, name: name, new: other)
    default: return nil
    }
  }

  static func name(_ number: Int64) -> String { names[Int(min(max(number, 0), 4))] }

  /// The app's message with a change.
  static func message(_ change: PlantOracle.Change, id: String) -> PlantMessage {
    switch change {
    case .add(let user, let name, let sensors):
      let list = "[" + sensors.map { "\"\($0)\"" }.joined(separator: ", ") + "]"
      return message(user, .addNewPlant, "\(name):\(list)", id: id)
    case .delete(let user, let name): return message(user, .deletePlant, name, id: id)
    case .rename(let user, let name, let new): return message(user, .editPlant, "\(name),\(new)", id: id)
    }
  }

  /// Messages that ask for nothing: broken, our own, for others, of nobody.
  static func noise(_ kind: Int64, user: String) -> [UInt8] {
    let host = PlantHostSettings().hostName
    let text =
      switch kind {
      case 0: "ID:0;sender:\(user);receiver:\(host);payload:x"
      case 1: "ID:0;sender:\(user);receiver:\(host);payload;operation:REQ_numPlants"
      case 2: "ID:0;sender:\(user);receiver:\(host);payload:x;operation:REQ_nothing"
      case 3: "ID:0;sender:\(host);receiver:\(user);payload:Basil;operation:RES_addNewPlant"
      case 4: "ID:0;sender:\(user);receiver:another;payload:Basil;operation:REQ_deletePlant"
      case 5: "ID:0;sender:;receiver:\(host);payload:Basil;operation:REQ_deletePlant"
      case 6: "ID:0;sender:\(user);receiver:\(host);payload:x;operation:ERR_missingVals"
      case 7: "ID:0;sender:\(user);receiver:\(host);payload:\u{7}--[;operation:REQ_addNewPlant"
      case 8: ""
      default: "\u{0}\u{1}ÿ;;::"
      }
    return Array(text.utf8)
  }

  static func message(_ user: String, _ request: PlantRequestTag, _ payload: String, id: String) -> PlantMessage {
    PlantMessage(
      id: id, sender: user, receiver: PlantHostSettings().hostName, payload: payload, operation: request.request)
  }

  /// The same change, as the door hands it on.
  static func command(_ change: PlantOracle.Change) -> PlantCommand {
    switch change {
    case .add(_, let name, let sensors): .add(name: name, sensors: sensors)
    case .delete(_, let name): .delete(name: name)
    case .rename(_, let name, let new): .edit(name: name, PlantEdit(name: new))
    }
  }
}
