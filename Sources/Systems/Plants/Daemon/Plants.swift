import Logging
import MQTTMosquitto
import Plants
import PlantsDocuments
import Service
import ServiceDocuments
import Tactus
import TactusDaemon
import Water
import Wire

/// The plant tracker, configured by `plants:`: soil probes with their history, the host of the Plant-Tracker app, and dry plants that request water
/// from a sprinkler.
///
/// The system drives no actuator: the loop reads probes, and the desk does everything else.
public enum Plants: DeviceSystem, Sections, ConvertsRules, ChecksTogether, ShapesLane, MayBeSimulated, Sees, KeepsOwn,
  Serves, Needs, Offers, OnBroker, HasDocuments,
  ShowsEntities, Introduces, Reaches, Plays
{
  public typealias Order = NoOrder
  public typealias Refusal = NoRefusal
  public typealias Notice = NoNotice
  public typealias State = PlantSensorSnapshot

  public static let name = "plants"
  public static let summary = "Soil probes, plants and the host of the Plant-Tracker app."
  public static let sections = [
    ConfigSection(
      name: "plants",
      doc: "Plants, their soil probes and the host of the Plant-Tracker app, which run when this section is present.")
  ]
  public static var initialState: State { PlantSensorSnapshot(probes: 0) }
  /// The loop has no priority of its own, because it moves no actuator and must not delay the loops that do.
  public static let lane = LaneKeys.none
  public static let keeping = Keeping(tables: .plants, withoutIt: "no plant is watered")
  public static var documents: SystemDocuments { SystemDocuments(name, plants_documents()) }

  public static func isSimulated(_ wiring: Wiring) -> Bool { wiring.backend == .sim }
  /// Returns an empty value, because the system needs nothing of the machine besides its buses.
  public static func reach(_ wiring: Wiring, _ rules: Rules) -> Reach { Reach() }

  /// The rate at which the loop looks for due work; reads are released at exact instants, independent of this rate.
  static let rate = Rate.hertz(10)

  public static func loops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop] {
    let (wiring, ports, readings) = (bench.wiring, try PlantPorts(bench), Ring<PlantProbeReading>(capacity: 256))
    bench.share(readings)
    // Two probes at one place are an error of the configuration, which their claims report.
    guard wiring.hasDistinctProbes else { return [] }
    return [
      mailbox.loop("plants", every: rate, safeStateAfter: 0) { ends in
        PlantLoop(
          ends,
          PlantSensorLoop(
            probes: wiring.sensors.map(\.probe), settings: wiring.probeSettings, bus: ports.i2cPort(),
            port: ports.spiPort(), air: ports.air(), readings: readings.writer()))
      }
    ]
  }

  // MARK: the desk

  public static func desk(_ made: DeskMaterial<Plants>) throws -> PlantDuty { PlantDuty(made) }

  public static var routes: [SystemRoute<Plants>] {
    SystemRoute.own { duty in PlantRoutes(duty.desk, hostName: duty.hostName, pictures: duty.pictures).all }
  }

  // MARK: the app on the broker: a pair of topics, one for all clients and hosts each way. Nothing there is retained.

  public static func filters(_ wiring: Wiring) -> [String] { wiring.hasApp ? [PlantTopics.toHost] : [] }

  public static func receive(_ message: MQTTMessage, _ duty: PlantDuty, on broker: BrokerLine) {
    duty.desk.receive(message.payload, isOld: message.isRetained) { replies in
      for reply in replies { broker.publish(MQTTMessage(topic: PlantTopics.fromHost, text: reply.encoded)) }
    }
  }

  public static func summary(_ wiring: Wiring, hasBroker: Bool) -> [String] {
    let app =
      hasBroker
      ? "the Plant-Tracker app is answered by \(wiring.hostName) on \(PlantTopics.toHost) and \(PlantTopics.fromHost)"
      : "the Plant-Tracker app is not connected: there is no section mqtt"
    let links = wiring.waterings.compactMap { link in link.plant.map { "\($0) (zone \(link.zone ?? 0))" } }
    return (wiring.hasApp ? [app] : [])
      + (links.isEmpty ? [] : ["plants that ask for water while they are dry: \(links.joined(separator: ", "))"])
  }

  // MARK: what people see

  public static var driven: String? { nil }

  public static func summary(_ wiring: Wiring, _ rules: Rules, address: String) -> [String] {
    ["plants: \(wiring.summary)"]
  }

  public static func invitation(_ wiring: Wiring, _ rules: Rules, _ start: ProgramStart) -> Invitation {
    let isSimulated = start.isSimulated && wiring.backend != .sim
    return Invitation(
      title: "plants with \(wiring.summary)" + (isSimulated ? " (simulated)" : ""),
      calls: wiring.sensors.prefix(1).map {
        .init(path: "/api/plants", body: "{\"name\": \"Basil\", \"sensors\": [\"\($0.name)\"]}")
      })
  }

  public static func entities(
    _ look: Look<Plants>, on topics: DeviceTopics, takesCommands: Bool
  ) -> [HomeAssistantEntity] {
    guard let desk = look.shared(PlantDesk.self) else { return [] }
    return desk.view.records.plants.prefix(PlantSeen.shown).flatMap { plant in
      PlantTopics.entities(
        of: plant.id, name: plant.name.text, on: topics, takesCommands: takesCommands,
        asksForWater: desk.linkSettings[plant.id] != nil)
    }
  }

  public static let movingMembers: Set = [
    "moisturePercent", "temperatureCelsius", "raw", "ageMs", "readings", "failures", "failuresInARow", "retries",
    "messages", "replies",
  ]

  public static func play(_ file: YAMLFile, seed: UInt64?) throws -> Bool? {
    try file.play(in: PlantScenario.self, seed: seed)
  }

  public static let scenarioHelp =
    "one with a `plants:` part probes in soils that dry, and the messages of the Plant-Tracker app"
}

/// The row of the dashboard.
extension Plants: HasPanels {
  @DeclarationBuilder<Panel> public static var panels: [Panel] {
    Panel("Moisture", "Of each plant: the mean of its probes that are read.", from: 0, to: 1) {
      Series("moisture_ratio", "{{name}} ({{plant}})")
    }
    Panel("Temperature of plants", "By the probes that have a thermometer.") {
      Series("temperature_celsius", "{{name}} ({{plant}})")
    }
    Panel.states(
      "Alerts of plants", "Raised: dry, wet, cold, hot, or a probe that has fallen silent.", width: 12, height: 5
    ) {
      Series("alert", "{{name}}: {{alert}}")
    }
    Panel("Probes", "Since each probe was last read, and readings that failed.", height: 5) {
      Series("probe_age_seconds", "{{sensor}} age")
      Series("probe_failures_total", "{{sensor}} failures in an hour", over: "1h", .ifAny)
    }
    Panel(
      "The Plant-Tracker app", "Messages of an hour by what became of them, and replies.", unit: "short", width: 24,
      height: 6
    ) {
      Series("messages_total", over: "1h")
      Series("replies_total", "replies", over: "1h")
      Series("store_writable", "store refuses", .ifZero)
    }
  }
}
