import ArgumentParser
import AvahiSystemd
import Buses
import Service
import ServiceDocuments
import Sprinkler
import SprinklerDocuments
import Store
import Tactus
import TactusDaemon
import Wire

/// The sprinkler controller, configured by `sprinkler:`.
///
/// The loop knows valves, runs and the flow; the desk knows schedules, the clock, the rain and the store, and orders the loop.
public enum Sprinkler: DeviceSystem, Sections, ConvertsRules, ChecksTogether, ShapesLane, MayBeSimulated, KeepsOwn,
  Serves, OrdersLoop, Offers, Needs, Sees, TellsInFull, Explains, HasDocuments, ShowsEntities, Introduces, Reaches,
  Plays, HasCommands
{
  public typealias Wiring = SprinklerWiring
  public typealias Rules = SprinklerRules
  public typealias LoopRules = FlowLimits
  public typealias Order = SprinklerOrder
  public typealias Refusal = IrrigationRefusal
  public typealias Notice = IrrigationNotice
  public typealias State = SprinklerSnapshot

  public static let name = "sprinkler"
  public static let summary = "Zones that are watered by schedules, by hand and by other systems."
  public static let sections = [
    ConfigSection(
      name: "sprinkler",
      doc:
        "The sprinkler controller, which runs when this section is present. What zones are called and do is kept "
        + "in its store, where the API changes it; what is changed here is taken at the next start.")
  ]
  public static let movedKeys = ["sprinkler.state_dir": "store.folder", "sprinkler.snapshots": "store.snapshots"]
  public static let lane = LaneKeys(
    "runtime.sprinkler", "the valves' lane", priority: 60,
    safeStateAfter: (30, "every valve is closed, in fault until a reset"))
  /// The loop is more patient than others, because it ticks once a second unless something wakes it.
  public static let mailbox = MailboxShape(
    requestsPerTick: 512, answers: 1_024, notices: 1_024, patience: .milliseconds(800))
  /// The loop ticks once a second, and a countdown goes on between its ticks.
  public static let showsPresent = true
  public static let keeping = Keeping(tables: .sprinkler, withoutIt: "no zone opens")
  public static var documents: SystemDocuments { SystemDocuments(name, sprinkler_documents()) }

  public static var initialState: State { SprinklerSnapshot() }
  /// The list is empty: clients use the desk's routes, which store a change before a valve opens.
  public static var commands: [Command<Order>] { [] }
  public static let emergencyStop = Order.emergencyStop
  public static let reset = Order.reset
  public static let nothingToReset: Refusal? = .nothingToReset
  /// No order: no client holds a valve, and a zone runs for its requested time.
  public static let whenClientLeaves: Order? = nil

  public static func isSimulated(_ wiring: Wiring) -> Bool { wiring.backend == .sim }
  public static func reach(_ wiring: Wiring, _ rules: Rules) -> Reach { Reach(looksUpNames: wiring.hasWeather) }
  public static func isEmergencyStopped(_ state: State) -> Bool { state.state == .emergencyStopped }
  public static func explain(_ refusal: Refusal, _ state: State) -> String { "the sprinkler: \(refusal.sentence)" }

  // MARK: the loop

  public static func loops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop] {
    let wiring = bench.wiring
    let (valves, twins) = try openLines(bench)
    let (sensor, flows) = try openFlowSensor(bench, valves)
    let (rain, weather) = try openRainSensor(bench)
    let (soil, soils) = try openSoilLines(bench)
    let boot = BootClock.boot
    // The lines have just been requested as off, which is known even if the store opens late.
    bench.share(ValvesClosed(boot: boot, at: (bench.madeSafe?.instants(in: boot) ?? []) + [BootClock.now]))
    let commandAge = DataAge("command", fromOutside: .releasesLoop)
    let inputs = sensor?.loopInputs ?? []
    // Simulated pulses have no descriptor that releases the loop.
    let flowAge = DataAge("flow", fromOutside: inputs.isEmpty ? .awaitsLoop : .releasesLoop)
    return [
      mailbox.loop(
        "sprinkler.valves", every: .period(SprinklerLoop.period), safeStateAfter: bench.safeStateAfter, inputs: inputs,
        ages: sensor == nil ? [commandAge] : [commandAge, flowAge]
      ) {
        SprinklerLoop(
          wiring.irrigation, lines: valves.port(), flow: port(of: sensor), rain: port(of: rain),
          soil: soil.ports(), ends: $0,
          commandAge: commandAge.meter(), flowAge: flowAge.meter())
      }
    ] + twins + flows + weather + soils
  }

  private static func port(of sensor: InputPart?) -> GPIOEvents? {
    guard let sensor else { return nil }
    return sensor.port()
  }

  // MARK: the desk

  public static func desk(_ made: DeskMaterial<Sprinkler>) throws -> SprinklerDesk {
    let desk = try SprinklerDesk(made)
    made.share(desk)
    made.offer(desk.water)
    made.offer(LiveRestore(part: StoreSystem.sprinkler.name) { try await desk.restore($0, $1) })
    return desk
  }

  public static var routes: [SystemRoute<Sprinkler>] { SystemRoute.own { SprinklerRoutes(desk: $0).all } }

  // MARK: what is seen of it

  public static func seen(_ published: Published<State>, _ look: Look<Sprinkler>) -> SprinklerSeen {
    look.shared(SprinklerDesk.self)?.seen(published, at: look.now)
      ?? SprinklerSeen(
        published, SprinklerView(isLoaded: false, records: SprinklerRecords()),
        look.wiring.description(look.rules, .utc, isSimulated: true), at: look.now, WatchedWallClock().now)
  }

  public static func version(_ look: Look<Sprinkler>) -> UInt64 { look.shared(SprinklerDesk.self)?.view.version ?? 0 }
  public static var seenFields: [Field<SprinklerSeen>] { SprinklerFields.ofState }

  public static func statusMembers(_ published: Published<State>, _ look: Look<Sprinkler>) -> [UInt8] {
    look.shared(SprinklerDesk.self).map { SprinklerRoutes(desk: $0).statusMembers } ?? Array("{}".utf8)
  }

  public static func events(_ published: Published<State>, _ look: Look<Sprinkler>) -> [Event] {
    look.shared(SprinklerDesk.self)?.events(published, at: look.now) ?? []
  }

  /// The members whose values change by themselves, which the broker gets only from time to time. `until` of a rain delay is one of them, since
  /// it follows a clock that may be set; that a delay begins or ends is published immediately.
  public static let movingMembers: Set = [
    "localTime", "remainingSec", "pausedRemainingSec", "ranTodaySec", "inSec", "litresPerMinute", "pulses", "until",
    "millimetres", "answeredISO", "moisturePercent", "readISO", "runLitres",
  ]

  /// Returns an entity for each zone, a valve if commands are accepted and a binary sensor otherwise, besides that of the sprinkler's state.
  public static func entities(
    _ look: Look<Sprinkler>, on topics: DeviceTopics, takesCommands: Bool
  ) -> [HomeAssistantEntity] {
    let zones = look.shared(SprinklerDesk.self)?.view.records.zones ?? []
    return [
      .state(
        name, name: "Sprinkler", of: name,
        attributes: ["reason", "fault", "wayOut", "linesConfirmed", "linesDiffering", "nextRun"], on: topics)
    ]
      + zones.map { zone in
        var entity = HomeAssistantEntity(
          takesCommands ? .valve : .binarySensor, id: "zone-\(zone.id)", name: zone.name)
        let item = "zone/\(zone.id)"
        entity.stateTopic = topics.state(name, item)
        entity.show(["id", "gpioPin", "isEnabled", "defaultMinutes", "maxMinutes"])
        if takesCommands {
          entity.deviceClass = "water"
          entity.valueTemplate = "{{ 'open' if value_json.isOn else 'closed' }}"
          entity.commandTopic = topics.command(name, item)
          entity.others["payload_open"] = "on"
          entity.others["payload_close"] = "off"
        } else {
          entity.deviceClass = "opening"
          entity.valueTemplate = "{{ 'ON' if value_json.isOn else 'OFF' }}"
        }
        return entity
      }
  }

  // MARK: what people read of it, in the terminal and on the network

  public static var driven: String? { "the valves" }
  public static var callExamples: [String]? { ["zone/1 on minutes=1"] }

  public static func summary(_ wiring: Wiring, _ rules: Rules, address: String) -> [String] {
    ["sprinkler: \(wiring.words)"]
  }

  public static func invitation(_ wiring: Wiring, _ rules: Rules, _ start: ProgramStart) -> Invitation {
    let isSimulated = start.isSimulated && wiring.backend != .sim
    return Invitation(
      title: "sprinkler with \(wiring.words)" + (isSimulated ? " (simulated)" : ""),
      calls: [.init(path: "/api/zone/1/on", body: "{\"minutes\": 1}")])
  }

  /// Returns the announcement of the original backend's Avahi file, except for the path, which the requirement defines.
  public static func announcements(host: String, port: UInt16, hasTLS: Bool) -> [AnnouncedService] {
    [
      AnnouncedService(
        name: "Sprinkler on \(host)", type: "_sprinkler._tcp", port: port,
        text: ["path=/api/status", "tls=\(hasTLS ? 1 : 0)", "version=\(DaemonProgram.current.version)"])
    ]
  }

  public static var terminal: [any ParsableCommand.Type] { [ImportCommand.self] }

  public static func timeZone(_ wiring: Wiring) -> String? { wiring.timeZone }

  // MARK: scenarios

  public static func play(_ file: YAMLFile, seed: UInt64?) throws -> Bool? {
    try file.play(in: SprinklerScenario.self, seed: seed)
  }

  public static let scenarioHelp = "one with a `sprinkler:` part plays days of watering and prints their calendar"
}

/// The instants at which the valves were certainly closed, by the clock of a boot: those of the guard's writes after the last process had died, and
/// that of the start.
struct ValvesClosed: Sendable {
  let boot: BootID?
  let at: [TickInstant]
}

/// The row of the dashboard.
extension Sprinkler: HasPanels {
  @DeclarationBuilder<Panel> public static var panels: [Panel] {
    Panel.states(
      "Zones", "Each zone whose valve is open is drawn, and the rain delay and the master valve while they are.",
      red: [], height: 6
    ) {
      Series("zone_open", "zone {{zone}}")
      Series("rain_delay_seconds", "rain delay")
      Series("master_open", "master valve")
    }
    Panel.states("State of the valves", "Each state is a row; it is drawn while the valves are in it.") {
      Series("state")
    }
    Panel("Watered today", "What each zone has run on this local day; it begins anew at local midnight.", from: 0) {
      Series("zone_today_seconds", "zone {{zone}}")
    }
    Panel(
      "Still to come",
      "Until each open zone closes, and until the next start of a schedule; no line while there is none.", from: 0
    ) {
      Series("zone_remaining_seconds", "zone {{zone}}")
      Series("next_start_seconds", "next start")
    }
    Panel(
      "Water", "By the flow sensor, where there is one; the alarm is 1 while the flow is not what it should be.",
      from: 0
    ) {
      Series("flow_litres_per_minute", "l/min")
      Series("flow_alarm", "alarm")
    }
    Panel(
      "Runs and lines",
      "Runs that ended in the last hour, and what keeps them from it: refusals, lines that fail or read back otherwise, a store that does not take a change.",
      unit: "short", from: 0
    ) {
      Series("completed_runs_total", "completed", over: "1h")
      Series("ended_runs_total", "ended early", less: "completed_runs_total", over: "1h")
      Series("refused_orders_total", "refused", over: "1h", .ifAny)
      Series("line_failures_total", "line failures", over: "1h", .ifAny)
      Series("line_differences_total", "read back otherwise", over: "1h", .ifAny)
      Series("store_writable", "store refuses", .ifZero)
    }
  }
}
