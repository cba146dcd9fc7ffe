import Logging
import Service
import Store
import Synchronization
import Tactus

/// The parts of a running system besides its loops: its desk, and the values that it keeps over a restart. Used by the
/// main thread.
final class BesideLoops<System: DeviceSystem> {
  /// The desk, or `nil` if the system has none.
  let desk: (any RunningDesk)?
  private let kept: KeptProgress<System>?
  private let wanted: HostedRules<System>
  private let thread: DeskThread
  private let events: ToldEvents
  private let noteStored: @Sendable (TickInstant) -> Void
  private let noteDay: () -> Void
  private var nextBeat = TickInstant.zero
  private let around: DeskSurroundings<System.State, System.Notice>

  /// Returns the kept values of a system, or `nil` if the system keeps no values.
  static func kept(
    _ surroundings: SystemSurroundings, _ configured: ConfiguredSystem<System>, from first: System.State
  ) -> KeptProgress<System>? {
    guard System.fields.contains(where: \.isKept) || KeptRules<System>.isNeeded else { return nil }
    let name = configured.at.name
    return KeptProgress<System>(
      surroundings.storeFile, of: name, from: first, rules: configured.rules,
      isWhole: { System.contradictions(configured.wiring, $0, at: configured.at, .none).isEmpty },
      logger(surroundings, name))
  }

  private static func logger(_ surroundings: SystemSurroundings, _ name: String) -> Logger {
    // A system with loops logs with the program's logger, since most of its lines come from the main thread.
    var logger = System.isWithoutLoops ? surroundings.log.logger(name) : surroundings.logger
    logger[metadataKey: "system"] = .string(name)
    return logger
  }

  /// Makes the desk.
  ///
  /// - Throws: the errors of `System.desk`.
  init(
    _ configured: ConfiguredSystem<System>, _ loops: HostedDoor<System>.Loops,
    _ requests: HostedDoor<System>.Requests?, _ wanted: HostedRules<System>,
    _ kept: KeptProgress<System>?, _ parts: SharedParts, _ surroundings: SystemSurroundings,
    publisher: DeskPublisher<System.State, System.Notice>? = nil
  ) throws {
    let name = configured.at.name
    let keeping = System.self as? any Keeps.Type
    let shapes = keeping.map { OpenedTables.shapes(of: $0, configured.wiring) } ?? []
    let file = System.declaredKeeping == nil ? nil : surroundings.storeFile
    let state = loops.state
    let events = ToldEvents()
    self.events = events
    around = DeskSurroundings(
      at: configured.at, isSimulated: surroundings.simulate || configured.isSimulated,
      bindAddress: surroundings.configuration.bindAddress, portOwners: surroundings.portOwners, publisher: publisher)
    let made = DeskMaterial<System>(
      name: name, wiring: configured.wiring,
      newest: {
        var reader = state.reader()
        return reader.read()
      }, rules: { wanted.inEffect }, clock: surroundings.clock, zone: surroundings.zone,
      logger: Self.logger(surroundings, name), tell: { events.add($0) }, requests: requests,
      offers: surroundings.offers, parts: parts,
      file: file, opened: OpenedTables(shapes, in: file, of: name), around: around)
    (self.kept, self.wanted, noteStored) = (kept, wanted, { loops.noteStored(upTo: $0) })
    noteDay = { loops.noteDay(made.day) }
    desk = try DeskMaking.desk(of: System.self, made)
    thread = desk?.thread ?? DeskThread(name)
  }

  /// Starts the child programs of the system.
  func start() {
    for child in around.children { child.start() }
  }

  /// Stops the child programs. Called after the loops have ended.
  func stopChildren() {
    for child in around.children { child.stop() }
  }

  func told(_ notice: Told<System.Notice>) { desk?.told(notice) }

  /// Returns the events that the desk has sent to subscribers since the last call.
  func takeEvents() -> [Event] { events.take() }

  /// Does periodic work. Called ten times a second.
  func beat(_ newest: Published<System.State>, at now: TickInstant) {
    noteDay()
    kept?.beat(newest, settings, at: now, on: thread, stored: noteStored)
    guard now >= nextBeat else { return }
    // A beat of the daemon may come a little early.
    nextBeat = now + ((desk?.beatPeriod ?? .seconds(1)) - .milliseconds(50))
    desk?.beat(newest, at: now)
  }

  /// Ends the desk and stores the last values. Called after the loops and the service have ended; waits for the disk.
  /// Returns whether the store knows how the outputs ended.
  func finish(_ last: Published<System.State>) -> KeptOutcome {
    let outcome = desk?.finish(last) ?? .known
    thread.finish { kept?.finish(last.state, settings) }
    return outcome
  }

  private var settings: [String: StoredValue] { KeptRules<System>.values(wanted.rules, file: wanted.inFile) }
}

/// A queue of events from a desk to subscribers. Safe to use from any thread.
final class ToldEvents: Sendable {
  private let events = Mutex<[Event]>([])

  func add(_ event: Event) { events.withLock { $0.append(event) } }

  func take() -> [Event] {
    events.withLock { events in
      defer { events = [] }
      return events
    }
  }
}
