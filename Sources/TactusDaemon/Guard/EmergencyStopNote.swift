import Glibc
import Logging
import Service
import Tactus

/// The file beside the safe-state plan that names the systems whose emergency stop is latched. An emergency stop
/// survives the end of the program, whatever the cause, and only a reset ends it.
///
/// The file is in /run, so a reboot removes it. Its descriptor is opened once. It is to be used on the main thread.
final class EmergencyStopNote {
  private static let title = "tactus emergency stops 1"
  private let file: Int32
  private let logger: Logger
  private var written: Set<String>
  private var isOver = false
  /// Whether the last write failed, which has been logged then.
  private var isFailing = false

  /// Opens the note. Returns `nil` if it cannot be opened, which is logged.
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

  /// Stops the systems that were stopped when the last program ended. The function is to be called before the loops start, which take the stop in
  /// their first tick. Such a stop counts from here on like any other that is on its way, so that nothing has to be remembered of it: a reset may
  /// come so soon behind the first tick that nobody has seen the system stopped in between.
  func restore(_ systems: [any ServedSystem]) {
    let names = Set(systems.map(\.name))
    // A note that cannot be read may have named any of the systems.
    let stopped = Self.contents(read()).map { names.intersection($0) } ?? names
    guard Mechanism.emergencyStopKept.acts, !stopped.isEmpty else { return }
    logger.critical(
      "the emergency stop from before this start holds: look what it was for, then reset it",
      metadata: ["systems": .array(stopped.sorted().map { .string($0) })])
    written = stopped
    for system in systems where stopped.contains(system.name) { system.holdEmergencyStop() }
  }

  /// Notes which systems are stopped; called at every change.
  func update(from systems: [any ServedSystem]) {
    guard !isOver else { return }
    let names = Set(systems.lazy.filter(\.isEmergencyStopped).map(\.name))
    // A note that could not be written is tried again at every change, since a full /run may have room again.
    guard names != written, write(names) else { return }
    written = names
  }

  /// Stops updating the note, because the loops end and no longer report their stops.
  func end() { isOver = true }

  static func text(_ names: Set<String>) -> String {
    (["\(title): \(names.count)"] + names.sorted() + ["end"]).joined(separator: "\n") + "\n"
  }

  /// Returns the names in a note, none if it is empty, or `nil` if it is damaged.
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

  /// Overwrites the old text, then truncates the file. Returns whether that succeeded. A kill in between leaves a
  /// damaged note, which stops every system.
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
