import Buses
import Devices
import Tactus

@testable import Sprinkler

/// A `SprinklerLoop` ticked by hand, whose zones hang on line expanders: zone k on line k − 1.
final class ExpanderBench {
  enum Kind: CaseIterable {
    case mcp23017, pcf8574, shiftRegister
  }

  static let shiftLines = [27, 4, 22, 17].map { GPIOLine(.bcm($0), isActiveLow: $0 == 17) }

  let kind: Kind
  let bus = SimulatedI2CBus()
  let bank = SimulatedGPIOBank(highAtRest: [17], release: .keepsLevel, logCapacity: 65_536)
  let chips: [LineExpander]
  let simulators: [LineExpanderSimulator]
  let count: Int
  private let combined: CombinedGPIOLines
  private var held: SimulatedGPIOLines?
  private var owners: [AnyObject] = []
  private let client: SprinklerMailbox.Client
  private var loop: SprinklerLoop
  /// The simulated chain, the levels of its lines, and the transaction that it takes next.
  private var shifted: ShiftRegisterSimulator
  private var levels: UInt64 = 1 << 17
  private var seen: Int64 = 0
  private var number: UInt64 = 0
  private var index: Int64 = -1
  private(set) var now = TickInstant.zero

  /// - Parameter hasMaster: whether a master valve hangs on GPIO 10.
  init(_ kind: Kind, zones count: Int = 3, hasMaster: Bool = false) {
    (self.kind, self.count) = (kind, count)
    shifted = ShiftRegisterSimulator(length: max(8, count), noise: .max)
    combined = CombinedGPIOLines(count: count + (hasMaster ? 1 : 0))
    if hasMaster {
      let line = try! bank.outputs([GPIOLine(.bcm(10))])
      owners.append(line)
      combined.add(line.port(), at: [count])
    }
    let size = kind == .mcp23017 ? 16 : kind == .pcf8574 ? 8 : 64
    var (chips, simulators): ([LineExpander], [LineExpanderSimulator]) = ([], [])
    for first in stride(from: 0, to: count, by: size) {
      let places = Array(first..<min(first + size, count))
      let pins = places.map { $0 - first }
      if kind == .shiftRegister {
        held = try! bank.outputs(Self.shiftLines)
        let lines = ShiftRegisterLines(length: max(8, count), outputs: pins, on: held!.port())
        owners.append(lines)
        combined.add(lines.port(), at: places)
        continue
      }
      let address = I2CAddress(0x20 + UInt8(first / size))!
      let chip: LineExpander =
        kind == .pcf8574
        ? .pcf8574(PCF8574(address: address))
        : .mcp23017(MCP23017(address: address, outputs: pins.reduce(0) { $0 | 1 << UInt16($1) }))
      let simulator = LineExpanderSimulator(chip)
      bus.attach(simulator.chip, at: address)
      let lines = ExpanderLines(chip, pins: pins, on: bus.port())
      owners.append(lines)
      combined.add(lines.port(), at: places)
      chips.append(chip)
      simulators.append(simulator)
    }
    (self.chips, self.simulators) = (chips, simulators)
    let master = hasMaster ? try! MasterValve(line: UInt8(count), lead: .zero, lag: .zero) : nil
    let settings = try! IrrigationSettings(lineCount: count + (hasMaster ? 1 : 0), master: master, maximumOpen: 1)
    let mailbox = try! SprinklerLoop.mailbox(limits: RulesBox(settings.flowLimits))
    client = mailbox.client()
    loop = SprinklerLoop(settings, lines: combined.port(), ends: mailbox.loopEnds())
    for zone in 1...count { send(.zone(ZoneID(zone)!, ZoneSettings(line: UInt8(zone - 1)))) }
    tick(.period)
    while client.nextAnswer() != nil {}
  }

  private func send(_ order: SprinklerOrder) {
    number += 1
    _ = client.send(SprinklerRequest(number: number, issued: now, order))
  }

  private func tick(_ cause: ReleaseCause) {
    if cause == .period { index += 1 }
    loop.tick(Tick(index: index, cause: cause, scheduled: now, started: now))
    // Nothing is dropped because nobody takes it.
    while client.nextNotice() != nil {}
  }

  @discardableResult
  func request(_ order: SprinklerOrder) -> IrrigationRefusal? {
    send(order)
    tick(.input)
    var last: Answer<IrrigationRefusal>?
    while let answer = client.nextAnswer() { last = answer }
    if case .refused(let reason) = last?.verdict { return reason }
    return nil
  }

  func open(_ zone: Int, seconds: UInt32) {
    request(.run(ZoneRun(id: number, zone: ZoneID(zone)!, seconds: seconds, source: .manual), .now))
  }

  /// As the scheduler does: every second, and at every deadline.
  func advance(to seconds: Double) {
    let end = TickInstant(nanoseconds: Nanoseconds.seconds(seconds).count)
    while true {
      let (second, deadline) = (TickInstant.seconds(index + 1), loop.nextDeadline ?? .distantFuture)
      guard min(second, deadline) <= end else { break }
      now = max(now, min(second, deadline))
      tick(second <= deadline ? .period : .deadline)
    }
    now = end
  }

  func stop() { loop.safeState(Tick(index: index, scheduled: now, started: now), cause: .stop) }

  var snapshot: SprinklerSnapshot { client.newest().state }

  /// What the guard does when the program is gone: it makes the drivers' stops, and requests the lines anew.
  func writeSafeState() {
    var port = bus.port()
    for chip in chips { try! chip.turnOff(on: &port) }
    guard kind == .shiftRegister else { return }
    held = nil
    owners.append(try! bank.outputs(Self.shiftLines))
  }

  /// The zones whose valves are open by the levels at the chips' pins.
  var isOpen: [Int] {
    let outputs = chain.outputs ?? 0
    return (1...count).filter { zone in
      switch kind {
      case .mcp23017: simulators[(zone - 1) / 16].pin((zone - 1) % 16).isHigh()
      case .pcf8574: !simulators[(zone - 1) / 8].pin((zone - 1) % 8).isHigh()
      case .shiftRegister: outputs >> UInt64(zone - 1) & 1 == 1
      }
    }
  }

  /// The chain after everything that has been written.
  private var chain: ShiftRegisterSimulator {
    let new = bank.transactions(since: seen)
    seen = bank.transactionCount
    for transaction in new where [.set, .request].contains(transaction.operation) && transaction.result == 0 {
      levels = levels & ~transaction.lines | transaction.levels
      let high = [27, 4, 22, 17].map { [levels] in levels >> UInt64($0) & 1 == 1 }
      shifted.set(.init(data: high[0], clock: high[1], latch: high[2], isEnabled: !high[3]))
    }
    return shifted
  }

  /// The chips do not answer, or the lines are gone.
  func lose(_ isLost: Bool) {
    bus.clearFaults()
    bank.clearFaults()
    guard isLost else { return }
    bus.inject(.noAcknowledge(address: I2CAddress(0x20)!, count: nil))
    bank.inject(.gone)
  }
}
