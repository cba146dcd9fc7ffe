import Glibc
import Logging
import Service
import Tactus

/// The file beside the safe-state plan that names the systems whose emergency stop is latched: an e-stop outlives the program, however that
/// ends, and is left by a reset alone.
///
/// It lies in /run, so a reboot takes it away. Its descriptor is opened once. The main thread's.
final class EmergencyStopNote {
  private static let title = "tactus emergency stops 1"
  private let file: Int32
  private let logger: Logger
  private var written: Set<String>
  /// Stopped before this start, and not yet again.
  private var waiting: Set<String> = []
  private var isOver = false
  /// Whether the last write failed, which has been logged.
  private var isFailing = false

  /// `nil` if it cannot be opened, which is logged.
  init?(beside plan: String, _ logger: Logger) {
    let path = plan + "-stops"
    file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o640)
    (self.logger, written) = (logger, [])
    guard file < 0 else { return }
    logger.error(
      "the note of emergency stops cannot be opened: a stop will end with this program",
      metadata: ["note": .string(path), "reason": .string(String(cString: strerror(errno)))])
    return nil
  }

  deinit { if file >= 0 { close(file) } }

  /// Stops what was stopped when the last program ended. Before the loops start: their first tick takes it.
  func restore(_ systems: [any ServedSystem]) {
    let names = Set(systems.map(\.name))
    // What cannot be read may have named any of them.
    waiting = Self.contents(read()).map { names.intersection($0) } ?? names
    guard Mechanism.emergencyStopKept.acts, !waiting.isEmpty else { return }
    logger.critical(
      "the emergency stop from before this start holds: look what it was for, then reset it",
      metadata: ["systems": .array(waiting.sorted().map { .string($0) })])
    written = waiting
    for system in systems where waiting.contains(system.name) { system.holdEmergencyStop() }
  }

  /// Called at every change: notes which systems are stopped.
  func look(at systems: [any ServedSystem]) {
    guard !isOver else { return }
    let stopped = Set(systems.lazy.filter(\.isEmergencyStopped).map(\.name))
    waiting.subtract(stopped)
    let names = stopped.union(waiting)
    // What could not be written is tried again at every news: a full /run may be freed.
    guard names != written, write(names) else { return }
    written = names
  }

  /// The loops end, and with them what they know: the note stays as it is.
  func end() { isOver = true }

  static func text(_ names: Set<String>) -> String {
    (["\(title): \(names.count)"] + names.sorted() + ["end"]).joined(separator: "\n") + "\n"
  }

  /// The names in a note; none in an empty one, or `nil` if it is damaged.
  static func contents(_ text: String) -> Set<String>? {
    guard !text.isEmpty else { return [] }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count >= 3, lines.suffix(2) == ["end", ""] else { return nil }
    let names = Set(lines.dropFirst().dropLast(2).map { String($0) })
    return names.count == lines.count - 3 && lines[0] == "\(title): \(names.count)" ? names : nil
  }

  private func read() -> String {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = pread(file, &bytes, bytes.count, 0)
    guard count >= 0 else { return "?" }
    return String(decoding: bytes.prefix(count), as: UTF8.self)
  }

  /// Over the old text, then to its length: what a kill between the two leaves is damaged, and stops everything.
  private func write(_ names: Set<String>) -> Bool {
    let bytes = Array(Self.text(names).utf8)
    let isDone = pwrite(file, bytes, bytes.count, 0) == bytes.count && ftruncate(file, off_t(bytes.count)) == 0
    if !isDone, !isFailing {
      logger.error(
        "emergency stops cannot be noted: they will end with this program",
        metadata: ["reason": .string(String(cString: strerror(errno)))])
    }
    isFailing = !isDone
    return isDone
  }
}
