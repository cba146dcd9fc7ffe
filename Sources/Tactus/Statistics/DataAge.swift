import Synchronization

/// The age of the data that a loop acts on, measured by the runtime at the end of each tick that uses such data and bounded by the planner.
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
/// The age is that of the oldest measurement behind the data that the tick used (`Sampled.sampledAt`), at the end of the tick: the
/// data behind an output was not older when the tick wrote the output. The age does not include the time that a sensor takes before
/// it is read, the time that a bus or a motor takes after the tick, or a use that the tick does not report to its meter. When a
/// loop stops using data no entries are added, and `AgeStatistics.now` grows.
///
/// Data that no loop of the runtime measures, such as a datagram stamped by the kernel or a request of another thread, comes from outside:
///
///     let age = DataAge("command", fromOutside: .releasesLoop)
public final class DataAge: @unchecked Sendable {
  /// The way in which data that no loop of the runtime measures comes to the loop that uses it. The bound of the data's age depends on this.
  public enum Arrival: Sendable, Hashable {
    /// The data's arrival is one of the loop's inputs, and each tick takes all data that has arrived.
    case releasesLoop
    /// The data waits for the loop's next tick, which takes all data that has arrived.
    case awaitsLoop
    /// The arrival is unknown, so there is no bound. For example a value that is used more than once, or a sensor that is read now and then.
    case unknown
  }

  // Sendable: `record` belongs to the one loop that the age is declared for; readers go through its atomics.
  /// The name, which is unique among the ages of its loop. `AgeStatistics` carries the same name.
  public let name: String
  /// The names of the loops that the data passes before the loop that uses it, the sensor's first; empty if the data comes from outside.
  public let path: [String]
  /// The way in which the data arrives from outside, or `nil` if a loop of the runtime measures it.
  public let arrival: Arrival?
  let record: UnsafeMutablePointer<AgeRecord>
  private let meters = Atomic<Int>(0)
  /// Whether a loop of a runtime has claimed this age.
  let isTaken = Atomic<Bool>(false)

  /// Creates the age of data that a loop of the runtime measures.
  ///
  /// - Parameters:
  ///   - name: a name that is unique among the ages of its loop.
  ///   - path: the names of the loops that the data passes, from the loop that measures, without the loop that uses the data.
  public convenience init(_ name: String, from path: String...) { self.init(name, path: path) }

  /// Creates the age of data that another thread, another program or the kernel has stamped.
  ///
  /// - Parameters:
  ///   - name: a name that is unique among the ages of its loop.
  ///   - arrival: how the data comes to the loop.
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

  /// Returns the meter to which the loop reports ages. There is one at a time: a second call traps unless the first is gone.
  public func meter() -> AgeMeter {
    require(meters.add(1, ordering: .acquiring).oldValue == 0, "an age has one meter")
    return AgeMeter(self)
  }

  fileprivate func meterIsGone() { meters.subtract(1, ordering: .releasing) }
}

/// The meter to which a loop reports a `DataAge`. The type is not copyable: it belongs to one loop.
public struct AgeMeter: ~Copyable, @unchecked Sendable {
  // Sendable: moving it moves the right to use it.
  private let age: DataAge
  @usableFromInline let used: UnsafeMutablePointer<Int64>

  init(_ age: DataAge) {
    self.age = age
    used = age.record.pointee.used
  }

  deinit { age.meterIsGone() }

  /// Reports that the tick acts on `sample`. Of several reports in one tick the oldest sample counts. The function must be called from `tick` only.
  @inlinable @inline(__always)
  public func uses<Value>(_ sample: Sampled<Value>) { uses(sampledAt: sample.sampledAt) }

  /// Reports that the tick acts on data that was measured at `instant`, or on data without a measurement if `instant` is `nil`.
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

/// The lane's account of an age, published at the end of a tick that used data. All times are in nanoseconds. All fields are whole
/// words, since the account is copied by words.
struct AgeAccount: BitwiseCopyable {
  /// The numbers of uses of measured data and of data without a measurement.
  var uses: Int64 = 0
  var unsampled: Int64 = 0
  /// The instant of the measurement and the age of the data in the last use of measured data.
  var sampledAt: Int64 = 0
  var last: Int64 = 0
  var least = Int64.max
  var most = Int64.min
}

/// The measured ages, written by the lane and read from any thread.
struct AgeRecord: ~Copyable {
  /// The instant of the oldest measurement that the present tick used; `.max` if it used no data, `.min` if it used data without a measurement.
  let used: UnsafeMutablePointer<Int64>
  /// The next age of the same loop, or `nil` at the end of the list.
  var next: UnsafeMutablePointer<AgeRecord>?
  private let ages = Histogram()
  private var present = AgeAccount()
  private let storage = LatestStorage(byteCount: MemoryLayout<AgeAccount>.size)

  init() {
    used = .allocate(capacity: 1)
    used.initialize(to: .max)
  }

  deinit { used.deallocate() }

  /// Empties the record. The function must not be called while a lane writes.
  mutating func reset() {
    used.pointee = .max
    ages.reset()
    present = AgeAccount()
    publish()
  }

  /// Records the age of the data that the tick that ends at `end` used.
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

  /// Returns the account last published, consistently.
  func account() -> AgeAccount {
    var account = AgeAccount()
    _ = withUnsafeMutableBytes(of: &account) { storage.read(into: $0.baseAddress!, bytes: $0.count) }
    return account
  }

  /// Returns the account and the histogram of one moment. If a lane publishes faster than the histogram can be copied, the
  /// histogram may be one use ahead after 100 tries.
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
