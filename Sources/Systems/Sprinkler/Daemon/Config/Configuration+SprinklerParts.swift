import Service
import Sprinkler
import Tactus
import TactusDaemon

// What the sprinkler is made of. The table's ranges and `errors` leave nothing to refuse.
extension Configuration.Sprinkler {
  /// Valves open at a time in all.
  var maximumOpen: Int {
    if let givenMaximumOpen { return givenMaximumOpen }
    guard !maximumOpenOfGroups.isEmpty else { return 1 }
    return min(64, maximumOpenOfGroups.reduce(1, +))
  }

  var irrigation: IrrigationSettings {
    do {
      // Zones in no group are a group of their own.
      var groups = [0: maximumOpenOfGroups.isEmpty ? maximumOpen : 1]
      for (index, limit) in maximumOpenOfGroups.enumerated() { groups[index + 1] = limit }
      return try IrrigationSettings(
        lineCount: lines.count,
        master: try master.map {
          try MasterValve(
            line: UInt8(clamping: lines.count - 1), lead: .seconds(Int64($0.leadSeconds)),
            lag: .seconds(Int64($0.lagSeconds)))
        },
        stationDelay: .seconds(Int64(stationDelaySeconds)), maximumOpen: maximumOpen, groups: groups,
        flow: try flowPin.map { _ in
          let limits = flowLimits
          return try FlowSettings(
            pulsesPerLitre: sensor.pulsesPerLitre, noFlow: limits.noFlow, highFlow: limits.highFlow, leak: limits.leak)
        })
    } catch {
      preconditionFailure("the configuration let through what the valves refuse: \(error)")
    }
  }

  /// Meaningless without the sensor's pin.
  var flowLimits: FlowLimits {
    func watch(_ litres: Double?) throws(IrrigationSettingsError) -> FlowSettings.Watch? {
      guard let litres else { return nil }
      return try FlowSettings.Watch(
        litresPerMinute: litres, over: .seconds(Int64(sensor.settleSeconds)),
        reaction: sensor.onAlarm == .stop ? .fault : .notice)
    }
    do {
      return FlowLimits(
        noFlow: try watch(sensor.noFlow), highFlow: try watch(sensor.highFlow), leak: try watch(sensor.leak))
    } catch {
      preconditionFailure("the configuration let through a limit that the valves refuse: \(error)")
    }
  }

  func scheduler(_ zone: ZoneRules) -> SchedulerSettings {
    SchedulerSettings(
      zone: zone, pins: pins + (master.map { [$0.pin] } ?? []), masterPin: master?.pin,
      place: place,
      catchUpSeconds: catchUpMinutes * 60, rainEndsOpenRuns: stopsInRain,
      // The same words.
      manualInRain: SchedulerSettings.ManualInRain(rawValue: manualInRain.rawValue)!,
      afterPowerCut: afterPowerCut == .resume ? .resume : .close)
  }

  private var place: GeographicPlace? {
    location.map { GeographicPlace(latitude: $0.latitude, longitude: $0.longitude) }
  }

  func description(_ zone: ZoneRules, simulate: Bool) -> SprinklerDescription {
    SprinklerDescription(
      backend: simulate ? "sim" : backend.rawValue,
      lines: (pins + (master.map { [$0.pin] } ?? [])).map { .init(pin: $0, isActiveLow: isActiveLow($0)) },
      hasMaster: master != nil, deniedPins: deniedPins, rainDelayHours: rainDelayHours,
      manualInRain: manualInRain.rawValue, stopsInRain: stopsInRain, hasLegacyRoutes: hasLegacyRoutes, timeZone: zone,
      place: place, maximumOpen: maximumOpen, groups: maximumOpenOfGroups, stationDelaySeconds: stationDelaySeconds,
      weather: weather == nil ? nil : "open-meteo")
  }

  /// It is `nil` if no weather provider is asked.
  func weatherSettings(_ zone: ZoneRules) -> WeatherWatch.Settings? {
    guard let weather, let location, let address = Self.address(weather.url) else { return nil }
    return WeatherWatch.Settings(
      address: address, latitude: location.latitude, longitude: location.longitude, timeZone: zone.identifier,
      days: weather.days, threshold: weather.thresholdMillimetres, delayHours: weather.delayHours,
      period: .seconds(Int64(weather.pollMinutes) * 60))
  }

  static func address(_ url: String) -> ServiceAddress? {
    guard url.hasPrefix("http://") || url.hasPrefix("https://") else { return nil }
    return ServiceAddress(url, port: url.hasPrefix("https://") ? 443 : 80)
  }
}

// The control knows no daemon: what its type is to one is said here, and nowhere else.
// swift-format-ignore: AvoidRetroactiveConformances
extension FlowLimits: @retroactive ReloadableRules {}
