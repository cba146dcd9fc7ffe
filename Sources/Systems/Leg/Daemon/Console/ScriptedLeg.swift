import Leg
import Tactus
import TactusDaemon
import Wire

/// Runs a `LegScript` and prints events as they happen.
struct ScriptedLeg: OperatorCommand {
  private let connection: LegConnection
  private var script: LegScript
  private var journal = LegJournal()

  init(_ connection: LegConnection, _ task: LegScript.Task) {
    self.connection = connection
    script = LegScript(task, patience: connection.link.patience)
  }

  mutating func interrupt() -> Int32? {
    complain("interrupted; a leg that is armed is being disarmed")
    return 1
  }

  mutating func refresh() -> Int32? {
    let snapshot = connection.newest()
    // Before the first tick.
    guard snapshot.at != .zero else { return nil }
    for line in journal.observe(snapshot, trouble: connection.link.trouble()) { printAtOnce(line + "\n") }
    let step = script.step(snapshot)
    if let pulse = step.pulse { connection.aim(at: pulse) }
    if let request = step.request { connection.ask(request) }
    switch step.end {
    case nil: return nil
    case .obeyed:
      let text = "obeyed; \(snapshot.sent) frames sent, \(snapshot.received) received"
      printAtOnce(journal.note(text, at: snapshot.at) + "\n")
      return 0
    case .disobeyed(let reason):
      let trouble = connection.link.trouble().map { "; the link: \($0)" } ?? ""
      complain("\(connection.link.name): \(reason)\(trouble)")
      return 1
    }
  }
}
