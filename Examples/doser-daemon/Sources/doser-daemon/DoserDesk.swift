import Tactus
import TactusDaemon
import WallTime

/// The pump's store and schedule. The desk runs beside the loop, on a thread that may wait for a disk.
final class DoserDesk: SystemDesk {
  private let made: DeskMaterial<Doser>
  private let doses: RowTable<Doser.Dose>
  /// The dose that is being given.
  private var open: (dose: Doser.Dose, place: RowPlace)?
  /// The instant up to which due doses of the schedule have been ordered, or `nil` while the clock is not sure.
  private var looked: WallInstant?

  init(_ made: DeskMaterial<Doser>) {
    self.made = made
    doses = made.table(Doser.Dose.self)
  }

  func told(_ notice: Told<Doser.Notice>) {
    let (machine, kind) = (made.newest().state.machine, notice.notice.kind)
    // A dose that was stopped before it began has no row yet.
    var (dose, place) =
      open
      ?? (Doser.Dose(start: made.now, asked: machine.asked, isScheduled: machine.isScheduled), RowPlace())
    if kind != .began { (dose.dosed, dose.end) = (notice.notice.millilitres, kind.rawValue) }
    doses.keep(dose, at: place)
    open = kind == .began ? (dose, place) : nil
  }

  /// A dose that is due while the clock is not sure, or while the daemon does not run, is left out: two doses at once are worse than none.
  func beat(_ newest: Published<Doser.State>) {
    guard made.clock.now.isConfirmed else {
      looked = nil
      return
    }
    let now = made.now
    defer { looked = now }
    guard let looked, looked < now else { return }
    for dose in made.wiring.schedule where isDue(dose, after: looked, by: now) {
      made.order(.dose(millilitres: dose.amount, isScheduled: true)) { [self] result in
        if case .success(let answer) = result, case .accepted = answer.verdict { return }
        doses.keep(Doser.Dose(start: now, asked: dose.amount, isScheduled: true, end: "refused"))
      }
    }
  }

  func finish(_ last: Published<Doser.State>) {
    guard let (begun, place) = open else { return }
    var dose = begun
    (dose.dosed, dose.end) = (last.state.machine.dosed, "interrupted")
    doses.keep(dose, at: place)
  }

  /// Returns whether a dose of the schedule has become due. The two instants are of two days if midnight was between them.
  private func isDue(_ dose: Doser.Scheduled, after looked: WallInstant, by now: WallInstant) -> Bool {
    [looked, now].contains { day in
      let due = made.zone.instant(of: made.zone.local(day).date, second: (dose.hour * 60 + dose.minute) * 60)
      return looked < due && due <= now
    }
  }

  func plan() -> Doser.Plan { Doser.Plan(schedule: made.wiring.schedule) }
}

extension Doser {
  /// A dose, as a row of the table.
  struct Dose: Settings, Answers {
    var number = 0
    var start = WallInstant(secondsSince1970: 0)
    var asked = 0.1
    var dosed = 0.0
    var isScheduled = false
    var end: String?

    static var keys: [Key<Dose>] {
      Key.number(\.number)
      Key("start", \.start, "When it began.")
      Key("asked_ml", \.asked, in: 0...1_000, unit: millilitres, "How much was asked for.")
      Key("dosed_ml", \.dosed, in: 0...2_000, unit: millilitres, "How much was dosed.")
      Key("scheduled", \.isScheduled, "Whether the schedule asked for it.")
      Key("end", \.end, "done, stopped, empty, blocked, interrupted or refused; null while it goes on.")
    }
  }

  /// The schedule, as the answer of a route.
  struct Plan: Settings, Answers {
    var schedule: [Scheduled] = []
    static var keys: [Key<Plan>] { Key("schedule", \.schedule, upTo: 24, "What is dosed by itself each day.") }
  }
}
