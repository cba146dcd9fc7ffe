import Buses
import Foundation
import Logging
import NIOCore
import ServiceSupport
import Sprinkler
import Synchronization
import Tactus
import TactusDaemon
import Testing
import WallTime

@testable import Service
@testable import SprinklerDaemon
@testable import Store

/// Three zones' lane in simulated time with desk, store and door before it; the test is both clocks, the beat and the clients.
final class SprinklerDoorBench {
  static let pins = [17, 27, 22]
  /// Friday, 1 May 2026, 06:00 in Berlin.
  static let start = WallInstant(secondsSince1970: 1_777_608_000)
  static let berlin = try! ZoneRules(identifier: "Europe/Berlin")
  /// Monday and Friday at 06:02, zones 1 and 2.
  static let mornings =
    #"{"name":"Mornings","days":["Mon","Fri"],"startTimes":["06:02"],"zones":[{"zoneId":1,"minutes":1},{"zoneId":2,"seconds":30}]}"#

  let door: any ServedSystem & MetricSource
  let desk: SprinklerDesk
  let bank = SimulatedGPIOBank()
  let log = RecordingLog()
  let folder: URL
  private let lines: SimulatedGPIOLines
  private let sensor: SimulatedGPIOEvents?
  private let bell = SimulatedInput()
  private let runtime: Runtime
  private let simulation: Simulation
  private let clock = Clock()
  private let happened: AsyncStream<Happening>.Continuation
  private var happenings: AsyncStream<Happening>.Iterator
  private(set) var edges: [Event] = []
  private let standIn: StandIn<Sprinkler>
  /// What the daemon's main thread does when the loop has rung.
  var take: (StandIn<Sprinkler>, TickInstant) -> [Event] = { $0.takeAnswers(at: $1) }
  /// The desk's thread has no turn: as if a disk held it up.
  var isDeskBusy = false

  private enum Happening {
    case ring
    case done
  }

  private final class Clock: Sendable {
    let nanoseconds = Atomic<Int64>(0)
    /// What somebody has set the wall clock forward by, s.
    let step = Atomic<Int64>(0)
    /// What passes by each look of the desk's, ns.
    let perLook = Atomic<Int64>(0)
    var now: TickInstant { TickInstant(nanoseconds: nanoseconds.load(ordering: .acquiring)) }

    func look() -> TickInstant {
      TickInstant(
        nanoseconds: nanoseconds.add(perLook.load(ordering: .acquiring), ordering: .acquiringAndReleasing).newValue)
    }

    var wall: WallInstant {
      SprinklerDoorBench.start + now.nanoseconds / 1_000_000_000 + step.load(ordering: .acquiring)
    }
  }

  /// - Parameters:
  ///   - folder: of a bench before this one, as if the daemon had been killed.
  ///   - began: the time of day.
  ///   - hasEverything: a master valve on pin 23 and a flow sensor on pin 24.
  ///   - leadSeconds: of that master valve.
  ///   - rules: such as the limits of that flow sensor.
  ///   - opensStore: otherwise the store is not open yet: `desk.store.file.open` does it.
  ///   - boot: of the machine.
  ///   - prepare: what a new store begins with besides the zones.
  init(
    manualInRain: SchedulerSettings.ManualInRain = .warn, hasLegacyRoutes: Bool = false, folder: URL? = nil,
    began: WallInstant = start, hasEverything: Bool = false, leadSeconds: Int64 = 0,
    rules: Sprinkler.Rules = .init(), opensStore: Bool = true, boot: String = "1",
    prepare: @escaping @Sendable (inout SprinklerRecords) -> Void = { _ in }
  ) throws {
    clock.step.store(began - Self.start, ordering: .releasing)
    self.folder =
      folder ?? FileManager.default.temporaryDirectory.appending(path: "tactus-\(UUID().uuidString.prefix(13))")
    let (bank, bell) = (bank, bell)
    lines = try bank.outputs(
      Self.pins.map { GPIOLine(.bcm($0), isActiveLow: $0 == 22) } + (hasEverything ? [GPIOLine(.bcm(23))] : []))
    sensor = hasEverything ? try bank.events([GPIOInput(.bcm(24))]) : nil
    let (port, sensor) = (lines, sensor)
    let settings = try IrrigationSettings(
      lineCount: hasEverything ? 4 : 3,
      master: hasEverything ? try MasterValve(line: 3, lead: .seconds(leadSeconds)) : nil,
      flow: hasEverything ? FlowSettings(pulsesPerLitre: 450) : nil)
    let (stream, continuation) = AsyncStream.makeStream(of: Happening.self)
    happenings = stream.makeAsyncIterator()
    happened = continuation
    let standIn = try StandIn(
      Sprinkler.self, .init(), rules, ring: { continuation.yield(.ring) }, now: { [clock] in clock.look() })
    self.standIn = standIn
    runtime = try Runtime {
      Lane("sprinkler") {
        Loop("sprinkler", every: .period(SprinklerLoop.period), phase: .zero, inputs: [.simulated(bell)]) {
          SprinklerLoop(
            settings, lines: port.port(), flow: Self.flow(sensor), ends: standIn.ends(requestBell: bell.doorbell))
        }
      }
    }
    simulation = try runtime.simulation()
    let path = self.folder.appending(path: "sprinkler.sqlite").path(percentEncoded: false)
    let file = StoreFile(path, systems: [.sprinkler], mounts: MountWatch(named: "/"))
    if opensStore { _ = try file.open(at: Self.start) }
    desk = SprinklerDesk(
      { store, scheduler throws(StoreError) in
        var records = try store.records()
        if records.zones.isEmpty {
          records.zones = zip(1..., zip(["Front", "Back", "Beds"], Self.pins)).map {
            Zone(id: ZoneID($0)!, name: $1.0, gpioPin: $1.1)
          }
          prepare(&records)
          try store.apply([.everything(records)])
        }
        return SprinklerScheduler(records, settings: scheduler, boot: BootID(boot))
      }, store: SprinklerStore(file), orders: standIn.orders(makesSafe: \.isStop, mayBeLate: \.mayBeLate, part: \.part),
      newest: standIn.newest,
      settings: .init(
        scheduler: SchedulerSettings(zone: Self.berlin, pins: Self.pins, manualInRain: manualInRain),
        description: SprinklerDescription(
          backend: "sim", lines: Self.pins.map { .init(pin: $0, isActiveLow: $0 == 22) }, hasMaster: false,
          deniedPins: [2, 3, 14, 15], manualInRain: manualInRain.rawValue, hasLegacyRoutes: hasLegacyRoutes,
          timeZone: Self.berlin)),
      logger: log.logger,
      clock: WatchedWallClock(boot: BootID(boot)) { [clock] in
        WallWatch.Sample(
          microseconds: clock.wall.secondsSince1970 * 1_000_000, bootTime: clock.now, isSynchronised: true)
      })
    door = standIn.serve(desk, sharing: desk).system
    run(for: 200)
  }

  private static func flow(_ sensor: SimulatedGPIOEvents?) -> GPIOEvents? {
    guard let sensor else { return nil }
    return sensor.port()
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  var milliseconds: Int64 { clock.now.nanoseconds / 1_000_000 }

  /// Both clocks go on; the desk hears its beat ten times a second.
  func run(for milliseconds: Int64) {
    let end = self.milliseconds + milliseconds
    while self.milliseconds < end {
      let next = min(end, (self.milliseconds / 100 + 1) * 100)
      simulation.run(until: TickInstant(nanoseconds: next * 1_000_000))
      clock.nanoseconds.store(next * 1_000_000, ordering: .releasing)
      turn()
      if next % 100 == 0, !isDeskBusy { desk.beat(at: clock.now) }
      bell.ring(at: clock.now)
    }
  }

  func run(seconds: Int64) { run(for: seconds * 1000) }

  var now: TickInstant { clock.now }

  /// Both clocks go on, and the loop has no turn.
  func passTime(_ time: Nanoseconds) { clock.nanoseconds.add(time.count, ordering: .releasing) }

  /// From now on both clocks go on by so much whenever the desk's is looked at, and the loop has no turn.
  func timePassesByLooking(_ time: Nanoseconds) { clock.perLook.store(time.count, ordering: .releasing) }

  /// Only the time of day goes on.
  func setForward(seconds: Int64) { clock.step.add(seconds, ordering: .relaxed) }

  private func turn() {
    edges += take(standIn, clock.now)
    if !isDeskBusy { desk.feed() }
  }

  /// The level on a pin, as a meter shows it.
  func isHigh(_ pin: Int) -> Bool { bank.isHigh(pin) }

  /// A request, answered in the simulated time that it takes.
  func ask(
    _ method: String, _ path: String, _ body: String = "", query: [String: String] = [:], bytes: [UInt8]? = nil,
    arrived: TickInstant? = nil, isolation: isolated (any Actor)? = #isolation
  ) async throws -> APIResponse {
    let table = RouteTable(door.routes)
    let place = try #require(table.place(path.split(separator: "/").map(String.init)), "\(path)")
    let route = try #require(place.routes.first { $0.method.rawValue == method }, "\(method) \(path)")
    if case .prepared(let document) = route.handling {
      return APIResponse(contentType: document.contentType, body: Array(document.bytes.readableBytesView))
    }
    guard case .handler(let handler) = route.handling else { throw CancellationError() }
    let request = APIRequest(
      caller: arrived.map { .one.with(arrival: $0) } ?? .one, parameters: place.parameters, query: query,
      body: bytes ?? Array(body.utf8))
    return try await finish { try await handler(request) }
  }

  /// Waits for work of a client or of another system, in the simulated time that it takes.
  func finish<Value: Sendable>(
    isolation: isolated (any Actor)? = #isolation, _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let task = Task { [happened] in
      defer { happened.yield(.done) }
      return try await work()
    }
    while let next = await happenings.next(isolation: isolation), next != .done {
      bell.ring(at: clock.now)
      run(for: 1)
      turn()
    }
    return try await task.value
  }

  func json(
    _ method: String, _ path: String, _ body: String = "", query: [String: String] = [:],
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> [String: Any] {
    let response = try await ask(method, path, body, query: query)
    return try #require(try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any])
  }

  /// The API's error that a request ends with; nil when it ends well.
  func refusal(
    _ method: String, _ path: String, _ body: String = "", query: [String: String] = [:], arrived: TickInstant? = nil,
    isolation: isolated (any Actor)? = #isolation
  ) async -> APIError? {
    do {
      _ = try await ask(method, path, body, query: query, arrived: arrived)
      return nil
    } catch {
      return error as? APIError ?? APIError(.internalServerError, "NOT_AN_API_ERROR", "\(error)")
    }
  }

  /// What `GET /api/status` has at its top level.
  func status() throws -> [String: Any] {
    let members = try #require(door.statusMembers)
    return try #require(try JSONSerialization.jsonObject(with: Data(members)) as? [String: Any])
  }

  /// Something done to the store's tables behind its back.
  func sql(_ text: String) throws { try desk.store.file.pool.write { try $0.execute(sql: text) } }

  /// As if the power failed: another bench on a copy of what is on the disk.
  func afterPowerCut(seconds: Int64 = 0) throws -> SprinklerDoorBench {
    let copy = FileManager.default.temporaryDirectory.appending(path: "tactus-\(UUID().uuidString.prefix(13))")
    try FileManager.default.copyItem(at: folder, to: copy)
    return try SprinklerDoorBench(folder: copy, began: clock.wall + seconds, boot: "2")
  }
}
