@_spi(FromOutside) import Conversions
import Service
import Sprinkler
import Tactus
import TactusDaemon

// What subscribers are told besides the state.
extension SprinklerDesk {
  /// The values that the last events reported, so that only changes are reported.
  struct LastTold {
    var rain: RainDelay?
    /// The last reported countdown of each open zone, s.
    var countdowns: [ZoneID: Int] = [:]
  }

  /// Returns each number of an open zone's countdown as it is reached, and the rain delay when it changes. The requirement's app lives on these.
  func events(_ published: Published<SprinklerSnapshot>, at now: TickInstant) -> [Event] {
    let (newest, records) = (published.state, view.records)
    // None at the end: 0 is told when the valve is closed.
    let countdowns = records.zones.compactMap { zone in
      newest[zone.id].remaining(at: now).map { (zone: zone.id, seconds: $0.wholeSecondsUp) }
    }.filter { $0.seconds > 0 }
    let (hasRainChanged, reached) = lastTold.withLock { told in
      let news = (told.rain != records.rainDelay, countdowns.filter { told.countdowns[$0.zone] != $0.seconds })
      told.rain = records.rainDelay
      told.countdowns = Dictionary(uniqueKeysWithValues: countdowns.map { ($0.zone, $0.seconds) })
      return news
    }
    let rain =
      hasRainChanged
      ? [
        Event(
          .edge, type: "rain", system: Sprinkler.name, at: newest.at, body: SprinklerFields.rain.json(seen().rain))
      ] : []
    return reached.map { zone, seconds in
      let event = ZoneEvent(id: Int(zone.number), isOn: true, remainingSec: seconds)
      return Event(.state, type: "zone", system: Sprinkler.name, at: now, json: event)
    } + rain
  }

  /// Returns the zone's present state for an event: `{"type":"zone","id":3,"isOn":true,"remainingSec":899}`.
  func event(of zone: ZoneID) -> ZoneEvent {
    let newest = newest
    let status = newest[zone]
    let remaining = status.remaining(at: max(now, newest.at))?.wholeSecondsUp
    lastTold.withLock { $0.countdowns[zone] = remaining }
    return ZoneEvent(id: Int(zone.number), isOn: status.isOn, remainingSec: remaining ?? 0)
  }
}

struct ZoneEvent: Encodable {
  let id: Int
  let isOn: Bool
  /// The time until the valve closes, s; 0 if it is closed.
  let remainingSec: Int
}
