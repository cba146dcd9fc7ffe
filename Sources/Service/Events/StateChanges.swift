import NIOCore
import Wire

/// A system's state for the clients that follow changes: the complete state, and the changes since the previous state.
struct FollowedState: Sendable {
  /// The complete state, an event of the type `state`.
  let whole: ByteBuffer
  /// An event of the type `changes`, or `nil` if the complete state must be sent instead.
  let changes: ByteBuffer?
}

/// The newest state of each system, for the clients that follow changes. Empty while no client does.
struct StateChanges {
  private var bodies: [String: JSONValue] = [:]
  /// The number of clients that follow changes.
  var followers = 0 { didSet { if followers == 0 { bodies = [:] } } }

  /// Keeps a state, and returns its frames; `nil` if no client follows changes or the event is not a state.
  mutating func record(_ event: Event, number: UInt64) -> FollowedState? {
    guard followers > 0, event.kind == .state, event.type == event.system,
      let body = try? JSONParser.parse(event.body)
    else { return nil }
    let before = bodies.updateValue(body, forKey: event.system)
    func frame(_ type: String, _ body: [UInt8]) -> ByteBuffer {
      let told = Event(.state, type: type, system: event.system, at: event.at, body: body)
      return webSocketFrame(.text, NumberedEvent.document(told, number: number))
    }
    let whole = frame("state", event.body)
    guard let before, let patch = body.changes(since: before) else { return FollowedState(whole: whole, changes: nil) }
    let changes = frame("changes", JSONValue.object([.init(name: "changes", value: patch)]).bytes)
    return FollowedState(whole: whole, changes: changes.readableBytes < whole.readableBytes ? changes : nil)
  }
}

extension JSONValue {
  /// Returns the members that differ from those of `before`, in nested objects. For a list that has kept its length, an
  /// object contains the items that differ by their index, from 0; any other list is included as a whole.
  ///
  /// - Returns: an object, empty if nothing has changed; `nil` if an object has other members than before, or an object
  ///   has come in the place of a list or a plain value, since such a change has no form here.
  func changes(since before: JSONValue) -> JSONValue? {
    switch (self, before) {
    case (.object(let members), .object(let old)):
      guard members.map(\.name) == old.map(\.name) else { return nil }
      return Self.differing(zip(members, old).map { ($0.name, $0.value, $1.value) })
    case (.list(let items), .list(let old)) where items.count == old.count:
      return Self.differing(zip(items, old).enumerated().map { (String($0), $1.0, $1.1) })
    case (.object, _): return nil
    default: return self
    }
  }

  private static func differing(_ pairs: [(name: String, new: JSONValue, old: JSONValue)]) -> JSONValue? {
    var members: [Member] = []
    for (name, new, old) in pairs where new != old {
      guard let value = new.changes(since: old) else { return nil }
      members.append(Member(name: name, value: value))
    }
    return .object(members)
  }
}
