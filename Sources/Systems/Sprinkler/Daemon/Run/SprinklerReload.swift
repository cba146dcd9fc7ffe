import Tactus
import TactusDaemon

/// The change of the flow's limits, which the valves' loop takes, and of what the desk takes: both or neither.
struct SprinklerReload: RulesChange {
  let limits: any RulesChange
  let desk: DeskChange

  var system: String { desk.system }
  var keys: [KeyChange] { desk.keys }
  var isPrepared: Bool { limits.isPrepared && desk.isPrepared }

  func propose() {
    limits.propose()
    desk.propose()
  }

  func withdraw() {
    limits.withdraw()
    desk.withdraw()
  }

  func commit() {
    limits.commit()
    desk.commit()
  }

  var progress: RulesProgress { desk.progress == .waiting ? .waiting : limits.progress }
}
