import Plants
import PlantsDaemon
import Tactus
import TactusSwarm
import Wire

/// Plans random users of plants, by the app and through the API, and faults of probes, store, clock and broker.
enum PlantSwarmPlan {
  static let users = ["anna", "bruno", "carla"]
  static let names = ["Basil", "Mint", "Fern", "Aloe", "Ivy"]

  static func plan(_ plan: inout SwarmPlanner) {
    plan.times(2...40) { plan in
      let at = plan.busyInstant()
      let user = plan.within(0...2)
      let (name, other) = (plan.within(0...4), plan.within(0...4))
      let sensors = plan.within(1...15)
      let copies = plan.chance(250) ? plan.within(2...3) : 1
      switch plan.below(20) {
      case 0...4: plan.add(at, "app-add", user, name, sensors, copies)
      case 5: plan.add(at, "app-delete", user, name, copies)
      case 6...7: plan.add(at, "app-rename", user, name, other, copies)
      case 8...9: plan.add(at, "app-count", user, copies)
      case 10...11: plan.add(at, "app-data", user, copies)
      case 12: plan.add(at, "app-noise", user, plan.within(0...9))
      case 13: plan.add(at, "app-kept", user, name, sensors)
      case 14...15: plan.add(at, "rest-add", user, name, sensors)
      case 16: plan.add(at, "rest-delete", user, name)
      case 17: plan.add(at, "rest-rename", user, name, other)
      case 18: plan.add(at, "rest-watered", user, name)
      default: plan.add(at, "soil", plan.within(0...3), plan.within(0...100))
      }
    }
    // A crowd that sends more than the limit allows.
    plan.maybe(100) { plan in
      let (at, user) = (plan.instant(), plan.within(0...2))
      for index in 0..<plan.within(10...25) { plan.add(at + .milliseconds(index * 100), "app-count", user, 1) }
    }
    faults(&plan)
    plan.maybe(300, 1...3) { $0.add($0.instant(), "link-lost") }
    plan.maybe(300, 1...2) { $0.add($0.instant(), "broker-gone", $0.within(10...8_000), $0.within(0...1)) }
    // Commands for single plants over the broker: retained one time in five, repeated by their publisher one time in five.
    plan.times(0...8) { plan in
      let at = plan.busyInstant()
      let kind = plan.within(0...4)
      plan.add(at, "button", plan.within(1...PlantButtons.plants), kind > 2 ? 0 : kind)
    }
  }

  private static func faults(_ plan: inout SwarmPlanner) {
    plan.maybe(400, 1...3) { plan in
      let (at, probe) = (plan.instant(), plan.within(0...3))
      plan.add(at, "probe-gone", probe, 1)
      plan.add(at + .milliseconds(plan.within(1...30_000)), "probe-gone", probe, 0)
    }
    plan.maybe(250) { $0.addFault("disk-full", milliseconds: 1...20_000) }
    plan.maybe(400, 1...3) { $0.add($0.instant(), "crash-in-write", $0.within(0...1)) }
    plan.maybe(200) { $0.add($0.instant(), "disk-slow", $0.within(20...3_000)) }
    plan.maybe(250, 1...3) { $0.add($0.instant(), "clock", $0.within(-3_600...3_600)) }
    plan.maybe(250) { plan in
      let at = plan.instant()
      let verb = ["rain", "water-stopped", "water-refuses"][plan.below(3)]
      plan.add(at, verb, 1)
      plan.add(at + .milliseconds(plan.within(1...30_000)), verb, 0)
    }
    plan.maybe(150) { $0.add($0.instant(), "stall", $0.within(10...4_000)) }
  }

  /// Returns the sensors of a bit mask.
  static func sensors(_ mask: Int64) -> [String] {
    let all = PlantSwarm.sensors.indices.filter { mask >> Int64($0) & 1 != 0 }
    return all.map { PlantSwarm.sensors[$0].id.text }
  }

  /// Returns the change that a client requests, or `nil` if the action is not such a request.
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

  /// Returns the app's message with a change.
  static func message(_ change: PlantOracle.Change, id: String) -> PlantMessage {
    switch change {
    case .add(let user, let name, let sensors):
      let list = "[" + sensors.map { "\"\($0)\"" }.joined(separator: ", ") + "]"
      return message(user, .addNewPlant, "\(name):\(list)", id: id)
    case .delete(let user, let name): return message(user, .deletePlant, name, id: id)
    case .rename(let user, let name, let new): return message(user, .editPlant, "\(name),\(new)", id: id)
    }
  }

  /// Returns a message without a request for this host: broken, from the host, for other receivers, or without a sender.
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

  /// Returns the change as a command of the API.
  static func command(_ change: PlantOracle.Change) -> PlantCommand {
    switch change {
    case .add(_, let name, let sensors): .add(name: name, sensors: sensors)
    case .delete(_, let name): .delete(name: name)
    case .rename(_, let name, let new): .edit(name: name, PlantEdit(name: new))
    }
  }
}

extension SwarmMember {
  /// The system `plants` with its part in the swarm.
  public static var plants: SwarmMember { SwarmMember(Plants.self) { PlantSwarm(seed: $0) } }
}
