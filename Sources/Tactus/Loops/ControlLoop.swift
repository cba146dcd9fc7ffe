/// The reason why a loop was released.
public enum ReleaseCause: UInt8, Sendable, BitwiseCopyable {
  /// The instant `start + phase + k × period` was reached.
  case period
  /// The instant of the loop's `nextDeadline` was reached.
  case deadline
  /// An input became ready, for example because a datagram arrived.
  case input
}

/// The time of a release. A loop reads time from its tick and from nowhere else.
public struct Tick: Sendable, BitwiseCopyable {
  /// The number of the periodic release, from 0 at `start + phase`. A release by deadline or input has the number of the periodic
  /// release before it, or −1 before the first.
  public var index: Int64
  /// The reason why the loop was released.
  public var cause: ReleaseCause
  /// The instant at which the release was due. For a release by input it is the instant at which the lane saw the input.
  public var scheduled: TickInstant
  /// The instant at which the tick began.
  public var started: TickInstant
  /// The number of periodic releases that were given up since the last tick that ran.
  public var missed: Int64

  /// The release latency: how late the tick began.
  @inlinable public var lateness: Nanoseconds { @_noLocks @_noAllocation get { started - scheduled } }

  /// Creates a tick by hand, for tests that call a loop or a machine without a runtime.
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

/// The reason why the runtime calls a loop's safe state.
public enum SafeStateCause: Sendable, BitwiseCopyable {
  /// This many consecutive periodic releases were skipped or ended past their deadline.
  case misses(Int64)
  /// Another process, such as the outputs' guard, brought the outputs into their safe state. The instant is that of the first such
  /// stop since the loop's last tick. The outputs no longer have the values that the loop last wrote, and any motion in progress
  /// has ended. A tick follows. See `ExternalStops`.
  case externalStop(TickInstant)
  /// The runtime is stopping, and no further tick follows.
  case stop
}

/// A control loop: it reads its inputs, steps its machine, applies the outputs and publishes a snapshot.
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
  /// Runs one release. The function is called on the lane's thread, never at the same time as another loop of its lane.
  mutating func tick(_ tick: Tick)

  /// The instant at which the loop must be released even if neither its period nor an input releases it, or `nil` if there is none. Read after every
  /// tick. Such a release never shifts the periodic ones. The getter carries the attributes as well: `{ @_noLocks @_noAllocation get { … } }`.
  var nextDeadline: TickInstant? { get }

  /// Brings every actuator of the loop into its safe state immediately. The function is called on the lane's thread after
  /// `safeStateAfter` consecutive misses and after a stop by another process; ticks go on afterwards, the loop's machine holds the
  /// fault until its named way out is taken, and a stopped output does not start again by itself. The function is also called
  /// when the runtime stops. A loop without actuators conforms to `NoOutput`.
  mutating func safeState(_ tick: Tick, cause: SafeStateCause)

  /// Adds the memory behind pointers that the loop's state is in; see `LoopMemory`. Called once, when the loop has been made.
  func addMemory(to memory: inout LoopMemory)
}

extension ControlLoop where Self: ~Copyable {
  /// Adds nothing: all of the loop's state is in its own value.
  @inlinable public func addMemory(to memory: inout LoopMemory) {}

  /// Always `nil`: only its period and its inputs release the loop.
  @inlinable public var nextDeadline: TickInstant? { @_noLocks @_noAllocation get { nil } }
}

/// A loop without an actuator, whose safe state is therefore to do nothing.
///
/// `struct Logger: ControlLoop, NoOutput` states this where the loop is declared. A loop that writes to a port, or publishes values
/// that another loop writes to a port, has an output and implements `safeState` itself.
public protocol NoOutput: ControlLoop, ~Copyable {}

extension NoOutput where Self: ~Copyable {
  /// Does nothing: there is no output to bring into a safe state.
  @_noLocks @_noAllocation @inlinable public mutating func safeState(_ tick: Tick, cause: SafeStateCause) {}
}
