/// What a person asks of the sprinkler, through whichever door.
public enum SprinklerCommand: Sendable, Hashable {
  /// Opens a zone now, ahead of the queue, or gives its open run that duration from now. Nil: the zone's default.
  case zoneOn(ZoneID, seconds: Int?)
  /// Adds to the zone's open run; opens the zone if it is closed.
  ///
  /// `active`: the run that the zone has according to the valves' loop, which may be ahead: one whose opening has not been heard of
  /// here yet, or one that the master valve leads.
  case zoneExtend(ZoneID, seconds: Int, active: UInt64? = nil)
  /// Ends the zone's open run and takes its waiting ones out of the queue.
  case zoneOff(ZoneID)
  /// Every step of a program, now, at the end of the queue; a disabled program, too.
  case runProgram(id: Int)
  /// Some zones in that order, once, at the end of the queue.
  case runOnce([Program.Step])
  /// The same, before everything that waits.
  case runNext([Program.Step])
  /// Ends what is open; the next in the queue opens.
  case skip
  /// Takes everything that waits out of the queue.
  case clearQueue
  /// Takes one run out of the queue, or ends it.
  case remove(run: UInt64)
  /// Ends what is open and clears the queue.
  case stopAll
  /// Closes everything for so long, 1…86,400 s.
  case pause(seconds: Int)
  case resume
  /// 1…1,209,600 s (14 days) from now.
  case setRainDelay(seconds: Int)
  case cancelRainDelay
  /// Whether a forecast makes rain delays from now on. Switched off, it also ends the one that it has made.
  case setForecast(isOn: Bool)
  /// Its id is ignored and given anew.
  case addProgram(Program)
  /// In place of the one with its id.
  case replaceProgram(Program)
  /// Ends its runs, too.
  case removeProgram(id: Int)
  case enableProgram(id: Int, Bool)
  /// Every program's id, once each, in the new order.
  case orderPrograms([Int])
  /// All zones, in their order. The runs of one that is gone or disabled end.
  case setZones([Zone])
  case setLevels(SprinklerLevels)
  /// Adds programs, as an export gave them; ids are given anew, and an alias that another program has is left out. All of them or none.
  case importPrograms([Program])
  /// Zones, programs and levels of a backup in place of the present ones; everything that runs or waits ends. What it says was
  /// started counts as started, and its rain delay is in force if it ends later. What has been started, run and logged stays.
  case restore(SprinklerRecords)
}
