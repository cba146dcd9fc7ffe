import Service
import Synchronization
import Tactus

/// A system without loops: says what it was told to say, and remembers what it was asked.
package final class FakeSystem: ServedSystem {
  package struct Asked: Equatable, Sendable {
    package var stops: Int
    package var resets: Int
    package var beats: [Bool]

    package init(stops: Int = 0, resets: Int = 0, beats: [Bool] = []) {
      (self.stops, self.resets, self.beats) = (stops, resets, beats)
    }
  }

  package let name: String
  private let routesAdded: [Route]
  private let current = Mutex((version: UInt64(1), state: "driving"))
  private let askedOf = Mutex(Asked())
  private let written = Atomic(0)
  private let stopError: (any Error)?

  package init(_ name: String = "fake", routes: [Route] = [], stopError: (any Error)? = nil) {
    self.name = name
    routesAdded = routes
    self.stopError = stopError
  }

  package var asked: Asked { askedOf.withLock { $0 } }

  package func enter(_ state: String) {
    current.withLock { $0 = ($0.version + 1, state) }
  }

  package var routes: [Route] { routesAdded }
  package var version: UInt64 { current.withLock { $0.version } }
  package var state: [UInt8] {
    written.add(1, ordering: .relaxed)
    return Array(#"{"state":"\#(current.withLock { $0.state })"}"#.utf8)
  }
  /// How often somebody has had its state written.
  package var statesWritten: Int { written.load(ordering: .relaxed) }

  package var movingMembers: Set<String> { [] }

  package func events(at now: TickInstant, second: Bool) -> [Event] {
    askedOf.withLock { $0.beats.append(second) }
    return []
  }

  package var isEmergencyStopped: Bool { false }
  package func holdEmergencyStop() {}

  package func emergencyStop(_ caller: Caller) async throws {
    askedOf.withLock { $0.stops += 1 }
    if let stopError { throw stopError }
  }

  package func reset(_ caller: Caller) async throws { askedOf.withLock { $0.resets += 1 } }

  package func receive(
    frame: [UInt8], from caller: Caller, answer: @escaping @Sendable (FrameOutcome) -> Void
  ) -> Bool { false }

  package func clientLeft(_ caller: Caller) {}
}
