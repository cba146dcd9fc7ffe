@_spi(FromOutside) import Conversions
import Service
import Sprinkler
import WallTime
import Water

extension SprinklerDesk {
  /// The water supply for other systems. Their requests become runs at the end of the queue, like a person's.
  var water: WaterSupply {
    WaterSupply(
      isRainDelayed: { [self] in view.records.rainDelay != nil },
      isStopped: { [self] in
        // Nothing is known of zones and of what they have run.
        guard view.isLoaded else { return true }
        return switch newest.state {
        case .emergencyStopped, .fault, .shutDown: true
        case .idle, .watering, .paused: false
        }
      },
      isOpen: { [self] number in ZoneID(number).map { newest[$0].isOn } ?? false },
      day: { [timeZone = description.timeZone] seconds in
        let wall = WallInstant(secondsSince1970: seconds)
        let local = seconds + Int64(timeZone.offsetSeconds(at: wall))
        return Int(saturating: (Double(local) / 86_400).rounded(.down))
      },
      ask: { [self] request in
        try requireLoaded()
        guard let zone = ZoneID(request.zone), view.records.zones.contains(where: { $0.id == zone }) else {
          throw APIError.notFound("no zone \(request.zone); GET /api/zones lists them")
        }
        try refuseIfStopped()
        let caller = Caller(scope: .control, tokenID: request.system, address: request.part, client: 0)
        _ = try await perform(.runOnce([.init(zone: zone, seconds: request.seconds)]), caller)
      })
  }
}
