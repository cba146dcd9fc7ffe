import Buses
@_spi(FromOutside) import Conversions
import Service
import Sprinkler
import WallTime

/// A line of a valve, with the part that is connected to it.
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

    /// The zone in words: `zone 3 (Roses)`, or `zone 3` if it has no name of its own.
    var words: String { name == "Zone \(id)" ? "zone \(id)" : "zone \(id) (\(name))" }
  }

  var zoneId: Int? { zone?.id }

  /// The part that is connected to the line, in words: `zone 3 (Roses)`, `the master valve`, `pin 20`.
  var what: String {
    if isMaster { return "the master valve" }
    return zone?.words ?? "pin \(pin)"
  }

  /// Returns a description of the line's fault: `zone 3 (Roses) is on although told to be off`.
  func faultText(isNow: Bool = true) -> String {
    "\(what) \(isNow ? "is" : "was") \(isOn ? "on" : "off") although told to be \(isOn ? "off" : "on")"
  }
}

/// The lines of the valves, each with the part that is connected to it.
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

// Faults and alarms in words, with zones named as people know them.
extension NamedLines {
  /// Returns a fault in words. For a line that differs, `StateSeen` adds the part that is connected to it.
  func text(of fault: IrrigationFault) -> String {
    switch fault {
    case .lines(let error): "the lines do not take what they are told: \(error)"
    case .lineDiffers(let line, let isActive):
      "line \(Int(line) + 1) is \(isActive ? "on" : "off") although told to be \(isActive ? "off" : "on")"
    case .flow(let alarm): text(of: alarm)
    case .missedReleases(let count): "the loop missed \(count) releases in a row"
    }
  }

  /// Returns a flow alarm in words: `zone 3 (Roses) is open and no water flows`.
  func text(of alarm: FlowAlarm) -> String {
    switch alarm {
    case .noFlow(let zone): "\(text(of: zone)) is open and no water flows"
    case .highFlow(let zone): "\(text(of: zone)) is open and too much water flows"
    case .leak: "water flows although every valve is closed"
    case .belowLimit(let verdict): text(of: verdict, "less", "at least")
    case .aboveLimit(let verdict): text(of: verdict, "more", "at most")
    }
  }

  /// Returns a verdict in words: `zone 3 (Roses) is open and less water flows than it should: 4.0 l/min, at least 7.0 (set)`; a limit that is not set
  /// is `learnt 2026-07-01T05:50:00Z from 5 runs`.
  private func text(of verdict: ZoneFlowVerdict, _ amount: String, _ bound: String) -> String {
    func tenths(_ value: Double) -> Double { (value * 10).rounded() / 10 }
    let (zone, limit) = (text(of: verdict.zone), verdict.limit)
    let origin =
      limit.runs == 0
      ? "set" : "learnt \(WallTimeText.text(WallInstant(secondsSince1970: limit.learntAt))) from \(limit.runs) runs"
    return
      "\(zone) is open and \(amount) water flows than it should: \(tenths(verdict.litresPerMinute)) l/min, \(bound) \(tenths(limit.litresPerMinute)) (\(origin))"
  }

  private func text(of id: ZoneID) -> String {
    zones.first { $0.id == id }.map { LineSeen.NamedZone(id: Int($0.id.number), name: $0.name).words } ?? "zone \(id)"
  }
}
