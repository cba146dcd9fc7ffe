/// The complete order of the other threads to the loop. A newer order contains everything that an older one requested.
@usableFromInline struct RulesOrder<Rules: BitwiseCopyable & Sendable>: BitwiseCopyable, Sendable {
  /// The number of the newest proposal, or 0 if there was none.
  @usableFromInline var proposed: UInt64
  /// The number of the newest commit, or 0 if there was none.
  @usableFromInline var committed: UInt64
  @usableFromInline var now: Rules
  @usableFromInline var whenSafe: Rules
  @usableFromInline var hasWhenSafe: Bool
}

/// The loop's report on a `RulesOrder`.
@usableFromInline struct RulesReport<Rules: BitwiseCopyable & Sendable>: BitwiseCopyable, Sendable {
  /// The number of the newest proposal that a tick has seen.
  @usableFromInline var prepared: UInt64
  /// The number of the newest commit that is in effect, at least in part.
  @usableFromInline var taken: UInt64
  /// Whether wider rules of that commit wait for the loop's safe state.
  @usableFromInline var waits: Bool
  @usableFromInline var rules: Rules

  @inlinable @inline(__always)
  init(prepared: UInt64, taken: UInt64, waits: Bool, rules: Rules) {
    self.prepared = prepared
    self.taken = taken
    self.waits = waits
    self.rules = rules
  }
}

/// The loop's end of a `RulesBox`. The type is not copyable: it belongs to one loop at a time.
///
/// Call `begin()` first in every tick and `finish(isSafe:)` last; in between, `rules` does not change.
/// Timing: a tick without changes loads one number. A tick that takes rules copies them a few times. Neither waits.
public struct RulesInput<Rules: BitwiseCopyable & Sendable>: ~Copyable, @unchecked Sendable {
  // Sendable: moving the end moves the right to use it.
  @usableFromInline let box: RulesBox<Rules>
  @usableFromInline var orders: LatestReader<RulesOrder<Rules>>
  @usableFromInline var reports: LatestWriter<RulesReport<Rules>>
  /// The version of the newest order that was read.
  @usableFromInline var version: UInt64 = 0
  @usableFromInline var taken: UInt64
  @usableFromInline var current: Rules
  @usableFromInline var whenSafe: Rules
  @usableFromInline var waits: Bool
  @usableFromInline var changeCount: UInt64 = 0
  /// Whether the loop was in its safe state when it last finished and no tick has begun since.
  @usableFromInline var isSafe = false

  /// Creates an end that continues the work of the previous end, if there was one.
  init(_ box: RulesBox<Rules>) {
    self.box = box
    orders = box.orders.reader()
    reports = box.reports.writer()
    var reader = box.reports.reader()
    let report = reader.read()
    taken = report.taken
    current = report.rules
    waits = report.waits
    // The first `begin` takes a commit that is newer than the report.
    whenSafe = orders.read().whenSafe
  }

  /// The rules in effect in this tick.
  @inlinable public var rules: Rules { @inline(__always) get { current } }

  /// The number of times `begin()` has changed `rules`, which shows a reader whether it has missed a value.
  @inlinable public var changes: UInt64 { @inline(__always) get { changeCount } }

  /// Begins a tick: confirms a proposal and takes committed rules, either all of them or none.
  @inlinable @inline(__always)
  public mutating func begin() {
    let newest = orders.version
    if newest != version || (waits && (isSafe || !Mechanism.widerLimitWaits.acts)) { takeOrders(newest) }
    isSafe = false
  }

  /// Ends a tick or a safe state.
  ///
  /// - Parameter isSafe: whether every output of the loop is in its safe state, confirmed by the device. The value counts until the
  ///   next `begin()`, which may then take wider rules.
  @inlinable @inline(__always)
  public mutating func finish(isSafe: Bool) { self.isSafe = isSafe }

  @inlinable @inline(__always)
  mutating func takeOrders(_ newest: UInt64) {
    // The order is read after its number: an order that is newer than the number is read again in the next tick.
    version = newest
    let order = orders.read()
    if order.committed != taken {
      taken = order.committed
      current = order.now
      changeCount &+= 1
      whenSafe = order.whenSafe
      waits = order.hasWhenSafe
    }
    if waits && (isSafe || !Mechanism.widerLimitWaits.acts) {
      current = whenSafe
      waits = false
      changeCount &+= 1
    }
    reports.write(RulesReport(prepared: order.proposed, taken: taken, waits: waits, rules: current))
  }
}
