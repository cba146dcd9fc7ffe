import Buses
import BusesLinux
import CBench
import Devices
import Leg
import Tactus
import Wire

/// deadman TRIPS OUT FIFO CPU FEEDER_CPU: how far from 200 ms after the last command the off is written, in real time.
///
/// Sixteen legs in one production loop; a feeder on another lane disarms, arms and sets each at random moments and reads the clock
/// just before its last datagram goes out; the registers stamp the off.
enum LegDeadman {
  static func run(_ arguments: Arguments) throws {
    let trips = arguments.int(0)
    let lane = (priority: arguments.int(2), cpu: arguments.int(3))
    let samples = Samples(capacity: trips)
    let lost = Samples(capacity: trips)
    let done = Completion()
    let registers = ServoRegisters()
    let sockets = try (0..<PCA9685.channelCount).map { _ in try LinuxDatagramSocket(address: "127.0.0.1", port: 0) }
    let feeding = try LinuxDatagramSocket(address: "127.0.0.1", port: 0)
    let mailbox = try LegsOnRegisters.mailbox(sockets.count)
    let runtime = try LegsOnRegisters.runtime(sockets, registers, mailbox, lane) {
      [
        Lane("feeder", scheduling: .fifo(lane.priority), cpu: arguments.int(4)) {
          Loop("feeder", every: .hertz(1000)) {
            DeadmanFeeder(
              port: feeding.port(), legs: sockets.map(\.localEndpoint), registers: registers,
              snapshot: mailbox.state.reader(), samples: samples, lost: lost, done: done)
          }
        }
      ]
    }
    try runtime.start()
    done.await()
    let counters = runtime.statistics["leg"]!.counters
    runtime.stop()
    // The loops have only their ports: a socket that nobody holds is closed.
    withExtendedLifetime((sockets, feeding)) {}
    samples.write(to: arguments.word(1))
    print("{\"trips\": \(samples.taken.pointee), \"lost\": \(lost.taken.pointee), \"skipped\": \(counters.skipped)}")
  }

  /// deadman-simulated TRIPS: the same figure in simulated time, over a network with jitter and loss.
  static func runSimulated(_ arguments: Arguments) throws {
    let wanted = arguments.int(0)
    var configuration = LegSimulation.Configuration(legs: 1)
    configuration.conditions.jitter = .milliseconds(7)
    configuration.pingsByThemselves = false
    let run = try LegSimulation(configuration)
    var random = SplitMix64(seed: 1)
    run.run(for: .milliseconds(250))
    var trips = 0
    var worst: Int64 = 0
    while trips < wanted {
      run.operators[0].request(.disarm)
      run.run(for: .milliseconds(100))
      run.operators[0].request(.arm)
      run.run(for: Nanoseconds(.random(in: 40_000_000...90_000_000, using: &random)))
      run.operators[0].request(.sendOnce(.microseconds(.random(in: 500...2500, using: &random))))
      run.run(for: .milliseconds(60))
      guard case .armed = run.snapshot[0].state, let last = run.snapshot[0].lastCommand else { continue }
      _ = run.takeNotices()
      run.run(for: .milliseconds(250))
      let fault = run.takeNotices().first { notice in
        if case .state(_, .fault(.silence, _)) = notice.notice { true } else { false }
      }
      guard let fault else { fatalError("a leg did not trip") }
      worst = max(worst, abs((fault.at - last).count - 200_000_000))
      trips += 1
    }
    print("{\"trips\": \(trips), \"worst_ns\": \(worst)}")
  }
}

/// Plays the operators of all legs, 1 kHz.
private struct DeadmanFeeder: ~Copyable, ControlLoop, NoOutput {
  private enum Phase: BitwiseCopyable {
    case disarm(at: Int64)
    case arm(at: Int64)
    case set(at: Int64)
    case waiting(since: Int64)
  }

  private var port: DatagramPort
  private let count: Int
  private let legs: UnsafeMutablePointer<Endpoint>
  private let phases: UnsafeMutablePointer<Phase>
  private let registers: ServoRegisters
  private var snapshot: LatestReader<Published<LegSnapshot>>
  private let samples: Samples
  private let lost: Samples
  private let done: Completion
  private let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 8, alignment: 8)
  private var random: UInt64 = 0x9E37_79B9_7F4A_7C15

  init(
    port: consuming DatagramPort, legs: [Endpoint], registers: ServoRegisters,
    snapshot: consuming LatestReader<Published<LegSnapshot>>, samples: Samples, lost: Samples, done: Completion
  ) {
    self.port = port
    count = legs.count
    self.legs = .allocate(capacity: count)
    self.legs.initialize(from: legs, count: count)
    phases = .allocate(capacity: count)
    phases.initialize(repeating: .disarm(at: bench_now() + 100_000_000), count: count)
    self.registers = registers
    self.snapshot = snapshot
    self.samples = samples
    self.lost = lost
    self.done = done
  }

  deinit {
    legs.deallocate()
    phases.deallocate()
    bytes.deallocate()
  }

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    port.now = tick.started
    for leg in 0..<count { step(leg) }
  }

  @_noLocks @_noAllocation
  private mutating func step(_ leg: Int) {
    let now = bench_now()
    switch phases[leg] {
    case .disarm(let at):
      guard now >= at else { return }
      send(.disarm, to: leg)
      phases[leg] = .arm(at: now &+ 2_000_000)
    case .arm(let at):
      guard now >= at else { return }
      send(.arm, to: leg)
      phases[leg] = .set(at: now &+ 1_000_000 &+ draw(30_000_000))
    case .set(let at):
      // Armed, it has taken the disarming, whose off would otherwise pass for the trip's when the lane is late.
      guard now >= at, case .armed = snapshot.read().state[leg].state else { return }
      let pulse = PulseWidth(microseconds: UInt16(truncatingIfNeeded: 1_000 &+ draw(1_000)))
      let sent = bench_now()
      send(.setServo(pulse), to: leg)
      phases[leg] = .waiting(since: sent)
    case .waiting(let sent):
      let off = registers.off(leg)
      if off > sent {
        samples.append(off &- sent &- 200_000_000)
      } else {
        guard now &- sent > 500_000_000 else { return }
        lost.append(0)
      }
      phases[leg] = .disarm(at: now &+ 1_000_000 &+ draw(20_000_000))
      if samples.taken.pointee == samples.capacity || lost.taken.pointee == lost.capacity { done.signal() }
    }
  }

  @_noLocks @_noAllocation
  private mutating func send(_ command: LegCommand, to leg: Int) {
    let length = command.encode(into: bytes)
    port.send(UnsafeRawBufferPointer(start: bytes.baseAddress, count: length), to: legs[leg])
  }

  /// 0…`bound` − 1: xorshift.
  @_noLocks @_noAllocation
  private mutating func draw(_ bound: Int64) -> Int64 {
    random ^= random << 13
    random ^= random >> 7
    random ^= random << 17
    return Int64(truncatingIfNeeded: random >> 1) % bound
  }
}
