import Glibc
import Logging
import Service
import Tactus
import TactusGuard

/// The file beside the safe-state plan in which the guard notes when it turned off which outputs, for the next start of the program.
///
/// The program opens the file before the guard starts and passes its descriptor to the guard, which needs no path. The
/// file is in /run, so a power cut removes it. An orderly end removes it, too, and a guard whose program is under
/// control again marks it as over.
struct SafeStateNote {
  let path: String

  init(beside plan: String) { path = plan + "-written" }

  /// Returns the note of the previous run or of its guard. Returns `nil` if that run ended in order and its store
  /// recorded the times, or if its guard saw the program come back under control.
  func read() -> MadeSafe? {
    guard let bytes = try? readWhole(path) else { return nil }
    return MadeSafe(note: String(decoding: bytes, as: UTF8.self))
  }

  /// Whether the previous run ended without stopping its outputs itself, so that its guard or a stop hook had to.
  var isOfOthers: Bool { access(path, F_OK) == 0 && !(read()?.isOrderly ?? false) }

  /// Replaces the file by an empty one. Returns a descriptor, which every guard of this program inherits, or `nil` if
  /// the file cannot be made, which is logged.
  func begin(_ logger: Logger) -> Int32? {
    // Another guard may still write to the old file.
    unlink(path)
    let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o640)
    guard file < 0 else { return file }
    logger.error(
      "the guard's note cannot be made: the next start will not know what it turned off",
      metadata: ["note": .string(path), "reason": .string(String(cString: strerror(errno)))])
    return nil
  }

  /// Notes that a stop hook has written the safe state after the program had ended. Does nothing after an orderly end,
  /// which leaves no file or one that says that the end was orderly.
  ///
  /// - Parameter began: the instant at which the hook began to write, by the clock of the ticks.
  func noteHook(_ writes: [SafeStateWrite], began: TickInstant) {
    let left = read()
    if left?.isOrderly ?? false { return }
    let old = left?.boot == BootClock.boot ? left : nil
    let file = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return }
    defer { close(file) }
    let took: Nanoseconds = MonotonicClock.now - began
    let at = BootClock.now - took
    var note =
      old
      ?? MadeSafe(
        boot: BootClock.boot, at: at, time: WallClock.text, cause: "the daemon and its guard are gone: the stop hook",
        writes: writes.map(\.description))
    note.last = max(note.at, at)
    Self.write(note.note(), to: file)
  }

  /// Replaces the contents of the file.
  private static func write(_ text: String, to file: Int32) {
    let bytes = Array(text.utf8)
    lseek(file, 0, SEEK_SET)
    ftruncate(file, 0)
    _ = Glibc.write(file, bytes, bytes.count)
  }

  /// Notes that the program has brought its outputs into their safe state itself.
  ///
  /// - Parameter ends: the instants of turned-off outputs that a store did not record, by the boot's clock, the
  ///   earliest first. The next start reads them.
  func end(unkept ends: [TickInstant] = []) {
    let file = ends.isEmpty ? -1 : open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o640)
    guard let first = ends.first, file >= 0 else {
      unlink(path)
      return
    }
    defer { close(file) }
    var note = MadeSafe(
      boot: BootClock.boot, at: first, last: ends.last, time: WallClock.text,
      cause: "the daemon stopped, and its store did not take when", writes: [])
    note.isOrderly = true
    Self.write(note.note(), to: file)
  }

  /// Writes the note from the reports of the guard, in the guard's process.
  struct Writer {
    private let file: Int32
    private let writes: [String]
    private let program: String
    private let boot = BootClock.boot
    private var note: MadeSafe?

    /// Creates the writer of a note in an open file.
    ///
    /// - Parameter program: the program that is guarded, as messages name it.
    init(_ file: Int32, _ writes: [SafeStateWrite], of program: String) {
      self.file = file
      self.program = program
      self.writes = writes.map(\.description)
    }

    /// Notes a write. Until the program is under control again the note keeps the first write, which turned off the
    /// outputs that were on, and the last one, which turned off outputs that a loop had turned on since.
    mutating func receive(_ report: GuardReport) {
      switch report.subject {
      case .notOpened, .killed, .gaveUp, .watchdogNotOpened, .watchdogOpened, .watchdogNotFed, .watchdogLeft: return
      case .back:
        if let note { SafeStateNote.write(note.note(isOver: true), to: file) }
        note = nil
      case .madeSafe, .notSafeYet:
        let now = MonotonicClock.now
        let took: Nanoseconds = now - (report.began ?? now)
        let at = BootClock.now - took
        var new = note ?? MadeSafe(boot: boot, at: at, time: WallClock.text, cause: "", writes: writes)
        new.last = max(new.at, at)
        new.cause = report.message(program: program, output: "actuator")
        note = new
        SafeStateNote.write(new.note(), to: file)
      }
    }
  }
}
