import Foundation
import Logging
import Service
import Sprinkler
import Store
import Synchronization
import Tactus
import TactusDaemon
import WallTime
import Water

// The parts of the desk: the configuration, the store and the offers of other systems.
extension SprinklerDesk {
  /// The desk's settings from the file, which a reload replaces.
  struct OfFile: Sendable {
    var scheduler: SchedulerSettings
    var description: SprinklerDescription
    /// The settings of the weather watch, or `nil` if no weather provider is configured.
    var weather: WeatherWatch.Settings?
  }

  /// Makes the desk, and reads the store if it is open.
  ///
  /// - Throws: `UnknownTimeZone`, and `ServiceClient.Failure` for a weather provider that this build cannot reach.
  convenience init(_ made: DeskMaterial<Sprinkler>) throws {
    let (wiring, logger, isSimulated) = (made.wiring, made.logger, made.isSimulated)
    guard let closed = made.shared(ValvesClosed.self) else { preconditionFailure("the bench shares it") }
    let zone = try wiring.timeZone.map { try ZoneRules(identifier: $0) } ?? made.zone
    let settings: @Sendable (SprinklerRules) -> OfFile = { rules in
      OfFile(
        scheduler: wiring.scheduler(rules, zone),
        description: wiring.description(rules, zone, isSimulated: isSimulated), weather: wiring.weather(rules, zone))
    }
    let first = settings(made.rules())
    self.init(
      { store, scheduler throws(StoreError) in
        SprinklerScheduler(
          try store.records(takingOver: wiring, logger), settings: scheduler, boot: closed.boot,
          isRecovered: store.file.isRecovered, valvesClosed: closed.at)
      }, store: SprinklerStore(made.storeFile),
      orders: made.orders(makesSafe: \.isStop, mayBeLate: \.mayBeLate, part: \.part),
      newest: made.newest, settings: first, renew: settings, weather: try first.weather.map { try WeatherWatch($0) },
      soil: wiring.hasSoilRules
        ? SoilWatch(
          made.need(SoilMoisture.self), SoilTopics(wiring.soilTopics, logger),
          pins: wiring.soilPins) : nil,
      logDays: wiring.logDays,
      logger: logger, clock: made.clock)
  }
}
