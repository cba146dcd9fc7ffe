import Foundation
import Testing

@testable import Service
@testable import Tactus

@Suite("GET /api/runtime")
struct RuntimeDocumentTests {
  private let caller = Caller(scope: .read, tokenID: nil, address: "127.0.0.1", client: 1)

  private func get(_ runtime: Runtime, _ query: [String: String] = [:]) async throws -> [String: Any] {
    let route = Route.runtime(runtime, version: "1.2.3") { TickInstant(nanoseconds: 994_000_000) }
    #expect(route.path == "/api/runtime" && route.scope == .read && route.action == nil)
    guard case .handler(let handler) = route.handling else { preconditionFailure("expected a handler") }
    let answer = try await handler(APIRequest(caller: caller, query: query))
    return try #require(JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any])
  }

  private func simulated() throws -> Runtime {
    let runtime = try Runtime {
      Lane("motion") {
        Loop("balance", every: .hertz(100), phase: .zero, executionTime: .microseconds(20)) { Still() }
      }
    }
    let simulation = try runtime.simulation()
    simulation.oversleep(lane: "motion", at: .zero + .milliseconds(500), by: .milliseconds(5))
    simulation.run(for: .milliseconds(994))
    return runtime
  }

  @Test("a loop: every field, with units in the names")
  func loop() async throws {
    let document = try await get(simulated())
    #expect(
      Set(document.keys) == [
        "ok", "version", "monotonicNs", "epochNs", "memoryLock", "wakeUpLatency", "findings", "lanes", "loops",
        "planner",
      ])
    #expect(document["ok"] as? Bool == true && document["version"] as? String == "1.2.3")
    #expect(document["monotonicNs"] as? Int == 994_000_000)
    let loops = try #require(document["loops"] as? [[String: Any]])
    let loop = try #require(loops.first)
    #expect(
      Set(loop.keys) == [
        "name", "lane", "rateHz", "periodNs", "phaseNs", "released", "ran", "skipped", "pending", "overdue",
        "running", "longestGap", "byDeadline", "byInput", "overruns", "oversleeps", "deadlineMisses", "safeStates",
        "latencyNs", "executionNs", "ages",
      ])
    let gap = try #require(loop["longestGap"] as? [String: Any])
    #expect(gap["lengthNs"] as? Int == 15_000_000 && gap["sinceNs"] as? Int == 490_000_000)
    #expect(loop["running"] is NSNull && loop["overdue"] as? Int == 0)
    #expect(loop["name"] as? String == "balance" && loop["lane"] as? String == "motion")
    #expect(loop["rateHz"] as? Double == 100 && loop["periodNs"] as? Int == 10_000_000)
    #expect(loop["released"] as? Int == 100 && loop["ran"] as? Int == 100 && loop["oversleeps"] as? Int == 1)
    let latency = try #require(loop["latencyNs"] as? [String: Any])
    #expect(Set(latency.keys) == ["p50", "p90", "p99", "p999", "min", "max"])
    #expect(latency["p50"] as? Int == 0 && latency["max"] as? Int == 5_000_000)
    let planner = try #require((document["planner"] as? [[String: Any]])?.first)
    #expect(planner["responseTimeNs"] as? Int == 20_000 && planner["meetsDeadline"] as? Bool == true)
  }

  @Test("a tick that hangs: since when it runs, and what waits for it, while it does")
  func running() async throws {
    let runtime = try Runtime {
      Lane("motion") { Loop("balance", every: .hertz(100), phase: .zero) { Still() } }
    }
    let simulation = try runtime.simulation()
    simulation.stall(loop: "balance", at: .zero + .milliseconds(500), by: .seconds(3))
    simulation.run(for: .milliseconds(2_000))
    let loop = try #require((try await get(runtime)["loops"] as? [[String: Any]])?.first)
    let running = try #require(loop["running"] as? [String: Any])
    #expect(running["sinceNs"] as? Int == 500_000_000 && running["isSafeState"] as? Bool == false)
    #expect(loop["pending"] as? Int == 150 && loop["overdue"] as? Int == 149)
  }

  @Test("nothing has run: what is unknown is null, not absent")
  func unknown() async throws {
    let document = try await get(Runtime { Lane("motion") { Loop("balance", every: .hertz(100)) { Still() } } })
    let loop = try #require((document["loops"] as? [[String: Any]])?.first)
    let latency = try #require(loop["latencyNs"] as? [String: Any])
    for key in ["p50", "p90", "p99", "p999", "min", "max"] { #expect(latency[key] is NSNull, "\(key)") }
    #expect(loop["longestGap"] is NSNull && loop["running"] is NSNull)
    #expect((document["memoryLock"] as? [String: Any])?["errno"] is NSNull)
  }

  /// Uses in each tick what was measured 3 ms before.
  private struct Late: ~Copyable, ControlLoop, NoOutput {
    let age: AgeMeter

    @_noLocks @_noAllocation
    mutating func tick(_ tick: Tick) { age.uses(sampledAt: tick.started - .milliseconds(3)) }
  }

  @Test("the age of data: path, distribution, what it is by now, the planner's bound; the metrics have the same")
  func ages() async throws {
    let age = DataAge("tilt", from: "imu")
    let runtime = try Runtime {
      Lane("motion") {
        Loop("imu", every: .hertz(100), executionTime: .microseconds(20)) { Still() }
        Loop("balance", every: .hertz(100), after: "imu", executionTime: .microseconds(30), ages: [age]) {
          Late(age: age.meter())
        }
      }
    }
    let simulation = try runtime.simulation()
    simulation.run(for: .milliseconds(995))
    let loops = try #require(try await get(runtime)["loops"] as? [[String: Any]])
    #expect((loops[0]["ages"] as? [Any])?.isEmpty == true)
    let found = try #require((loops[1]["ages"] as? [[String: Any]])?.first)
    #expect(found["name"] as? String == "tilt" && found["path"] as? [String] == ["imu", "balance"])
    #expect((found["ageNs"] as? [String: Any])?["max"] as? Int == 3_030_000 && found["lastNs"] as? Int == 3_030_000)
    #expect(found["nowNs"] as? Int == 7_980_000 && found["unsampled"] as? Int == 0)
    #expect(found["arrival"] is NSNull)
    #expect(found["boundNs"] as? Int == 50_000 && found["isBoundMeasured"] as? Bool == false)
    var writer = MetricsWriter()
    RuntimeMetrics(runtime, version: "1.2.3").write(into: &writer)
    for line in [
      #"tactus_loop_age_seconds_count{lane="motion",loop="balance",age="tilt"} 100"#,
      #"tactus_loop_age_now_seconds{lane="motion",loop="balance",age="tilt"} 0.00798"#,
      #"tactus_loop_age_bound_seconds{lane="motion",loop="balance",age="tilt"} 5e-05"#,
      #"tactus_loop_age_unsampled_total{lane="motion",loop="balance",age="tilt"} 0"#,
    ] {
      #expect(writer.text.contains(line + "\n"), "\(line)")
    }
  }

  @Test("a lane that runs: requested and effective scheduling, CPU, findings")
  func lane() async throws {
    let runtime = try Runtime { Lane("motion") { Loop("balance", every: .hertz(100)) { Still() } } }
    try runtime.start()
    defer { runtime.stop() }
    let lane = try #require((try await get(runtime)["lanes"] as? [[String: Any]])?.first)
    #expect(lane["name"] as? String == "motion" && lane["requested"] as? String == "normal")
    #expect(lane["effective"] as? String == "normal" && lane["isAsRequested"] as? Bool == true)
    #expect(lane["requestedCPU"] is NSNull && lane["findings"] is [Any])
  }

  @Test("?histograms=1: buckets that are not empty, by their largest value; another value is a 422 with its field")
  func histograms() async throws {
    let runtime = try simulated()
    let loop = try #require((try await get(runtime, ["histograms": "1"])["loops"] as? [[String: Any]])?.first)
    let buckets = try #require((loop["latencyNs"] as? [String: Any])?["buckets"] as? [[Int]])
    #expect(buckets == [[0, 99], [5_242_879, 1]])
    await #expect(throws: APIError.validation("histograms", expected: "0 or 1", got: "yes")) {
      _ = try await get(runtime, ["histograms": "yes"])
    }
  }

  @Test("what is written reads back: tactus top uses the same type")
  func roundTrip() throws {
    let document = RuntimeDocument(try simulated(), version: "1.2.3", histograms: true, now: .zero)
    let bytes = encodeJSON(document)
    #expect(encodeJSON(try JSONDecoder().decode(RuntimeDocument.self, from: Data(bytes))) == bytes)
  }
}
