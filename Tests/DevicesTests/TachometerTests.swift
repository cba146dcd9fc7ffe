import Buses
import Tactus
import TestSupport
import Testing

@testable import Devices

/// A fan's tachometer on a simulated line, and a driver that looks at it.
private struct Bench: ~Copyable {
  let bank = SimulatedGPIOBank(highAtRest: [17])
  let events: SimulatedGPIOEvents
  var fan: TachometerSimulator
  var tachometer: Tachometer
  var now = TickInstant.zero
  /// The least and the greatest reading since `forget`.
  var least = Double.infinity
  var greatest = -Double.infinity

  init(pulsesPerTurn: Int = 2, seed: UInt64 = 1) throws {
    events = try bank.events([GPIOInput(.bcm(17), isActiveLow: true, edges: .rising, pull: .up)])
    fan = TachometerSimulator(events.driver(), pulsesPerTurn: pulsesPerTurn, seed: seed)
    tachometer = Tachometer(events.port(), pulsesPerTurn: pulsesPerTurn)
    fan.step(rpm: 0, at: now)
  }

  /// So much time of the fan without a tick.
  mutating func turn(_ rpm: Double, for time: Nanoseconds) {
    now = now + time
    fan.step(rpm: rpm, at: now)
  }

  @discardableResult
  mutating func read() throws -> Double {
    let rpm = try tachometer.rpm(at: now)
    least = min(least, rpm)
    greatest = max(greatest, rpm)
    return rpm
  }

  /// A tick in each `period`. Returns the last reading.
  @discardableResult
  mutating func run(_ rpm: Double, for time: Nanoseconds, every period: Nanoseconds = .milliseconds(1)) throws -> Double
  {
    let end = now + time
    var last = 0.0
    while now < end {
      turn(rpm, for: period)
      last = try read()
    }
    return last
  }

  mutating func forget() { (least, greatest) = (.infinity, -.infinity) }

  /// How far the readings since `forget` are from `rpm`, as a part of it.
  func error(from rpm: Double) -> Double { max(greatest - rpm, rpm - least) / rpm }
}

/// A line of which a test says every edge.
private final class ScriptedLine {
  private var edges: [GPIOEdge] = []
  private var sequence: UInt32 = 0

  /// An edge that is delivered, or one that only its number tells of.
  func edge(_ nanoseconds: Int64, isLost: Bool = false) {
    sequence += 1
    if isLost { return }
    edges.append(
      GPIOEdge(at: TickInstant(nanoseconds: nanoseconds), line: 0, isRising: true, sequence: sequence))
  }

  func port() -> GPIOEvents {
    GPIOEvents(
      context: Unmanaged.passUnretained(self).toOpaque(), count: 1, descriptor: nil,
      receive: { context, buffer in
        let line = Unmanaged<ScriptedLine>.fromOpaque(context).takeUnretainedValue()
        let buffer = buffer.assumingMemoryBound(to: GPIOEdgeBuffer.self).pointee
        let due = line.edges.prefix { !(buffer.at < $0.at) }.prefix(buffer.capacity)
        for (index, edge) in due.enumerated() { buffer.edges[index] = edge }
        line.edges.removeFirst(due.count)
        return due.count
      }, perform: { _, _ in 0 })
  }
}

private let seeds: [UInt64] = [1, 2, 3, 5, 8, 13, 21, 34]

@Suite("Tachometer") struct TachometerTests {
  @Test(
    "steady: every tick's reading is the speed to a millionth, at 1 kHz and at 200 Hz",
    arguments: [61, 90, 119.5, 300, 450, 1_200, 1_777.7, 3_000, 5_000, 9_999, 15_000, 20_000], [1, 5] as [Int64])
  func steady(rpm: Double, milliseconds: Int64) throws {
    var bench = try Bench()
    try bench.run(rpm, for: .seconds(3), every: .milliseconds(milliseconds))
    bench.forget()
    try bench.run(rpm, for: .seconds(3), every: .milliseconds(milliseconds))
    #expect(bench.error(from: rpm) < 1e-6, "\(bench.least)…\(bench.greatest)")
    #expect(bench.tachometer.lost == 0 && bench.tachometer.bounces == 0)
  }

  @Test("random speeds, pulses a turn, ticks, jitter and bounces: as right as the jitter allows", arguments: seeds)
  func random(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for round in 0..<12 {
      let perTurn = 1 + Int(random.below(4))
      let rpm = 130 + Double(random.below(19_871 * 2 / UInt64(max(2, perTurn))))
      let jitter = Double(random.below(60_000))
      var bench = try Bench(pulsesPerTurn: perTurn, seed: seed)
      bench.fan.jitter = Nanoseconds(Int64(jitter))
      bench.fan.bounces = Int(random.below(7))
      let pulse = 60e9 / (rpm * Double(perTurn))
      let turn = pulse * Double(perTurn)
      // What is measured is as long as the window less a turn, as 64 pulses less a turn, or a turn.
      let longest = max(turn, min(100e6 - turn, pulse * Double(63 - perTurn)))
      for tick in 0..<1_500 {
        bench.turn(rpm, for: Nanoseconds(500_000 + Int64(random.below(7_500_000))))
        if Double((bench.now - .zero).count) < 2 * turn + 200e6 { bench.forget() }
        let reading = try bench.read()
        guard bench.least < .infinity, tick > 300 else { continue }
        // After a gap on a line that bounces, two pulses may be all there is.
        let span = bench.tachometer.lost == 0 ? longest : pulse
        let tolerance = jitter / (span - jitter) + 1e-6
        #expect(
          abs(reading - rpm) / rpm <= tolerance,
          "seed \(seed), round \(round): \(reading) instead of \(rpm), \(perTurn) a turn, jitter \(jitter) ns")
      }
      #expect((bench.tachometer.bounces > 0) == (bench.fan.bounces > 0), "seed \(seed), round \(round)")
    }
  }

  @Test("a late tick: 200 pulses came, 16 are left: right at once, and every pulse is counted")
  func late() throws {
    var bench = try Bench()
    try bench.run(20_000, for: .seconds(1))
    let before = bench.tachometer.pulses
    for _ in 0..<3 {
      bench.forget()
      bench.turn(20_000, for: .milliseconds(300))
      try bench.read()
      #expect(bench.error(from: 20_000) < 1e-6, "\(bench.least)")
    }
    #expect(bench.tachometer.pulses == before + 600)
    #expect(bench.tachometer.lost == 3 * (200 - 16))
  }

  @Test("always late, and bouncing: what is measured is what the kernel kept", arguments: [0, 1, 2, 3])
  func lateAndBouncing(bounces: Int) throws {
    var bench = try Bench()
    bench.fan.bounces = bounces
    try bench.run(6_000, for: .seconds(1), every: .milliseconds(200))
    bench.forget()
    try bench.run(6_000, for: .seconds(4), every: .milliseconds(200))
    #expect(bench.error(from: 6_000) < 1e-6, "\(bench.least)…\(bench.greatest)")
    #expect(bench.tachometer.lost > 0)
  }

  @Test("any edges lost, told by their numbers: the speed is right", arguments: seeds)
  func lost(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    for perMille in [50, 300, 700] {
      let line = ScriptedLine()
      var tachometer = Tachometer(line.port())
      let period = Int64(1_500_000 + random.below(20_000_000))
      let rpm = 30e9 / Double(period)
      for index in Int64(1)...2_000 {
        let isLost = random.chance(perMille: perMille)
        line.edge(index * period, isLost: isLost)
        let reading = try tachometer.rpm(at: TickInstant(nanoseconds: index * period))
        // Until the next edge, nothing says that one was lost: the speed falls as if none had come.
        if isLost {
          #expect(reading <= rpm * (1 + 1e-9), "seed \(seed), \(perMille) ‰, pulse \(index): \(reading), \(rpm)")
        }
        guard index > 100, !isLost else { continue }
        #expect(abs(reading / rpm - 1) < 1e-9, "seed \(seed), \(perMille) ‰, pulse \(index): \(reading), \(rpm)")
      }
      #expect(tachometer.lost > 0)
    }
  }

  @Test("bounces: none counts, neither the first ones that are seen nor those that gaps hide", arguments: seeds)
  func bouncing(seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let line = ScriptedLine()
    var tachometer = Tachometer(line.port())
    // The line was requested between a pulse and its bounces.
    let period: Int64 = 10_000_000
    for index in Int64(0)..<1_000 {
      // Late enough for runs of 16 edges: as the kernel, it loses what came before them.
      let isLost = index > 50 && index % 20 < 12
      if index > 0 { line.edge(index * period, isLost: isLost) }
      for bounce in Int64(1)...3 {
        line.edge(index * period + bounce * 100_000 + Int64(random.below(50_000)), isLost: isLost)
      }
      guard index > 50 ? index % 20 == 19 : index > 3 else { continue }
      let reading = try tachometer.rpm(at: TickInstant(nanoseconds: index * period + 1_000_000))
      #expect(abs(reading / 3_000 - 1) < 1e-9, "seed \(seed), pulse \(index): \(reading)")
    }
    #expect(tachometer.bounces > 1_000 && tachometer.lost > 1_000)
  }

  @Test("stopped: it falls, never rises, is 0 half a second after the last pulse and not before")
  func stop() throws {
    var bench = try Bench()
    try bench.run(3_000, for: .seconds(1))
    var last = try bench.read()
    var stopped: TickInstant?
    let begin = bench.now
    for _ in 0..<600 {
      let reading = try bench.run(0, for: .milliseconds(1))
      #expect(reading <= last)
      last = reading
      if reading == 0, stopped == nil { stopped = bench.now }
    }
    // The pulses of 3,000 rpm are 10 ms apart.
    let time = try #require(stopped) - begin
    #expect(time > .milliseconds(489) && time <= .milliseconds(500), "\(time)")
  }

  @Test("no pulse when one is due: the turn that is not over bounds the speed")
  func bound() throws {
    var bench = try Bench()
    try bench.run(3_000, for: .seconds(1))
    let reading = try bench.run(0, for: .milliseconds(200))
    // Less than a turn in 200…220 ms, of which the blanking is taken off.
    #expect(reading > 60 / 0.22 && reading < 60 / 0.19)
  }

  @Test("turns again: nothing until the second pulse, then the new speed, not an average with the pause")
  func restart() throws {
    var bench = try Bench()
    try bench.run(3_000, for: .seconds(1))
    try bench.run(0, for: .seconds(3))
    bench.forget()
    try bench.run(1_500, for: .seconds(1))
    #expect(bench.least == 0 && abs(bench.greatest / 1_500 - 1) < 1e-6, "\(bench.greatest)")
    // The same while no tick comes: two pulses, 50 ms apart.
    bench.turn(0, for: .seconds(2))
    bench.turn(600, for: .milliseconds(100))
    #expect(abs(try bench.read() / 600 - 1) < 1e-6)
  }

  @Test("another speed: right once the window has passed", arguments: [(900.0, 4_000.0), (15_000, 1_000)])
  func step(from: Double, to: Double) throws {
    var bench = try Bench()
    try bench.run(from, for: .seconds(1))
    try bench.run(to, for: .milliseconds(170))
    bench.forget()
    try bench.run(to, for: .seconds(1))
    #expect(bench.error(from: to) < 1e-6, "\(bench.least)…\(bench.greatest)")
    #expect(bench.greatest <= max(from, to) * (1 + 1e-6))
  }

  @Test("poles that are not spaced evenly: right, because whole turns are measured", arguments: [0.3, 0.4, 0.6])
  func poles(part: Double) throws {
    let line = ScriptedLine()
    var tachometer = Tachometer(line.port())
    let turn: Int64 = 24_000_000
    for index in Int64(0)..<100 {
      line.edge(1_000 + index * turn)
      line.edge(1_000 + index * turn + Int64(part * Double(turn)))
    }
    for millisecond in Int64(60)..<2_400 {
      let reading = try tachometer.rpm(at: TickInstant(nanoseconds: millisecond * 1_000_000))
      #expect(abs(reading / 2_500 - 1) < 1e-6, "\(millisecond) ms: \(reading)")
    }
  }

  @Test("never turned, and the wire off: 0")
  func silent() throws {
    var bench = try Bench()
    #expect(try bench.run(0, for: .seconds(1)) == 0)
    bench.fan.isDisconnected = true
    try bench.run(5_000, for: .seconds(1))
    #expect(bench.greatest == 0)
    bench.fan.isDisconnected = false
    #expect(abs(try bench.run(5_000, for: .seconds(1)) / 5_000 - 1) < 1e-6)
  }

  @Test("the line gone: the error says so, and it measures again when the line is back")
  func gone() throws {
    var bench = try Bench()
    try bench.run(2_000, for: .seconds(1))
    bench.bank.inject(.gone)
    bench.turn(2_000, for: .milliseconds(1))
    var error: GPIOError?
    do throws(GPIOError) { _ = try bench.tachometer.rpm(at: bench.now) } catch let thrown { error = thrown }
    #expect(error == .gone)
    bench.bank.clearFaults()
    #expect(abs(try bench.run(2_000, for: .milliseconds(200)) / 2_000 - 1) < 1e-6)
  }
}
