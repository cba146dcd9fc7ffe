import Synchronization

/// How old the data is that a loop acts on: measured by the runtime at the end of each tick that uses some, and bounded by
/// the planner.
///
///     let age = DataAge("tilt", from: "imu", "balance")
///     let runtime = try Runtime {
///       Lane("motion") {
///         Loop("imu", every: .hertz(1000)) { IMU(reading: reading.writer()) }
///         Loop("balance", every: .hertz(1000), after: "imu") { Balance(…) }
///         Loop("motors", every: .hertz(1000), after: "balance", ages: [age]) { Motors(age: age.meter(), …) }
///       }
///     }
///     …
///     runtime.statistics["motors"]?.ages.first    // age.maximum, bound, now
///
/// The age is that of the oldest measurement behind what the tick used (`Sampled.sampledAt`), at the end of the tick: an
/// output that the tick wrote was not older when it was written. What it cannot show: how long the sensor itself took before
/// it was asked, how long a bus or a motor takes after the tick, and a use that the tick does not report to its meter.
/// A loop that no longer uses anything has no further entries; `AgeStatistics.now` grows.
///
/// What no loop of the runtime measures, such as a datagram that the kernel has stamped or a request of another thread, comes
/// from outside:
///
///     let age = DataAge("command", fromOutside: .releasesLoop)
public final class DataAge: @unchecked Sendable {
  /// How data that no loop of the runtime measures comes to the loop that uses it: what a bound of its age rests on.
  public enum Arrival: Sendable, Hashable {
    /// Its arrival is one of the loop's inputs, and each tick takes all that has arrived.
    case releasesLoop
    /// It lies there until the loop's next tick, which takes all that has arrived.
    case awaitsLoop
    /// Nothing is known, so there is no bound: a value that is used more than once, or a sensor that is asked now and then.
    case unknown
  }

  // Sendable: `record` belongs to the one loop that the age is declared for; readers go through its atomics.
  /// Unique among the ages of its loop; `AgeStatistics` has the same.
  public let name: String
  /// The loops that the data passes before that which uses it, the sensor's first; none if it comes from outside.
  public let path: [String]
  /// `nil` if a loop of the runtime measures the data.
  public let arrival: Arrival?
  let record: UnsafeMutablePointer<AgeRecord>
  private let meters = Atomic<Int>(0)
  /// Whether a loop of a runtime has it.
  let isTaken = Atomic<Bool>(false)

  /// - Parameters:
  ///   - name: unique among the ages of its loop.
  ///   - path: names of the loops that the data passes, the one that measures first, without the one that uses it.
  public convenience init(_ name: String, from path: String...) { self.init(name, path: path) }

  /// The age of data that another thread, another program or the kernel has stamped.
  ///
  /// - Parameters:
  ///   - name: unique among the ages of its loop.
  ///   - arrival: how it comes to the loop.
  public convenience init(_ name: String, fromOutside arrival: Arrival) {
    self.init(name, path: [], arrival: arrival)
  }

  init(_ name: String, path: [String], arrival: Arrival? = nil) {
    self.name = name
    self.path = path
    self.arrival = arrival
    record = .allocate(capacity: 1)
    record.initialize(to: AgeRecord())
  }

  deinit {
    record.deinitialize(count: 1)
    record.deallocate()
  }

  /// The meter to which the loop reports ages. There is one at a time: a second call traps unless the first is gone.
  public func meter() -> AgeMeter {
    require(meters.add(1, ordering: .acquiring).oldValue == 0, "an age has one meter")
    return AgeMeter(self)
  }

  fileprivate func meterIsGone() { meters.subtract(1, ordering: .releasing) }
}

/// The end of a `DataAge` that its loop holds. Not copyable: it belongs to one loop.
public struct AgeMeter: ~Copyable, @unchecked Sendable {
  // Sendable: moving it moves the right to use it.
  private let age: DataAge
  @usableFromInline let used: UnsafeMutablePointer<Int64>

  init(_ age: DataAge) {
    self.age = age
    used = age.record.pointee.used
  }

  deinit { age.meterIsGone() }

  /// The tick acts on `sample`. Of several in one tick the oldest counts. Call it from `tick` alone.
  @inlinable @inline(__always)
  public func uses<Value>(_ sample: Sampled<Value>) { uses(sampledAt: sample.sampledAt) }

  /// The tick acts on what was measured at `instant`; `nil` for what never was.
  @_noLocks @_noAllocation
  @inlinable @inline(__always)
  public func uses(sampledAt instant: TickInstant?) {
    guard let instant else {
      used.pointee = .min
      return
    }
    if instant.nanoseconds < used.pointee { used.pointee = instant.nanoseconds }
  }
}

/// What a lane knows of an age and publishes at the end of a tick that used data. In nanoseconds; whole words only: it is
/// copied by words.
struct AgeAccount: BitwiseCopyable {
  /// Uses of measured data, and of data that had never been measured.
  var uses: Int64 = 0
  var unsampled: Int64 = 0
  /// Of the last use of measured data: when that was measured, and how old it was.
  var sampledAt: Int64 = 0
  var last: Int64 = 0
  var least = Int64.max
  var most = Int64.min
}

/// The ages measured, written by the lane and read from any thread.
struct AgeRecord: ~Copyable {
  /// The instant of the oldest measurement that the present tick used; `.max` if it used none, `.min` one never measured.
  let used: UnsafeMutablePointer<Int64>
  /// The next age of the same loop.
  var next: UnsafeMutablePointer<AgeRecord>?
  private let ages = Histogram()
  private var present = AgeAccount()
  private let storage = LatestStorage(byteCount: MemoryLayout<AgeAccount>.size)

  init() {
    used = .allocate(capacity: 1)
    used.initialize(to: .max)
  }

  deinit { used.deallocate() }

  /// Empties it. Only while no lane writes.
  mutating func reset() {
    used.pointee = .max
    ages.reset()
    present = AgeAccount()
    publish()
  }

  /// Takes what the tick that ends at `end` used.
  @_noLocks @_noAllocation
  mutating func tickEnded(at end: Int64) {
    let sampledAt = used.pointee
    guard sampledAt != .max else { return }
    used.pointee = .max
    if sampledAt == .min {
      present.unsampled &+= 1
    } else {
      let age = end &- sampledAt
      ages.record(age)
      present.uses &+= 1
      present.sampledAt = sampledAt
      present.last = age
      if age < present.least { present.least = age }
      if age > present.most { present.most = age }
    }
    publish()
  }

  @_noLocks @_noAllocation
  private mutating func publish() {
    let next = storage.sequence.pointee.load(ordering: .relaxed) &+ 1
    publishWords(
      &present, MemoryLayout<AgeAccount>.size &>> 3, as: next, slots: storage.slots, stride: storage.stride,
      sequence: storage.sequence)
  }

  /// What was last published, whole.
  func account() -> AgeAccount {
    var account = AgeAccount()
    _ = withUnsafeMutableBytes(of: &account) { storage.read(into: $0.baseAddress!, bytes: $0.count) }
    return account
  }

  /// Account and histogram of one moment. A lane that publishes faster than the histogram can be copied is not waited for:
  /// after 100 tries it may be a use ahead.
  func snapshot() -> (account: AgeAccount, ages: HistogramSnapshot) {
    var tries = 0
    while true {
      let account = account()
      let ages = ages.snapshot(account.least, account.most)
      tries += 1
      if ages.count == UInt64(account.uses) || tries == 100 { return (account, ages) }
    }
  }
}
