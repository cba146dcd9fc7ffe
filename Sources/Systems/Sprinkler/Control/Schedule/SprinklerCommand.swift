import WallTime

/// A command that a person gives to the sprinkler, by any of the daemon's interfaces.
public enum SprinklerCommand: Sendable, Hashable {
  /// Opens a zone now, ahead of the queue, or lets its open run last that long from now; `nil` means the zone's default duration.
  /// With `litres`, 0.1…100,000, the run ends once it has had them; `seconds` is then its longest time, `nil` for the zone's longest run.
  case zoneOn(ZoneID, seconds: Int?, litres: Double? = nil)
  /// Lengthens the zone's open run, or opens the zone if it is closed.
  ///
  /// `active` is the zone's run according to the valves' loop, which may know more than the scheduler: a run whose opening has not been reported
  /// yet, or one that waits for the master valve's lead.
  case zoneExtend(ZoneID, seconds: Int, active: UInt64? = nil)
  /// Ends the zone's open run and removes its queued runs.
  case zoneOff(ZoneID)
  /// Appends every step of a program to the queue now, even if the program is disabled.
  case runProgram(id: Int)
  /// Appends these zones to the queue in this order, once.
  case runOnce([Program.Step])
  /// Puts these zones at the head of the queue in this order, once.
  case runNext([Program.Step])
  /// Ends the open runs; the next run in the queue opens.
  case skip
  /// Removes every queued run.
  case clearQueue
  /// Ends one run, whether it is queued or open.
  case remove(run: UInt64)
  /// Ends the open runs and clears the queue.
  case stopAll
  /// Closes all valves for `seconds`, 1…86,400 s.
  case pause(seconds: Int)
  case resume
  /// Starts a rain delay from now on, 1…1,209,600 s (14 days).
  case setRainDelay(seconds: Int)
  case cancelRainDelay
  /// Sets whether the forecast may start rain delays. Switching it off also ends a rain delay that the forecast started.
  case setForecast(isOn: Bool)
  /// Adds the program under a new id; the given id is ignored.
  case addProgram(Program)
  /// Replaces the program that has the same id.
  case replaceProgram(Program)
  /// Removes the program and ends its runs.
  case removeProgram(id: Int)
  case enableProgram(id: Int, Bool)
  /// Sorts the programs; the list has every program's id exactly once.
  case orderPrograms([Int])
  /// Replaces all zones, in display order. The runs of zones that are removed or disabled end.
  case setZones([Zone])
  case setLevels(SprinklerLevels)
  /// Forgets the learnt flow of a zone, which is then learnt again.
  case forgetFlow(ZoneID)
  /// Adds exported programs under new ids, without aliases that other programs have. Either all of them are added or none.
  case importPrograms([Program])
  /// Replaces zones, programs and levels by those of a backup, and ends all open and queued runs. Starts that the backup records count as
  /// dealt with, and its rain delay applies if it ends later than the present one. Existing starts, daily totals and log lines stay.
  case restore(SprinklerRecords)
}

/// The reason why a command was not carried out.
public enum SprinklerRefusal: Error, Sendable, Hashable {
  /// A value is invalid. Carries the path of the field, such as `steps[2].seconds`, the expected values and the given one.
  case invalid(field: String, expected: String, got: String)
  case unknownZone(Int)
  case unknownProgram(Int)
  case unknownRun(UInt64)
  case zoneDisabled(ZoneID)
  /// Runs by hand are denied during the current rain delay.
  case rainDelay(until: WallInstant)
  /// The zone has reached its daily limit.
  case dayLimit(ZoneID, seconds: Int)
  case queueFull(capacity: Int)
}
