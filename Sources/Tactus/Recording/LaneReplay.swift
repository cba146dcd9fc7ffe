import CTactus

/// The result of a replay.
public struct Replayed: Sendable {
  /// The first difference between a replay and its recording.
  public struct Difference: Sendable, Hashable, CustomStringConvertible {
    /// The name of the lane.
    public var lane: String
    /// The name of the loop.
    public var loop: String
    /// The number of the periodic release, as in `Tick.index`.
    public var tick: Int64
    /// The instant at which the tick began.
    public var at: TickInstant
    /// The kind of the difference: the type of a mailbox's element, an access to a port, or a decision of the scheduler.
    public var what: String
    /// The path of the field, such as `.state.tilt`, or empty if there is none.
    public var field: String
    /// The value in the recording.
    public var recorded: String
    /// The value in the replay.
    public var replayed: String

    /// One sentence for people.
    public var description: String {
      "loop \"\(loop)\", tick \(tick) at \(at.inSecondsText): \(what)\(field.isEmpty ? "" : " \(field)"): "
        + "recorded \(recorded), replayed \(replayed)"
    }
  }

  /// The number of releases that were replayed, in all lanes.
  public internal(set) var ticks: Int64 = 0
  /// The number of bytes of recorded entries that were compared.
  public internal(set) var bytes: Int64 = 0
  /// The differences, at most one per lane: its first.
  public internal(set) var differences: [Difference] = []
}

/// The replay of one lane. It is used by the thread that replays only.
final class LaneReplay {
  private let lane: LaneRun
  private let recorded: LaneRecording
  private var difference: Replayed.Difference?
  private var loop = 0
  private var tick: Int64 = -1
  private var start: Int64 = 0

  init(_ lane: LaneRun, _ recorded: LaneRecording) {
    self.lane = lane
    self.recorded = recorded
  }

  static func of(_ tape: UnsafeMutablePointer<tactus_tape>) -> LaneReplay {
    Unmanaged<LaneReplay>.fromOpaque(tape.pointee.context!).takeUnretainedValue()
  }

  // MARK: Differences

  /// Compares a published value with the recorded one, which is either complete (its place is then kept in `base`) or a list of changes to that one.
  func published(
    _ bytes: UnsafeRawPointer, _ count: Int, _ end: UnsafeMutablePointer<TapeEnd>, _ base: inout TapedBase
  ) {
    guard let entry = tactus_tape_peek(tape), entry.pointee.kind == TapeKind.written.number else {
      return differ(.written, bytes, count, end)
    }
    let scratch = UnsafeMutableRawPointer.allocate(byteCount: max(16, count), alignment: 16)
    defer { scratch.deallocate() }
    if entry.pointee.flag == 2 {
      let place = Int(base.place)
      guard base.part == tape.pointee.part, place >= 0, place + count <= tape.pointee.next - tape.pointee.start,
        tactus_tape_apply(entry, tape.pointee.start + place, scratch, UInt32(truncatingIfNeeded: count)) != 0
      else {
        return differ("\(TapeKind.written) of \(end.pointee.element)", recorded: "no such value", replayed: "one")
      }
    } else {
      guard Int(entry.pointee.count) == count else { return differ(.written, bytes, count, end) }
      base = TapedBase(part: tape.pointee.part, place: Int64(tape.pointee.next + 8 - tape.pointee.start))
      scratch.copyMemory(from: tactus_tape_bytes(entry), byteCount: count)
    }
    if tactus_same(scratch, bytes, count) == 0,
      let found = FieldDifference.first(of: end.pointee.element, recorded: scratch, replayed: bytes)
    {
      return differ(
        "\(TapeKind.written) of \(end.pointee.element)", field: found.path, recorded: found.recorded,
        replayed: found.replayed)
    }
    tactus_tape_skip(tape)
  }

  /// Returns whether the next recorded output is equal apart from bytes without a meaning. Otherwise the difference is noted.
  func isSame(
    _ kind: TapeKind, _ bytes: UnsafeRawPointer, _ count: Int, _ end: UnsafeMutablePointer<TapeEnd>?
  ) -> Bool {
    guard let end, let entry = tactus_tape_peek(tape), Int(entry.pointee.count) == count else { return false }
    let found = FieldDifference.first(
      of: end.pointee.element, recorded: tactus_tape_bytes(entry), replayed: bytes)
    guard let found else { return true }
    differ(
      "\(kind) of \(end.pointee.element)", field: found.path, recorded: found.recorded, replayed: found.replayed)
    return false
  }

  /// Notes a difference between the next recorded entry and what the tick reads or writes (`bytes`).
  func differ(_ kind: TapeKind, _ bytes: UnsafeRawPointer?, _ count: Int, _ end: UnsafeMutablePointer<TapeEnd>?) {
    let name = end.map { "\(kind) of \($0.pointee.element)" } ?? "\(kind)"
    guard let entry = tactus_tape_peek(tape) else {
      return differ("what the tick does", recorded: "nothing more", replayed: name)
    }
    let recordedKind = TapeKind(entry.pointee.kind)
    guard recordedKind == kind else {
      let there = recordedKind == .ended ? "nothing more" : "\(recordedKind)"
      return differ("what the tick does", recorded: there, replayed: name)
    }
    guard let bytes, Int(entry.pointee.count) == count else {
      return differ(name, recorded: "\(entry.pointee.count) bytes", replayed: "\(count) bytes")
    }
    let there = UnsafeRawBufferPointer(start: tactus_tape_bytes(entry), count: count)
    let here = UnsafeRawBufferPointer(start: bytes, count: count)
    let place = zip(there, here).enumerated().first { $1.0 != $1.1 }?.offset ?? 0
    differ(
      name, field: fieldName(kind, place), recorded: value(kind, there, place), replayed: value(kind, here, place))
  }

  /// Returns the name of the field at a byte of an entry. The entries of the lane itself consist of whole words.
  private func fieldName(_ kind: TapeKind, _ place: Int) -> String {
    let names: [String] =
      switch kind {
      case .released: ["loop", "start", "sleptFrom", "wokeAt"]
      case .tick: ["index", "cause", "scheduled", "missed"]
      case .safeState: ["loop", "at", "cause", "value"]
      default: []
      }
    return place / 8 < names.count ? "." + names[place / 8] : "byte \(place)"
  }

  private func value(_ kind: TapeKind, _ bytes: UnsafeRawBufferPointer, _ place: Int) -> String {
    guard fieldName(kind, place).hasPrefix(".") else { return "\(bytes[place])" }
    let word = bytes.loadUnaligned(fromByteOffset: place / 8 * 8, as: Int64.self)
    return fieldName(kind, place) == ".loop" ? "\"\(name(Int(word)))\"" : "\(word)"
  }

  private func name(_ loop: Int) -> String {
    recorded.loops.indices.contains(loop) ? recorded.loops[loop].name : "\(loop)"
  }

  /// Notes a difference, unless there is one already, and ends the reading of the tape.
  func differ(_ what: String, field: String = "", recorded: String, replayed: String) {
    tape.pointee.mode = Int32(TACTUS_TAPE_ENDED)
    if difference != nil { return }
    difference = Replayed.Difference(
      lane: lane.name, loop: name(loop), tick: tick, at: TickInstant(nanoseconds: start), what: what, field: field,
      recorded: recorded, replayed: replayed)
  }

  // MARK: Replay

  private var tape: UnsafeMutablePointer<tactus_tape> { lane.scheduler.pointee.tape!.pointee.tape }

  private func refuse(_ reason: String) -> RuntimeError { .invalidRecording("lane \"\(recorded.name)\": \(reason)") }

  /// Replays a whole recording of the lane, which has been prepared for it.
  func run(_ replayed: inout Replayed) throws(RuntimeError) {
    defer { lane.endReplay() }
    try check()
    var last: Int64?
    for segment in recorded.segments {
      let memory = UnsafeMutableRawPointer.allocate(byteCount: max(segment.bytes.count, 16), alignment: 16)
      defer { memory.deallocate() }
      segment.bytes.withUnsafeBytes {
        if $0.count > 0 { memory.copyMemory(from: $0.baseAddress!, byteCount: $0.count) }
      }
      let base = memory.assumingMemoryBound(to: UInt8.self)
      tape.pointee.start = base
      tape.pointee.next = base
      tape.pointee.end = base + segment.bytes.count
      tape.pointee.part &+= 1
      try takeFrame(goesOn: last == segment.number - 1)
      last = segment.number
      while tactus_tape_goes_on(tape) != 0, tape.pointee.next < tape.pointee.end { try step(&replayed) }
      replayed.bytes += Int64(tape.pointee.next - base)
      if let difference {
        replayed.differences.append(difference)
        return
      }
    }
  }

  private func check() throws(RuntimeError) {
    let names = lane.loopNames
    guard names == recorded.loops.map(\.name) else {
      throw refuse(
        "it has the loops \(recorded.loops.map(\.name).joined(separator: ", ")), this program has "
          + names.joined(separator: ", "))
    }
    for (index, (loop, parts)) in zip(recorded.loops, lane.parts).enumerated() {
      guard loop.isRecorded == lane.slots[index].isRecorded else {
        throw refuse(
          "loop \"\(loop.name)\" is \(loop.isRecorded ? "recorded there and not here" : "not recorded there")")
      }
      guard loop.parts.map(\.size) == parts.map(\.size) else {
        throw refuse(
          "loop \"\(loop.name)\" had a memory of \(loop.parts.map(\.size)) bytes, here it has \(parts.map(\.size)): "
            + "it is another build's")
      }
    }
  }

  private func next<Value: BitwiseCopyable>(_ kind: TapeKind, _ empty: Value) throws(RuntimeError) -> Value {
    var value = empty
    guard let entry = tactus_tape_peek(tape), entry.pointee.kind == kind.number,
      Int(entry.pointee.count) == MemoryLayout<Value>.size
    else { throw refuse("\(kind) is expected, something else is there") }
    withUnsafeMutableBytes(of: &value) {
      $0.baseAddress!.copyMemory(from: tactus_tape_bytes(entry), byteCount: MemoryLayout<Value>.size)
    }
    tactus_tape_skip(tape)
    return value
  }

  private func here(_ loop: Int) -> LoopSlot.Place { place(of: lane.slots + loop, isReady: false) }

  /// Reads a frame. Puts the lane into the frame's state, or, if the replay has continued into the segment, checks that both states are equal.
  private func takeFrame(goesOn: Bool) throws(RuntimeError) {
    let head = try next(
      .frame, LaneTape.FrameHead(at: 0, sleptFrom: 0, wokeAt: 0, loops: 0, isAfterGap: 0))
    guard head.loops == Int64(lane.loopCount) else { throw refuse("a frame of \(head.loops) loops") }
    let goesOn = goesOn && head.isAfterGap == 0
    if !goesOn { lane.resetScheduler() }
    var ready: [Bool] = []
    for loop in 0..<lane.loopCount {
      let place = try next(.frame, here(loop))
      guard place.isPossible else { throw refuse("a frame in which loop \"\(lane.loopNames[loop])\" stands nowhere") }
      ready.append(place.isReady != 0)
      if !goesOn {
        lane.slots[loop].stand(at: place)
      } else if !lane.scheduler.pointee.stands(loop, at: place) {
        self.loop = loop
        differ("the account of the loop", recorded: "\(place)", replayed: "\(here(loop))")
      }
      for (part, memory) in lane.slots[loop].memory.enumerated() {
        guard let entry = tactus_tape_peek(tape), Int(entry.pointee.count) == memory.count else {
          throw refuse("a frame without the memory of loop \"\(lane.loopNames[loop])\"")
        }
        let bytes = UnsafeRawBufferPointer(start: tactus_tape_bytes(entry), count: memory.count)
        if !goesOn {
          recorded.loops[loop].parts[part].addresses.restore(bytes, to: memory)
        }
        tactus_tape_skip(tape)
      }
    }
    if !goesOn {
      lane.scheduler.pointee.stand(ready: { ready[$0] }, sleptFrom: head.sleptFrom, wokeAt: head.wokeAt)
    }
  }

  private func step(_ replayed: inout Replayed) throws(RuntimeError) {
    guard let entry = tactus_tape_peek(tape) else { throw refuse("an entry is cut off") }
    switch TapeKind(entry.pointee.kind) {
    case .released:
      let before = tape.pointee.next
      let release = try next(.released, LaneTape.Release(loop: 0, start: 0, sleptFrom: 0, wokeAt: 0))
      tape.pointee.next = before
      guard (0..<Int64(lane.loopCount)).contains(release.loop) else {
        throw refuse("a release of loop \(release.loop)")
      }
      (loop, start) = (Int(release.loop), release.start)
      tick = lane.slots[loop].nextIndex
      replayed.ticks += 1
      lane.scheduler.pointee.slept(from: release.sleptFrom, to: release.wokeAt)
      if lane.scheduler.pointee.runNext(release.start) == .min {
        differ("the scheduler", recorded: "a release", replayed: "none")
      }
    case .finished:
      tactus_tape_skip(tape)
      lane.scheduler.pointee.finish()
    case .inputReady:
      let input = try next(.inputReady, LaneTape.Input(loop: 0, at: 0))
      guard (0..<Int64(lane.loopCount)).contains(input.loop) else { throw refuse("an input of loop \(input.loop)") }
      lane.scheduler.pointee.inputReady(Int(input.loop), at: input.at)
    case .rateChange:
      let (change, now) = try next(
        .rateChange, (RateChange(loop: 0, period: 0, deadline: 0, tolerance: 0), Int64(0)))
      guard (0..<lane.loopCount).contains(change.loop), change.period > 0 else { throw refuse("a rate of no loop") }
      lane.scheduler.pointee.apply(change, at: now)
    case .stopped:
      start = try next(.stopped, Int64(0))
      lane.scheduler.pointee.stopLoops(at: start)
    default:
      differ("what the tick does", recorded: "\(TapeKind(entry.pointee.kind))", replayed: "nothing more")
    }
  }
}
