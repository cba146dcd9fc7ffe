import Logging
import Sprinkler
import Store

extension SprinklerStore {
  /// Returns the records, updated with the changes of the configuration since the last start. If there are no zones yet, they come from the
  /// configuration.
  func records(takingOver wiring: SprinklerWiring, _ logger: Logger) throws(StoreError) -> SprinklerRecords {
    var records = try records()
    let file = SprinklerFile(zones: wiring.zones, seasonalPercent: wiring.seasonalPercent)
    let last = try lastFile()
    if records.zones.isEmpty {
      records.zones = file.zones
      records.levels.seasonalPercent = file.seasonalPercent
      try apply([.zones(records.zones), .levels(records.levels)], of: file)
    } else if file != last {
      try take(file, since: last ?? file, into: &records, wiring, logger)
    }
    if records.zones != file.zones {
      logger.notice(
        "zones are not as the configuration says: what it has not changed since the last start stays as people have set it",
        metadata: [
          "store": "\(records.zones.filter { !file.zones.contains($0) }.map(\.name))",
          "configuration": "\(file.zones.filter { !records.zones.contains($0) }.map(\.name))",
        ])
    }
    for zone in records.zones where !wiring.pins.contains(zone.gpioPin) {
      logger.error(
        "a zone's pin is not among the configuration's: it cannot run until PUT /api/zones gives it another",
        metadata: ["zone": "\(zone.id)", "pin": "\(zone.gpioPin)"])
    }
    return records
  }

  private func take(
    _ file: SprinklerFile, since last: SprinklerFile, into records: inout SprinklerRecords, _ wiring: SprinklerWiring,
    _ logger: Logger
  ) throws(StoreError) {
    var taken: (words: [String], changes: [SprinklerChange])
    do throws(SprinklerRefusal) {
      taken = try records.take(file, since: last, pins: wiring.pins, masterPin: wiring.masterPin)
    } catch {
      logger.error(
        "what the configuration says of zones cannot be taken: they stay as they are, and the next start tries again",
        metadata: ["reason": "\(error)"])
      return
    }
    try apply(taken.changes, of: file)
    if taken.words.isEmpty { return }
    logger.notice(
      "the configuration has changed since the last start, and is taken",
      metadata: ["changes": "\(taken.words.joined(separator: "; "))"])
  }
}
