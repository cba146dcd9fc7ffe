@_spi(FromOutside) import Conversions
import Sprinkler

/// A line of a valve, with what hangs on it.
struct LineSeen: Sendable, Hashable {
  /// The place of the line in `GET /api/pins`, 1…64.
  let line: Int
  let pin: Int
  /// The zone that has the pin, or `nil` if none has.
  let zone: NamedZone?
  let isMaster: Bool
  /// The level of the line: whether the valve is open.
  let isOn: Bool

  struct NamedZone: Sendable, Hashable {
    let id: Int
    let name: String

    /// The zone in words: `zone 3 (Roses)`, or `zone 3` if nobody has named it.
    var words: String { name == "Zone \(id)" ? "zone \(id)" : "zone \(id) (\(name))" }
  }

  var zoneId: Int? { zone?.id }

  /// What hangs on the line, in words: `zone 3 (Roses)`, `the master valve`, `pin 20`.
  var what: String {
    if isMaster { return "the master valve" }
    return zone?.words ?? "pin \(pin)"
  }

  /// Returns what is wrong with the line, in words: `zone 3 (Roses) is on although told to be off`.
  func words(isNow: Bool = true) -> String {
    "\(what) \(isNow ? "is" : "was") \(isOn ? "on" : "off") although told to be \(isOn ? "off" : "on")"
  }
}

/// The lines of the valves, each with what hangs on it.
struct NamedLines: Sendable {
  let description: SprinklerDescription
  let zones: [Zone]

  /// Returns whether a line is the master valve's.
  func isMaster(_ index: Int) -> Bool { description.hasMaster && index == description.lines.count - 1 }

  /// Returns the zone that has a pin, or `nil` if none has.
  func zone(_ pin: Int) -> LineSeen.NamedZone? {
    zones.first { $0.gpioPin == pin }.map { .init(id: Int($0.id.number), name: $0.name) }
  }

  /// Returns a line at the level that was read, or `nil` if there is no such line.
  ///
  /// - Parameter index: the bit of the line in the loop's masks, 0…63.
  func line(_ index: Int, isOn: Bool) -> LineSeen? {
    guard description.lines.indices.contains(index) else { return nil }
    let pin = description.lines[index].pin
    return LineSeen(
      line: index + 1, pin: pin, zone: isMaster(index) ? nil : zone(pin), isMaster: isMaster(index), isOn: isOn)
  }

  /// Returns the lines whose level is not the one that was written, in the order of the lines.
  ///
  /// - Parameters:
  ///   - told: the levels written; bit k is line k, 1 is on.
  ///   - read: the levels read back.
  func differing(told: UInt64, read: UInt64) -> [LineSeen] {
    description.lines.indices.compactMap { index in
      let bit: UInt64 = 1 << UInt64(clamping: index)
      return (told ^ read) & bit == 0 ? nil : line(index, isOn: read & bit != 0)
    }
  }
}
