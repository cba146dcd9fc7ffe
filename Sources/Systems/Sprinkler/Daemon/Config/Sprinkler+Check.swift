import Buses
import Foundation
import Service
import Sprinkler
import TactusDaemon
import WallTime

// Rules over more than one key.
extension Sprinkler {
  public static func check(_ wiring: Wiring, _ rules: Rules, _ report: Contradictions<Sprinkler>) {
    checkExpanders(wiring, report)
    checkPins(wiring, report)
    for (index, zone) in wiring.zones.enumerated() { check(zone, index, wiring, report) }
    checkPlace(wiring, report)
    if wiring.hasWeather { checkWeather(wiring, report) }
    for index in wiring.zoneItems.indices {
      checkDeficit(wiring.zoneItems[index], index, wiring, report)
      checkFlow(wiring.zoneItems[index], index, wiring, report)
    }
    let hasRainKeys =
      wiring.wetWhen != .closed || wiring.rainPull != .up || rules.rainSensorMinutes != 1
      || rules.rainSensorDryHours != 0
    if wiring.rainPin == nil, hasRainKeys {
      report(\.rainPin, "expected the rain sensor's pin with the other keys of sprinkler.rain_sensor, got none")
    }
    if let noFlow = rules.noFlow, let highFlow = rules.highFlow, highFlow <= noFlow {
      report(
        \.highFlow,
        "expected more than sprinkler.flow.no_flow_l_per_min (\(noFlow)): whatever flows would be an alarm, got \(highFlow)"
      )
    }
  }

  public static func check(
    _ wiring: Wiring, _ rules: Rules, among others: Set<String>, _ report: Contradictions<Sprinkler>
  ) {
    for (index, item) in wiring.soilItems.enumerated() {
      if item.plant != nil, !others.contains("plants") {
        report(\.soilItems, index, "expected a section plants, which measures its soil, got none")
      }
      if item.topic != nil, !others.contains("mqtt") {
        report(\.soilItems, index, \.topic, "expected a section mqtt, whose broker has the topic, got none")
      }
    }
  }

  /// Returns the reason why a pin may not be used, or `nil` if it may.
  ///
  /// - Parameter words: the pin for the message.
  static func complaint(_ pin: Int, _ wiring: Wiring, _ words: String? = nil) -> String? {
    if wiring.deniedPins.contains(pin) {
      return
        "expected a pin that is not among sprinkler.denied_pins (\(list(wiring.deniedPins))), got \(words ?? "\(pin)")"
    }
    guard wiring.chip == nil, pin > 53, wiring.expander(of: pin) == nil else { return nil }
    let more = wiring.expanderWords.isEmpty ? "" : " or of sprinkler.expanders (\(wiring.expanderWords))"
    return "expected a pin 0…53 of a Raspberry Pi\(more), got \(pin); other boards need sprinkler.chip"
  }

  private static func checkPins(_ wiring: Wiring, _ report: Contradictions<Sprinkler>) {
    let (pins, found) = (wiring.pins, report.count)
    func checkPin(_ pin: Int, _ key: PartialKeyPath<Wiring>) {
      if let complaint = complaint(pin, wiring) { report(key, complaint) }
    }
    if let flowPin = wiring.flowPin {
      checkPin(flowPin, \.flowPin)
      if pins.contains(flowPin) || wiring.masterPin == flowPin {
        report(\.flowPin, "expected a pin of its own, got \(flowPin)")
      }
      if wiring.expander(of: flowPin) != nil {
        report(\.flowPin, "expected a GPIO line, because an expander's cannot count pulses, got \(flowPin)")
      }
    }
    if let rainPin = wiring.rainPin {
      checkPin(rainPin, \.rainPin)
      if pins.contains(rainPin) || wiring.masterPin == rainPin || wiring.flowPin == rainPin {
        report(\.rainPin, "expected a pin of its own, got \(rainPin)")
      }
      if wiring.expander(of: rainPin) != nil {
        report(\.rainPin, "expected a GPIO line, because an expander's lines are outputs, got \(rainPin)")
      }
    }
    checkSoilPins(wiring, report)
    for pin in wiring.givenPins ?? [] { checkPin(pin, \.givenPins) }
    if let masterPin = wiring.masterPin {
      checkPin(masterPin, \.masterPin)
      if pins.contains(masterPin) { report(\.masterPin, "expected a pin that no zone has, got \(masterPin)") }
    }
    if wiring.allPins.count > 64 { report(\.givenPins, "expected at most 64 pins with the master valve's") }
    for (index, zone) in wiring.zones.enumerated() where report.count == found {
      check(pinOf: zone, index, wiring, report)
    }
  }

  private static func checkSoilPins(_ wiring: Wiring, _ report: Contradictions<Sprinkler>) {
    if wiring.soilPins.count > SoilLines.most {
      report(\.soilItems, "expected at most \(SoilLines.most) different pins, got \(wiring.soilPins.count)")
    }
    for (index, item) in wiring.soilItems.enumerated() {
      guard let pin = item.pin else { continue }
      func wrong(_ message: String) { report(\.soilItems, index, \.pin, message) }
      if let complaint = complaint(pin, wiring) { wrong(complaint) }
      if wiring.allPins.contains(pin) || wiring.flowPin == pin || wiring.rainPin == pin {
        wrong("expected a pin of its own, got \(pin)")
      }
      if wiring.expander(of: pin) != nil {
        wrong("expected a GPIO line, because an expander's lines are outputs, got \(pin)")
      }
      if let first = wiring.soilItems.first(where: { $0.pin == pin }),
        (first.wetWhen, first.pull) != (item.wetWhen, item.pull)
      {
        wrong("expected the same wet_when and pull in every rule of pin \(pin), got others")
      }
    }
  }

  private static func check(
    pinOf zone: Zone, _ index: Int, _ wiring: Wiring, _ report: Contradictions<Sprinkler>
  ) {
    let pin = zone.gpioPin
    let words = report.gives(\.zoneItems, index, \.pin) ? "\(pin)" : "\(pin) by its place"
    func wrong(_ message: String) { report(\.zoneItems, index, \.pin, message) }
    if pin < 0 {
      wrong("expected a pin: only the first 16 zones get one by their place")
    } else if let given = wiring.givenPins {
      if !given.contains(pin) { wrong("expected one of sprinkler.pins (\(list(given))), got \(words)") }
    } else if let complaint = complaint(pin, wiring, words) {
      wrong(complaint)
    }
    if let same = wiring.zones.firstIndex(where: { $0.gpioPin == pin }), same != index {
      wrong("expected a pin of its own, got \(words), which \(report.location(\.zoneItems, same, \.pin)) has")
    }
  }

  private static func check(_ zone: Zone, _ index: Int, _ wiring: Wiring, _ report: Contradictions<Sprinkler>) {
    func minutes(_ seconds: Int) -> Double { (Double(seconds) / 6).rounded() / 10 }
    if zone.defaultSeconds > zone.maximumSeconds {
      let most = report.setting(\.zoneItems, index, \.maximumMinutes, minutes(zone.maximumSeconds))
      report(
        \.zoneItems, index, \.givenDefaultMinutes, "expected at most \(most), got \(minutes(zone.defaultSeconds))")
    }
    if let group = zone.group, group > wiring.groups.count {
      report(
        \.zoneItems, index, \.group,
        "expected the number of one of the \(wiring.groups.count) sprinkler.groups, got \(group)")
    }
  }

  private static func checkPlace(_ wiring: Wiring, _ report: Contradictions<Sprinkler>) {
    switch (wiring.latitude, wiring.longitude) {
    case (nil, nil), (_?, _?): break
    case (_?, nil): report(\.latitude, "expected sprinkler.longitude with it, got none")
    case (nil, _?): report(\.longitude, "expected sprinkler.latitude with it, got none")
    }
    if let timeZone = wiring.timeZone, (try? ZoneRules(identifier: timeZone)) == nil {
      let near = nearestName(to: timeZone, among: TimeZone.knownTimeZoneIdentifiers)
      report.alone(
        \.timeZone, "expected an IANA time zone (\(near.map { "\($0)?" } ?? "Europe/Berlin")), got \(timeZone)")
    }
  }

  private static func checkDeficit(
    _ zone: Wiring.ZoneItem, _ index: Int, _ wiring: Wiring, _ report: Contradictions<Sprinkler>
  ) {
    if zone.millimetresPerHour != nil, !wiring.hasWeather {
      report(\.zoneItems, index, \.millimetresPerHour, "expected sprinkler.weather.provider with it, got none")
    }
    let standard = Wiring.ZoneItem()
    let isGiven =
      (zone.cropFactor, zone.greatestDeficit, zone.leastDeficit)
      != (standard.cropFactor, standard.greatestDeficit, standard.leastDeficit)
    if zone.millimetresPerHour == nil, isGiven {
      report(
        \.zoneItems, index, \.millimetresPerHour, "expected it with the zone's other keys of the deficit, got none")
    }
    if zone.leastDeficit > zone.greatestDeficit {
      report(
        \.zoneItems, index, \.leastDeficit,
        "expected at most max_deficit_mm (\(zone.greatestDeficit)), got \(zone.leastDeficit)")
    }
  }

  private static func checkFlow(
    _ zone: Wiring.ZoneItem, _ index: Int, _ wiring: Wiring, _ report: Contradictions<Sprinkler>
  ) {
    if zone.flow != nil, wiring.flowPin == nil {
      let key: PartialKeyPath<Wiring.ZoneItem> =
        zone.leastFlow != nil ? \.leastFlow : zone.greatestFlow != nil ? \.greatestFlow : \.learnsFlow
      report(\.zoneItems, index, key, "expected sprinkler.flow.pin with it, got none")
    }
    if let least = zone.leastFlow, let greatest = zone.greatestFlow, greatest <= least {
      report(\.zoneItems, index, \.greatestFlow, "expected more than min_l_per_min (\(least)), got \(greatest)")
    }
  }

  private static func checkWeather(_ wiring: Wiring, _ report: Contradictions<Sprinkler>) {
    if wiring.place == nil { report(\.provider, "expected sprinkler.latitude and sprinkler.longitude, got none") }
    guard let address = wiring.weatherAddress else {
      return report.alone(\.weatherURL, "expected http://HOST:PORT or https://HOST, got \(wiring.weatherURL)")
    }
    if address.isSecure, !ServiceConfiguration.hasTLS {
      report.alone(
        \.weatherURL,
        "expected an address that begins with http://: this build has no TLS; `swift build --traits TLS` makes one")
    }
  }

  private static func list(_ pins: [Int]) -> String { pins.map(String.init).joined(separator: ", ") }
}

// Rules of `sprinkler.expanders`.
extension Sprinkler {
  static func checkExpanders(_ wiring: Wiring, _ report: Contradictions<Sprinkler>) {
    for (index, expander) in wiring.expanders.enumerated() {
      checkPins(of: expander, index, wiring, report)
      if expander.chip == .shiftRegister {
        checkChain(expander, index, wiring, report)
      } else {
        checkChip(expander, index, wiring, report)
      }
    }
  }

  private static func checkPins(
    of expander: SprinklerWiring.Expander, _ index: Int, _ wiring: Wiring, _ report: Contradictions<Sprinkler>
  ) {
    let first = expander.firstPin
    if expander.pins.upperBound > 1_024 {
      report(
        \.expanders, index, \.firstPin,
        "expected at most \(1_024 - expander.lineCount) for \(expander.lineCount) lines, got \(first)")
    }
    if let other = wiring.expanders[..<index].first(where: { $0.pins.overlaps(expander.pins) }) {
      report(
        \.expanders, index, \.firstPin,
        "expected pins of its own, got \(first)…\(expander.pins.upperBound - 1), of which another expander has "
          + "\(other.pins.lowerBound)…\(other.pins.upperBound - 1)")
    }
  }

  private static func checkChip(
    _ expander: SprinklerWiring.Expander, _ index: Int, _ wiring: Wiring, _ report: Contradictions<Sprinkler>
  ) {
    let chip = expander.chip.rawValue
    let range = expander.addresses.map { "0x\(hex($0.lowerBound))…0x\(hex($0.upperBound))" }.joined(separator: " or ")
    if let address = expander.address, !expander.addresses.contains(where: { $0.contains(address) }) {
      report(\.expanders, index, \.givenAddress, "expected \(range) of a \(chip), got 0x\(hex(address))")
    }
    for path in [\SprinklerWiring.Expander.givenLines, \.data, \.clock, \.latch, \.outputEnable] {
      guard let value = expander[keyPath: path] else { continue }
      report(\.expanders, index, path, "expected none, because only a 74hc595 has it, got \(value)")
    }
    // The outputs of the chip are high from power on until they are first written.
    if expander.chip == .pcf8574,
      let pin = wiring.allPins.first(where: { expander.pins.contains($0) && !wiring.isActiveLow($0) })
    {
      report(
        \.expanders, index, \.chip,
        "expected active-low valves (sprinkler.relay_board or sprinkler.active_low_pins), because the outputs of a pcf8574 are high from "
          + "power on, got pin \(pin), which is active-high")
    }
  }

  private static func checkChain(
    _ expander: SprinklerWiring.Expander, _ index: Int, _ wiring: Wiring, _ report: Contradictions<Sprinkler>
  ) {
    if let address = expander.givenAddress {
      report(
        \.expanders, index, \.givenAddress, "expected none, because a 74hc595 is not on I2C, got 0x\(hex(address))")
    }
    let keys: [PartialKeyPath<SprinklerWiring.Expander>] = [\.data, \.clock, \.latch, \.outputEnable]
    for (key, (pin, _)) in zip(keys, expander.chainPins) {
      if let complaint = complaint(pin, wiring) { report(\.expanders, index, key, complaint) }
      if wiring.expander(of: pin) != nil {
        report(\.expanders, index, key, "expected a GPIO line, got \(pin), which is an expander's")
      }
    }
  }
}
