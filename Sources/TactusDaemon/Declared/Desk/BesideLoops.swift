import Logging
import Service
import Store
import Tactus

/// What a running system has beside its loops: its desk, and what it keeps over a restart. Used by the main thread.
final class BesideLoops<System: DeviceSystem> {
  /// `nil` if the system has none.
  let desk: (any RunningDesk)?
  private let kept: KeptProgress<System>?
  private let thread: DeskThread
  private var nextBeat = TickInstant.zero

  /// What was kept of a system that keeps something; `nil` of another one.
  static func kept(_ surroundings: SystemSurroundings, _ name: String) -> KeptProgress<System>? {
    guard System.fields.contains(where: \.isKept) else { return nil }
    return KeptProgress<System>(surroundings.storeFile, of: name, logger(surroundings, name))
  }

  private static func logger(_ surroundings: SystemSurroundings, _ name: String) -> Logger {
    var logger = surroundings.logger
    logger[metadataKey: "system"] = .string(name)
    return logger
  }

  /// - Throws: what `System.desk` throws.
  init(
    _ configured: ConfiguredSystem<System>, _ loops: HostedDoor<System>.Loops, _ wanted: HostedRules<System>,
    _ kept: KeptProgress<System>?, _ surroundings: SystemSurroundings
  ) throws {
    let name = configured.at.name
    let keeping = System.self as? any Keeps.Type
    let shapes = keeping.map { OpenedTables.shapes(of: $0, configured.wiring) } ?? []
    let file = System.declaredKeeping == nil ? nil : surroundings.storeFile
    let state = loops.state
    let made = DeskMaterial<System>(
      name: name, wiring: configured.wiring,
      newest: {
        var reader = state.reader()
        return reader.read()
      }, rules: { wanted.inEffect }, clock: surroundings.clock,
      logger: Self.logger(surroundings, name), file: file, opened: OpenedTables(shapes, in: file, of: name))
    self.kept = kept
    desk = try DeskMaking.desk(of: System.self, made)
    thread = desk?.thread ?? DeskThread(name)
  }

  func told(_ notice: Told<System.Notice>) { desk?.told(notice) }

  /// Ten times a second.
  func beat(_ newest: Published<System.State>, at now: TickInstant) {
    kept?.beat(newest.state, at: now, on: thread)
    guard now >= nextBeat else { return }
    nextBeat = now + .seconds(1)
    desk?.beat(newest, at: now)
  }

  /// After the loops' end, and after the service's; waits for the disk.
  func finish(_ last: Published<System.State>) {
    desk?.finish(last)
    thread.finish { kept?.finish(last.state) }
  }
}
