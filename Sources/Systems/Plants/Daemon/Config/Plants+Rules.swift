@_spi(FromOutside) import Conversions
import Plants
import TactusDaemon

extension Plants {
  /// The settings that a reload can change: which messages the app's clients may send, and what the links may request.
  public struct Rules: Settings, Equatable {
    var isQuiet = false
    /// The largest number of a client's messages in a window; 0 means no limit.
    var spamLimit = 15
    var spamWindowSeconds = 15
    var waterings: [PlantWateringRules] = []

    public init() {}

    @DeclarationBuilder<Key<Self>> public static var keys: [Key<Self>] {
      Key(
        "plants.app.quiet", \.isQuiet,
        "Do not acknowledge what was added, deleted or edited, as the original host did not.")
      Key(
        "plants.app.spam_limit", \.spamLimit, in: 0...100_000,
        "Messages of one sender in plants.app.spam_window_s; 0: as many as they like.")
      Key("plants.app.spam_window_s", \.spamWindowSeconds, in: 1...3_600, "Seconds of that window.")
      Key("watering", \.waterings, upTo: 64, "")
    }
  }

  /// The probes' loop uses none of the rules.
  public typealias LoopRules = NoSettings
  public static func loopRules(_ wiring: Wiring, _ rules: Rules) -> NoSettings { NoSettings() }

  // MARK: rules over more than one key

  public static func check(_ wiring: Wiring, _ rules: Rules, _ report: Contradictions<Plants>) {
    if wiring.staleAfterSeconds < 2 * wiring.readPeriodSeconds {
      report(
        \.staleAfterSeconds,
        "expected at least two of plants.read_period_s (\(2 * wiring.readPeriodSeconds)), got \(wiring.staleAfterSeconds)",
        or: \.readPeriodSeconds,
        "expected at most half of \(report.words(\.staleAfterSeconds, wiring.staleAfterSeconds)), got \(wiring.readPeriodSeconds)"
      )
    }
    if wiring.hasApp, !wiring.hasHostName {
      report.alone(\.hostName, "expected a name without : and ;, other than all, got '\(wiring.hostName)'")
    }
    order(\.limits.dryPercent, \.limits.wetPercent, wiring, report)
    order(\.limits.coldCelsius, \.limits.hotCelsius, wiring, report)
    for (index, watering) in wiring.waterings.enumerated() {
      guard let plant = watering.plant, let first = wiring.waterings[..<index].firstIndex(where: { $0.plant == plant })
      else { continue }
      report(
        \.waterings, index, \.plant,
        "expected one link of plant \(plant), got two: \(report.words(\.waterings, first, \.plant)) has it")
    }
  }

  /// Reports two limits of which the lower one is not lower.
  private static func order(
    _ lower: KeyPath<Wiring, Double?>, _ upper: KeyPath<Wiring, Double?>, _ wiring: Wiring,
    _ report: Contradictions<Plants>
  ) {
    guard let least = wiring[keyPath: lower], let most = wiring[keyPath: upper], least >= most else { return }
    report(
      upper, "expected more than \(report.words(lower, least)), got \(most)", or: lower,
      "expected less than \(report.words(upper, most)), got \(least)")
  }

  public static func check(
    _ wiring: Wiring, _ rules: Rules, among others: Set<String>, _ report: Contradictions<Plants>
  ) {
    if wiring.pictureHour != nil, !others.contains("video") {
      report.alone(\.pictureHour, "expected a section video, whose camera takes the pictures, got none")
    }
    if others.contains("sprinkler") { return }
    for (index, watering) in wiring.waterings.enumerated() where !watering.isNothing {
      report(\.waterings, index, "expected a section sprinkler, whose zone can be asked, got none")
    }
  }

  // MARK: what the desk has of them

  static func host(_ wiring: Wiring, _ rules: Rules) -> PlantHostSettings {
    var settings = PlantHostSettings()
    settings.staleAfter = .seconds(Int64(wiring.staleAfterSeconds))
    guard wiring.hasApp else { return settings }
    settings.hostName = wiring.hostName
    settings.legacyQuiet = rules.isQuiet
    settings.spamLimit = rules.spamLimit == 0 ? nil : rules.spamLimit
    settings.spamWindow = .seconds(Int64(rules.spamWindowSeconds))
    return settings
  }

  /// Returns what the link of each linked plant may request.
  static func links(_ wiring: Wiring, _ rules: Rules) -> [PlantID: PlantWateringSettings] {
    let links = zip(wiring.waterings, rules.waterings).compactMap { watering, rules in
      watering.plant.map { plant in
        do {
          return (
            PlantID(UInt64(clamping: plant)),
            try PlantWateringSettings(
              zone: watering.zone!, seconds: rules.seconds, maximumPerDay: rules.perDay,
              minimumGapSeconds: Int64(rules.gapMinutes) * 60)
          )
        } catch {
          preconditionFailure("the configuration let through what the link refuses: \(error)")
        }
      }
    }
    return Dictionary(uniqueKeysWithValues: links)
  }

  static func deskParts(_ wiring: Wiring, _ rules: Rules) -> PlantDesk.Parts {
    PlantDesk.Parts(
      sensors: wiring.sensors.map(\.monitored), host: host(wiring, rules), rules: wiring.bookRules,
      detector: wiring.riseDetector, tiers: wiring.tiers, links: links(wiring, rules))
  }
}
