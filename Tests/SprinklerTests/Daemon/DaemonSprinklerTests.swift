import DaemonSupport
import Foundation
import FoundationNetworking
import Service
import Synchronization
import Tactus
import Testing
import WallTime

@testable import SprinklerDaemon
@testable import TactusDaemon

/// The whole program with a simulated sprinkler, used over HTTP, watched through the simulated lines, killed.
///
/// Nothing here sleeps: every step waits for an answer or a line of the log, with a limit.
@Suite("daemon with a sprinkler", .serialized)
final class DaemonSprinklerTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func start(
    _ keys: String = "", service: String = "{ auth: none }", environment: [String: String] = [:],
    front: String = "Front"
  ) throws -> TactusProcess {
    let config = try folder.write(
      """
      network: { http_port: 0 }
      service: \(service)
      runtime: { lock_memory: false, sprinkler: { scheduling: normal, safe_state_after: 1000 } }
      store: { folder: '\(folder.path("state"))' }
      sprinkler:
        backend: sim
        time_zone: Europe/Berlin
        relay_board: active-low
        zones: [{ name: \(front), pin: 17 }, { name: Back, pin: 27, group: 1 }]
        groups: [{ max_open: 1 }]
        \(keys)
      """, to: "config.yaml")
    let daemon = try TactusProcess(["run", "--config", config], environment: environment)
    try #require(daemon.waitFor("Ctrl-C stops the valves"), "\(daemon.said)")
    return daemon
  }

  private func ask(
    _ method: String, _ path: String, _ body: String? = nil, of daemon: TactusProcess
  ) async throws -> [String: Any] {
    let line = try #require(daemon.said.split(separator: "\n").first { $0.contains("serving http") })
    let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    var request = URLRequest(url: try #require(URL(string: "http://\(object["listen"] as? String ?? "")\(path)")))
    request.httpMethod = method
    if let body {
      request.httpBody = Data(body.utf8)
      request.setValue("application/json", forHTTPHeaderField: "Content-Type")
    }
    let (data, _) = try await URLSession.shared.data(for: request)
    return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
  }

  /// Opens the first zone for half an hour; returns when the store has that it is open. The answer comes before: who keeps it has to have its turn.
  private func open(_ daemon: TactusProcess) async throws {
    let opened = try await ask("POST", "/api/zone/1/on", #"{"minutes":30}"#, of: daemon)
    #expect(opened["isOn"] as? Bool == true, "\(opened)")
    try #require(daemon.waitFor("zone on"), "\(daemon.said)")
    // Kept with what the loop has told before.
    let kept = try await ask("PUT", "/api/seasonal", #"{"percent":90}"#, of: daemon)
    #expect(kept["ok"] as? Bool == true, "\(kept)")
  }

  /// The levels that the simulated bank saw on this pin, in their order.
  private func levels(_ pin: Int, of daemon: TactusProcess) async throws -> [Int] {
    let bus = try await ask("GET", "/api/sim/bus/sprinkler-gpio?limit=4096", of: daemon)
    return try #require(bus["transactions"] as? [[String: Any]]).compactMap { transaction in
      guard ["request", "set"].contains(transaction["operation"] as? String),
        let lines = transaction["lines"] as? [Int],
        let levels = transaction["levels"] as? [Int], let place = lines.firstIndex(of: pin)
      else { return nil }
      return levels[place]
    }
  }

  @Test(
    "on, kill −9, start: the run is logged as ended by a crash, its rest does not follow, the schedule is still there")
  func killed() async throws {
    let began = MonotonicClock.now
    var daemon = try start()
    try await open(daemon)
    #expect(try await levels(17, of: daemon).last == 0, "active low")
    let made = try await ask(
      "POST", "/api/schedules",
      #"{"name":"Mornings","days":["Mon"],"startTimes":["06:00"],"zones":[{"zoneId":2,"minutes":5}]}"#, of: daemon)
    #expect(made["id"] as? Int == 1)
    kill(daemon.identifier, SIGKILL)
    _ = daemon.finish()

    daemon = try start()
    try #require(daemon.waitFor("a run ended by a crash: its rest does not follow"), "\(daemon.said)")
    let log = try await ask("GET", "/api/log", of: daemon)
    let run = try #require((log["runs"] as? [[String: Any]])?.first)
    #expect(run["outcome"] as? String == "crash")
    // No longer than it was open, however slow the machine is.
    let most = Double((MonotonicClock.now - began).count) / 1e9
    #expect((0.001...most).contains(run["ranSec"] as? Double ?? 0), "\(run)")
    #expect(Set(try await levels(17, of: daemon)) == [1], "active low")
    let status = try await ask("GET", "/api/status", of: daemon)
    #expect(status["activeZoneId"] is NSNull)
    #expect((status["nextRun"] as? [String: Any])?["zoneId"] as? Int == 2)
    #expect((try await ask("GET", "/api/schedules", of: daemon)["schedules"] as? [Any])?.count == 1)
    _ = try await ask("POST", "/api/zone/1/on", of: daemon)
    #expect(try await levels(17, of: daemon).last == 0)
    _ = try await ask("POST", "/api/zone/1/off", of: daemon)
    #expect(try await levels(17, of: daemon).last == 1)
    kill(daemon.identifier, SIGTERM)
    #expect(daemon.finish() == 0, "\(daemon.said)")
  }

  @Test("kill −9 with after_power_cut: close → the run is logged as ended by the crash and nothing opens")
  func closed() async throws {
    var daemon = try start()
    try await open(daemon)
    kill(daemon.identifier, SIGKILL)
    _ = daemon.finish()
    daemon = try start("after_power_cut: close")
    try #require(daemon.waitFor("a run ended by a crash"), "\(daemon.said)")
    let log = try await ask("GET", "/api/log", of: daemon)
    #expect((log["runs"] as? [[String: Any]])?.first?["outcome"] as? String == "crash")
    #expect(Set(try await levels(17, of: daemon)) == [1])
    kill(daemon.identifier, SIGTERM)
    #expect(daemon.finish() == 0)
  }

  @Test("kill −9, and the guard noted when it closed the valves: the log ends then, and people are told")
  func noted() async throws {
    let runtime = ["RUNTIME_DIRECTORY": folder.path(".")]
    let note = SafeStateNote(beside: folder.path("safe-state"))
    let began = BootClock.now
    var daemon = try start(environment: runtime)
    try await open(daemon)
    let closed = BootClock.now
    kill(daemon.identifier, SIGKILL)
    _ = daemon.finish()
    // What the guard of real lines leaves.
    let text = MadeSafe(
      boot: BootClock.boot, at: closed, time: "2026-02-03T04:05:06Z", cause: "the daemon is gone", writes: ["gpio"]
    ).note()
    try Data(text.utf8).write(to: URL(filePath: note.path))
    daemon = try start(environment: runtime)
    #expect(daemon.waitFor("the guard turned the actuators off after the last end of this program"))
    try #require(daemon.waitFor("a run ended by a crash"), "\(daemon.said)")
    let run = try #require((try await ask("GET", "/api/log", of: daemon)["runs"] as? [[String: Any]])?.first)
    #expect(run["outcome"] as? String == "crash")
    let most = Double((closed - began).count) / 1e9
    #expect((0...most).contains(run["ranSec"] as? Double ?? -1), "\(run), open for \(most) s at most")
    let health = try await ask("GET", "/api/health", of: daemon)
    let told = try #require(health["guard"] as? [String: Any])
    #expect(told["madeSafe"] as? Int == 1 && told["madeSafeISO"] as? String == "2026-02-03T04:05:06Z")
    kill(daemon.identifier, SIGTERM)
    #expect(daemon.finish() == 0)
    #expect(access(note.path, F_OK) != 0)
  }

  @Test(
    "e-stop, then kill −9 or SIGTERM: it holds in the next program, until a reset; after that nothing is left of it")
  func stopOutlivesTheProgram() async throws {
    let runtime = ["RUNTIME_DIRECTORY": folder.path(".")]
    var daemon = try start(environment: runtime)
    _ = try await ask("POST", "/api/e-stop", of: daemon)
    for signal in [SIGKILL, SIGTERM] {
      kill(daemon.identifier, signal)
      _ = daemon.finish()
      daemon = try start(environment: runtime)
      #expect(daemon.said.contains("the emergency stop from before this start holds"), "\(daemon.said)")
      let refused = try await ask("POST", "/api/zone/1/on", of: daemon)
      #expect(refused["code"] as? String == "EMERGENCY_STOPPED", "\(refused)")
    }
    _ = try await ask("POST", "/api/reset", of: daemon)
    kill(daemon.identifier, SIGKILL)
    _ = daemon.finish()
    daemon = try start(environment: runtime)
    _ = try await ask("POST", "/api/zone/1/on", of: daemon)
    #expect(try await levels(17, of: daemon).last == 0)
    #expect(!daemon.said.contains("from before this start"))
    kill(daemon.identifier, SIGTERM)
    #expect(daemon.finish() == 0)
  }

  @Test("SIGTERM while a zone is on: its valve closes, the program ends with 0, and says so")
  func terminated() async throws {
    let daemon = try start()
    _ = try await ask("POST", "/api/zone/2/on", of: daemon)
    kill(daemon.identifier, SIGTERM)
    #expect(daemon.finish() == 0, "\(daemon.said)")
    #expect(daemon.said.contains(#""msg":"stopped""#) && daemon.said.contains("zone off"))
  }

  @Test("a second program on the same store: refused with the file's name")
  func twice() throws {
    let first = try start()
    let config = folder.path("config.yaml")
    let second = try TactusProcess(["run", "--config", config])
    #expect(second.finish() == 1)
    #expect(second.said.contains("store.sqlite: another process has it open"), "\(second.said)")
    kill(first.identifier, SIGTERM)
    #expect(first.finish() == 0)
  }

  @Test(
    "a zone is renamed in the file: the next start takes it, and leaves what people have changed and the file has not")
  func renamedInTheFile() async throws {
    let daemon = try start()
    _ = try await ask("PUT", "/api/zones", #"[{"id":1,"defaultMinutes":7},{"id":2,"name":"Beds"}]"#, of: daemon)
    kill(daemon.identifier, SIGTERM)
    #expect(daemon.finish() == 0)
    let again = try start("seasonal_percent: 80", front: "Front lawn")
    #expect(again.waitFor("zone 1: name Front → Front lawn; seasonal level 100 → 80 %"), "\(again.said)")
    let zones = try #require(try await ask("GET", "/api/zones", of: again)["zones"] as? [[String: Any]])
    #expect(zones.map { $0["name"] as? String } == ["Front lawn", "Beds"] && zones[0]["defaultMinutes"] as? Int == 7)
    #expect(try await ask("GET", "/api/seasonal", of: again)["percent"] as? Int == 80)
    kill(again.identifier, SIGTERM)
    #expect(again.finish() == 0)
  }

  @Test(
    "the store's zones are not the configuration's, which is as it was: what people have set stays, and the log says so"
  )
  func storeStays() async throws {
    let daemon = try start()
    _ = try await ask("PUT", "/api/zones", #"[{"id":1,"name":"Lawn"},{"id":2}]"#, of: daemon)
    kill(daemon.identifier, SIGTERM)
    #expect(daemon.finish() == 0)
    let again = try start()
    #expect(again.waitFor("stays as people have set it"))
    let zones = try await ask("GET", "/api/zones", of: again)["zones"] as? [[String: Any]]
    #expect(zones?.first?["name"] as? String == "Lawn")
    kill(again.identifier, SIGTERM)
    #expect(again.finish() == 0)
  }

  @Test("rain in the forecast: a rain delay begins with its reason; the question is Open-Meteo's")
  func weather() async throws {
    let provider = try CannedServer([
      "/v1/forecast": .init(
        body: #"{"daily_units":{"time":"iso8601","precipitation_sum":"mm"},"daily":{"time":["2026-05-01"],"#
          + #""precipitation_sum":[8.2]}}"#)
    ])
    defer { provider.stop() }
    let daemon = try start(
      """
      latitude: 52.5
        longitude: 13.4
        weather: { provider: open-meteo, url: 'http://127.0.0.1:\(provider.port)' }
      """)
    try #require(daemon.waitFor("a rain delay is in force"), "\(daemon.said)")
    let rain = try await ask("GET", "/api/rain-delay", of: daemon)["rainDelay"] as? [String: Any]
    #expect(rain?["reason"] as? String == "weather" && rain?["detail"] as? String == "8.2 mm expected today")
    let asked = try #require(provider.requests.first)
    #expect(asked.hasPrefix("GET /v1/forecast?latitude=52.5&longitude=13.4&daily=precipitation_sum"))
    #expect(asked.contains("timezone=Europe%2FBerlin") && !asked.lowercased().contains("authorization"))
    kill(daemon.identifier, SIGTERM)
    #expect(daemon.finish() == 0)
  }

  @Test("no weather to be had: the state says why, and nothing else changes")
  func noWeather() async throws {
    let provider = try CannedServer(["/v1/forecast": .init(status: 500, body: "{}")])
    defer { provider.stop() }
    let daemon = try start(
      """
      latitude: 52.5
        longitude: 13.4
        weather: { provider: open-meteo, url: 'http://127.0.0.1:\(provider.port)' }
      """)
    var failure: String?
    // The answer comes within some beats.
    let until = MonotonicClock.now + .seconds(60)
    while failure == nil, MonotonicClock.now < until {
      let weather = try await ask("GET", "/api/sprinkler", of: daemon)["weather"] as? [String: Any]
      failure = weather?["failure"] as? String
    }
    #expect(failure == "127.0.0.1:\(provider.port): it answered 500")
    kill(daemon.identifier, SIGTERM)
    #expect(daemon.finish() == 0)
  }

  @Test("the guard is told what to write: every line off")
  func guardWrites() throws {
    let config = try folder.write(
      "sprinkler: { chip: /dev/gpiochip250 }\nstore: { folder: '\(folder.path("state"))' }", to: "guard.yaml")
    let program = try TactusProcess(["guard", "--once", "--config", config])
    #expect(program.finish() == 1)
    #expect(program.said.contains("/dev/gpiochip250") && program.said.contains("the safe state is not confirmed"))
  }
}

/// What the configuration of a sprinkler asks of the weather's provider.
@Suite("The sprinkler's weather")
struct SprinklerWeatherTests {
  @Test("days of the forecast: in the time zone by its name, in that of the place for a zone without one")
  func zone() throws {
    let text = "sprinkler: { latitude: 1, longitude: 2, weather: { provider: open-meteo, url: 'http://a:1' } }\n"
    let (wiring, rules) = try #require(try read(text).sprinkler)
    let nameless = ZoneRules(identifier: "+05:45", isNamed: false, firstOffsetSeconds: 20_700, transitions: [])
    #expect(wiring.weather(rules, nameless)?.timeZone == "auto")
    let named = ZoneRules(identifier: "Asia/Kathmandu", firstOffsetSeconds: 20_700, transitions: [])
    #expect(wiring.weather(rules, named)?.timeZone == "Asia/Kathmandu")
  }
}
