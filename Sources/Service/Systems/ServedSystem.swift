import Tactus
import Wire

/// One system as the service uses it: its routes, its events and its handling of binary frames. An implementation reads
/// snapshots and sends requests through lock-free mailboxes; it never calls a loop.
public protocol ServedSystem: Sendable {
  /// The system's name, such as `robot`: the `system` of its events and the key of its state in `/api/status`.
  var name: String { get }
  /// The system's HTTP routes, read once by the service and once by `RemoteCommands`, which finds the commands among them.
  var routes: [Route] { get }
  /// A number that changes whenever `state` does.
  var version: UInt64 { get }
  /// The state as a JSON object: the answer to `GET /api/NAME` without `ok`.
  var state: [UInt8] { get }
  /// A JSON object whose members stand at the top level of `GET /api/status`, or `nil` if the system adds none. They belong to the same `version`.
  var statusMembers: [UInt8]? { get }
  /// The parts of the state that are also published separately, on links with hierarchical topics.
  var parts: [StatePart] { get }
  /// The names of members of `state` and `parts`, at any depth, whose values change by themselves: ages, counts,
  /// measurements. A broker receives these occasionally, and every other change soon. `monotonicNs` and `counters`
  /// change in every system and need not be named.
  var movingMembers: Set<String> { get }
  /// Returns the entities by which Home Assistant shows the system.
  func entities(on topics: DeviceTopics, takesCommands: Bool) -> [HomeAssistantEntity]
  /// Returns the events for subscribers at a beat (10 Hz): a `state` event when a second is complete (`second`), otherwise telemetry.
  func events(at now: TickInstant, second: Bool) -> [Event]
  /// Stops every actuator until `reset`. Returns after the loop has accepted the stop; throws an `APIError` if it did not.
  func emergencyStop(_ caller: Caller) async throws
  /// Whether an emergency stop is latched. Read at every notice and ten times a second.
  var isEmergencyStopped: Bool { get }
  /// Stops every actuator without waiting for the loop, which accepts the stop in its first tick if it has not started yet.
  func holdEmergencyStop()
  /// Ends an emergency stop or a fault.
  func reset(_ caller: Caller) async throws
  /// Handles a binary frame of a WebSocket client. Returns `false` if the frame is not for this system. Called in the order of arrival on the
  /// client's event loop, and must not block. `answer` may be called once at most, on any thread.
  func receive(frame: [UInt8], from caller: Caller, answer: @escaping @Sendable (FrameOutcome) -> Void) -> Bool
  /// The system's own WebSockets, read once. None has the path of a route, of another or `/ws`.
  var sockets: [SystemSocket] { get }
  /// Handles the disconnect of a WebSocket client: the system releases at once whatever the client was holding.
  func clientLeft(_ caller: Caller)
}

/// The outcome of a binary frame.
public enum FrameOutcome: Sendable {
  /// The frame was accepted, and these bytes are sent back as a binary frame.
  case reply([UInt8])
  /// The frame was for this system but malformed or refused; the client gets an `error` event.
  case refused(APIError)
}

extension ServedSystem {
  public var statusMembers: [UInt8]? { nil }
  public var parts: [StatePart] { [] }
  public var sockets: [SystemSocket] { [] }
  public func entities(on topics: DeviceTopics, takesCommands: Bool) -> [HomeAssistantEntity] { [] }
}

/// A part of a system whose state is published on a topic of its own, such as a leg or a zone.
public struct StatePart: Sendable, Equatable {
  /// The path of the topic below the system's topic: `zone/1`.
  public let path: String
  /// The state of the part, a JSON object.
  public let state: [UInt8]

  /// Makes a part whose state has been encoded as a JSON object already.
  public init(_ path: String, encoded state: [UInt8]) { (self.path, self.state) = (path, state) }
}

extension HomeAssistantEntity {
  /// Returns a sensor that shows the member `state` of a system's state, with further members as its attributes.
  public static func state(
    _ id: String, name: String, of system: String, _ item: String? = nil, attributes: [String], on topics: DeviceTopics
  ) -> HomeAssistantEntity {
    var entity = HomeAssistantEntity(.sensor, id: id, name: name)
    entity.stateTopic = topics.state(system, item)
    entity.valueTemplate = "{{ value_json.state }}"
    entity.show(attributes)
    return entity
  }

  /// Makes these members of the state attributes of the entity.
  ///
  /// - Parameter attributes: members that change at events only. Home Assistant keeps a row for every change of any of
  ///   them, so a value that changes by itself does not belong here.
  public mutating func show(_ attributes: [String]) {
    others["json_attributes_topic"] = stateTopic
    let members = attributes.map { "'\($0)': value_json.\($0)" }.joined(separator: ", ")
    others["json_attributes_template"] = "{{ {\(members)} | tojson }}"
  }

  /// Returns the entities that belong to the device and to none of its systems: the buttons of the emergency stop and
  /// the reset. Empty if the device accepts no commands.
  public static func ofDevice(on topics: DeviceTopics, takesCommands: Bool) -> [HomeAssistantEntity] {
    guard takesCommands else { return [] }
    return [("e-stop", "Emergency stop"), ("reset", "Reset")].map { word, name in
      var entity = HomeAssistantEntity(.button, id: word, name: name)
      entity.commandTopic = topics.commandForAll
      entity.pressPayload = word
      return entity
    }
  }
}
