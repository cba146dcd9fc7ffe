import Buses
@_spi(FromOutside) import Conversions
import Service
import Sprinkler
import WallTime

// What is wrong, in words that name zones as people know them.
extension NamedLines {
  /// Returns a fault in words. Of a line that differs, `StateSeen` knows what hangs on it.
  func words(of fault: IrrigationFault) -> String {
    switch fault {
    case .lines(let error): "the lines do not take what they are told: \(error)"
    case .lineDiffers(let line, let isActive):
      "line \(Int(line) + 1) is \(isActive ? "on" : "off") although told to be \(isActive ? "off" : "on")"
    case .flow(let alarm): words(of: alarm)
    case .missedReleases(let count): "the loop missed \(count) releases in a row"
    }
  }

  /// Returns a flow alarm in words: `zone 3 (Roses) is open and no water flows`.
  func words(of alarm: FlowAlarm) -> String {
    switch alarm {
    case .noFlow(let zone): "\(words(of: zone)) is open and no water flows"
    case .highFlow(let zone): "\(words(of: zone)) is open and too much water flows"
    case .leak: "water flows although every valve is closed"
    case .belowLimit(let verdict): words(of: verdict, "less", "at least")
    case .aboveLimit(let verdict): words(of: verdict, "more", "at most")
    }
  }

  /// Returns a verdict in words: `zone 3 (Roses) is open and less water flows than it should: 4.0 l/min, at least 7.0 (set)`; a limit that is not set
  /// is `learnt 2026-07-01T05:50:00Z from 5 runs`.
  private func words(of verdict: ZoneFlowVerdict, _ amount: String, _ bound: String) -> String {
    func tenths(_ value: Double) -> Double { (value * 10).rounded() / 10 }
    let (zone, limit) = (words(of: verdict.zone), verdict.limit)
    let origin =
      limit.runs == 0
      ? "set" : "learnt \(WallTimeText.text(WallInstant(secondsSince1970: limit.learntAt))) from \(limit.runs) runs"
    return
      "\(zone) is open and \(amount) water flows than it should: \(tenths(verdict.litresPerMinute)) l/min, \(bound) \(tenths(limit.litresPerMinute)) (\(origin))"
  }

  private func words(of id: ZoneID) -> String {
    zones.first { $0.id == id }.map { LineSeen.NamedZone(id: Int($0.id.number), name: $0.name).words } ?? "zone \(id)"
  }
}
