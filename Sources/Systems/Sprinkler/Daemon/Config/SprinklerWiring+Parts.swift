import Buses
@_spi(FromOutside) import Conversions
import Service
import Sprinkler
import Tactus
import TactusDaemon
import WallTime

extension Zone {
  fileprivate init(_ item: SprinklerWiring.ZoneItem, index: Int) {
    let original = SprinklerWiring.originalPins
    func seconds(_ minutes: Double) -> Int { Int(saturating: (minutes * 60).rounded()) }
    self.init(
      id: ZoneID(index: index), name: item.name ?? "Zone \(index + 1)",
      gpioPin: item.pin ?? (index < original.count ? original[index] : -1), isEnabled: item.isEnabled,
      defaultSeconds: seconds(item.defaultMinutes), maximumSeconds: seconds(item.maximumMinutes),
      maximumSecondsPerDay: item.maximumMinutesPerDay.map(seconds), group: item.group, ignoresRain: item.ignoresRain,
      usesMaster: item.usesMaster)
  }
}

// MARK: values that depend on other keys

extension SprinklerWiring {
  /// The configured zones, in order. A zone for which neither a pin nor a default exists has the pin −1, which `check` refuses.
  var zones: [Zone] { zoneItems.enumerated().map { Zone($1, index: $0) } }
  /// The pins that zones may use, in order, without the master valve's pin. They are the pins that the file lists, or else the pins of the zones.
  var pins: [Int] { givenPins ?? zones.map(\.gpioPin) }
  /// The pins of all the lines that the daemon requests, the master valve's last.
  var allPins: [Int] { pins + (masterPin.map { [$0] } ?? []) }

  /// The greatest number of valves open at the same time in each group, from group 1 on.
  var maximumOpenOfGroups: [Int] { groups.map(\.maximumOpen) }
  /// The greatest number of valves open at the same time.
  var maximumOpen: Int {
    if let givenMaximumOpen { return givenMaximumOpen }
    return groups.isEmpty ? 1 : min(64, maximumOpenOfGroups.reduce(1, +))
  }

  /// The rules of the zones whose deficit is reckoned.
  var deficits: [ZoneID: DeficitRule] {
    zoneItems.prefix(ZoneID.maximum).enumerated()
      .reduce(into: [:]) { $0[ZoneID(index: $1.offset)] = $1.element.deficit }
  }

  /// The rules of the zones whose flow has limits of its own.
  var flows: [ZoneID: ZoneFlowRule] {
    zoneItems.prefix(ZoneID.maximum).enumerated()
      .reduce(into: [:]) { $0[ZoneID(index: $1.offset)] = $1.element.flow }
  }

  var hasWeather: Bool { provider != .off }
  var place: GeographicPlace? {
    latitude.flatMap { latitude in longitude.map { GeographicPlace(latitude: latitude, longitude: $0) } }
  }
  var weatherAddress: ServiceAddress? {
    guard weatherURL.hasPrefix("http://") || weatherURL.hasPrefix("https://") else { return nil }
    return ServiceAddress(weatherURL, port: weatherURL.hasPrefix("https://") ? 443 : 80)
  }

  /// The zones and their wires in words, for people.
  var words: String {
    let zones = "\(zoneItems.count) zone\(zoneItems.count == 1 ? "" : "s")"
    let level = relayBoard == .activeLow ? ", active low" : ""
    return switch backend {
    case .gpio: "\(zones) on \(places)" + level
    case .sim: "\(zones), simulated"
    }
  }

  /// The places of the valves' lines, in words.
  private var places: String {
    let header = headerPlaces.first.map { chip ?? "the GPIO lines \(name(allPins[$0]))…" }
    let chips = usedExpanders.map { used in
      used.expander.address.map { "\(used.expander.chip.rawValue) 0x\(String($0, radix: 16))" }
        ?? used.expander.chip.rawValue
    }
    return ((header.map { [$0] } ?? []) + chips).joined(separator: ", ")
  }
}

// MARK: the lines

extension SprinklerWiring {
  /// The GPIO lines of valves, in the order of `allPins`, without the lines of expanders.
  var lines: [GPIOLine] { claimedLines.map(\.line) }

  /// The GPIO lines of valves, as in `lines`, each with the key that gives its pin.
  var claimedLines: [(line: GPIOLine, key: String)] {
    headerPlaces.map { place in
      let pin = allPins[place]
      let ofZone = givenPins == nil ? "sprinkler.zones[\(place)].pin" : "sprinkler.pins"
      return (GPIOLine(name(pin), isActiveLow: isActiveLow(pin)), place < pins.count ? ofZone : "sprinkler.master.pin")
    }
  }

  /// The line of the flow sensor, or `nil` if there is no sensor.
  var flowInput: GPIOInput? { flowPin.map { GPIOInput(name($0), edges: .falling, pull: pull.ofLine) } }

  /// The line of the rain sensor, active while it is wet, or `nil` if there is no sensor.
  var rainInput: GPIOInput? {
    rainPin.map {
      GPIOInput(
        name($0), isActiveLow: (wetWhen == .closed) != (rainPull == .down), edges: .both,
        debounce: .milliseconds(100), pull: rainPull.ofLine)
    }
  }

  func isActiveLow(_ pin: Int) -> Bool { relayBoard == .activeLow || activeLowPins.contains(pin) }

  func name(_ pin: Int) -> GPIOLineName { chip.map { GPIOLineName(.offset(pin, chip: $0)) } ?? .bcm(pin) }
}

// MARK: what the sprinkler is made of. The ranges of the keys and `check` leave nothing to refuse.

extension SprinklerWiring {
  /// The settings of the valves. The limits of the flow are the loop's rules.
  var irrigation: IrrigationSettings {
    do {
      // The zones without a group form group 0.
      var most = [0: groups.isEmpty ? maximumOpen : 1]
      for (index, limit) in maximumOpenOfGroups.enumerated() { most[index + 1] = limit }
      return try IrrigationSettings(
        lineCount: allPins.count,
        master: try masterPin.map { _ in
          try MasterValve(
            line: UInt8(clamping: allPins.count - 1), lead: .seconds(Int64(masterLeadSeconds)),
            lag: .seconds(Int64(masterLagSeconds)))
        },
        stationDelay: .seconds(Int64(stationDelaySeconds)), maximumOpen: maximumOpen, groups: most,
        flow: try flowPin.map { _ in try FlowSettings(pulsesPerLitre: pulsesPerLitre) })
    } catch {
      preconditionFailure("the configuration let through what the valves refuse: \(error)")
    }
  }

  func scheduler(_ rules: SprinklerRules, _ zone: ZoneRules) -> SchedulerSettings {
    var settings = SchedulerSettings(
      zone: zone, pins: allPins, masterPin: masterPin, place: place, catchUpSeconds: rules.catchUpMinutes * 60,
      rainEndsOpenRuns: rules.runningInRain == .stop,
      // Both enumerations have the same raw values.
      manualInRain: SchedulerSettings.ManualInRain(rawValue: rules.manualInRain.rawValue)!,
      afterPowerCut: rules.afterPowerCut == .resume ? .resume : .close)
    settings.moisture = soilItems.compactMap(\.rule)
    settings.deficits = deficits
    settings.flows = flows
    settings.zoneFlow.runs = rules.learnRuns
    settings.zoneFlow.percent = rules.learntPercent
    settings.zoneFlow.settleSeconds = rules.settleSeconds
    settings.zoneFlow.isFault = rules.onAlarm == .stop
    settings.pulsesPerLitre = flowPin.map { _ in pulsesPerLitre }
    settings.deficitPercent = rules.deficitPercent
    settings.rainSensor = rainPin.map { _ in
      RainSensorRule(delaySeconds: rules.rainSensorMinutes * 60, drySeconds: rules.rainSensorDryHours * 3_600)
    }
    return settings
  }

  func description(_ rules: SprinklerRules, _ zone: ZoneRules, isSimulated: Bool) -> SprinklerDescription {
    SprinklerDescription(
      backend: isSimulated ? "sim" : backend.rawValue,
      lines: allPins.map { .init(pin: $0, isActiveLow: isActiveLow($0)) },
      hasMaster: masterPin != nil, deniedPins: deniedPins, rainDelayHours: rules.rainDelayHours,
      manualInRain: rules.manualInRain.rawValue, stopsInRain: rules.runningInRain == .stop,
      hasLegacyRoutes: hasLegacyRoutes, timeZone: zone, place: place, maximumOpen: maximumOpen,
      groups: maximumOpenOfGroups, stationDelaySeconds: stationDelaySeconds, weather: hasWeather ? "open-meteo" : nil,
      pulsesPerLitre: flowPin.map { _ in pulsesPerLitre })
  }

  /// Returns the settings of the weather watch, or `nil` if no weather provider is configured. The provider knows zones by name only; for a time zone
  /// without a name it returns the days of the place.
  func weather(_ rules: SprinklerRules, _ zone: ZoneRules) -> WeatherWatch.Settings? {
    guard hasWeather, let place, let weatherAddress else { return nil }
    return WeatherWatch.Settings(
      address: weatherAddress, latitude: place.latitude, longitude: place.longitude,
      timeZone: zone.isNamed ? zone.identifier : "auto",
      days: rules.days, pastDays: deficits.isEmpty ? 0 : 7, threshold: rules.thresholdMillimetres,
      delayHours: rules.delayHours,
      period: .seconds(Int64(rules.pollMinutes) * 60))
  }
}

extension Sprinkler {
  /// Returns the limits of the flow, which have no effect without a flow sensor.
  public static func loopRules(_ wiring: Wiring, _ rules: Rules) -> FlowLimits {
    func watch(_ litres: Double?) throws(IrrigationSettingsError) -> FlowSettings.Watch? {
      guard let litres else { return nil }
      return try FlowSettings.Watch(
        litresPerMinute: litres, over: .seconds(Int64(rules.settleSeconds)),
        reaction: rules.onAlarm == .stop ? .fault : .notice)
    }
    do {
      return FlowLimits(
        noFlow: try watch(rules.noFlow), highFlow: try watch(rules.highFlow), leak: try watch(rules.leak))
    } catch {
      preconditionFailure("the configuration let through a limit that the valves refuse: \(error)")
    }
  }
}
