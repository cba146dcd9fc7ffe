import Foundation
import Service
import Sprinkler
import TactusDaemon

// Rules over more than one key.
extension Configuration.Sprinkler {
  func errors(file: String, places: ConfigPlaces) -> [ConfigError] {
    pinErrors(file: file, places: places) + zoneErrors(file: file, places: places)
      + otherErrors(file: file, places: places)
  }

  private func pinErrors(file: String, places: ConfigPlaces) -> [ConfigError] {
    var errors: [ConfigError] = []
    func check(_ pin: Int, _ key: String) {
      let denied = deniedPins.contains(pin)
      if denied {
        errors.append(
          places.error(
            file, key,
            "expected a pin that is not among sprinkler.denied_pins (\(words(deniedPins))), got \(words(pin, key, places))"
          ))
      } else if chip == nil, pin > 53 {
        errors.append(
          places.error(file, key, "expected a pin 0…53 of a Raspberry Pi, got \(pin); other boards need sprinkler.chip")
        )
      }
    }
    let gives = givesPins
    if let flowPin {
      let key = Self.name(of: \.flowPin)
      check(flowPin, key)
      if pins.contains(flowPin) || masterPin == flowPin {
        errors.append(places.error(file, key, "expected a pin of its own, got \(flowPin)"))
      }
    }
    if gives { for pin in pins { check(pin, Self.name(of: \.givenPins)) } }
    if let masterPin {
      let key = Self.name(of: \.masterPin)
      check(masterPin, key)
      if pins.contains(masterPin) {
        errors.append(places.error(file, key, "expected a pin that no zone has, got \(masterPin)"))
      }
    }
    if pins.count + (master == nil ? 0 : 1) > 64 {
      errors.append(places.error(file, Self.name(of: \.givenPins), "expected at most 64 pins with the master valve's"))
    }
    for (zone, key) in zip(zones, zonePinKeys) where errors.isEmpty {
      if zone.gpioPin < 0 {
        errors.append(places.error(file, key, "expected a pin: only the first 16 zones get one by their place"))
      } else if gives, !pins.contains(zone.gpioPin) {
        let got = words(zone.gpioPin, key, places)
        errors.append(places.error(file, key, "expected one of sprinkler.pins (\(words(pins))), got \(got)"))
      } else if !gives {
        check(zone.gpioPin, key)
      }
      let same = zip(zones, zonePinKeys).first { $0.0.gpioPin == zone.gpioPin }
      if let same, same.1 != key {
        errors.append(
          places.error(
            file, key,
            "expected a pin of its own, got \(words(zone.gpioPin, key, places)), which \(places.words(same.1)) has"))
      }
    }
    return errors
  }

  private func zoneErrors(file: String, places: ConfigPlaces) -> [ConfigError] {
    var errors: [ConfigError] = []
    for (index, zone) in zones.enumerated() {
      let path = "sprinkler.zones[\(index)]"
      if !(1...40).contains(zone.name.count) {
        errors.append(
          places.error(file, "\(path).name", "expected 1…40 characters, got \(zone.name.count)", alone: true))
      }
      if zone.defaultSeconds > zone.maximumSeconds {
        let (usual, most) = ("\(path).default_minutes", "\(path).max_minutes")
        errors.append(
          places.error(
            file, usual,
            "expected at most \(places.words(most, minutes(zone.maximumSeconds))), got \(minutes(zone.defaultSeconds))")
        )
      }
      if let group = zone.group, group > maximumOpenOfGroups.count {
        errors.append(
          places.error(
            file, "\(path).group",
            "expected the number of one of the \(maximumOpenOfGroups.count) sprinkler.groups, got \(group)"))
      }
    }
    return errors
  }

  private func otherErrors(file: String, places: ConfigPlaces) -> [ConfigError] {
    var errors: [ConfigError] = []
    func report(_ property: PartialKeyPath<Self>, _ message: String, alone: Bool = false) {
      errors.append(places.error(file, Self.name(of: property), message, alone: alone))
    }
    switch (latitude, longitude) {
    case (nil, nil), (_?, _?): break
    case (_?, nil): report(\.latitude, "expected \(Self.name(of: \.longitude)) with it, got none")
    case (nil, _?): report(\.longitude, "expected \(Self.name(of: \.latitude)) with it, got none")
    }
    if let none = sensor.noFlow, let high = sensor.highFlow, high <= none {
      report(
        \.sensor.highFlow,
        "expected more than sprinkler.flow.no_flow_l_per_min (\(none)): whatever flows would be an alarm, got \(high)")
    }
    if let timeZone, (try? ZoneRules(identifier: timeZone)) == nil {
      let near = nearestName(to: timeZone, among: TimeZone.knownTimeZoneIdentifiers)
      report(
        \.timeZone,
        "expected an IANA time zone (\(near.map { "\($0)?" } ?? "Europe/Berlin")), got \(timeZone)", alone: true)
    }
    if let weather {
      if location == nil {
        report(\.provider, "expected sprinkler.latitude and sprinkler.longitude, got none")
      }
      if let address = Self.address(weather.url) {
        if address.isSecure, !ServiceConfiguration.hasTLS {
          report(
            \.forecast.url,
            "expected an address that begins with http://: this build has no TLS; `swift build --traits TLS` makes one",
            alone: true)
        }
      } else {
        report(\.forecast.url, "expected http://HOST:PORT or https://HOST, got \(weather.url)", alone: true)
      }
    }
    return errors
      + Self.lane.budgetErrors(scheduling, periodMicroseconds: 1_000_000, file: file, places: places)
  }

  /// `12`, `12 by its place`
  private func words(_ pin: Int, _ key: String, _ places: ConfigPlaces) -> String {
    places.gives(key) || key.hasSuffix("pins") ? "\(pin)" : "\(pin) by its place"
  }

  private func minutes(_ seconds: Int) -> Double { (Double(seconds) / 6).rounded() / 10 }

  private func words(_ pins: [Int]) -> String { pins.map(String.init).joined(separator: ", ") }
}
