import Tactus
import TactusDaemon
import WallTime

/// The store of the kettle's runs. The desk runs beside the loop, on a thread that may wait for a disk.
final class KettleDesk: SystemDesk {
  private let made: DeskMaterial<Kettle>
  private let runs: RowTable<Kettle.Run>
  /// The present run, or `nil` between two runs.
  private var open: (run: Kettle.Run, place: RowPlace, since: TickInstant)?

  init(_ made: DeskMaterial<Kettle>) {
    self.made = made
    runs = made.table(Kettle.Run.self)
  }

  func told(_ notice: Told<Kettle.Notice>) {
    if case .started = notice.notice, open == nil { open = (Kettle.Run(), RowPlace(), notice.at) }
    advance(made.newest().state, at: notice.at, end: notice.notice == .started ? nil : notice.notice.rawValue)
  }

  func beat(_ newest: Published<Kettle.State>) { advance(newest.state, at: newest.at, end: nil) }

  func finish(_ last: Published<Kettle.State>) { advance(last.state, at: last.at, end: "interrupted") }

  private func advance(_ state: Kettle.State, at now: TickInstant, end: String?) {
    guard let (last, place, since) = open else { return }
    var run = last
    run.seconds = (now - since).inSeconds
    // A run that goes on while the clock is set began when that clock says.
    run.start = made.now - Int64(run.seconds)
    run.highest = [run.highest, state.celsius].compactMap(\.self).max()
    run.end = end
    runs.keep(run, at: place)
    open = end == nil ? (run, place, since) : nil
  }

  func recipe() -> Kettle.Recipe { Kettle.Recipe(steps: made.wiring.steps) }

  func note(_ note: Kettle.Note) throws -> Kettle.Run { try runs.change(note.number) { $0.note = note.note } }
}

extension Kettle {
  /// A run of a programme, as a row of the table.
  struct Run: Settings, Answers {
    var number = 0
    var start = WallInstant(secondsSince1970: 0)
    var seconds = 0.0
    var end: String?
    var highest: Double?
    var note: String?

    static var keys: [Key<Run>] {
      Key.number(\.number)
      Key("start", \.start, "When it began.")
      Key("seconds", \.seconds, in: 0...1e9, unit: .seconds, "How long it took.")
      Key("end", \.end, "finished, stopped, dry, blind or interrupted; null while it goes on.")
      Key("highest_celsius", \.highest, in: -200...850, unit: .celsius, "The highest temperature.")
      Key("note", \.note, "What the brewer said of it.")
    }
  }

  /// The programme, as the answer of a route.
  struct Recipe: Settings, Answers {
    var steps: [Step] = []
    static var keys: [Key<Recipe>] { Key("steps", \.steps, upTo: Programme.most, "One after the other.") }
  }

  /// The body of the route that writes a note to a run.
  struct Note: Settings {
    var number = 0
    var note = ""

    static var keys: [Key<Note>] {
      Key.number(\.number)
      Key("note", \.note, "What the brewer says of it.")
    }
  }
}
