import Buses
import Sprinkler
import Tactus
import TactusDaemon

extension SprinklerWiring {
  /// An item of `sprinkler.soil`.
  struct SoilItem: Settings, Equatable {
    enum Effect: String, Word {
      case skip
      case shorten
      case stop
    }

    enum Level: String, Word {
      case low
      case high
    }

    /// The plant's number, or `nil` if the rule is of another probe.
    var plant: Int?
    /// The topic of the broker, or `nil` if the rule is of another probe.
    var topic: String?
    /// The member of the JSON object in a message, or `nil` if the whole message is a number.
    var member: String?
    var scale = 1.0
    var offsetPercent = 0.0
    /// The comparator's pin, or `nil` if the rule is of another probe.
    var pin: Int?
    var wetWhen = Level.low
    var pull = Pull.up
    /// The zones' numbers, or `nil` for every zone.
    var zones: [Int]?
    var wetPercent = 60.0
    var effect = Effect.skip
    var shortenToPercent = 50
    var delayMinutes = 0
    var validMinutes = 60

    @DeclarationBuilder<Key<Self>> static var keys: [Key<Self>] {
      ofProbe
      Key("zones", \.zones, as: .integerList(1...64, most: 64), "The zones that it is for. Unless given: every zone.")
      Key("wet_percent", \.wetPercent, in: 0.1...100, "From so much moisture on the soil is wet. Not for a pin.")
      Key(
        "effect", \.effect,
        "What wet soil does: skip (a start does not water the zone), shorten (it waters for shorten_to_percent of the time) or stop "
          + "(skip, and what a schedule has opened or queued ends). Runs by hand go on.")
      Key("shorten_to_percent", \.shortenToPercent, in: 1...99, "What is left of a run's time with effect: shorten.")
      Key(
        "delay_minutes", \.delayMinutes, in: 0...10_080,
        "Minutes that the soil must have been wet before the rule acts.")
      Key(
        "valid_minutes", \.validMinutes, in: 1...10_080,
        "Age up to which a reading counts. Without one that does, the schedule runs as it is, and the log says so.")
    }

    @DeclarationBuilder<Key<Self>> private static var ofProbe: [Key<Self>] {
      Key(
        "plant", \.plant, in: 1...999_999,
        "The number of the plant whose probes are read, as GET /api/plants has it. A rule has a plant, a topic or a pin; an item without any key is no rule."
      )
      .checked { $0.complaint }
      Key(
        "topic", \.topic,
        "A topic of the broker of the section mqtt, each of whose messages is a reading. A retained message is none, because nobody knows its age."
      )
      .checked { $0.topicComplaint }
      Key(
        "member", \.member,
        "The member of the JSON object in a message that has the number: soil_moisture, or ANALOG.A0 for one in another. Unless given: a message is the number."
      )
      .checked { item in
        item.member.flatMap { (1...100).contains($0.utf8.count) ? nil : "expected 1…100 bytes, got \($0.utf8.count)" }
      }
      Key(
        "scale", \.scale, in: -1_000_000...1_000_000,
        "Percent of moisture for each unit of the number: 100 for 0…1, a negative one for a probe that reads less in wet soil."
      )
      Key(
        "offset_percent", \.offsetPercent, in: -1_000_000...1_000_000,
        "Percent of moisture at the number 0. What is then beyond 0…100 % by more than 5 is no reading.")
      Key("pin", \.pin, in: 0...1023, "The pin of a comparator in the soil, a GPIO line that is either dry or wet.")
      Key("wet_when", \.wetWhen, "The comparator's level while the soil is wet: low, or high.")
      Key("pull", \.pull, "The chip's own resistor at the comparator's pin: up, down, none, as-is.")
    }

    /// The error in the choice of the probe, or `nil` if there is none.
    private var complaint: String? {
      guard self != Self() else { return nil }
      let given = [plant.map { _ in "plant" }, topic.map { _ in "topic" }, pin.map { _ in "pin" }].compactMap(\.self)
      guard given.count == 1 else {
        return "expected one of plant, topic and pin, got \(given.isEmpty ? "none" : given.joined(separator: " and "))"
      }
      let standard = Self()
      if topic == nil, member != nil || scale != standard.scale || offsetPercent != standard.offsetPercent {
        return "expected a topic with member, scale and offset_percent, got a \(given[0])"
      }
      if pin == nil, wetWhen != standard.wetWhen || pull != standard.pull {
        return "expected a pin with wet_when and pull, got a \(given[0])"
      }
      return nil
    }

    private var topicComplaint: String? {
      guard let topic else { return nil }
      let isBare = !topic.utf8.contains { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "#") || $0 < 0x20 }
      return (1...200).contains(topic.utf8.count) && isBare
        ? nil : "expected a topic of 1…200 bytes without + and #, got \(topic.prefix(40))"
    }

    /// The probe that measures the soil, or `nil` if the item is not a rule.
    var probe: SoilProbe? {
      if let plant { return .plant(plant) }
      if let topic {
        return .topic(SoilTopic(name: topic, member: member, scale: scale, offsetPercent: offsetPercent))
      }
      return pin.map { .pin($0) }
    }

    /// The rule that the schedule follows, or `nil` if the item is not a valid rule.
    var rule: MoistureRule? {
      guard let probe else { return nil }
      let effect: MoistureRule.Effect =
        switch effect {
        case .skip: .skip
        case .shorten: .shorten(percent: shortenToPercent)
        case .stop: .stop
        }
      return MoistureRule(
        probe: probe, zones: zones.map { Set($0.compactMap { ZoneID($0) }) }, wetPercent: wetPercent, effect: effect,
        delaySeconds: delayMinutes * 60, validSeconds: validMinutes * 60)
    }
  }

  /// Whether the file has a rule of the soil.
  var hasSoilRules: Bool { soilItems.contains { $0.probe != nil } }

  /// The topics that the rules of the soil read, each once, in the order of the file.
  var soilTopics: [SoilTopic] {
    soilItems.reduce(into: []) { topics, item in
      if case .topic(let topic)? = item.probe, !topics.contains(topic) { topics.append(topic) }
    }
  }

  /// The pins of comparators in the soil, each once, in the order of the file.
  var soilPins: [Int] {
    soilItems.reduce(into: []) { pins, item in
      if let pin = item.pin, !pins.contains(pin) { pins.append(pin) }
    }
  }

  /// Returns the line of the comparator on a pin of `soilPins`, active while its soil is wet.
  func soilInput(_ pin: Int) -> GPIOInput {
    let item = soilItems.first { $0.pin == pin } ?? SoilItem()
    return GPIOInput(
      name(pin), isActiveLow: item.wetWhen == .low, edges: .both, debounce: .milliseconds(100), pull: item.pull.ofLine)
  }
}
