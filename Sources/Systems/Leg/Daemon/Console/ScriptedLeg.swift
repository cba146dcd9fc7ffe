import Glibc
import Leg
import Tactus
import TactusDaemon
import Wire

/// Runs a `LegScript` and prints events as they happen.
struct ScriptedLeg {
  private let connection: LegConnection
  private var script: LegScript
  private var journal = LegJournal()

  init(_ connection: LegConnection, _ task: LegScript.Task) {
    self.connection = connection
    script = LegScript(task, patience: connection.link.patience)
  }

  /// Runs the script and returns the exit status, which is 0 if the leg obeyed.
  mutating func run(events: borrowing ServiceEvents) -> Int32 {
    while true {
      for event in events.wait() {
        switch event {
        case .stop, .reopenLog:
          complain("interrupted; a leg that is armed is being disarmed")
          return 1
        case .doorbell:
          if let status = step(connection.newest()) { return status }
        case .childEnded, .input: break
        }
      }
    }
  }

  private mutating func step(_ snapshot: LegOperatorSnapshot) -> Int32? {
    // Before the first tick.
    guard snapshot.at != .zero else { return nil }
    for line in journal.observe(snapshot, trouble: connection.link.trouble()) { say(line) }
    let step = script.step(snapshot)
    if let pulse = step.pulse { connection.aim(at: pulse) }
    if let request = step.request { connection.ask(request) }
    switch step.end {
    case nil: return nil
    case .obeyed:
      say(journal.note("obeyed; \(snapshot.sent) frames sent, \(snapshot.received) received", at: snapshot.at))
      return 0
    case .disobeyed(let reason):
      let trouble = connection.link.trouble().map { "; the link: \($0)" } ?? ""
      complain("\(connection.link.name): \(reason)\(trouble)")
      return 1
    }
  }

  /// Prints a line at once. `print` would buffer lines when the output is a pipe.
  private func say(_ text: String) {
    let bytes = Array((text + "\n").utf8)
    _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) }
  }
}
