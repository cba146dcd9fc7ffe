import MQTTMosquitto
import Plants
import Tactus
import TactusSwarm
import Wire

/// Checks commands for single plants over the broker, such as the button in Home Assistant for a watered plant, by the delivered commands, their
/// answers and the data in the store.
struct PlantButtons {
  static let names = [
    "a plant's command that the broker has kept waters nothing",
    "a plant's command is carried out once each time that it comes, and answered once",
  ]
  /// The largest plant number that has a button.
  static let plants: Int64 = 8

  /// Returns the message that a press of the plant's button publishes.
  static func press(_ plant: Int64, on topics: DeviceTopics, id: Int) -> MQTTMessage {
    MQTTMessage(topic: topics.command("plants", "\(plant)"), text: "{\"command\":\"watered\",\"id\":\(id)}")
  }

  /// The store before the commands and the changes that it has accepted since.
  struct Effect {
    let before: PlantRecords
    let wall: PlantInstant
    let refuses: Bool
    /// The number of plants noted as watered since.
    let waterings: Int
  }

  /// Checks the commands that the daemon received and its answers.
  static func check(
    _ commands: [MQTTMessage], _ replies: [MQTTMessage], _ effect: Effect, _ topics: DeviceTopics, at now: TickInstant,
    _ checks: inout SwarmChecks, _ first: Int
  ) {
    // A second press within the same second notes the same watering.
    var noted = Set(effect.before.plants.filter { $0.lastWatered == effect.wall }.map(\.id))
    var due = 0
    let done = commands.map { command in
      guard
        let plant = effect.before.plants.first(where: { topics.commandPath(command.topic) == ["plants", "\($0.id)"] }),
        !command.isRetained
      else { return false }
      // A command that changes nothing does not need the disk.
      guard !noted.contains(plant.id) else { return true }
      guard !effect.refuses else { return false }
      noted.insert(plant.id)
      due += 1
      return true
    }
    let (waterings, expected) = (effect.waterings, due)
    checks.check(
      commands.contains(where: \.isRetained) ? first : first + 1, waterings == expected, at: now,
      "\(waterings) waterings are noted, \(expected) were told")
    checks.check(
      first + 1, replies.count == commands.count, at: now, "\(replies.count) answers to \(commands.count) commands")
    for ((command, isDone), reply) in zip(zip(commands, done), replies) {
      let text = String(decoding: reply.payload, as: UTF8.self)
      let isAnswer = reply.topic == topics.reply(topics.commandPath(command.topic) ?? [])
      let isSaid = text.hasPrefix("{\"id\":\(Self.id(command)),") && text.contains("\"ok\":true") == isDone
      checks.check(
        first + 1, isAnswer && isSaid, at: now,
        "\(String(decoding: command.payload, as: UTF8.self)) on \(command.topic) is answered by \(text)")
    }
  }

  private static func id(_ command: MQTTMessage) -> Substring {
    String(decoding: command.payload, as: UTF8.self).split(separator: ":").last?.prefix { $0 != "}" } ?? ""
  }
}
