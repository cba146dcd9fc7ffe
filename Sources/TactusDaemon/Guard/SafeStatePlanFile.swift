import Glibc
import Service
import Tactus
import TactusGuard

/// The safe-state plan in effect, as a file: `tactus run` leaves it before it touches an actuator, and `tactus guard --once` reads it
/// when the daemon is gone. So a stop hook does not depend on a configuration that somebody may be editing.
///
/// Its text is a first line, one line for each `SafeStateWrite`, and `end` with their number.
struct SafeStatePlanFile {
  /// What a plan's file turned out to be.
  enum Contents: Equatable {
    case whole([SafeStateWrite])
    /// `readable`: the writes of its complete lines, in their order.
    case damaged(readable: [SafeStateWrite], reason: String)
    case missing
  }

  /// Of the option that names it.
  static let help = "Otherwise safe-state in the folder that RUNTIME_DIRECTORY names, as systemd sets it."
  private static let title = "tactus safe-state plan 1"

  let path: String

  /// - Parameter path: as given on the command line; `nil` means `safe-state` in the runtime directory that systemd makes for the unit.
  /// - Returns: `nil` if there is neither.
  init?(_ path: String?, environment: [String: String]) {
    if let path {
      self.path = path
    } else {
      // Several are separated by colons.
      guard let folder = environment["RUNTIME_DIRECTORY"]?.split(separator: ":").first, folder.hasPrefix("/") else {
        return nil
      }
      self.path = folder + "/safe-state"
    }
  }

  /// Puts a plan in place of the one before, which is removed if that fails: it is no longer in effect.
  func replace(with writes: [SafeStateWrite]) throws(FileFailure) {
    guard Mechanism.planLeft.acts else { return }
    let lines = [Self.title] + writes.map(\.description) + ["end \(writes.count)"]
    do throws(FileFailure) {
      try writeAtomically(Array((lines.joined(separator: "\n") + "\n").utf8), to: path, mode: 0o640)
    } catch {
      unlink(path)
      throw error
    }
  }

  func read() -> Contents {
    do throws(FileFailure) {
      guard let bytes = try readWhole(path) else { return .missing }
      return Self.contents(String(decoding: bytes, as: UTF8.self))
    } catch {
      return .damaged(readable: [], reason: error.reason)
    }
  }

  static func contents(_ text: String) -> Contents {
    // The last piece is behind the last line end: a line that was cut short.
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    guard lines.first == title[...] else {
      return .damaged(readable: [], reason: "line 1: expected \"\(title)\", got \"\(lines.first ?? "")\"")
    }
    var writes: [SafeStateWrite] = []
    var flaw: String?
    for (number, line) in lines.enumerated().dropFirst() {
      if line.hasPrefix("end ") {
        if flaw == nil, line != "end \(writes.count)" {
          flaw = "line \(number + 1): expected \"end \(writes.count)\", got \"\(line)\""
        }
        return flaw.map { .damaged(readable: writes, reason: $0) } ?? .whole(writes)
      }
      if let write = write(String(line)) {
        writes.append(write)
      } else {
        flaw = flaw ?? "line \(number + 1): expected a write, got \"\(line)\""
      }
    }
    return .damaged(
      readable: writes, reason: flaw ?? "expected \"end \(writes.count)\" as last line, got the end of the file")
  }

  /// `nil` also for a write that no plan of ours has: a program, which root would run for whoever may write the file, or a descriptor.
  private static func write(_ text: String) -> SafeStateWrite? {
    switch SafeStateWrite(text, custom: Set(DaemonGuard.outputs.keys)) {
    case nil, .program, .gpio(_, _, .some): nil
    case let write?: write
    }
  }
}
