import Synchronization
import Tactus

@testable import Service
@testable import TactusDaemon
@testable import VideoDaemon

/// The video's desk as a running daemon has it, without a process.
private final class TestedDesk: RunningDesk, @unchecked Sendable {
  let desk: VideoDesk
  let thread = DeskThread("video")
  var descriptions: [(path: String, method: RouteMethod, scope: Scope, description: RouteDescription)] { [] }

  init(_ desk: VideoDesk) { self.desk = desk }

  var routes: [Route] { desk.routes }
  func beat(_ newest: any Sendable, at now: TickInstant) {}
  func told(_ notice: any Sendable) {}
  func finish(_ last: any Sendable) -> KeptOutcome { .known }
  var participant: (any BrokerParticipant)? { nil }
  var beatPeriod: Nanoseconds { .seconds(1) }
  func events(at now: TickInstant) -> [Event] { desk.events(at: now) }
}

extension HostedDoor where System == Video {
  /// The door of a desk.
  convenience init(_ desk: VideoDesk, now: @escaping @Sendable () -> TickInstant = { MonotonicClock.now }) throws {
    let shared = SharedParts()
    shared.add(desk)
    self.init(
      try Loops(state: Video.initialState, rules: NoSettings()), at: Video.onlyPlace, beside: TestedDesk(desk),
      look: { Look(name: Video.name, wiring: .init(), rules: .init(), now: $0, parts: shared) }, now: now)
  }
}
