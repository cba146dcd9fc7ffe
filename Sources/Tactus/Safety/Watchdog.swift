/// A lane that watches the other lanes of its runtime and reports when one of them hangs.
///
///     let runtime = try Runtime(watchdog: Watchdog(after: .milliseconds(50)) { event in … }) { … }
///
/// It looks eight times in each `after`, so a hang is reported between one and 1 1/8 `after` from its beginning. The handler runs
/// on the watchdog's thread: while it runs no lane is watched, and it must not call `Runtime.stop()`, which waits for it. What a
/// hanging lane drives cannot be made safe by that lane; the handler does it by other means, or ends the program.
public struct Watchdog: Sendable {
  /// A report of the watchdog.
  public enum Event: Sendable, Hashable {
    /// Once for each hang.
    case hangs(LaneHang)
    /// The end of a reported hang, once for each, at the instant at which it was seen to be over.
    case isOver(LaneHang, at: TickInstant)
  }

  let after: Nanoseconds
  let scheduling: Scheduling
  let handler: @Sendable (Event) -> Void

  /// - Parameters:
  ///   - after: how long a tick may run, and a release wait while its lane does nothing; 8 µs…10⁹ s, more than any tick
  ///     takes. The runtime refuses another with `.invalidLoop`.
  ///   - scheduling: of the watchdog's thread. Against a real-time lane that never sleeps it needs a higher priority than
  ///     that lane, or a processor of its own.
  ///   - handler: called with each hang and with its end.
  public init(
    after: Nanoseconds, scheduling: Scheduling = .normal, handler: @escaping @Sendable (Event) -> Void
  ) {
    self.after = after
    self.scheduling = scheduling
    self.handler = handler
  }

  /// The lane that watches `lanes`.
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
              for index in watched.indices { watched[index].look(at: tick.pointee.started, after: after, handler) }
              return .max
            }, safeState: { _, _ in }, dispose: {})
        })
    }
  }

  static let name = "watchdog"
}

/// What the watchdog knows of one lane.
private struct WatchedLane {
  let lane: LaneRun
  var told: LaneHang?

  mutating func look(at now: TickInstant, after: Nanoseconds, _ handler: (Watchdog.Event) -> Void) {
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
