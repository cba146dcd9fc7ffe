/// The documents of a daemon's systems, kept up to date by the complete documents and the partial changes that the
/// daemon sends.
///
/// A connection that has asked for changes receives each system's complete document once and then, each second, the
/// differences from the second before. Between two seconds an event contains a part of a document at once. Changes
/// apply to the documents of the seconds, without the events, because an event may belong to an earlier tick than the
/// second before it.
struct StateDocuments {
  /// The newest document of each system according to the messages that come each second, whether this client could
  /// decode it or not.
  private var told: [String: JSONValue] = [:]
  /// The newest document of each system that this client could decode, with the events since.
  private(set) var shown: [String: JSONValue] = [:]

  /// Returns the newest document of a system, or `nil` if there is none.
  func newest(of system: String) -> JSONValue? { shown[system] ?? told[system] }

  /// Notes that a document has been understood.
  mutating func show(_ document: JSONValue, of system: String) { shown[system] = document }

  /// Receives a complete document, which is returned.
  mutating func receive(_ document: JSONValue, of system: String) -> JSONValue {
    told[system] = document
    return document
  }

  /// Receives a message of the WebSocket about a system.
  /// - Parameters:
  ///   - message: the message as received.
  ///   - type: the type of the message.
  ///   - isDeclared: whether the daemon describes the system. Of its events only the fields of its state are known
  ///     then.
  /// - Returns: the system's document after the message, or `nil` if the message is an event that changes nothing in it.
  mutating func receive(_ message: JSONValue, _ type: String, of system: String, isDeclared: Bool) -> JSONValue? {
    guard case .object(var body) = message else { return nil }
    for name in ["type", "system", "seq", "monotonicNs"] { body[name] = nil }
    switch type {
    case "state": return receive(.object(body), of: system)
    case "changes":
      guard let before = told[system], let changes = body["changes"] else { return nil }
      return receive(before.changed(by: changes), of: system)
    default:
      guard let before = shown[system] else { return nil }
      // An event of a declared system has any members; those that are fields of its state are in the document before.
      let document =
        isDeclared
        ? before.merged(with: type == system ? body.filter { before[$0.key] != nil } : [:])
        : before.merged(with: body, type, of: system)
      return document == before ? nil : document
    }
  }
}

extension JSONValue {
  /// Returns the value with the changes of a message of the type `changes` applied: in nested objects the members that
  /// differ, in a list of the same length the items that differ by their index from 0, and any other value as a whole.
  func changed(by changes: JSONValue) -> JSONValue {
    guard case .object(let changed) = changes else { return changes }
    switch self {
    case .object(var members):
      for (name, value) in changed { members[name] = members[name]?.changed(by: value) ?? value }
      return .object(members)
    case .array(var items):
      for (name, value) in changed {
        guard let index = Int(name), items.indices.contains(index) else { continue }
        items[index] = items[index].changed(by: value)
      }
      return .array(items)
    default: return changes
    }
  }

  /// Returns the document of a system that this client knows, after one of its events.
  fileprivate func merged(with event: [String: JSONValue], _ type: String, of system: String) -> JSONValue {
    switch (system, type) {
    case ("leg", "leg") where event["index"] != nil: return mergedLeg(event)
    case ("sprinkler", "zone"):
      var zone = event
      if zone["isOn"] != .bool(true) { zone["remainingSec"] = .null }
      return merged(with: zone, atItemOf: "zones", by: "id")
    case ("sprinkler", "rain"): return merged(with: ["rainDelay": .object(event)])
    case ("sprinkler", "sprinkler.state"): return merged(with: event)
    // The event's reason is that of the connection.
    case ("pump", "pump.contact"): return merged(with: event.filter { $0.key == "contact" })
    default: return type == system ? merged(with: event) : self
    }
  }

  /// Returns the document of the legs after the event of one leg.
  private func mergedLeg(_ event: [String: JSONValue]) -> JSONValue {
    let document = merged(with: event, atItemOf: "legs", by: "index")
    let states = Set((document["legs"]?.array ?? []).compactMap { $0["state"] })
    let worst = ["shutDown", "emergencyStopped", "fault", "armed"].first { states.contains(.string($0)) }
    return document.merged(with: ["state": .string(worst ?? "disarmed")])
  }

  /// Returns the object with these members in the place of its own.
  fileprivate func merged(with part: [String: JSONValue]) -> JSONValue {
    guard case .object(let members) = self else { return self }
    return .object(members.merging(part) { $1 })
  }

  /// Returns the document with a part merged into that item of a list that has the same value of a member.
  private func merged(with part: [String: JSONValue], atItemOf list: String, by key: String) -> JSONValue {
    let items = self[list]?.array ?? []
    return merged(with: [list: .array(items.map { $0[key] == part[key] ? $0.merged(with: part) : $0 })])
  }
}
