import Buses
import Devices
import Foundation
import Leg
import NIOCore
import ServiceSupport
import Synchronization
import Tactus
import Testing
import Wire

@testable import LegDaemon
@testable import Service
@testable import TactusDaemon

/// Two legs' lane in simulated time with the door before it; the test is the clock, the beat and the clients.
final class LegDoorBench {
  static let legs = [Endpoint.ipv4(10, 0, 0, 1, port: 5010), .ipv4(10, 0, 0, 1, port: 5011)]
  static let phone = Endpoint.ipv4(10, 0, 0, 2, port: 50_000)

  let door: HostedDoor<Legs>
  let network = SimulatedNetwork(legs + [phone])
  let bus = SimulatedI2CBus()
  let chip = PCA9685Simulator()
  let bank = SimulatedGPIOBank()
  private let enable: SimulatedGPIOLines?
  private let bell = SimulatedInput()
  private let snapshot: Latest<Published<LegSnapshot>>
  private let runtime: Runtime
  private let simulation: Simulation
  private let clock = Clock()
  /// Rings from the door, of any thread; they reach the simulated bell when the test asks for them.
  private var rings: AsyncStream<Void>.Iterator
  var notices: RingReader<Told<LegNotice>>

  private final class Clock: Sendable {
    let nanoseconds = Atomic<Int64>(0)
    var now: TickInstant { TickInstant(nanoseconds: nanoseconds.load(ordering: .acquiring)) }
  }

  /// - Parameters:
  ///   - isWired: with a line at the chip's output-enable pin, and a battery of 7.4 V that is measured.
  ///   - others: links of leg 0 beside its port.
  init(isWired: Bool = false, others: [LegWays.Other] = []) throws {
    enable = isWired ? try bank.outputs([GPIOLine(.bcm(4), isActiveLow: true)]) : nil
    let enable = enable
    let converter = ADS1115Simulator()
    converter.set(0, Microvolts(2_466_667))
    if isWired { bus.attach(converter.chip, at: ADS1115.standardAddress) }
    let battery = isWired ? LegBattery(channel: 0, dividerPerMille: 3000) : nil
    let (network, bus, bell) = (network, bus, bell)
    bus.attach(chip.chip, at: PCA9685.standardAddress)
    let configurations = [
      LegConfiguration(channel: try ServoChannel(0)),
      LegConfiguration(
        try LegSettings(lowest: PulseWidth(microseconds: 1000), highest: PulseWidth(microseconds: 2000)),
        channel: try ServoChannel(5)),
    ]
    let mailbox = try LegLoop.mailbox(configurations)
    snapshot = mailbox.state
    // No safe state after missed releases: what protects here must be the rule that is tested.
    runtime = try Runtime {
      Lane("leg") {
        Loop(
          "leg", every: .hertz(50), phase: .zero,
          inputs: Self.legs.map { .simulated(network.input($0)) } + [.simulated(bell)]
        ) {
          LegLoop(
            ends: mailbox.loopEnds(requestBell: bell.doorbell), servos: configurations.map(\.channel), chip: PCA9685(),
            on: bus.port(), outputEnable: enable?.port(), battery: battery, ports: Self.ports(on: network))
        }
      }
    }
    notices = mailbox.noticeReader()
    simulation = try runtime.simulation()
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    rings = stream.makeAsyncIterator()
    var wiring = Legs.Wiring()
    wiring.legs = [
      Legs.One(givenName: "hip"),
      Legs.One(givenName: "knee", givenChannel: 5, minMicroseconds: 1000, maxMicroseconds: 2000),
    ]
    var rules = Legs.Rules()
    rules.legs = [Legs.OneRules(), Legs.OneRules()]
    let parts = SharedParts()
    parts.add(LegWays(ports: [5010, 5011], others: others))
    door = HostedDoor(
      mailbox, at: Legs.onlyPlace, beside: nil,
      look: { [wiring, rules] in Look(name: "leg", wiring: wiring, rules: rules, now: $0, parts: parts) },
      ring: { continuation.yield() }, now: { [clock] in clock.now })
    run(until: 45)
  }

  private static func ports(on network: SimulatedNetwork) -> LegPorts {
    var ports = LegPorts()
    for endpoint in legs { ports.append(network.port(endpoint)) }
    return ports
  }

  var now: TickInstant { clock.now }
  var milliseconds: Int64 { now.nanoseconds / 1_000_000 }

  func state(_ leg: Int) -> LegState {
    var reader = snapshot.reader()
    return reader.read().state[leg].state
  }

  func pulse(_ leg: Int) -> Int? {
    var reader = snapshot.reader()
    return reader.read().state[leg].pulse.map { Int($0.microseconds) }
  }

  /// Runs the lane up to this millisecond, and takes the answers.
  func run(until milliseconds: Int64) {
    simulation.run(until: TickInstant(nanoseconds: milliseconds * 1_000_000))
    clock.nanoseconds.store(milliseconds * 1_000_000, ordering: .releasing)
    door.requests.takeAnswers(at: now)
  }

  func run(for milliseconds: Int64) { run(until: self.milliseconds + milliseconds) }

  /// Waits for the door to ring the legs' loop so many times.
  func rung(_ times: Int = 1, isolation: isolated (any Actor)? = #isolation) async {
    for _ in 0..<times { _ = await rings.next(isolation: isolation) }
    bell.ring(at: now)
  }

  /// A request, and what came of it 2 ms later.
  func post(
    _ path: String, _ body: String = "", index: String? = nil, rings: Int = 1, from caller: Caller = .one,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> APIResponse {
    let route = try #require(door.routes.first { $0.path == "/api/leg/\(path)" })
    guard case .handler(let handler) = route.handling else { throw CancellationError() }
    let parameters = index.map { ["index": $0] } ?? [:]
    let task = Task {
      try await handler(APIRequest(caller: caller, parameters: parameters, body: Array(body.utf8)))
    }
    for _ in 0..<rings {
      await rung()
      run(for: 2)
    }
    return try await task.value
  }

  /// The API's error that a request ends with; nil when it ends well.
  func refusal(
    _ path: String, _ body: String = "", index: String? = nil, rings: Int = 1,
    isolation: isolated (any Actor)? = #isolation
  ) async -> APIError? {
    do {
      _ = try await post(path, body, index: index, rings: rings)
      return nil
    } catch {
      return error as? APIError
    }
  }

  /// A binary frame, and what was answered when the loop has taken it.
  func frame(
    _ bytes: [UInt8], from caller: Caller = .one, rings: Int = 1, isolation: isolated (any Actor)? = #isolation
  ) async -> Outcomes {
    let outcomes = Outcomes()
    #expect(door.receive(frame: bytes, from: caller) { outcomes.append($0) })
    if rings > 0 {
      await rung(rings)
      run(for: 2)
    }
    return outcomes
  }

  func udp(_ bytes: [UInt8], leg: Int = 0) {
    var port = network.port(Self.phone)
    port.now = now
    bytes.withUnsafeBytes { _ = port.send($0, to: Self.legs[leg]) }
  }

  func document() throws -> [String: Any] {
    guard case .prepared(let document) = try #require(door.routes.first { $0.path == "/api/leg" }).handling
    else { throw CancellationError() }
    return try #require(
      try JSONSerialization.jsonObject(with: Data(document.bytes.readableBytesView)) as? [String: Any])
  }
}

/// LegCtrl's frames.
enum LegBytes {
  static let arm: [UInt8] = [1, 1, 0, 0]
  static let disarm: [UInt8] = [1, 2, 0, 0]
  static let ping: [UInt8] = [1, 4, 0, 0]
  static func set(_ pulse: Int) -> [UInt8] { [1, 3, 2, 0, UInt8(pulse & 0xFF), UInt8(pulse >> 8)] }
}
