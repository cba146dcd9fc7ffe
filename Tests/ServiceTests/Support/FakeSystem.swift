import Synchronization
import Tactus

@testable import Service

/// A system without loops: says what it was told to say, and remembers what it was asked.
final class FakeSystem: ServedSystem {
  struct Asked: Equatable {
    var stops = 0
    var resets = 0
    var beats: [Bool] = []
  }

  let name: String
  private let routesAdded: [Route]
  private let current = Mutex((version: UInt64(1), state: "driving"))
  private let askedOf = Mutex(Asked())
  private let written = Atomic(0)
  private let stopError: (any Error)?

  init(_ name: String = "fake", routes: [Route] = [], stopError: (any Error)? = nil) {
    self.name = name
    routesAdded = routes
    self.stopError = stopError
  }

  var asked: Asked { askedOf.withLock { $0 } }

  func enter(_ state: String) {
    current.withLock { $0 = ($0.version + 1, state) }
  }

  var routes: [Route] { routesAdded }
  var version: UInt64 { current.withLock { $0.version } }
  var state: [UInt8] {
    written.add(1, ordering: .relaxed)
    return Array(#"{"state":"\#(current.withLock { $0.state })"}"#.utf8)
  }
  /// How often somebody has had its state written.
  var statesWritten: Int { written.load(ordering: .relaxed) }

  var movingMembers: Set<String> { [] }

  func events(at now: TickInstant, second: Bool) -> [Event] {
    askedOf.withLock { $0.beats.append(second) }
    return []
  }

  var isEmergencyStopped: Bool { false }
  func holdEmergencyStop() {}

  func emergencyStop(_ caller: Caller) async throws {
    askedOf.withLock { $0.stops += 1 }
    if let stopError { throw stopError }
  }

  func reset(_ caller: Caller) async throws { askedOf.withLock { $0.resets += 1 } }

  func take(
    frame: [UInt8], from caller: Caller, answer: @escaping @Sendable (FrameOutcome) -> Void
  ) -> Bool { false }

  func clientLeft(_ caller: Caller) {}
}
