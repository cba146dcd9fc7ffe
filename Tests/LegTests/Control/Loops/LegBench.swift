import Buses
import Devices
import Tactus
import Testing

@testable import Leg

/// A `LegLoop` ticked by hand, with senders on a simulated network without delay.
final class LegBench {
  static let pad = Endpoint.ipv4(10, 0, 0, 2, port: 50_000)
  static let other = Endpoint.ipv4(10, 0, 0, 3, port: 50_000)
  static func leg(_ index: Int) -> Endpoint { .ipv4(10, 0, 0, 1, port: 5010 + UInt16(index)) }

  let network: SimulatedNetwork
  /// As many as the legs need, at 0x40, 0x41 and so on.
  let chips: [PCA9685Simulator]
  var chip: PCA9685Simulator { chips[0] }
  let bus = SimulatedI2CBus()
  /// Line 4 is wired to the chip's output-enable pin, in a bench that has it; of several chips line 5 to that of the second one.
  let bank = SimulatedGPIOBank(highAtRest: [4, 5])
  private let enable: SimulatedGPIOLines?
  /// Of leg 0, in a bench that has it.
  let bluetooth: MessageLink?
  var central: LinkDriver?
  let client: LegLoop.Mailbox.Client
  let rules: RulesBox<LegRules>
  let book = LegSequenceBook()
  let settings: [LegSettings]
  private var loop: LegLoop
  private var seen: Int64 = 0
  private var index: Int64 = 0
  private var number: UInt64 = 0

  /// The battery's sensor, in a bench that has it: at 7.4 V behind a divider by 3.
  let converter = ADS1115Simulator()

  init(
    _ legs: [LegConfiguration], hasOutputEnable: Bool = false, hasBluetooth: Bool = false, battery: LegBattery? = nil
  ) {
    if let battery { bus.attach(converter.chip, at: battery.converter.address) }
    let drivers = (0...(legs.map(\.chip).max() ?? 0)).map { PCA9685(address: I2CAddress(0x40 + UInt8($0))!) }
    chips = drivers.map { _ in PCA9685Simulator() }
    let lines = [GPIOLine(.bcm(4), isActiveLow: true), GPIOLine(.bcm(5), isActiveLow: true)].prefix(drivers.count)
    enable = hasOutputEnable ? try! bank.outputs(Array(lines)) : nil
    network = SimulatedNetwork([Self.pad, Self.other] + legs.indices.map(Self.leg), capacity: 1_024)
    let mailbox = try! LegLoop.mailbox(legs)
    client = mailbox.client()
    for (chip, driver) in zip(chips, drivers) { bus.attach(chip.chip, at: driver.address) }
    var ports = LegPorts()
    for index in legs.indices { ports.append(network.port(Self.leg(index))) }
    bluetooth = hasBluetooth ? try! MessageLink() : nil
    if let bluetooth {
      ports.append(.bluetooth, bluetooth.port(), control: bluetooth.control(), of: 0)
      central = bluetooth.driver()
    }
    rules = mailbox.rules
    settings = legs.map(\.settings)
    loop = LegLoop(
      ends: mailbox.loopEnds(), servos: legs.map(\.servo), chips: drivers, on: bus.port(),
      outputEnable: enable?.port(), lines: drivers.indices.map { hasOutputEnable ? $0 : nil },
      battery: battery, ports: ports, sequences: book.reader())
  }

  /// Legs on channels 0, 1 and so on, the chip configured and running at 1 ms.
  convenience init(
    legs count: Int = 1, isStarted: Bool = true, hasOutputEnable: Bool = false, hasBluetooth: Bool = false
  ) {
    self.init(
      (0..<count).map { LegConfiguration(channel: try! ServoChannel($0)) }, hasOutputEnable: hasOutputEnable,
      hasBluetooth: hasBluetooth)
    guard isStarted else { return }
    tick(0)
    tick(TickInstant(nanoseconds: 500_000), .deadline)
    _ = writes()
  }

  func send(_ bytes: [UInt8], to leg: Int = 0, from sender: Endpoint = LegBench.pad, at milliseconds: Int64) {
    var port = network.port(sender)
    port.now = .milliseconds(milliseconds)
    bytes.withUnsafeBytes { _ = port.send($0, to: Self.leg(leg)) }
  }

  func send(_ command: LegCommand, to leg: Int = 0, from sender: Endpoint = LegBench.pad, at milliseconds: Int64) {
    var bytes = [UInt8](repeating: 0, count: 6)
    let count = bytes.withUnsafeMutableBytes { command.encode(into: $0) }
    send(Array(bytes[..<count]), to: leg, from: sender, at: milliseconds)
  }

  /// Sent and, in the release that it causes, acted on.
  func act(_ command: LegCommand, to leg: Int = 0, at milliseconds: Int64) {
    send(command, to: leg, at: milliseconds)
    tick(milliseconds, .input)
  }

  func arm(_ leg: Int = 0, pulse: UInt16, at milliseconds: Int64) {
    act(.arm, to: leg, at: milliseconds)
    act(.setServo(.microseconds(pulse)), to: leg, at: milliseconds)
  }

  /// A frame of the central; false: refused.
  @discardableResult
  func write(_ command: LegCommand) -> Bool {
    var bytes = [UInt8](repeating: 0, count: 6)
    let count = bytes.withUnsafeMutableBytes { command.encode(into: $0) }
    return bytes[..<count].withUnsafeBytes { central!.deliver($0) }
  }

  /// What the central was notified of since the last call, as `telemetry` gives it.
  func notified() -> [String] {
    var texts: [String] = []
    while let bytes = central!.takeMessage() { texts.append(Self.words(bytes)) }
    return texts
  }

  private static func words(_ bytes: [UInt8]) -> String {
    let telemetry = bytes.withUnsafeBytes { try! LegTelemetry.decode($0) }
    return "\(telemetry.state) \(telemetry.error) \(telemetry.lastCommandAgeMilliseconds) ms"
  }

  func request(
    _ order: LegOrder, to target: LegRequest.Target = .all, from sender: UInt32 = 0, issued: Int64,
    taken: Int64? = nil
  ) -> Answer<LegRefusal>? {
    number += 1
    let request = LegRequest(order, to: target)
    _ = client.send(
      Request(
        number: number, issued: .milliseconds(issued), makesSafe: request.makesSafe, client: sender, order: request))
    tick(taken ?? issued, .input)
    return client.nextAnswer()
  }

  func tick(_ milliseconds: Int64, _ cause: ReleaseCause = .period) { tick(.milliseconds(milliseconds), cause) }

  func tick(_ instant: TickInstant, _ cause: ReleaseCause = .period) {
    if cause == .period { index += 1 }
    loop.tick(Tick(index: index, cause: cause, scheduled: instant, started: instant))
  }

  func safeState(_ milliseconds: Int64, _ cause: SafeStateCause) {
    let instant = TickInstant.milliseconds(milliseconds)
    loop.safeState(Tick(index: index, scheduled: instant, started: instant), cause: cause)
  }

  var deadline: TickInstant? { loop.nextDeadline }
  var snapshot: LegSnapshot { client.newest().state }

  /// The writes to the bus since the last call: `off all`, `3: 307 off` (channels from 3 on, in counts), `mode1 30`; with `!`
  /// when it failed; `41 off all` is of the chip at 0x41. Reads are left out.
  func writes() -> [String] {
    let new = bus.transactions(since: seen)
    seen = (new.last?.sequence ?? seen - 1) + 1
    return new.filter { $0.operation != .readBlock }.map { transaction in
      let failed = transaction.result < 0 ? "!" : ""
      let bytes = (0..<transaction.bytes.count).map { transaction.bytes[$0] }
      let chip = transaction.address == PCA9685.standardAddress ? "" : "\(hex(transaction.address.value)) "
      switch transaction.register {
      case 0xFD: return "\(chip)off all\(failed)"
      case 0x06..<0x46:
        let words = stride(from: 0, to: bytes.count, by: 4).map { at in
          bytes[at + 3] & 0x10 != 0 ? "off" : "\(Int(bytes[at + 2]) + Int(bytes[at + 3]) * 256)"
        }
        return "\(chip)\((Int(transaction.register) - 6) / 4): \(words.joined(separator: " "))\(failed)"
      default: return "\(chip)\(hex(transaction.register)) \(bytes.map(hex).joined(separator: " "))\(failed)"
      }
    }
  }

  /// Telemetry that came to `sender`, as `armed none 50 ms`.
  func telemetry(to sender: Endpoint = LegBench.pad, at milliseconds: Int64) -> [String] {
    var port = network.port(sender)
    port.now = .milliseconds(milliseconds)
    var batch = DatagramBatch()
    _ = port.receive(into: &batch)
    return (0..<batch.count).map { Self.words(Array(batch.bytes($0)!)) }
  }

  func takeNotices() -> [String] {
    var texts: [String] = []
    while let notice = client.nextNotice() {
      switch notice.notice {
      case .state(let leg, let state): texts.append("\(leg) \(state)")
      case .chipFails(let failure): texts.append("chip fails: \(failure)")
      case .chipAnswers: texts.append("chip answers")
      case .batterySilent(let failure): texts.append("battery silent: \(failure)")
      case .batteryAnswers: texts.append("battery answers")
      case .sequence(let number, let end): texts.append("sequence \(number) \(end.map { "\($0)" } ?? "begins")")
      }
    }
    return texts
  }
}
