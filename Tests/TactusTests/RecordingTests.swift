import Synchronization
import TestSupport
import Testing

@testable import Tactus

private struct Tilt: BitwiseCopyable, Sendable {
  var angle = 0.0
  var isFlat = false
  var rate: Double?

  @_noLocks @_noAllocation
  init(angle: Double) {
    self.angle = angle
    isFlat = angle > 3
    if isFlat { rate = angle * 2 }
  }
}

private enum Mode: BitwiseCopyable, Sendable {
  case idle
  case driving(Double)
  case stopped(UInt8)
}

private struct Order: BitwiseCopyable, Sendable {
  var speed: Double
  var stops: Bool
}

private struct Torque: BitwiseCopyable, Sendable {
  var value = 0.0
  var mode = Mode.idle
  var sums = [4 of Int64](repeating: 0)
}

private struct Gyroscope: ControlLoop, NoOutput, ~Copyable {
  var out: LatestWriter<Tilt>
  var random = SplitMix64(seed: 4)

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    out.write(Tilt(angle: Double(Int64(truncatingIfNeeded: random.next() &>> 40)) / 1000))
  }
}

/// What a program that was changed since does otherwise.
private enum Change: Sendable { case none, gain, reads, writesTwice }

private struct Balance: ControlLoop, ~Copyable {
  var tilt: LatestReader<Tilt>
  var orders: RingReader<Order>
  var torque: LatestWriter<Torque>
  var answers: RingWriter<Int64>
  var state = Torque()
  var wakeAt: TickInstant?
  /// State behind a pointer.
  let total: UnsafeMutablePointer<Double>
  /// Not in the loop's memory: code, for what a test is concerned.
  let change: UnsafeMutablePointer<Change>

  var nextDeadline: TickInstant? { @_noLocks @_noAllocation get { wakeAt } }

  func addMemory(to memory: inout LoopMemory) { memory.add(total) }

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    let tilt = tilt.read()
    while let order = orders.pop() {
      state.mode = order.stops ? .stopped(3) : .driving(order.speed)
      wakeAt = tick.started + Nanoseconds(300_000)
      _ = answers.push(tick.index)
    }
    if case .deadline = tick.cause { wakeAt = nil }
    var gain = 0.3
    if case .gain = change.pointee, tick.index > 700 { gain = 0.31 }
    if case .reads = change.pointee, tick.index > 700 { _ = orders.pop() }
    state.value = state.value * 0.9 + tilt.angle * gain + Double(tick.lateness.count)
    total.pointee = total.pointee + state.value
    state.sums[Int(truncatingIfNeeded: tick.index & 3)] &+= tick.missed &+ Int64(total.pointee.bitPattern & 0xFF)
    torque.write(state)
    if case .writesTwice = change.pointee, tick.index > 700 { torque.write(state) }
  }

  @_noLocks @_noAllocation
  mutating func safeState(_ tick: Tick, cause: SafeStateCause) {
    state.value = 0
    torque.write(state)
  }
}

/// A loop that is no part of a recording: it acts on what no mailbox shows.
private struct World: ControlLoop, NoOutput, ~Copyable {
  let ticks: UnsafeMutablePointer<Int>

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) { ticks.pointee = ticks.pointee &+ 1 }
}

private final class Robot {
  let runtime: Runtime
  let orders = Ring<Order>(capacity: 16)
  let bell = SimulatedInput()
  private let tilt = Latest(Tilt(angle: 0))
  private let torque = Latest(Torque())
  private let answers = Ring<Int64>(capacity: 16)
  let total: UnsafeMutablePointer<Double>
  let change: UnsafeMutablePointer<Change>
  let worldTicks: UnsafeMutablePointer<Int>

  init(_ recorder: Recorder? = nil, _ change: Change = .none, rate: Double = 500) throws {
    total = .allocate(capacity: 1)
    total.initialize(to: 0)
    self.change = .allocate(capacity: 1)
    self.change.initialize(to: change)
    worldTicks = .allocate(capacity: 1)
    worldTicks.initialize(to: 0)
    runtime = try Runtime(recorder: recorder) {
      [tilt, torque, answers, orders, bell, total, worldTicks, place = self.change] () -> [Lane] in
      [
        Lane("motion") {
          Loop("world", every: .hertz(rate), phase: .zero) { World(ticks: worldTicks) }.unrecorded()
          Loop("sensor", every: .hertz(rate), after: "world") { Gyroscope(out: tilt.writer()) }
          Loop(
            "balance", every: .hertz(rate), after: "sensor", safeStateAfter: 3, inputs: [.simulated(bell)]
          ) {
            Balance(
              tilt: tilt.reader(), orders: orders.reader(), torque: torque.writer(), answers: answers.writer(),
              total: total, change: place)
          }
        }
      ]
    }
  }

  deinit {
    total.deallocate()
    change.deallocate()
    worldTicks.deallocate()
  }

  /// Keeps what the loops point to as long as it runs.
  func replay(_ recording: Recording) throws -> Replayed {
    try withExtendedLifetime(self) { try runtime.replay(recording) }
  }

  /// A run with orders between releases, a lane that sleeps too long, ticks that take too long, and another rate.
  func simulated(seconds: Int = 4, seed: UInt64 = 1) throws -> Recording {
    defer { withExtendedLifetime(self) {} }
    let simulation = try runtime.simulation(seed: seed, from: TickInstant(nanoseconds: 1_000_000_000))
    var writer = orders.writer()
    for second in 0..<seconds {
      let now = simulation.now
      simulation.oversleep(lane: "motion", at: now + .milliseconds(300), by: .milliseconds(7))
      simulation.stall(loop: "sensor", at: now + .milliseconds(500), by: .microseconds(1_900))
      for step in 0..<10 {
        simulation.run(for: .milliseconds(100))
        _ = writer.push(Order(speed: Double(second * 10 + step), stops: step == 7))
        bell.ring(at: simulation.now + .microseconds(120))
        simulation.run(for: .microseconds(500))
        bell.readyAt.pointee = .distantFuture
      }
      try runtime.setRates(["sensor": .hertz(second % 2 == 0 ? 250 : 500)])
    }
    simulation.stop()
    return try #require(runtime.recording(facts: ["version": "1"]))
  }
}

@Suite("flight recorder")
struct RecordingTests {
  @Test("a run with lateness, stalls, inputs, deadlines, other rates and the end: replayed with no different byte")
  func simulated() throws {
    let recording = try Robot(Recorder()).simulated()
    let robot = try Robot()
    let replayed = try robot.replay(Recording(bytes: recording.bytes))
    #expect(replayed.differences == [])
    #expect(replayed.ticks > 5_000 && replayed.bytes > 500_000, "\(replayed.ticks) ticks, \(replayed.bytes) bytes")
    #expect(robot.worldTicks.pointee == 0, "a loop that is not recorded has run")
    #expect(recording.gaps == 0 && recording.facts == ["version": "1"] && recording.laneNames == ["motion"])
  }

  @Test("recorded where every miss counts, replayed where none does, and the other way: what counted then counts")
  func countedMisses() throws {
    func runtime(_ counting: CountedMisses, _ recorder: Recorder? = nil) throws -> Runtime {
      try Runtime(recorder: recorder) {
        Lane("a") { Loop("l", every: .hertz(100), phase: .zero, safeStateAfter: 3, counting: counting) { Idle() } }
      }
    }
    for (recorded, replayed) in [(CountedMisses.all, CountedMisses.injected(nil)), (.injected(nil), .all)] {
      let first = try runtime(recorded, Recorder())
      let simulation = try first.simulation()
      simulation.stall(loop: "l", at: .zero + .milliseconds(100), by: .milliseconds(80))
      simulation.run(for: .milliseconds(300))
      simulation.stop()
      let recording = try #require(first.recording())
      #expect(try runtime(replayed).replay(recording).differences == [])
    }
  }

  @Test("a recording whose beginning was given up begins with the loops' memory, also behind pointers")
  func fromTheMiddle() throws {
    let recording = try Robot(Recorder(bytesPerLane: 1 << 17)).simulated(seconds: 8)
    #expect(recording.begins > TickInstant(nanoseconds: 5_000_000_000))
    let replayed = try Robot().replay(recording)
    #expect(replayed.differences == [] && replayed.ticks > 300)
  }

  @Test(
    "a changed program: the first loop, tick and field that differ", arguments: [Change.gain, .reads, .writesTwice])
  fileprivate func changed(_ change: Change) throws {
    let recording = try Robot(Recorder()).simulated()
    let difference = try #require(Robot(nil, change).replay(recording).differences.first)
    #expect(difference.loop == "balance" && difference.tick == 701, "\(difference)")
    switch change {
    case .gain: #expect(difference.what == "a new latest value of Torque" && difference.field == ".value")
    case .reads: #expect(difference.replayed.hasPrefix("the next element of a ring"), "\(difference)")
    case .writesTwice: #expect(difference.recorded == "nothing more", "\(difference)")
    case .none: break
    }
  }

  @Test("each byte of a value that is written: changed, it is found, and its field is named")
  func flipped() throws {
    let recording = try Robot(Recorder()).simulated(seconds: 1)
    var found: Set<String> = []
    for byte in [0, 8, 24, 32, 48] {
      var changed = recording
      changed.lanes[0].segments[0].bytes.flipOutput(byte: byte)
      let difference = try #require(Robot().replay(changed).differences.first, "byte \(byte)")
      found.insert(difference.field)
    }
    #expect(found == [".value", ".mode", ".sums[0]", ".sums[1]", ".sums[3]"], "\(found)")
  }

  /// Runs in real time with twenty orders; what is written out of its last 50 ms while it runs, and of all after the end.
  private func realTimeRecordings() throws -> (meanwhile: Recording, whole: Recording) {
    let robot = try Robot(Recorder(bytesPerLane: 1 << 20), rate: 1000)
    try robot.runtime.start()
    var writer = robot.orders.writer()
    let bell = try Doorbell()
    /// Waits until so many more ticks have run, however late they are.
    func wait(ticks: Int64) throws {
      func ran() throws -> Int64 { try #require(robot.runtime.statistics.loops.map(\.counters.ran).min()) }
      let (end, until) = (try ran() + ticks, MonotonicClock.now + .seconds(60))
      while try ran() < end, MonotonicClock.now < until { bell.wait(limit: .milliseconds(1)) }
    }
    for number in 0..<20 {
      _ = writer.push(Order(speed: Double(number), stops: number == 9))
      try wait(ticks: 10)
    }
    let meanwhile = try #require(robot.runtime.recording(last: .milliseconds(50)))
    try wait(ticks: 20)
    robot.runtime.stop()
    return (meanwhile, try #require(robot.runtime.recording()))
  }

  @Test("in real time, written out while it runs and after the end: replayed with no different byte")
  func realTime() throws {
    let (meanwhile, whole) = try realTimeRecordings()
    let last = try Robot(rate: 1000).replay(meanwhile)
    #expect(last.differences == [] && last.ticks > 0)
    let all = try Robot(rate: 1000).replay(whole)
    #expect(all.differences == [] && all.ticks > 20)
  }

  @Test("in real time at 1 kHz: more than 20 ticks are in the last 50 ms that are written out", .realTime)
  func lastMilliseconds() throws {
    #expect(try Robot(rate: 1000).replay(realTimeRecordings().meanwhile).ticks > 20)
  }

  @Test("more in one tick than a segment holds is a gap, which is counted; what follows is replayed")
  func gap() throws {
    func runtime(_ ring: Ring<[256 of UInt64]>, _ recorder: Recorder?) throws -> Runtime {
      try Runtime(recorder: recorder) {
        Lane("lane") { Loop("drain", every: .hertz(100), eachRun: { Drain(ring: ring.reader()) }) }
      }
    }
    let ring = Ring<[256 of UInt64]>(capacity: 64)
    let recorded = try runtime(ring, Recorder(bytesPerLane: 65_536))
    let simulation = try recorded.simulation()
    var writer = ring.writer()
    for round in 0..<30 {
      for _ in 0..<(round == 20 ? 60 : 1) { _ = writer.push([256 of UInt64](repeating: UInt64(round))) }
      simulation.run(for: .milliseconds(10))
    }
    let recording = try #require(recorded.recording())
    #expect(recording.gaps == 1)
    let replayed = try runtime(Ring(capacity: 64), nil).replay(recording)
    #expect(replayed.differences == [] && replayed.ticks > 5)
  }

  @Test("a file that is cut off or changed is refused, with the offset; any bytes are read or refused")
  func damaged() throws {
    let bytes = try Robot(Recorder(bytesPerLane: 1 << 17)).simulated(seconds: 1).bytes
    #expect(throws: RecordingError(offset: 0, reason: "a recording begins with \"TACTUS-RECORD-1\"")) {
      try Recording(bytes: [1, 2])
    }
    #expect(throws: RecordingError.self) { try Recording(bytes: Array(bytes.dropLast())) }
    var random = SplitMix64(seed: 7)
    for _ in 0..<200 {
      var changed = bytes
      changed[Int(random.next() % UInt64(bytes.count))] ^= UInt8(truncatingIfNeeded: random.next() | 1)
      #expect(throws: RecordingError.self) { try Recording(bytes: changed) }
    }
  }

  @Test("a recording of other loops is refused, with what is there and what here")
  func foreign() throws {
    let recording = try Robot(Recorder()).simulated(seconds: 1)
    let other = try Runtime {
      Lane("motion") { Loop("drain", every: .hertz(100)) { Drain(ring: Ring<[256 of UInt64]>(capacity: 1).reader()) } }
    }
    #expect(
      throws: RuntimeError.invalidRecording(
        "lane \"motion\": it has the loops world, sensor, balance, this program has drain")
    ) { try other.replay(recording) }
    let elsewhere = try Runtime { Lane("other") { Loop("world", every: .hertz(1)) { Still() } } }
    #expect(throws: RuntimeError.invalidRecording("it has a lane \"motion\", which this program does not have")) {
      try elsewhere.replay(recording)
    }
  }

  @Test("entries that make no sense are refused, and nothing traps")
  func senseless() throws {
    let recording = try Robot(Recorder()).simulated(seconds: 1)
    var random = SplitMix64(seed: 11)
    for _ in 0..<300 {
      var changed = recording
      let count = changed.lanes[0].segments[0].bytes.count
      // Behind the frame: that holds the loops' memory, which is taken as it is.
      let place = 2_000 + Int(random.next() % UInt64(count - 2_000))
      changed.lanes[0].segments[0].bytes[place] = UInt8(truncatingIfNeeded: random.next())
      _ = try? Robot().replay(changed)
    }
  }

  @Test("without a recorder, and for loops that are not recorded, there is no recording")
  func nothing() throws {
    let plain = try Robot()
    try plain.runtime.simulate(for: .seconds(1))
    #expect(plain.runtime.recording() == nil)
    let runtime = try Runtime(recorder: Recorder()) {
      Lane("a") { Loop("a", every: .hertz(10)) { Still() }.unrecorded() }
    }
    try runtime.simulate(for: .seconds(1))
    #expect(runtime.recording() == nil)
  }
}

private struct Still: ControlLoop, NoOutput, ~Copyable {
  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {}
}

private struct Drain: ControlLoop, NoOutput, ~Copyable {
  var ring: RingReader<[256 of UInt64]>
  var sum: UInt64 = 0

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    while let taken = ring.pop() { sum = sum &+ taken[3] }
  }
}

extension [UInt8] {
  /// Changes a byte of the first whole output.
  fileprivate mutating func flipOutput(byte: Int) {
    var place = 0
    while place + 8 <= count {
      let kind = UInt16(self[place]) | UInt16(self[place + 1]) << 8
      let length = Int(self[place + 4]) | Int(self[place + 5]) << 8 | Int(self[place + 6]) << 16
      // Not of the sensor, whose value is shorter.
      if kind == TapeKind.written.number, length == MemoryLayout<Torque>.size {
        self[place + 8 + byte] ^= 1
        return
      }
      place += 8 + (length + 7) / 8 * 8
    }
  }
}
