import Glibc
import Service
import Tactus
import TactusGuard

/// The file with the safe-state plan in effect. `tactus run` writes it before it uses an actuator, and `tactus guard
/// --once` reads it when the daemon is gone, so that a stop hook does not depend on a configuration that may be half
/// edited.
struct SafeStatePlanFile {
  typealias Contents = SafeStatePlanText.Contents

  /// The help text of the option that names the plan's file.
  static let help = "Otherwise safe-state in the folder that RUNTIME_DIRECTORY names, as systemd sets it."

  let path: String

  /// Finds the path of the plan.
  ///
  /// - Parameter path: the path given on the command line, or `nil` for `safe-state` in the runtime directory that systemd makes for the unit.
  /// - Returns: `nil` if there is neither a path nor a runtime directory.
  init?(_ path: String?, environment: [String: String]) {
    if let path {
      self.path = path
    } else {
      // Several folders are separated by colons.
      guard let folder = environment["RUNTIME_DIRECTORY"]?.split(separator: ":").first, folder.hasPrefix("/") else {
        return nil
      }
      self.path = folder + "/safe-state"
    }
  }

  /// Replaces the previous plan. If that fails, the previous plan is removed, because it is no longer in effect.
  func replace(with writes: [SafeStateWrite]) throws(FileFailure) {
    guard Mechanism.planLeft.acts else { return }
    do throws(FileFailure) {
      try writeAtomically(Array(SafeStatePlanText.text(writes).utf8), to: path, mode: 0o640)
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
    SafeStatePlanText.contents(text, custom: Set(DaemonGuard.outputs.keys))
  }
}
