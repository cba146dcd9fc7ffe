import Tactus

/// The sender's clock as known from its timestamps, and the rules for following a clock that was set.
///
/// A timestamp is in place if it is newer than the newest one, by no more than the time passed since then plus one second. Any other
/// neither counts nor sets the clock. Such timestamps are still followed, as those of a clock that was set, if at least three in a row
/// have a spacing that matches that of their arrival (± 50 %) over at least 100 ms, with none in place between them. Datagrams that
/// arrive back to back, as in a delayed burst or a replay, never match. Only differences of timestamps are compared with the local clock.
public struct SenderClock: Sendable, Hashable, BitwiseCopyable {
  /// The verdict on the timestamp of a command.
  enum Verdict: Sendable, Hashable, BitwiseCopyable {
    case inPlace
    /// The command is the first one by a clock that was set.
    case clockWasSet
    case outOfPlace(IgnoreReason)
  }

  /// The greatest lead that the sender's clock may seem to have, in seconds: a clock of whole seconds runs ahead by up to one.
  private static var mostAheadSeconds: Double {
    @_noLocks @_noAllocation get { 1 }
  }

  private struct Newest: Sendable, Hashable, BitwiseCopyable {
    let stamp: SenderTimestamp
    let at: TickInstant

    @_noLocks @_noAllocation
    init(_ stamp: SenderTimestamp, at: TickInstant) {
      self.stamp = stamp
      self.at = at
    }
  }

  /// The newest timestamp in place, or `nil` while no command has had a timestamp.
  private var newest: Newest?
  /// The timestamps out of place since the last command in place, or `nil` if there have been none.
  private var run: StampRun?

  @_noLocks @_noAllocation
  init() {}

  /// Returns the verdict on the timestamp of a command of the controlling source. Without a timestamp, arrival order counts.
  @_noLocks @_noAllocation
  mutating func hear(_ stamp: SenderTimestamp?, at now: TickInstant) -> Verdict {
    guard let stamp else {
      run = nil
      return .inPlace
    }
    guard let objection = objection(to: stamp, at: now) else {
      set(to: stamp, at: now)
      return .inPlace
    }
    // A repetition of the newest timestamp comes from the old clock.
    if case .duplicate = objection {
      run = nil
      return .outOfPlace(.duplicate)
    }
    var run = self.run ?? StampRun(stamp, at: now)
    run.add(stamp, at: now)
    self.run = run
    guard run.isClock else { return .outOfPlace(objection) }
    set(to: stamp, at: now)
    return .clockWasSet
  }

  @_noLocks @_noAllocation
  private mutating func set(to stamp: SenderTimestamp, at now: TickInstant) {
    newest = Newest(stamp, at: now)
    run = nil
  }

  /// Returns the reason why a timestamp is out of place, or `nil` if it is in place.
  @_noLocks @_noAllocation
  private func objection(to stamp: SenderTimestamp, at now: TickInstant) -> IgnoreReason? {
    guard let newest else { return nil }
    switch stamp.order(after: newest.stamp) {
    case .older: return Mechanism.commandOrder.acts ? .older : nil
    case .duplicate: return Mechanism.commandOrder.acts ? .duplicate : nil
    case .newer:
      let lead = stamp.seconds - newest.stamp.seconds - (now - newest.at).inSeconds
      return lead > Self.mostAheadSeconds ? .ahead : nil
    }
  }
}

/// A run of timestamps out of place whose spacing matches that of their datagrams.
private struct StampRun: Sendable, Hashable, BitwiseCopyable {
  private static var leastCount: Int {
    @_noLocks @_noAllocation get { 3 }
  }
  private static var leastTime: Nanoseconds {
    @_noLocks @_noAllocation get { .milliseconds(100) }
  }
  /// The least spacing of datagrams that are counted: the arrival of closer ones depends as much on the network and the loop as on the
  /// sender.
  private static var leastSpacing: Nanoseconds {
    @_noLocks @_noAllocation get { .milliseconds(20) }
  }

  private var first: SenderTimestamp
  private var firstAt: TickInstant
  private var last: SenderTimestamp
  private var lastAt: TickInstant
  private var count: Int

  @_noLocks @_noAllocation
  init(_ stamp: SenderTimestamp, at now: TickInstant) {
    first = stamp
    firstAt = now
    last = stamp
    lastAt = now
    count = 1
  }

  /// Whether the run is long enough, in timestamps and in time, to be accepted as a clock that was set.
  var isClock: Bool {
    @_noLocks @_noAllocation get {
      count >= Self.leastCount && ((lastAt - firstAt).count >= Self.leastTime.count || !Mechanism.commandReplay.acts)
    }
  }

  /// Counts the timestamp if it matches the run; otherwise starts a new run with it.
  @_noLocks @_noAllocation
  mutating func add(_ stamp: SenderTimestamp, at now: TickInstant) {
    // The datagram is a repetition within the run, or was overtaken by a later one of the run.
    if stamp.seconds >= first.seconds && stamp.seconds <= last.seconds { return }
    let spacing = stamp.seconds - last.seconds
    let arrival = (now - lastAt).inSeconds
    let least = Self.leastSpacing.inSeconds
    if spacing > 0 && spacing < least && arrival < least { return }
    guard (spacing >= 0.5 * arrival && spacing <= 1.5 * arrival) || !Mechanism.commandReplay.acts else {
      self = StampRun(stamp, at: now)
      return
    }
    last = stamp
    lastAt = now
    count += 1
  }
}
