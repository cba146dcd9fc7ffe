import Service
import Tactus
import Testing
import Wire

@testable import TactusDaemon

@Suite("conditions from what the daemon says")
struct NoticeFactsTests {
  private func found(_ json: String, stopped: Bool = false, words: [String: String] = [:]) throws -> [String] {
    let state = try #require(JSONValue(json: Array(json.utf8)))
    let system = NoticeFacts.System(name: "s", state: state, isEmergencyStopped: stopped, troubleWords: words)
    return NoticeFacts.conditions(of: system).map { "\($0.id) \($0.kind.rawValue) \($0.severity.rawValue): \($0.text)" }
  }

  @Test("a state that is well says nothing")
  func well() throws {
    let text = #"""
      {"state":"idle","fault":null,"flow":{"alarm":null},"alerts":[],"waterTrouble":null,"offConfirmed":true,
       "error":"none","links":[{"state":"open"}],"contact":"answering","rainDelay":{"active":false}}
      """#
    #expect(try found(text) == [])
  }

  @Test(
    "one member each",
    arguments: [
      (#"{"state":"fault","fault":"motors","wayOut":"reset"}"#, "s/fault fault critical: fault: motors"),
      (#"{"state":"fault","reason":"it burns"}"#, "s/fault fault critical: it burns"),
      (#"{"flow":{"alarm":"a leak"}}"#, "s/flow/alarm alarm critical: a leak"),
      (#"{"fault":"a leak","flow":{"alarm":"a leak"}}"#, "s/fault fault critical: fault: a leak"),
      (#"{"plants":[{"name":"Fern","alerts":["dry"]}]}"#, "s/plants/Fern/alert/dry alert warning: Fern: dry"),
      (#"{"waterTrouble":"open wire"}"#, "s/waterTrouble sensor warning: water: open wire"),
      (#"{"offConfirmed":false}"#, "s/offConfirmed unsafe critical: the off of an output is not confirmed"),
      (
        #"{"sensors":[{"id":"0x36","isFresh":false,"ageMs":9,"lastFailure":"no answer"}]}"#,
        "s/sensors/0x36/isFresh sensor warning: 0x36: no new readings: no answer"
      ),
      (
        #"{"links":[{"device":"ttyS0","state":"waiting","reason":"not there"}]}"#,
        "s/links/ttyS0/link link warning: ttyS0: link waiting: not there"
      ),
      (#"{"contact":"silent"}"#, "s/contact link warning: no contact (silent)"),
      (
        #"{"legs":[{"name":"leg 0","error":"low battery"}]}"#,
        "s/legs/leg 0/battery power warning: leg 0: the battery is low"
      ),
      (
        #"{"rainDelay":{"active":true,"reason":"weather","detail":"9 mm"}}"#,
        "s/rainDelay/rain rain info: rain delay: 9 mm"
      ),
    ])
  func each(json: String, condition: String) throws {
    #expect(try found(json) == [condition])
  }

  @Test("a rain delay that a person has set is no news; a stop is; a state called like trouble, too")
  func others() throws {
    #expect(try found(#"{"rainDelay":{"active":true,"reason":"manual"}}"#) == [])
    #expect(try found("{}", stopped: true) == ["s/e-stop e-stop critical: emergency stop"])
    #expect(
      try found(#"{"state":"tooHot"}"#, words: ["tooHot": "it is too hot"]) == [
        "s/state/tooHot fault warning: tooHot: it is too hot"
      ])
  }

  @Test("a document of any depth and length costs a bounded number of conditions")
  func bounded() throws {
    let many = "[" + (0..<1000).map { #"{"id":\#($0),"fault":"x"}"# }.joined(separator: ",") + "]"
    #expect(try found(#"{"items":\#(many)}"#).count == NoticeFacts.most)
    #expect(
      try found(String(repeating: #"{"a":"#, count: 20) + #"{"fault":"x"}"# + String(repeating: "}", count: 20)) == [])
  }

  @Test("the daemon's own: loops, troubles, clock, supply; and events that are trouble")
  func daemon() {
    let all = NoticeFacts.conditions(
      stalled: ["leg"],
      troubles: [
        ServiceTrouble(code: "GUARD_LOST", message: "m"), ServiceTrouble(code: "STORE_FAILED", message: "full"),
      ],
      isClockConfirmed: false, throttled: 0x50001)
    #expect(
      all.map(\.id) == [
        "daemon/loop/leg", "daemon/GUARD_LOST", "daemon/STORE_FAILED", "daemon/clock", "daemon/under-voltage",
      ])
    #expect(NoticeFacts.conditions(stalled: [], troubles: [], isClockConfirmed: true, throttled: 0x50000).isEmpty)
    func event(_ type: String, _ body: String) -> Event {
      Event(.edge, type: type, system: "fan", at: .zero, body: Array(body.utf8))
    }
    #expect(
      NoticeFacts.occurrence(event("fan.notice", #"{"notice":"hot","trouble":true,"message":"too hot"}"#))?.text
        == "too hot")
    #expect(NoticeFacts.occurrence(event("fan.notice", #"{"notice":"cool","trouble":false}"#)) == nil)
    #expect(NoticeFacts.occurrence(event("madeSafe", "{}"))?.kind == .guard)
  }
}
