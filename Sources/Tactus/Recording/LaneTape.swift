import CTactus
import Synchronization

/// The settings for the recording of a runtime's lanes.
public struct Recorder: Sendable, Hashable {
  /// The number of bytes for the recording of each lane, 65,536 or more. When they are used up, the oldest eighth is overwritten.
  public var bytesPerLane: Int

  /// Creates the settings of a recording.
  ///
  /// - Parameter bytesPerLane: the number of bytes for each lane, 4 MiB by default, which are allocated at the start.
  public init(bytesPerLane: Int = 4 << 20) { self.bytesPerLane = bytesPerLane }
}

/// The tape of one lane: written by the lane's thread while it runs, or read while the lane is replayed.
///
/// The memory is a ring of segments. Each begins with a frame, the state of the whole lane, so that reading can start at any of them.
struct LaneTape: ~Copyable {
  static let segmentCount = 8

  /// A segment, as readers on other threads see it.
  struct Segment: ~Copyable {
    /// The number of the segment in the run, or −1 while the segment is being overwritten.
    let number = Atomic<Int64>(-1)
    /// The number of complete bytes.
    let length = Atomic<Int>(0)
    /// The instant of the segment's frame.
    let begins = Atomic<Int64>(0)
  }

  /// The tape as threads other than the lane's read it: memory that the lane's thread writes through atomics, or that is checked afterwards.
  /// The tape's own properties are the lane's alone.
  struct Reader {
    fileprivate let memory: UnsafeMutableRawPointer
    fileprivate let segmentSize: Int
    fileprivate let segments: UnsafeMutablePointer<Segment>
    /// The number of releases that were not recorded because one of their ticks wrote more than a segment holds.
    let gaps: UnsafeMutablePointer<Atomic<Int64>>

    /// Copies the complete segments, the oldest first, from the one that contains `instant` on. Called on another thread than the lane's: a segment
    /// that the lane overwrites meanwhile is left out.
    func copies(since instant: Int64) -> [RecordedSegment] {
      var found: [RecordedSegment] = []
      for index in 0..<LaneTape.segmentCount {
        let segment = segments + index
        let number = segment.pointee.number.load(ordering: .acquiring)
        guard number >= 0 else { continue }
        let length = segment.pointee.length.load(ordering: .acquiring)
        let begins = segment.pointee.begins.load(ordering: .relaxed)
        let bytes = [UInt8](unsafeUninitializedCapacity: length) { target, count in
          if length > 0 { tactus_copy_shared(target.baseAddress!, memory + index * segmentSize, length) }
          count = length
        }
        atomicMemoryFence(ordering: .acquiring)
        guard length > 0, segment.pointee.number.load(ordering: .relaxed) == number else { continue }
        found.append(RecordedSegment(number: number, begins: begins, bytes: bytes))
      }
      found.sort { $0.number < $1.number }
      let first = found.lastIndex { $0.begins <= instant } ?? found.startIndex
      return Array(found[first...])
    }
  }

  /// A release, and the sleep of the lane before it.
  struct Release: BitwiseCopyable {
    var loop: Int64
    var start: Int64
    var sleptFrom: Int64
    var wokeAt: Int64
  }

  struct TickEntry: BitwiseCopyable {
    var index: Int64
    var cause: Int64
    var scheduled: Int64
    var missed: Int64
  }

  /// The end of a tick: the loop's `nextDeadline`, and in simulated time whether the tick is accounted later.
  struct End: BitwiseCopyable {
    var wanted: Int64
    var end: Int64
    var isDeferred: Int64
  }

  struct Input: BitwiseCopyable {
    var loop: Int64
    var at: Int64
  }

  struct SafeState: BitwiseCopyable {
    var loop: Int64
    var at: Int64
    var cause: Int64
    var value: Int64
  }

  struct FrameHead: BitwiseCopyable {
    var at: Int64
    var sleptFrom: Int64
    var wokeAt: Int64
    var loops: Int64
    var isAfterGap: Int64
  }

  let tape: UnsafeMutablePointer<tactus_tape>
  private let memory: UnsafeMutableRawPointer
  let segmentSize: Int
  let segments: UnsafeMutablePointer<Segment>
  /// The number of releases that were not recorded because one of their ticks wrote more than a segment holds.
  let gaps: UnsafeMutablePointer<Atomic<Int64>>
  private var current = LaneTape.segmentCount - 1
  private var number: Int64 = 0
  /// The beginning of the entries that are not complete yet.
  private var begun: UnsafeMutablePointer<UInt8>
  private var hasGap = false
  /// The greatest number of bytes written between two commits so far.
  private var most = 0

  /// Creates a tape for recording. Allocates and touches every page, so that no tick causes a page fault.
  init(bytes: Int) {
    segmentSize = max(65_536, bytes) / Self.segmentCount & ~63
    memory = .allocate(byteCount: segmentSize * Self.segmentCount, alignment: 64)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: segmentSize * Self.segmentCount)
    segments = .allocate(capacity: Self.segmentCount)
    for index in 0..<Self.segmentCount { (segments + index).initialize(to: Segment()) }
    gaps = .allocate(capacity: 1)
    gaps.initialize(to: Atomic(0))
    let base = memory.assumingMemoryBound(to: UInt8.self)
    begun = base
    tape = .allocate(capacity: 1)
    tape.initialize(
      to: tactus_tape(
        start: base, next: base, end: base, part: 0, mode: Int32(TACTUS_TAPE_RECORDS), lost: 0, context: nil))
  }

  /// Creates a tape for reading, without a segment yet.
  init(replayedBy replay: UnsafeMutableRawPointer) {
    self.init(bytes: 0)
    tape.pointee.mode = Int32(TACTUS_TAPE_REPLAYS)
    tape.pointee.context = replay
  }

  deinit {
    tape.deallocate()
    memory.deallocate()
    segments.deinitialize(count: Self.segmentCount)
    segments.deallocate()
    gaps.deinitialize(count: 1)
    gaps.deallocate()
  }

  /// The part of the tape that other threads read. It must be taken before the lane's thread uses the tape.
  var reader: Reader { Reader(memory: memory, segmentSize: segmentSize, segments: segments, gaps: gaps) }

  var isReplaying: Bool { @_noLocks @_noAllocation @inline(__always) get { tactus_tape_replays(tape) != 0 } }

  // MARK: Segments

  /// Whether the rest of the segment may be too small for the next release, or an entry did not fit.
  var isFull: Bool {
    @_noLocks @_noAllocation @inline(__always) get {
      let left = tape.pointee.end - tape.pointee.next
      return tape.pointee.lost != 0 || left < segmentSize / 8 || left < most
    }
  }

  /// Begins a segment, which overwrites the oldest one.
  @_noLocks @_noAllocation
  mutating func beginSegment(
    at now: Int64, _ slots: UnsafeMutablePointer<LoopSlot>, _ count: Int, ready: borrowing ReleaseHeap,
    sleptFrom: Int64,
    wokeAt: Int64
  ) {
    current = current &+ 1 == Self.segmentLimit ? 0 : current &+ 1
    let segment = segments + current
    segment.pointee.number.store(-1, ordering: .relaxed)
    atomicMemoryFence(ordering: .releasing)
    segment.pointee.length.store(0, ordering: .relaxed)
    segment.pointee.begins.store(now, ordering: .relaxed)
    let base = (memory + current &* segmentSize).assumingMemoryBound(to: UInt8.self)
    begun = base
    tape.pointee.start = base
    tape.pointee.next = base
    tape.pointee.end = base + segmentSize
    tape.pointee.lost = 0
    tape.pointee.part &+= 1
    var head = FrameHead(
      at: now, sleptFrom: sleptFrom, wokeAt: wokeAt, loops: Int64(truncatingIfNeeded: count), isAfterGap: hasGap ? 1 : 0
    )
    put(.frame, &head, MemoryLayout<FrameHead>.size)
    for loop in 0..<count {
      var stands = place(of: slots + loop, isReady: ready.contains(loop))
      put(.frame, &stands, MemoryLayout<LoopSlot.Place>.size)
      var part = 0
      while part < (slots + loop).pointee.memory.count {
        let memory = (slots + loop).pointee.memory[part]
        if let bytes = memory.baseAddress { put(.frame, bytes, memory.count) }
        part &+= 1
      }
    }
    hasGap = false
    // The frame is written once per segment, so its length does not count as that of a release.
    begun = tape.pointee.next
    segment.pointee.number.store(number, ordering: .releasing)
    number &+= 1
    commit()
  }

  private static var segmentLimit: Int { @_noLocks @_noAllocation @inline(__always) get { 8 } }

  @_noLocks @_noAllocation
  private func put(_ kind: TapeKind, _ bytes: UnsafeRawPointer, _ count: Int) {
    // The flag is 1, since `TickTape.gets` reads these entries back and expects a value.
    tactus_tape_put(tape, kind.number, 1, bytes, UInt32(truncatingIfNeeded: count))
  }

  /// Publishes the entries since the last call to readers, or discards them if one of them did not fit. The rest of the segment then stays
  /// empty.
  @_noLocks @_noAllocation @inline(__always)
  mutating func commit() {
    if isReplaying { return }
    if tape.pointee.lost != 0 { return giveUp() }
    if tape.pointee.next - begun > most { most = tape.pointee.next - begun }
    begun = tape.pointee.next
    let base = (memory + current &* segmentSize).assumingMemoryBound(to: UInt8.self)
    (segments + current).pointee.length.store(begun - base, ordering: .releasing)
  }

  @_noLocks @_noAllocation @inline(never)
  private mutating func giveUp() {
    tape.pointee.next = begun
    if !hasGap { gaps.pointee.add(1, ordering: .relaxed) }
    hasGap = true
  }

  // MARK: Entries

  /// Makes this tape the present one of the lane's thread, if the loop is recorded.
  @_noLocks @_noAllocation @inline(__always)
  func use(_ slot: UnsafeMutablePointer<LoopSlot>) { if slot.pointee.isRecorded { _ = tactus_tape_use(tape) } }

  @_noLocks @_noAllocation @inline(__always)
  func leave() { _ = tactus_tape_use(nil) }

  @_noLocks @_noAllocation @inline(never)
  func released(_ loop: Int, _ start: Int64, sleptFrom: Int64, wokeAt: Int64) {
    var release = Release(
      loop: Int64(truncatingIfNeeded: loop), start: start, sleptFrom: sleptFrom, wokeAt: wokeAt)
    TickTape(tape).sends(.released, &release, MemoryLayout<Release>.size)
  }

  /// Records the instant of an external stop, or in a replay returns the recorded one. Without a stop there is no entry, and the result is `nil`.
  @_noLocks @_noAllocation @inline(__always)
  func externalStop(_ stop: TickInstant?) -> TickInstant? {
    if isReplaying { return recordedStop() }
    if let stop { recordStop(stop.nanoseconds) }
    return stop
  }

  @_noLocks @_noAllocation @inline(never)
  private func recordStop(_ instant: Int64) {
    var instant = instant
    put(.externalStop, &instant, 8)
  }

  @_noLocks @_noAllocation @inline(never)
  private func recordedStop() -> TickInstant? {
    guard let entry = tactus_tape_peek(tape), entry.pointee.kind == TapeKind.externalStop.number else { return nil }
    var instant = Int64(0)
    TickTape(tape).gets(.externalStop, &instant, 8)
    return TickInstant(nanoseconds: instant)
  }

  /// Returns whether a loop's misses count towards its safe state: `counts`, or in a replay the recorded answer.
  @_noLocks @_noAllocation @inline(never)
  func counted(_ counts: Bool) -> Bool {
    var counts = counts
    TickTape(tape).gets(.counted, &counts, 1)
    return counts
  }

  @_noLocks @_noAllocation @inline(never)
  func tick(_ tick: Tick) {
    var entry = TickEntry(
      index: tick.index, cause: causeNumber(tick.cause), scheduled: tick.scheduled.nanoseconds, missed: tick.missed)
    TickTape(tape).sends(.tick, &entry, MemoryLayout<TickEntry>.size)
  }

  @_noLocks @_noAllocation @inline(never)
  func safeState(_ loop: Int, _ cause: SafeStateCause, at instant: Int64) {
    var entry = SafeState(loop: Int64(truncatingIfNeeded: loop), at: instant, cause: 0, value: 0)
    switch cause {
    case .misses(let count): (entry.cause, entry.value) = (0, count)
    case .externalStop(let stop): (entry.cause, entry.value) = (1, stop.nanoseconds)
    case .stop: entry.cause = 2
    }
    TickTape(tape).sends(.safeState, &entry, MemoryLayout<SafeState>.size)
  }

  /// Records the end of a tick, or in a replay returns the recorded end and notes a difference if the loop wants another deadline.
  @_noLocks @_noAllocation @inline(never)
  func ended(_ slot: UnsafeMutablePointer<LoopSlot>, wanted: Int64, end: Int64, isDeferred: Bool) -> End {
    var ended = End(wanted: wanted, end: end, isDeferred: isDeferred ? 1 : 0)
    TickTape(tape).gets(.ended, &ended, MemoryLayout<End>.size)
    if slot.pointee.isRecorded, ended.wanted != wanted, tactus_tape_goes_on(tape) != 0 { wants(wanted, ended.wanted) }
    return ended
  }

  @_semantics("no_performance_analysis") @inline(never)
  private func wants(_ wanted: Int64, _ recorded: Int64) {
    LaneReplay.of(tape).differ(
      "nextDeadline", recorded: TickInstant(nanoseconds: recorded).inSecondsText,
      replayed: "\(TickInstant(nanoseconds: wanted))"
    )
  }

  @_noLocks @_noAllocation @inline(never)
  func finished() { if !isReplaying { put(.finished, tape, 0) } }

  @_noLocks @_noAllocation @inline(never)
  func inputReady(_ loop: Int, at instant: Int64) {
    if isReplaying { return }
    var input = Input(loop: Int64(truncatingIfNeeded: loop), at: instant)
    put(.inputReady, &input, MemoryLayout<Input>.size)
  }

  @_noLocks @_noAllocation @inline(never)
  func changes(_ change: RateChange, at now: Int64) {
    if isReplaying { return }
    var change = (change, now)
    put(.rateChange, &change, MemoryLayout<(RateChange, Int64)>.size)
  }

  @_noLocks @_noAllocation @inline(never)
  func stops(at now: Int64) {
    if isReplaying { return }
    var now = now
    put(.stopped, &now, 8)
  }
}
