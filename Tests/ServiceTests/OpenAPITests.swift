import TestSupport
import Testing

@testable import Service

@Suite("OpenAPI document", .ownThread)
struct OpenAPITests: ReadsOpenAPI {
  @Test("faults: a program has those of its buses and of its declared systems, and its examples are among them")
  func faultsOfAProgram() throws {
    var additions = APIAdditions(title: "fan-daemon", busFaults: ["stuck-low", "gone"])
    additions.faults = ["fan": ["stall", "gone"]]
    let document = try described(additions)
    #expect(
      try requests(document) == [["gone"], ["stuck-low"], ["lane-stall"], ["clear"], ["fan: stall", "fan: gone"]])
    let inForce = member(document, "components", "schemas", "SimulatedFault", "properties")
    let members = try #require(inForce as? [String: Any])
    #expect(Set(members.keys) == ["fault", "bus", "line", "lane", "ms"])
    let names = member(document, "components", "schemas", "SimulatedFault", "properties", "fault", "enum")
    #expect(names as? [String] == ["gone", "stuck-low", "lane-stall"])
    let named = member(
      document, "components", "schemas", "Faults", "properties", "named", "items", "properties", "system", "enum")
    #expect(named as? [String] == ["fan"])
    let examples = member(
      document, "paths", "/api/sim/fault", "post", "requestBody", "content", "application/json", "examples")
    #expect((examples as? [String: Any])?.keys.sorted() == ["clear"])
  }

  @Test("faults: an example is on a bus that the program has")
  func examples() throws {
    var additions = APIAdditions(title: "kiln-daemon", busFaults: ["nak", "stuck-low"])
    additions.buses = ["kiln-gpio": ["stuck-low"], "kiln-i2c-1": ["nak"], "kiln-i2c-3": ["nak"]]
    let document = try described(additions)
    let bus = member(
      document, "paths", "/api/sim/fault", "post", "requestBody", "content", "application/json", "examples", "nak",
      "value", "bus")
    #expect(bus as? String == "kiln-i2c-1")
    let text = try #require(member(document, "info", "description") as? String)
    #expect(text.contains("`kiln-daemon`") && !text.contains("`tactus`"))
  }

  @Test("faults: where no declared system has one, nothing speaks of declared systems")
  func faultsWithoutDeclaredSystems() throws {
    for additions in [APIAdditions(), APIAdditions(busFaults: ["nak"])] {
      let document = try described(additions)
      #expect(try requests(document).joined().allSatisfy { !$0.contains(":") })
      #expect(member(document, "components", "schemas", "Faults", "properties", "named") == nil)
    }
    let nak = try described(APIAdditions(busFaults: ["nak"]))
    #expect(try requests(nak) == [["nak"], ["lane-stall"], ["clear"]])
  }
}
