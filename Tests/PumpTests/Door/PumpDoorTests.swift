import Foundation
import Pump
import ServiceSupport
import Tactus
import Testing
import WallTime

@testable import PumpDaemon
@testable import Service
@testable import TactusDaemon

@Suite("the pump behind the door")
struct PumpDoorTests {
  @Test("on with a speed, speed, off: answered when the loop has taken each, with the state; the pump obeys")
  func commands() async throws {
    let bench = try PumpDoorBench()
    #expect(bench.state == .off(.confirmed))
    let answer = try await bench.post("on", #"{"speedPercent": 50}"#)
    #expect(answer.logValue == "speedPercent=50")
    #expect(try answer.object()["verdict"] as? String == "accepted")
    bench.run(for: 500)
    #expect(bench.world.reading.duty == PumpSpeed(duty: 128))
    #expect(try await bench.post("on").status == .ok, "one that is on is no error")
    #expect(try await bench.post("speed", #"{"speedDuty": 255}"#).logValue == "speedDuty=255")
    bench.run(for: 500)
    #expect(try bench.document()["speedPercent"] as? Int == 100)
    _ = try await bench.post("off")
    bench.run(for: 500)
    #expect(bench.state == .off(.confirmed) && bench.world.reading.duty.duty == 0)
    let document = try bench.document()
    #expect(document["source"] as? String == "app" && document["contact"] as? String == "answering")
    #expect(document["role"] as? String == "operator" && document["offConfirmed"] as? Bool == true)
    let link = try #require((document["links"] as? [[String: Any]])?.first)
    #expect(link["kind"] as? String == "serial" && link["device"] as? String == "/dev/ttyTEST")
  }

  @Test("on for a minute: the state says when it ends, and it does; longer than the limit is refused")
  func timed() async throws {
    let bench = try PumpDoorBench()
    #expect(await bench.refusal("on", #"{"minutes": 31}"#)?.code == "BEYOND_LIMIT")
    _ = try await bench.post("on", #"{"speedPercent": 50, "minutes": 1}"#)
    bench.run(for: 500)
    let left = try #require(try bench.document()["untilOffS"] as? Double)
    #expect(left > 58 && left < 60)
    bench.run(for: 58_000)
    #expect(bench.world.reading.duty == PumpSpeed(duty: 128))
    bench.run(for: 2_000)
    #expect(bench.state == .off(.confirmed) && bench.world.reading.duty.duty == 0)
    #expect(try bench.document()["untilOffS"] is NSNull)
  }

  @Test(
    "bodies: one of percent and duty, in range; anything else names its field",
    arguments: [
      ("speed", "{}", "speedPercent"), ("speed", #"{"speedPercent":101}"#, "speedPercent"),
      ("speed", #"{"speedDuty":-1}"#, "speedDuty"), ("speed", #"{"speedPercent":1,"speedDuty":1}"#, "speedDuty"),
      ("on", #"{"minutes":0}"#, "minutes"), ("on", #"{"speed":9}"#, "speed"),
      ("on", #"{"speedPercent":"fast"}"#, "speedPercent"),
    ])
  func bodies(word: String, body: String, field: String) async throws {
    let bench = try PumpDoorBench()
    let error = try #require(await bench.refusal(word, body, rings: 0))
    #expect(error.status.code == 422 && error.field == field, "\(error)")
  }

  @Test(
    "a sensor that is open or shorted: no temperature anywhere, and why; whole again, it measures",
    arguments: [("open", "reads -77.4 °C: an open circuit"), ("short", "reads 352.0 °C: a short circuit")])
  func brokenSensor(fault: String, trouble: String) async throws {
    let bench = try PumpDoorBench()
    _ = try await bench.post("on")
    bench.run(for: 8_000)
    #expect(try bench.document()["skinCelsius"] is Double && bench.document()["skinTrouble"] is NSNull)
    bench.world.inject(fault == "open" ? .skinSensorOpen : .skinSensorShorted)
    bench.run(for: 8_000)
    let document = try bench.document()
    #expect(document["skinCelsius"] is NSNull && document["skinTrouble"] as? String == trouble)
    #expect(document["waterCelsius"] is Double && document["waterTrouble"] is NSNull)
    var writer = MetricsWriter()
    bench.door.write(into: &writer)
    #expect(
      writer.text.contains(#"tactus_pump_temperature_celsius{sensor="water"}"#)
        && !writer.text.contains(#"sensor="skin""#))
    #expect(OperatePumpCommand.line(bench.newest).contains("skin – (\(trouble))"))
  }

  @Test("ages: in whole milliseconds; null before there is anything that has one")
  func ages() throws {
    let bench = try PumpDoorBench()
    for _ in 0..<20 {
      bench.run(for: 333)
      let document = try bench.document()
      let newest = bench.newest
      for (name, instant) in [("temperaturesAgeMs", newest.temperaturesAt), ("statusAgeMs", newest.statusAt)] {
        guard let instant else {
          #expect(document[name] is NSNull)
          continue
        }
        let age = (newest.at - instant).inMilliseconds
        #expect((document[name] as? Int).map(Double.init) == age.rounded(), "\(name): \(age)")
      }
    }
    #expect(bench.newest.temperaturesAt != nil && bench.newest.statusAt != nil)
  }

  @Test("refusals: 409 with a code, the reason and the way out")
  func refusals() async throws {
    let bench = try PumpDoorBench()
    let still = await bench.refusal("speed", #"{"speedPercent":9}"#)
    #expect(still?.status == .conflict && still?.code == "NOT_RUNNING")
    bench.world.holdSkin(celsius: 41)
    _ = try await bench.post("on")
    // Its ERROR comes before any temperature that belongs to it.
    for _ in 0..<1_000 {
      if case .fault = bench.state { break }
      bench.run(for: 5)
    }
    let soon = await bench.refusal("reset")
    #expect(soon?.code == "NO_READING_YET" && soon?.message.contains("wait for its next reading; let the skin") == true)
    // Long enough for a STATUS that says how warm it is.
    bench.run(for: 8_000)
    let fault = await bench.refusal("on")
    #expect(fault?.code == "IN_FAULT" && fault?.message.contains("let the skin cool down, then reset") == true)
    let document = try bench.document()
    #expect(document["state"] as? String == "fault" && document["fault"] as? String == "overheat")
    let early = await bench.refusal("reset")
    #expect(early?.code == "CAUSE_PERSISTS")
    bench.world.holdSkin(celsius: 35)
    bench.run(for: 10_000)
    #expect(await bench.refusal("reset") == nil)
    bench.run(for: 2_000)
    #expect(await bench.refusal("reset")?.code == "NOTHING_TO_RESET")
    bench.cable.cut()
    bench.run(for: 20_000)
    #expect(await bench.refusal("on")?.code == "NO_CONTACT")
    #expect(try bench.document()["contact"] as? String == "silent")
  }

  @Test("e-stop of all systems: off and latched; a reset leads out, and one with nothing to reset is no error")
  func emergencyStop() async throws {
    let bench = try PumpDoorBench()
    _ = try await bench.post("on")
    bench.run(for: 500)
    _ = try await bench.post("e-stop")
    bench.run(for: 500)
    #expect(bench.state == .emergencyStopped(.confirmed) && bench.world.reading.duty.duty == 0)
    #expect(await bench.refusal("on")?.code == "EMERGENCY_STOPPED")
    _ = try await bench.post("reset")
    bench.run(for: 500)
    #expect(bench.state == .off(.confirmed))
  }

  @Test("events: the state each second; a change of the pump, of the connection and a command that failed at once")
  func events() async throws {
    let bench = try PumpDoorBench()
    func edges() throws -> [String] {
      var found: [String] = []
      while let notice = bench.notices.pop() {
        let event = try #require(bench.door.edge(notice))
        let object = try #require(try JSONSerialization.jsonObject(with: Data(event.body)) as? [String: Any])
        let word = (object["state"] ?? object["contact"] ?? object["command"]) as? String
        found.append("\(event.type) \(word ?? "?")")
      }
      return found
    }
    _ = try edges()
    _ = try await bench.post("on")
    bench.run(for: 500)
    #expect(try edges() == ["pump starting", "pump on"])
    #expect(bench.door.events(at: bench.now, second: false).isEmpty)
    #expect(bench.door.events(at: bench.now, second: true).count == 1)
    bench.cable.unplug()
    bench.run(for: 2_000)
    #expect(try edges().sorted() == ["pump unknown", "pump.contact down"])
  }
}
