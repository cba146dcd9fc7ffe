import Synchronization
import Tactus

@testable import Service

/// A system that notes what it is asked.
final class NotingSystem: ServedSystem {
  struct Seen {
    var frames: [[UInt8]] = []
    var stops = 0
    var resets = 0
    var left: [UInt32] = []
    var clients: [UInt32] = []
  }

  let name: String
  let routes: [Route] = []
  let version: UInt64 = 1
  let state = Array(#"{"mode":"idle"}"#.utf8)
  private let refuses: APIError?
  let seen = Mutex(Seen())

  init(_ name: String = "robot", refuses: APIError? = nil) { (self.name, self.refuses) = (name, refuses) }

  var movingMembers: Set<String> { [] }
  func events(at now: TickInstant, second: Bool) -> [Event] { [] }

  var isEmergencyStopped: Bool { false }
  func holdEmergencyStop() {}

  func emergencyStop(_ caller: Caller) async throws {
    if let refuses { throw refuses }
    seen.withLock { $0.stops += 1 }
  }

  func reset(_ caller: Caller) async throws { seen.withLock { $0.resets += 1 } }

  /// Takes what begins with 1 and answers it doubled; refuses what begins with 2.
  func receive(
    frame: [UInt8], from caller: Caller, answer: @escaping @Sendable (FrameOutcome) -> Void
  ) -> Bool {
    guard let first = frame.first, first == 1 || first == 2 else { return false }
    seen.withLock {
      $0.frames.append(frame)
      $0.clients.append(caller.client)
    }
    answer(first == 1 ? .reply(frame + frame) : .refused(.conflict("BUSY", "not now")))
    return true
  }

  func clientLeft(_ caller: Caller) { seen.withLock { $0.left.append(caller.client) } }
}
