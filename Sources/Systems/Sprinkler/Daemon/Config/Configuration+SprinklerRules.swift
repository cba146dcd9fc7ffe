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
            file, key, "expected a pin that is not among sprinkler.denied_pins (\(words(deniedPins))), got \(pin)"))
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
        errors.append(places.error(file, key, "expected one of sprinkler.pins (\(words(pins))), got \(zone.gpioPin)"))
      } else if !gives {
        check(zone.gpioPin, key)
      }
      let same = zip(zones, zonePinKeys).first { $0.0.gpioPin == zone.gpioPin }
      if let same, same.1 != key {
        errors.append(
          places.error(file, key, "expected a pin of its own, got \(zone.gpioPin), which \(places.words(same.1)) has"))
      }
    }
    return errors
  }

  private func zoneErrors(file: String, places: ConfigPlaces) -> [ConfigError] {
    var errors: [ConfigError] = []
    for (index, zone) in zones.enumerated() {
      let path = "sprinkler.zones[\(index)]"
      if !(1...40).contains(zone.name.count) {
        errors.append(places.error(file, "\(path).name", "expected 1…40 characters, got \(zone.name.count)"))
      }
      if zone.defaultSeconds > zone.maximumSeconds {
        errors.append(
          places.error(file, "\(path).default_minutes", "expected at most max_minutes, got more"))
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
    func report(_ key: String, _ message: String) { errors.append(places.error(file, key, message)) }
    func report(_ property: PartialKeyPath<Self>, _ message: String) { report(Self.name(of: property), message) }
    if (latitude == nil) != (longitude == nil) {
      report(\.latitude, "expected latitude and longitude, got one of them")
    }
    if let timeZone, (try? ZoneRules(identifier: timeZone)) == nil {
      let near = nearestName(to: timeZone, among: TimeZone.knownTimeZoneIdentifiers)
      report(
        \.timeZone,
        "expected an IANA time zone (\(near.map { "\($0)?" } ?? "Europe/Berlin")), got \(timeZone)")
    }
    if let weather {
      if location == nil {
        report(\.provider, "expected sprinkler.latitude and sprinkler.longitude, got none")
      }
      if let address = Self.address(weather.url) {
        if address.isSecure, !ServiceConfiguration.hasTLS {
          report(
            \.forecast.url,
            "expected an address that begins with http://: this build has no TLS; `swift build --traits TLS` makes one")
        }
      } else {
        report(\.forecast.url, "expected http://HOST:PORT or https://HOST, got \(weather.url)")
      }
    }
    if case .deadline(let budget) = scheduling, budget >= 1_000_000 {
      report(Self.lane.budgetPath, "expected less than the period of 1000000 µs, got \(budget)")
    }
    return errors
  }

  private func words(_ pins: [Int]) -> String { pins.map(String.init).joined(separator: ", ") }
}
