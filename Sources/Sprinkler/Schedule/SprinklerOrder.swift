/// What the irrigation machine has to do, one after another.
public enum SprinklerOrder: Sendable, Hashable {
  /// The zones as they are from now on.
  case configure([Zone])
  /// All that a zone may still run today, s; nil: no limit. Comes before the runs it matters to.
  case dayLeft(ZoneID, seconds: Double?)
  /// At once, in place of the zone's open run and, where its group is full, of another.
  case open(ZoneRun)
  /// At the end of the queue.
  case append(ZoneRun)
  /// Before everything that waits; several keep their order among themselves by being ordered last first.
  case insert(ZoneRun)
  /// The run, open or waiting, has so many seconds more.
  case extend(run: UInt64, seconds: UInt32)
  /// The run ends, open or waiting. Unknown: nothing happens.
  case end(run: UInt64, RunOutcome)
  /// Everything closes for so long; nil: until `resume`.
  case pause(seconds: UInt32?)
  case resume
}
