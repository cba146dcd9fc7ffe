import Foundation
import Service
import Store
import Tactus

/// The file with the part of the messages that outlives a restart: the conditions that have been reported, and the
/// messages that wait for their receivers.
struct NoticeFile: Sendable {
  struct Contents: Sendable, Codable, Equatable {
    /// The boot on whose clock the instants are, or `nil` if it is unknown.
    var boot: BootID?
    /// The instant at which the file was written, in seconds.
    var savedAt: Int64 = 0
    /// Whether a daemon was running when the file was written; `false` after an orderly stop.
    var isRunning = false
    var machine = NoticeMachine.Kept()
    var outbox = NoticeOutbox.Kept()
  }

  /// The way in which the previous program ended.
  enum End: Sendable, Equatable {
    case orderly, crash, powerCut
  }

  let path: String
  /// The greatest magnitude of an instant in seconds; a file with a greater one is damaged.
  private static let farthest: Int64 = 4_000_000_000

  /// Reads the file. A file that is missing is empty; one that is damaged counts as empty, and `failure` says why.
  func read() -> (contents: Contents, failure: String?) {
    do throws(FileFailure) {
      guard let bytes = try readWhole(path) else { return (Contents(), nil) }
      guard let contents = try? JSONDecoder().decode(Contents.self, from: Data(bytes)), Self.isSound(contents) else {
        return (Contents(), "\(path): expected what an earlier daemon left, got something else")
      }
      return (contents, nil)
    } catch {
      return (Contents(), "\(error.path): \(error.reason)")
    }
  }

  /// Writes the file at once and durably. Returns the reason if that failed.
  func write(_ contents: Contents) -> String? {
    if let slash = path.lastIndex(of: "/") {
      // The folder is missing unless the confinement has made it; the write reports a folder that cannot be made.
      try? StoreFile.makeFolders(String(path[..<slash]))
    }
    do throws(FileFailure) {
      try writeAtomically(encodeJSON(contents), to: path, mode: 0o600)
      return nil
    } catch {
      return "\(error.path): \(error.reason)"
    }
  }

  /// Returns the contents with instants on the present boot's clock, and how the previous program ended. If the file is
  /// of another boot, the time between the writing and now is unknown and counts as zero.
  static func adopted(_ contents: Contents, boot: BootID?, now: TickInstant) -> (Contents, End) {
    let isSameBoot = contents.boot != nil && contents.boot == boot && contents.savedAt <= now.seconds
    let shift = isSameBoot ? 0 : now.seconds - contents.savedAt
    var moved = contents
    moved.machine = contents.machine.moved(by: shift)
    moved.outbox = contents.outbox.moved(by: shift)
    return (moved, !contents.isRunning ? .orderly : isSameBoot ? .crash : .powerCut)
  }

  private static func isSound(_ contents: Contents) -> Bool {
    let (machine, waiting) = (contents.machine, contents.outbox.waiting)
    var instants = [contents.savedAt]
    for sent in machine.sent.values { instants += sent }
    for one in waiting { instants += [one.since, one.notBefore] }
    for one in machine.tracked { instants += [one.changed, one.began] + one.beginnings + Array(one.told.values) }
    var counts = Array(contents.outbox.missing.values) + Array(machine.unsaid.values)
    for one in waiting { counts += [one.message.missing, one.attempts, one.refusals] }
    counts += machine.tracked.map(\.flaps)
    return instants.allSatisfy { (-farthest...farthest).contains($0) }
      && counts.allSatisfy { (0...1_000_000_000).contains($0) }
      && machine.tracked.count <= NoticeMachine.most
      && Set(machine.tracked.map(\.condition.id)).count == machine.tracked.count
      && waiting.allSatisfy { Self.isIdentification($0.message.id) }
  }

  /// Returns whether an identification has the form of this program's own: 1 to 100 ASCII letters, digits and hyphens,
  /// which may stand in a mail's header.
  private static func isIdentification(_ text: String) -> Bool {
    (1...100).contains(text.utf8.count)
      && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
  }
}
