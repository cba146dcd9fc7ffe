/// A lane that watches the other lanes of its runtime and reports when one of them hangs.
///
///     let runtime = try Runtime(watchdog: Watchdog(after: .milliseconds(50)) { event in … }) { … }
///
/// The watchdog checks the lanes eight times in each `after`, so a hang is reported between 1 and 1 1/8 times `after` from its
/// beginning. The handler runs on the watchdog's thread: no lane is watched while the handler runs, and it must not call
/// `Runtime.stop()`, which waits for the watchdog. A hanging lane cannot make its outputs safe; the handler does so by other means,
/// or ends the program.
public struct Watchdog: Sendable {
  /// A report of the watchdog.
  public enum Event: Sendable, Hashable {
    /// A lane hangs. The event is reported once for each hang.
    case hangs(LaneHang)
    /// A reported hang is over. The event is reported once for each hang, with the instant at which its end was noticed.
    case isOver(LaneHang, at: TickInstant)
  }

  let after: Nanoseconds
  let scheduling: Scheduling
  let handler: @Sendable (Event) -> Void

  /// Declares a watchdog.
  ///
  /// - Parameters:
  ///   - after: the longest time that a tick may run, and that a release may wait while its lane does nothing; 8 µs…10⁹ s, and longer
  ///     than any tick takes. The runtime refuses other values with `.invalidLoop`.
  ///   - scheduling: the scheduling of the watchdog's thread. To watch a real-time lane that never sleeps, the thread needs a higher
  ///     priority than that lane, or a processor of its own.
  ///   - handler: called with each hang and with the end of each hang.
  public init(
    after: Nanoseconds, scheduling: Scheduling = .normal, handler: @escaping @Sendable (Event) -> Void
  ) {
    self.after = after
    self.scheduling = scheduling
    self.handler = handler
  }

  /// Returns the watchdog's lane, which watches `lanes`.
  func lane(watching lanes: [LaneRun]) -> Lane {
    Lane(Self.name, scheduling: scheduling) {
      Loop(
        name: Self.name, rate: .period(after / 8), phase: .zero, late: .skip, deadline: nil, executionTime: nil,
        tolerance: nil, safeStateAfter: 0, counting: .all, inputs: [], minimumInterval: after / 8,
        body: .eachRun {
          var watched = lanes.map { WatchedLane(lane: $0) }
          // Not a tick that is proved: the handler may do what it likes.
          return LoopBody(
            tick: { tick in
              for index in watched.indices { watched[index].check(at: tick.pointee.started, after: after, handler) }
              return .max
            }, safeState: { _, _ in }, memory: LoopMemory(), dispose: {})
        })
    }
  }

  static let name = "watchdog"
}

/// The watchdog's record of one lane.
private struct WatchedLane {
  let lane: LaneRun
  var told: LaneHang?

  mutating func check(at now: TickInstant, after: Nanoseconds, _ handler: (Watchdog.Event) -> Void) {
    let hang = lane.hang(longerThan: after, at: now)
    if let told, told != hang {
      self.told = nil
      handler(.isOver(told, at: now))
    }
    if let hang, told == nil {
      told = hang
      handler(.hangs(hang))
    }
  }
}
