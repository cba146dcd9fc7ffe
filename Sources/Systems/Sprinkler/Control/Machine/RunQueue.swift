@_spi(FromOutside) import Conversions
import Tactus

/// A run that was accepted and has not ended: it waits in the queue, or its valve is open or about to open.
struct AcceptedRun: BitwiseCopyable {
  var run: ZoneRun
  /// The time for which the valve is still to be open; `left` and `ran` always add up to `run.seconds`.
  var left: Nanoseconds
  var ran = Nanoseconds.zero
  /// The instant at which the valve first opened, or `nil` if it has not opened yet.
  var opened: TickInstant?
  var pulses: Int64 = 0

  @_noLocks @_noAllocation
  init(_ run: ZoneRun) {
    self.run = run
    left = .seconds(Int64(run.seconds))
  }

  var hasBegun: Bool {
    @_noLocks @_noAllocation get {
      if case .some = opened { return true }
      return false
    }
  }

  /// Whether a rain delay ends the run: true if a program's schedule requested the run and the run does not ignore rain.
  var followsRain: Bool {
    @_noLocks @_noAllocation get { run.followsRain }
  }
}

extension ZoneRun {
  /// Whether a rain delay suppresses and ends the run: true if a program's schedule requested the run and the run does not ignore rain.
  public var followsRain: Bool {
    @_noLocks @_noAllocation get {
      guard !ignoresRain else { return false }
      switch source {
      case .program, .resumed: return true
      case .manual, .once: return false
      }
    }
  }
}

/// The queue of waiting runs, in order. It owns its storage, so that moving it is cheap, and allocates only when it is created.
struct RunQueue: ~Copyable {
  static var capacity: Int {
    @_noLocks @_noAllocation get { 256 }
  }
  private let runs: UnsafeMutablePointer<AcceptedRun>
  private(set) var count = 0

  init() {
    runs = .allocate(capacity: Self.capacity)
    runs.initialize(
      repeating: AcceptedRun(ZoneRun(id: 0, zone: ZoneID(index: 0), seconds: 0, source: .manual)),
      count: Self.capacity)
  }

  deinit { runs.deallocate() }

  @_noLocks @_noAllocation
  subscript(index: Int) -> AcceptedRun {
    @_noLocks @_noAllocation get {
      precondition(index >= 0 && index < count)
      return runs[index]
    }
    @_noLocks @_noAllocation set {
      precondition(index >= 0 && index < count)
      runs[index] = newValue
    }
  }

  /// Inserts a run. The caller must have checked that there is room.
  @_noLocks @_noAllocation
  mutating func insert(_ run: AcceptedRun, at index: Int) {
    precondition(count < Self.capacity && index >= 0 && index <= count)
    var place = count
    while place > index {
      runs[place] = runs[place - 1]
      place -= 1
    }
    runs[index] = run
    count += 1
  }

  @_noLocks @_noAllocation
  mutating func remove(at index: Int) -> AcceptedRun {
    precondition(index >= 0 && index < count)
    let run = runs[index]
    var place = index
    while place + 1 < count {
      runs[place] = runs[place + 1]
      place += 1
    }
    count -= 1
    return run
  }
}
