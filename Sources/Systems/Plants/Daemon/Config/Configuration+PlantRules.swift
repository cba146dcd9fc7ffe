import Plants
import TactusDaemon
import Wire

// Rules over more than one key.
extension Configuration.Plants {
  /// - Parameter hasSprinkler: there is one for links to ask.
  func errors(file: String, places: ConfigPlaces, hasSprinkler: Bool) -> [ConfigError] {
    var errors: [ConfigError] = []
    func report(_ key: String, _ message: String) { errors.append(places.error(file, key, message)) }
    if staleAfterSeconds < 2 * readPeriodSeconds {
      let (stale, period) = (Self.name(of: \.staleAfterSeconds), Self.name(of: \.readPeriodSeconds))
      errors.append(
        places.error(
          file,
          blaming: [
            stale: "expected at least two of \(period) (\(2 * readPeriodSeconds)), got \(staleAfterSeconds)",
            period: "expected at most half of \(places.words(stale, staleAfterSeconds)), got \(readPeriodSeconds)",
          ]))
    }
    if let app, !Self.isHostName(app.hostName) {
      errors.append(
        places.error(
          file, Self.name(of: \.givenApp.hostName),
          "expected a name without : and ;, other than all, got '\(app.hostName)'", alone: true))
    }
    errors += limitErrors(file: file, places: places)
    for (index, sensor) in sensors.enumerated() { sensor.check("plants.sensors[\(index)]", report) }
    for (index, watering) in waterings.enumerated() where !watering.isNothing {
      let path = "plants.watering[\(index)]"
      if watering.plant == nil { report("\(path).plant", "expected the number of a plant, got nothing") }
      if watering.zone == nil { report("\(path).zone", "expected the number of a sprinkler zone, got nothing") }
      if !hasSprinkler { report(path, "expected a section sprinkler, whose zone can be asked, got none") }
      if let first = waterings[..<index].firstIndex(where: { $0.plant == watering.plant }), watering.plant != nil {
        report(
          "\(path).plant",
          "expected one link of plant \(watering.plant!), got two: "
            + places.words("plants.watering[\(first)].plant") + " has it")
      }
    }
    return errors
  }

  /// Two limits of which the lower one is not lower.
  private func limitErrors(file: String, places: ConfigPlaces) -> [ConfigError] {
    let pairs = [
      (Self.name(of: \.limits.dryPercent), limits.dryPercent, Self.name(of: \.limits.wetPercent), limits.wetPercent),
      (Self.name(of: \.limits.coldCelsius), limits.coldCelsius, Self.name(of: \.limits.hotCelsius), limits.hotCelsius),
    ]
    return pairs.compactMap { lower, least, upper, most in
      guard let least, let most, least >= most else { return nil }
      return places.error(
        file,
        blaming: [
          upper: "expected more than \(places.words(lower, least)), got \(most)",
          lower: "expected less than \(places.words(upper, most)), got \(least)",
        ])
    }
  }

  /// What the protocol can carry as it is.
  private static func isHostName(_ name: String) -> Bool {
    !name.isEmpty && name != PlantHostSettings.everybody && !name.contains { ":;|".contains($0) || $0.isNewline }
      && !name.contains("--") && name.utf8.count <= 64
  }
}

extension Configuration.Plants.Sensor {
  fileprivate func check(_ path: String, _ report: (String, String) -> Void) {
    if PlantSensorID(name) == nil {
      report("\(path).name", "expected 1…32 of a–z 0–9 . _ - and no --, got '\(name)'")
    }
    switch chip {
    case .seesaw:
      if givenChannel != nil { report("\(path).channel", "expected none: a seesaw probe has one input") }
    case .ads1115:
      if !(0x48...0x4B).contains(address!) {
        report("\(path).i2c_address", "expected 0x48…0x4b for an ads1115, got 0x\(String(address!, radix: 16))")
      }
      if channel! > 3 { report("\(path).channel", "expected an input 0…3 of an ads1115, got \(channel!)") }
    case .mcp3008:
      if givenAddress != nil { report("\(path).i2c_address", "expected none: an mcp3008 is at plants.spi_device") }
    }
    switch (dry, wet) {
    case (nil, nil): break
    case (let dry?, let wet?):
      do throws(PlantRefusal) {
        _ = try probe.calibration(dry: dry, wet: wet)
      } catch {
        report("\(path).wet", error.message)
      }
    case (nil, _?): report("\(path).dry", "expected dry beside wet, got nothing")
    case (_?, nil): report("\(path).wet", "expected wet beside dry, got nothing")
    }
  }
}
