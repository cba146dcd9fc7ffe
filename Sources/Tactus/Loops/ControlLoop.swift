/// Why a loop was released.
public enum ReleaseCause: UInt8, Sendable, BitwiseCopyable {
  /// `start + phase + k × period` was reached.
  case period
  /// The instant the loop had named as its `nextDeadline` was reached.
  case deadline
  /// An input became ready: a datagram arrived.
  case input
}

/// All that a tick may know about time. A loop reads time from here and from nowhere else.
public struct Tick: Sendable, BitwiseCopyable {
  /// Number of the periodic release, from 0 at `start + phase`. A release by deadline or input carries the index of the
  /// periodic release before it; −1 before the first.
  public var index: Int64
  /// Why the loop was released.
  public var cause: ReleaseCause
  /// When the release was due. For a release by input, when the lane saw the input.
  public var scheduled: TickInstant
  /// When the tick began.
  public var started: TickInstant
  /// Periodic releases given up since the last tick that ran.
  public var missed: Int64

  /// Release latency: how late the tick began.
  @inlinable public var lateness: Nanoseconds { @_noLocks @_noAllocation get { started - scheduled } }

  /// A tick made by hand, for tests that call a loop or a machine without a runtime.
  ///
  /// - Parameters:
  ///   - index: number of the periodic release, from 0.
  ///   - cause: why the loop was released.
  ///   - scheduled: when the release was due.
  ///   - started: when the tick began, not before `scheduled`.
  ///   - missed: periodic releases given up since the last tick that ran, 0 or more.
  @_noLocks @_noAllocation @inlinable public init(
    index: Int64, cause: ReleaseCause = .period, scheduled: TickInstant, started: TickInstant, missed: Int64 = 0
  ) {
    self.index = index
    self.cause = cause
    self.scheduled = scheduled
    self.started = started
    self.missed = missed
  }
}

/// Why the runtime asks a loop for its safe state.
public enum SafeStateCause: Sendable, BitwiseCopyable {
  /// So many consecutive periodic releases were missed or finished past their deadline.
  case misses(Int64)
  /// Another process, such as the outputs' guard, brought them into their safe state, at this instant first since the
  /// loop's last tick: they are not what the loop last made them, and whatever it was doing has ended then. A tick follows. See
  /// `ExternalStops`.
  case externalStop(TickInstant)
  /// The runtime is stopping; no tick follows.
  case stop
}

/// A loop: reads its inputs, steps its machine, applies the outputs, publishes a snapshot.
///
/// Write `@_noLocks @_noAllocation` on `tick` and on `safeState`: the compiler then rejects a tick that could take a lock
/// or allocate, in debug and in release builds. The types of Swift cannot demand the attributes: the plugin `ProvedTicks`
/// does, for the targets that switch it on with `plugins: [.plugin(name: "ProvedTicks", package: "tactus")]`.
/// Without it, a tick that lacks them compiles and is not proved.
///
/// A tick may use values and their arithmetic, `UnsafePointer`s, atomics, `InlineArray`s, the ports and mailboxes of this
/// package (a `TickLog` for messages), functions of its own file, and functions that carry the two attributes themselves. It
/// may not:
///
/// - wait, sleep, read a clock or do I/O that can block: time comes from `Tick`, work that may wait belongs to a thread
///   that is no lane, behind a `Ring` or a `Latest`;
/// - read an object (which retains it), a stored closure, an `any` value, a string, a dictionary or a lazily made `static`;
/// - change, count or iterate over an array: read an element, or use an `InlineArray` or a buffer from before the start;
/// - call a function of another module or file that neither is inlined nor carries the promise: the C library's mathematics (see
///   `TactusControl.Math`), `squareRoot()`, `rounded()`, the arithmetic of `Duration`, a synthesised `==`;
/// - carry the promise on a generic function, or make a `Span`;
/// - trap: a trap ends the program, so use `&+` and `&-` where a number may overflow, and check what you divide by;
/// - call the runtime: `stop()`, `setRates(_:)` and `statistics` belong to other threads.
///
/// <doc:WhatATickMayDo> has the compiler's messages, what each of them means and what to write instead; a test compiles
/// all of it.
public protocol ControlLoop: ~Copyable {
  /// One release. Runs on the lane's thread, never at the same time as another loop of its lane.
  mutating func tick(_ tick: Tick)

  /// When the loop must be released even if neither its period nor an input does so. Read after every tick; `nil` for
  /// none. Such a release never shifts the periodic ones. Carries the promise, too: `{ @_noLocks @_noAllocation get { … } }`.
  var nextDeadline: TickInstant? { get }

  /// Brings every actuator of the loop into its safe state, at once. Called on the lane's thread after
  /// `safeStateAfter` consecutive misses, and after a stop from outside (ticks go on afterwards: the loop's machine holds the fault until
  /// its named way out; what was stopped does not start again by itself), and when the runtime stops. A loop without actuators says so: see `NoOutput`.
  mutating func safeState(_ tick: Tick, cause: SafeStateCause)
}

extension ControlLoop where Self: ~Copyable {
  /// No deadline of its own: only its period and its inputs release the loop.
  @inlinable public var nextDeadline: TickInstant? { @_noLocks @_noAllocation get { nil } }
}

/// A loop that moves, heats, lights and opens nothing, so that its safe state is to do nothing.
///
/// `struct Logger: ControlLoop, NoOutput` states that claim where the loop is declared. A loop that writes to a port, or
/// publishes what another loop writes to one, has an output: it implements `safeState` itself.
public protocol NoOutput: ControlLoop, ~Copyable {}

extension NoOutput where Self: ~Copyable {
  /// Does nothing: there is no output to bring into a safe state.
  @_noLocks @_noAllocation @inlinable public mutating func safeState(_ tick: Tick, cause: SafeStateCause) {}
}
