/// The part of a configuration file that the store also contains. The last version read is kept, so that a start can tell changes of the file from
/// changes made by the API.
public struct SprinklerFile: Sendable, Hashable, Codable {
  public var zones: [Zone]
  /// The seasonal level, 0…250 %.
  public var seasonalPercent: Int

  /// Creates the value from the contents of a file.
  public init(zones: [Zone], seasonalPercent: Int) {
    self.zones = zones
    self.seasonalPercent = seasonalPercent
  }
}

extension SprinklerRecords {
  /// Takes over the changes of the file since the last reading: properties of zones, new and removed zones, and the seasonal level.
  /// Everything else stays as set by the API. Called at the start, before a scheduler takes the records.
  ///
  /// - Parameters:
  ///   - file: the contents of the file now.
  ///   - last: the contents of the file when it was last read.
  ///   - pins: the GPIO lines that zones may use.
  ///   - masterPin: the line that no zone may use, or `nil` if there is no master valve.
  /// - Returns: A description of each change, such as `zone 1: name Lawn → Front lawn`, and the changes for the store.
  /// - Throws: A refusal if the file and the store contradict each other; then nothing is taken over.
  public mutating func merge(
    _ file: SprinklerFile, since last: SprinklerFile, pins: [Int], masterPin: Int?
  ) throws(SprinklerRefusal) -> (words: [String], changes: [SprinklerChange]) {
    var new = self
    var words = new.takeZones(file.zones, since: last.zones)
    let ids = Set(new.zones.map(\.id))
    if !words.isEmpty {
      try Validation.check(new.zones, "zones", pins: pins, masterPin: masterPin, present: zones)
      for program in programs {
        guard let step = program.steps.first(where: { !ids.contains($0.zone) }) else { continue }
        throw .invalid(
          field: "zones", expected: "zone \(step.zone), which schedule \(program.id) (\(program.name)) waters",
          got: "none")
      }
    }
    var changes: [SprinklerChange] = words.isEmpty ? [] : [.zones(new.zones)]
    changes += pending.filter { !ids.contains($0.zone) }.map { .pendingRemoved(run: $0.run) }
    if file.seasonalPercent != last.seasonalPercent, file.seasonalPercent != levels.seasonalPercent {
      words.append("seasonal level \(levels.seasonalPercent) → \(file.seasonalPercent) %")
      var levels = levels
      levels.seasonalPercent = file.seasonalPercent
      changes.append(.levels(levels))
    }
    for change in changes { apply(change) }
    return (words, changes)
  }

  private mutating func takeZones(_ file: [Zone], since last: [Zone]) -> [String] {
    var words: [String] = []
    for zone in last where !file.contains(where: { $0.id == zone.id }) {
      guard let place = zones.firstIndex(where: { $0.id == zone.id }) else { continue }
      words.append("zone \(zone.id): \(zones.remove(at: place).name) is gone")
    }
    for zone in file {
      let before = last.first { $0.id == zone.id }
      guard let place = zones.firstIndex(where: { $0.id == zone.id }) else {
        // A zone that people have removed stays removed, unless it is new in the file.
        if before == nil {
          zones.append(zone)
          words.append("zone \(zone.id): \(zone.name) is new")
        }
        continue
      }
      words += zones[place].merge(zone, since: before)
    }
    return words
  }
}

extension Zone {
  /// Takes over the properties of the zone that have changed in the file, and returns a description of each.
  ///
  /// - Parameter last: the zone as it was in the file before, or `nil` if the file did not have the zone.
  fileprivate mutating func merge(_ file: Zone, since last: Zone?) -> [String] {
    var (zone, words) = (self, [String]())
    func update<Value: Equatable>(_ name: String, _ property: WritableKeyPath<Zone, Value>) {
      let (new, old) = (file[keyPath: property], zone[keyPath: property])
      guard last?[keyPath: property] != new, old != new else { return }
      words.append("zone \(file.id): \(name) \(Self.text(old)) → \(Self.text(new))")
      zone[keyPath: property] = new
    }
    update("name", \.name)
    update("pin", \.gpioPin)
    update("enabled", \.isEnabled)
    update("default seconds", \.defaultSeconds)
    update("most seconds", \.maximumSeconds)
    update("most seconds a day", \.maximumSecondsPerDay)
    update("group", \.group)
    update("ignores rain", \.ignoresRain)
    update("uses master", \.usesMaster)
    self = zone
    return words
  }

  private static func text<Value>(_ value: Value) -> String {
    if let optional = value as? Int? { return optional.map { "\($0)" } ?? "none" }
    return "\(value)"
  }
}
