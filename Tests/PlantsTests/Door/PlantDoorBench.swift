import Devices
import Foundation
import GRDB
import Plants
import ServiceSupport
import Synchronization
import Tactus
import TactusDaemon
import Testing
import Water

@testable import PlantsDaemon
@testable import Service
@testable import Store

/// Desk, store and door of two probes; the test is both clocks, the sensor loop, the app and the clients.
final class PlantDoorBench {
  static let start = PlantInstant(secondsSince1970: 1_790_000_000)
  static let sensors = [
    PlantMonitor.Sensor(PlantSensorID("0x36")!, .seesaw(SeesawSoil())),
    PlantMonitor.Sensor(PlantSensorID("adc-0")!, .ads1115(ADS1115(), channel: 0)),
  ]

  let desk: PlantDesk
  let door: any ServedSystem & MetricSource
  let folder: URL
  let file: StoreFile
  let clock = Clock()
  let sprinkler = FakeSprinkler()
  private var isHandedOver = false

  final class Clock: Sendable {
    let seconds = Atomic<Int64>(100)
    var now: TickInstant { TickInstant(nanoseconds: seconds.load(ordering: .acquiring) * 1_000_000_000) }
    var wall: PlantInstant { PlantDoorBench.start + seconds.load(ordering: .acquiring) }
  }

  /// What links ask.
  final class FakeSprinkler: Sendable {
    struct State {
      var asked: [WaterRequest] = []
      var isRainDelayed = false
      var isStopped = false
      var refusal: String?
    }
    let state = Mutex(State())
    var asked: [WaterRequest] { state.withLock { $0.asked } }

    var water: WaterSupply {
      WaterSupply(
        isRainDelayed: { self.state.withLock { $0.isRainDelayed } },
        isStopped: { self.state.withLock { $0.isStopped } },
        day: { Int($0 / 86_400) },
        ask: { request in
          let refusal = self.state.withLock { state in
            state.asked.append(request)
            return state.refusal
          }
          if let refusal { throw APIError.conflict("REFUSED", refusal) }
        })
    }
  }

  /// - Parameters:
  ///   - folder: what a bench before this one has handed over.
  ///   - links: by plant.
  ///   - opensStore: otherwise `file.open` does it later.
  init(
    folder: URL? = nil, host: PlantHostSettings = PlantHostSettings(), links: [PlantID: PlantWateringSettings] = [:],
    opensStore: Bool = true
  ) throws {
    self.folder =
      folder ?? FileManager.default.temporaryDirectory.appending(path: "tactus-\(UUID().uuidString.prefix(13))")
    let path = self.folder.appending(path: "store.sqlite").path(percentEncoded: false)
    file = StoreFile(path, systems: [.sprinkler, .plants, .pump], mounts: MountWatch(named: "/"))
    if opensStore { _ = try file.open(at: .now) }
    let clock = clock
    let snapshot = PlantSensorSnapshot(probes: 2)
    desk = PlantDesk(
      PlantDesk.Parts(sensors: Self.sensors, host: host, links: links), store: PlantStore(file), newest: { snapshot },
      water: { [sprinkler] in sprinkler.water }, now: { clock.now },
      clock: WatchedWallClock(boot: nil) {
        WallWatch.Sample(
          microseconds: clock.wall.secondsSince1970 * 1_000_000, bootTime: clock.now, isSynchronised: true)
      })
    door = try StandIn(Plants.self).serve(PlantDuty(desk, hostName: host.hostName), sharing: desk).system
  }

  deinit { if !isHandedOver { try? FileManager.default.removeItem(at: folder) } }

  /// The folder for a bench after this one, as if the daemon had been killed.
  func handOver() throws -> URL {
    isHandedOver = true
    try file.close()
    return folder
  }

  /// Time passes; both probes are read every ten seconds, if they are given.
  func run(seconds: Int64, moisture: Double? = nil, converter: Double? = nil) {
    for _ in 0..<seconds {
      let second = clock.seconds.add(1, ordering: .acquiringAndReleasing).newValue
      if second % 10 == 0 {
        if let moisture { read(0, Int64(200 + 18 * moisture), celsius: 21.25) }
        if let converter { read(1, Int64((2_600 - 15 * converter) * 1_000)) }
      }
      desk.beat(at: clock.now)
    }
  }

  func read(_ probe: Int, _ sample: Int64, celsius: Double? = nil) {
    desk.receive(PlantProbeReading(probe: probe, at: clock.now, .sample(sample, celsius: celsius)))
  }

  /// Something done to the store's tables behind its back.
  func sql(_ text: String) throws { try file.pool.write { try $0.execute(sql: text) } }

  /// What the app is answered to a request.
  func app(_ operation: String, _ payload: String, sender: String = "6F2A") -> [String] {
    let replies = Mutex<[String]>([])
    let done = DispatchSemaphore(value: 0)
    let text = "ID:7;sender:\(sender);receiver:Host-RPI3B+;payload:\(payload);operation:\(operation)"
    desk.receive(Array(text.utf8)) { messages in
      replies.withLock { $0 += messages.map { "\($0.operation) \($0.payload)" } }
      done.signal()
    }
    done.wait()
    return replies.withLock { $0 }
  }

  func ask(
    _ method: String, _ path: String, _ body: String = "", query: [String: String] = [:]
  ) async throws -> APIResponse {
    let table = RouteTable(door.routes)
    let place = try #require(table.place(path.split(separator: "/").map(String.init)), "\(path)")
    let route = try #require(place.routes.first { $0.method.rawValue == method }, "\(method) \(path)")
    guard case .handler(let handler) = route.handling else { throw CancellationError() }
    let caller = Caller(scope: .admin, tokenID: "one", address: "10.0.0.7", client: 1)
    return try await handler(
      APIRequest(caller: caller, parameters: place.parameters, query: query, body: Array(body.utf8)))
  }

  func json(
    _ method: String, _ path: String, _ body: String = "", query: [String: String] = [:]
  ) async throws -> [String: Any] { try await ask(method, path, body, query: query).object() }

  /// A plant's document after a request.
  func plant(_ method: String, _ path: String, _ body: String = "") async throws -> [String: Any] {
    try #require(try await json(method, path, body)["plant"] as? [String: Any])
  }

  /// The API's error that a request ends with; nil when it ends well.
  func refusal(_ method: String, _ path: String, _ body: String = "", query: [String: String] = [:]) async -> APIError?
  {
    do {
      _ = try await ask(method, path, body, query: query)
      return nil
    } catch {
      return error as? APIError ?? APIError(.internalServerError, "NOT_AN_API_ERROR", "\(error)")
    }
  }

  /// The types of the events that news make.
  func edges() -> [String] { desk.takeNews().compactMap { $0.event(at: .zero)?.type } }
}
