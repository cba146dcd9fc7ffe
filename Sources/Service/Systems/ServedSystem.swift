import Tactus
import Wire

/// One system as the door sees it: routes, events, what arrives in binary frames. Reads snapshots and sends requests through
/// lock-free mailboxes; never touches a loop.
public protocol ServedSystem: Sendable {
  /// `robot`: the `system` of its events, the key of its state in `/api/status`.
  var name: String { get }
  /// Its own HTTP routes, read once by the service and once by `RemoteCommands`, which finds its commands among them.
  var routes: [Route] { get }
  /// Changes whenever `state` does.
  var version: UInt64 { get }
  /// The state as a JSON object: what `GET /api/NAME` answers, without `ok`.
  var state: [UInt8] { get }
  /// The members of this JSON object stand at the top level of `GET /api/status`, or `nil` if there are none. They are of the same `version`.
  var statusMembers: [UInt8]? { get }
  /// Parts of the state that are also published separately, on links whose topics have levels.
  var parts: [StatePart] { get }
  /// Names of members of `state` and `parts`, at any depth, whose values move by themselves: ages, counts, measurements. A broker gets
  /// them now and then, and of every other change soon. `monotonicNs` and `counters` move in every system and need not be named.
  var movingMembers: Set<String> { get }
  /// What Home Assistant shows of it.
  func entities(on topics: DeviceTopics, takesCommands: Bool) -> [HomeAssistantEntity]
  /// The events for subscribers at a beat (10 Hz): a `state` event when a second is full (`second`), telemetry otherwise.
  func events(at now: TickInstant, second: Bool) -> [Event]
  /// Stops every actuator, latched. Returns when the loop has taken it; throws `APIError` when it did not.
  func emergencyStop(_ caller: Caller) async throws
  /// Whether an emergency stop is latched. Read at every news and ten times a second.
  var isEmergencyStopped: Bool { get }
  /// As `emergencyStop`, without waiting for the loop, which takes it in its first tick if it has not started yet.
  func holdEmergencyStop()
  /// Leaves e-stop and fault.
  func reset(_ caller: Caller) async throws
  /// A binary frame of a WebSocket client. False: not for this system. Called in the order of arrival on the client's event
  /// loop, never blocks; `answer` is called at most once, from any thread.
  func take(frame: [UInt8], from caller: Caller, answer: @escaping @Sendable (FrameOutcome) -> Void) -> Bool
  /// A WebSocket client has gone: whatever it was holding is let go at once.
  func clientLeft(_ caller: Caller)
}

/// What became of a binary frame.
public enum FrameOutcome: Sendable {
  /// Goes back as a binary frame.
  case reply([UInt8])
  /// The frame was for this system and wrong or refused: the client gets an `error` event.
  case refused(APIError)
}

extension ServedSystem {
  public var statusMembers: [UInt8]? { nil }
  public var parts: [StatePart] { [] }
  public func entities(on topics: DeviceTopics, takesCommands: Bool) -> [HomeAssistantEntity] { [] }
}
