import NIOCore
import Tactus
import Testing
import Wire

@testable import Service

@Suite("States as changes")
struct StateChangesTests {
  private func parse(_ text: String) throws -> JSONValue { try JSONParser.parse(Array(text.utf8)) }

  @Test(
    "changes: what they say, put into the state before, is the state after; what they cannot say is told whole",
    arguments: [
      (#"{"a":1,"b":{"c":1,"d":2}}"#, #"{"a":1,"b":{"c":1,"d":3}}"#, #"{"b":{"d":3}}"#),
      (#"{"a":[{"x":1},{"x":2}]}"#, #"{"a":[{"x":1},{"x":null}]}"#, #"{"a":{"1":{"x":null}}}"#),
      (#"{"a":[1,2]}"#, #"{"a":[1]}"#, #"{"a":[1]}"#),
      (#"{"a":1}"#, #"{"a":1}"#, "{}"),
      (#"{"a":null}"#, #"{"a":{"x":1}}"#, nil),
      (#"{"a":{"x":1}}"#, #"{"a":{"y":1}}"#, nil),
      (#"{"a":{"x":1}}"#, #"{"a":null}"#, #"{"a":null}"#),
    ])
  func difference(before: String, after: String, patch: String?) throws {
    let found = try parse(after).changes(since: parse(before))
    #expect(found?.compact == patch)
  }

  private func state(_ kind: Event.Kind, _ type: String, _ body: String) -> Event {
    Event(kind, type: type, system: "pump", at: TickInstant(nanoseconds: 0), body: Array(body.utf8))
  }

  @Test("nobody follows, or the event is not the state of a second: no frames; the first state after that is whole")
  func followed() {
    var changes = StateChanges()
    let long = #"{"name":"\#(String(repeating: "x", count: 100))","a":1}"#
    #expect(changes.record(state(.state, "pump", long), number: 1).map(\.whole) == nil)
    changes.followers = 1
    #expect(changes.record(state(.edge, "pump", long), number: 2).map(\.whole) == nil)
    #expect(changes.record(state(.state, "zone", long), number: 3).map(\.whole) == nil)
    let first = changes.record(state(.state, "pump", long), number: 4)
    #expect(first.map { $0.changes == nil } == true)
    let next = changes.record(state(.state, "pump", long), number: 5)
    #expect(next?.changes.map { String(buffer: $0).contains(#""type":"changes","system":"pump","seq":5"#) } == true)
    changes.followers = 0
    changes.followers = 1
    #expect(changes.record(state(.state, "pump", long), number: 6).map { $0.changes == nil } == true)
  }
}
