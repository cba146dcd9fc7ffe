import Tactus

/// The controller's own clock, as far as its timestamps have told it, and how one that was set is followed.
///
/// A stamp in place is newer than the newest one, by no more than the time that has passed since and a second. Any other
/// neither counts nor sets the clock. Such stamps may still be a clock that was set: at least three in a row, whose spacing
/// matches that of their arrival (± 50 %) over at least 100 ms, with none in place between them. Datagrams that come back
/// to back, as a delayed burst or a replay does, never match. Only differences of stamps are compared with our own clock.
public struct SenderClock: Sendable, Hashable, BitwiseCopyable {
  /// What a stamp says about its command.
  enum Verdict: Sendable, Hashable, BitwiseCopyable {
    case inPlace
    /// The first command by a clock that was set.
    case clockWasSet
    case outOfPlace(IgnoreReason)
  }

  /// How far the sender's clock may seem to run ahead, s: a clock of whole seconds does by up to one.
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

  /// `nil` while no command has had a stamp.
  private var newest: Newest?
  /// Stamps out of place since the last command in place, or `nil` if there were none.
  private var run: StampRun?

  @_noLocks @_noAllocation
  init() {}

  /// A command of the controller came with this stamp, `nil` for none: then arrival order counts.
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
    // A repetition of the newest stamp is no new clock, but the old one.
    if case .duplicate = objection {
      run = nil
      return .outOfPlace(.duplicate)
    }
    var run = self.run ?? StampRun(stamp, at: now)
    run.take(stamp, at: now)
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

  /// Why a stamp is out of place, or `nil` if it is in place.
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

/// Stamps out of place that follow each other as their datagrams do.
private struct StampRun: Sendable, Hashable, BitwiseCopyable {
  private static var leastCount: Int {
    @_noLocks @_noAllocation get { 3 }
  }
  private static var leastTime: Nanoseconds {
    @_noLocks @_noAllocation get { .milliseconds(100) }
  }
  /// Closer datagrams are left out: their arrival is as much the network's and the loop's as the sender's.
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

  /// Enough of them for long enough.
  var isClock: Bool {
    @_noLocks @_noAllocation get {
      count >= Self.leastCount && ((lastAt - firstAt).count >= Self.leastTime.count || !Mechanism.commandReplay.acts)
    }
  }

  /// Counts the stamp if it matches; one that does not begins the run anew.
  @_noLocks @_noAllocation
  mutating func take(_ stamp: SenderTimestamp, at now: TickInstant) {
    // A datagram of the run again, or one that was overtaken within it.
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
