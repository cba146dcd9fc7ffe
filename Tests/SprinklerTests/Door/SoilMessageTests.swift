import Logging
import Sprinkler
import Tactus
import Testing

@testable import SprinklerDaemon

@Suite("messages about the soil")
struct SoilMessageTests {
  private static let bare = SoilTopic(name: "garden/lawn")
  private static let member = SoilTopic(name: "garden/lawn", member: "ANALOG.A0", scale: -0.1, offsetPercent: 100)

  private func reason(_ text: String, _ topic: SoilTopic = bare) -> String {
    do throws(SoilMessage.Failure) {
      return "\(try SoilMessage.read(Array(text.utf8), topic))"
    } catch {
      return error.reason
    }
  }

  @Test("a number, a member of an object in another with its scale, and what is a little beyond the limits")
  func understood() {
    #expect(reason("72.5") == "72.5")
    #expect(reason(" 0\n") == "0.0")
    #expect(reason("104.9") == "100.0")
    #expect(reason("-5") == "0.0")
    #expect(reason("{\"Time\": \"x\", \"ANALOG\": {\"A0\": 400}}", Self.member) == "60.0")
    #expect(reason("{\"soil moisture\": 7}", SoilTopic(name: "a", member: "soil moisture")) == "7.0")
  }

  @Test("no number, one that is huge, NaN, text, a long message, another member: the reason")
  func refused() {
    #expect(reason("NaN").hasPrefix("expected a number or JSON"))
    #expect(reason("").hasPrefix("expected a number or JSON"))
    #expect(reason("wet").hasPrefix("expected a number or JSON"))
    #expect(reason("\"72\"") == "expected a number, got none")
    #expect(reason("[72]") == "expected a number, got none")
    #expect(reason("1e999") == "expected a number, got none")
    #expect(reason("1e300") == "expected 0…100 % with scale and offset_percent, got 1e+300")
    #expect(reason("1e308", SoilTopic(name: "a", scale: 1e6)).hasSuffix("got inf"))
    #expect(reason("105.1") == "expected 0…100 % with scale and offset_percent, got 105.1")
    #expect(reason("{\"ANALOG\": 3}", Self.member) == "expected a member ANALOG.A0, got none")
    #expect(reason("{\"ANALOG\": {\"A0\": null}}", Self.member) == "expected a number in ANALOG.A0, got none")
    #expect(reason(String(repeating: "1", count: 1_000_000)) == "expected at most 8192 bytes, got 1000000")
    #expect(
      reason(String(repeating: "[", count: 8_192)).hasPrefix("expected a number or JSON: expected at most 32 levels"))
  }

  @Test("a topic's newest reading counts with its age; retained, foreign and wrong messages change nothing")
  func newest() {
    let topics = SoilTopics([Self.bare, Self.member], Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    func receive(_ text: String, on name: String = "garden/lawn", isRetained: Bool = false, at second: Int64) {
      topics.receive(Array(text.utf8), on: name, isRetained: isRetained, at: .zero + .seconds(second))
    }
    func reading(at second: Int64) -> MoistureReading? { topics.reading(Self.bare, at: .zero + .seconds(second)) }
    receive("80", isRetained: true, at: 1)
    receive("80", on: "garden/other", at: 1)
    receive("wet", at: 1)
    #expect(reading(at: 2) == nil)
    receive("40", at: 3)
    #expect(reading(at: 10) == MoistureReading(probe: .topic(Self.bare), percent: 40, ageSeconds: 7))
    receive("1e300", at: 11)
    receive("90", isRetained: true, at: 11)
    #expect(reading(at: 12) == MoistureReading(probe: .topic(Self.bare), percent: 40, ageSeconds: 9))
    #expect(topics.reading(Self.member, at: .zero + .seconds(12)) == nil)
    // An instant that another thread has read before the message came.
    #expect(reading(at: 0)?.ageSeconds == 0)
  }
}
