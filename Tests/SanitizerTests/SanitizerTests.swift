import Buses
import BusesLinux
import CTactus
import Devices
import Foundation
import Plants
import TactusGuard
import Testing
import Wire

@testable import Leg
@testable import Pump
@testable import Robot
@testable import Sprinkler
@testable import Tactus
@testable import TactusDaemon

/// Every loop of the project, 100,000 ticks each, with RealtimeSanitizer watching: a call in a tick that may block or
/// allocate ends the test. The compiler has proved the ticks; this checks the few lines that it was told to trust.
///
/// Whoever sets RTSAN_OPTIONS wants it watched: without the runtime the first test fails then.
@Suite(
  "RealtimeSanitizer",
  .enabled(
    if: tactus_sanitizer_is_linked() != 0 || getenv("RTSAN_OPTIONS") != nil,
    "the sanitizer's runtime is not loaded: scripts/test --sanitize"))
struct SanitizerTests {
  static let ticks: Int64 = 100_000

  /// The testing library records a backtrace of every error thrown, even those that a tick catches, which allocates: its
  /// hooks are taken out.
  init() {
    for hook in ["_swift_willThrow", "_swift_willThrowTypedImpl"] {
      dlsym(nil, hook)?.storeBytes(of: nil, as: UnsafeRawPointer?.self)
    }
  }

  /// Allocates in its tick, through a call that the compiler cannot see.
  struct Bad: ControlLoop, NoOutput {
    mutating func tick(_ tick: Tick) { malloc(64).deallocate() }
  }

  @Test("a tick that allocates: the process ends with a report")
  func watches() async {
    await #expect(processExitsWith: .failure) {
      let runtime = try Runtime { Lane("a") { Loop("bad", every: .hertz(10)) { Bad() } } }
      try runtime.simulate(for: .seconds(1))
    }
  }

  @Test("robot and operator on a lossy network, settings changing, bus failing")
  func robot() throws {
    var configuration = RobotSimulation.Configuration()
    configuration.operators = 2
    configuration.conditions.delay = .milliseconds(3)
    configuration.conditions.jitter = .milliseconds(2)
    configuration.conditions.lossPerMille = 50
    let simulation = try RobotSimulation(configuration)
    var ran: Int64 = 0
    var step = 0
    while ran < Self.ticks {
      step += 1
      simulation.operators[0].set(.wheels(WheelSpeeds(left: Percent(Double(step % 200 - 100)), right: Percent(40))))
      ran = simulation.run(for: .seconds(2)) + ran
      if step % 7 == 0 { simulation.set(.standard) }
      if step % 11 == 0 { step % 22 == 0 ? simulation.bus.inject(.stuck) : simulation.bus.clearFaults() }
      if step % 13 == 0 { simulation.stallRobot(at: simulation.now, by: .milliseconds(400)) }
    }
    simulation.stop()
  }

  @Test(
    "six legs and their operators on a lossy network: the chip loses its power; bus, output-enable line and sensor fail"
  )
  func legs() throws {
    var configuration = LegSimulation.Configuration(legs: 6)
    configuration.legs[1].settings = try LegSettings(
      slewMicrosecondsPerSecond: 2_000, releaseAfter: .milliseconds(300),
      battery: LegBatteryLimits(warning: Millivolts(6800), fault: Millivolts(6400)))
    configuration.conditions.delay = .milliseconds(3)
    configuration.conditions.jitter = .milliseconds(2)
    configuration.conditions.lossPerMille = 50
    configuration.outputEnable = .bcm(22)
    configuration.battery = LegBattery(channel: 0, dividerPerMille: 3000)
    let simulation = try LegSimulation(configuration)
    var step = 0
    var ran: Int64 = 0
    while ran < Self.ticks {
      step += 1
      let person = simulation.operators[step % 6]
      person.request(step % 5 == 0 ? .disarm : .arm)
      person.request(.sendOnce(.microseconds(UInt16(step % 3_000))))
      ran += simulation.run(for: .milliseconds(300))
      person.request(.periodic(step % 3 != 0))
      if step % 4 == 0 { simulation.request(.command(.arm), to: .all) }
      if step % 6 == 0 { simulation.request(.battery(Millivolts(UInt16(6_000 + step % 2_000))), to: .leg(1)) }
      if step % 7 == 0 { simulation.request(step % 14 == 0 ? .emergencyStop : .reset, to: .all) }
      if step % 11 == 0 { step % 22 == 0 ? simulation.bus.inject(.stuck) : simulation.bus.clearFaults() }
      if step % 13 == 0 { simulation.chip.reset() }
      simulation.converter.set(0, Microvolts(Int64(2_000_000 + step % 10 * 60_000)))
      if step % 9 == 0 { simulation.converter.reset() }
      if step % 19 == 0 { step % 38 == 0 ? simulation.header.inject(.gone) : simulation.header.clearFaults() }
      if step % 23 == 0 {
        simulation.bus.inject(.noAcknowledge(address: ADS1115.standardAddress, count: step % 46 == 0 ? 40 : 0))
      }
      if step % 17 == 0 { simulation.stallLegs(at: simulation.now, by: .milliseconds(200)) }
      ran += simulation.run(for: .milliseconds(700))
      _ = simulation.takeAnswers()
      _ = simulation.takeNotices()
    }
    simulation.stop()
  }

  @Test("eight zones, a master valve and a flow sensor: queue, pauses, rain, alarms, lines that fail, stalls")
  func sprinkler() throws {
    var configuration = SprinklerSimulation.Configuration(zones: 8)
    configuration.maximumOpen = 2
    configuration.stationDelay = .seconds(2)
    configuration.masterLead = .seconds(1)
    configuration.flow = try FlowSettings(
      pulsesPerLitre: 450, noFlow: .init(litresPerMinute: 1, over: .seconds(20)),
      leak: .init(litresPerMinute: 1, over: .seconds(20)))
    let simulation = try SprinklerSimulation(configuration)
    var ran: Int64 = 0
    var step = 0
    while ran < Self.ticks {
      step += 1
      let zone = ZoneID(step % 8 + 1)!
      let placements = [RunPlacement.now, .append, .insert, .replace]
      for number in 0..<3 {
        let run = ZoneRun(
          id: UInt64(step * 3 + number), zone: ZoneID((step + number) % 8 + 1)!, seconds: UInt32(step % 90 + 1),
          source: .manual, soakSeconds: UInt32(step % 3 * 30))
        simulation.request(.run(run, placements[(step + number) % 4]))
      }
      ran += simulation.run(for: .seconds(40))
      if step % 3 == 0 { simulation.request(.extend(zone, seconds: 30)) }
      if step % 5 == 0 { simulation.request(step % 10 == 0 ? .pause(seconds: 20) : .resume) }
      if step % 6 == 0 { simulation.request(.off(zone, dropsQueued: true)) }
      if step % 7 == 0 { simulation.request(.rain(isActive: step % 14 == 0, endsRuns: true)) }
      if step % 9 == 0 { simulation.request(step % 18 == 0 ? .emergencyStop : .skip) }
      if step % 11 == 0 { simulation.garden.inject(step % 22 == 0 ? .noWater : .burst(litresPerMinute: 8)) }
      if step % 12 == 0 { simulation.garden.clearFaults() }
      if step % 13 == 0 { simulation.bank.inject(step % 26 == 0 ? .gone : .stuck(line: 3, isHigh: false)) }
      if step % 14 == 0 { simulation.bank.clearFaults() }
      if step % 15 == 0 { simulation.request(.reset) }
      if step % 17 == 0 { simulation.stall(at: simulation.now, by: .seconds(5)) }
      if step % 20 == 0 { simulation.request(.dayBegan) }
      ran += simulation.run(for: .seconds(60))
      _ = simulation.takeAnswers()
      _ = simulation.takeNotices()
    }
    simulation.stop()
  }

  @Test("a pump and its operator on a noisy line: on, off, speeds, button, pot, sensors and output that fail, stalls")
  func pump() throws {
    var configuration = PumpSimulation.Configuration()
    configuration.line.lostPerMillion = 500
    configuration.line.changedPerMillion = 500
    configuration.world.hasPot = true
    let simulation = try PumpSimulation(configuration)
    let loops = [PumpSimulation.deviceLoop, PumpSimulation.operatorLoop]
    func leastRan() -> Int64 { loops.map { simulation.statistics[$0]?.counters.ran ?? 0 }.min()! }
    let orders: [PumpOrder] = [
      .turnOn(nil), .setSpeed(PumpSpeed(duty: 90)), .watched, .turnOn(PumpSpeed(duty: 255)), .readTemperatures, .query,
      .turnOff, .emergencyStop, .reset, .turnOn(PumpSpeed(duty: 40)),
    ]
    let deviceOrders: [PumpOrder] = [
      .query, .turnOn(nil), .setSpeed(PumpSpeed(duty: 120)), .watched, .reset, .turnOff, .emergencyStop, .reset,
      .readTemperatures,
    ]
    var step = 0
    while leastRan() < Self.ticks {
      step += 1
      simulation.request(orders[step % orders.count])
      if step % 4 == 0 { simulation.requestOfDevice(deviceOrders[step / 4 % deviceOrders.count]) }
      simulation.world.press(step % 5 == 0)
      simulation.world.turnPot(to: step * 37 % 1_024)
      simulation.run(for: .seconds(7))
      if step % 6 == 0 {
        let fault = PumpWorld.Fault.allCases[step / 6 % PumpWorld.Fault.allCases.count]
        simulation.world.has(fault) ? simulation.world.clear(fault) : simulation.world.inject(fault)
      }
      if step % 40 == 0 { for fault in PumpWorld.Fault.allCases { simulation.world.clear(fault) } }
      if step % 11 == 0 { step % 22 == 0 ? simulation.cable.cut() : simulation.cable.unplug() }
      if step % 12 == 0 { simulation.cable.plugIn() }
      if step % 13 == 0 { simulation.stall(loops[step % 2], at: simulation.now, by: .seconds(1)) }
      simulation.run(for: .seconds(13))
      _ = simulation.takeAnswers()
      _ = simulation.takeNotices()
      _ = simulation.takeDeviceNotices()
    }
    simulation.stop()
  }

  @Test("soil probes of three kinds on I2C and SPI: wild samples, a chip gone, a stuck bus, readings not taken")
  func plants() throws {
    let bus = SimulatedI2CBus()
    let seesaw = SeesawSoilSimulator()
    let converter = ADS1115Simulator()
    let mcp = MCP3008Simulator()
    bus.attach(seesaw.chip, at: I2CAddress(0x36)!)
    bus.attach(converter.chip, at: ADS1115.standardAddress)
    let spi = SimulatedSPIBus(mcp.chip)
    let output = Latest(PlantSensorSnapshot(probes: 4))
    let ring = Ring<PlantProbeReading>(capacity: 64)
    let probes: [PlantProbe] = [
      .seesaw(SeesawSoil(address: I2CAddress(0x36)!)), .ads1115(ADS1115(), channel: 0), .ads1115(ADS1115(), channel: 2),
      .mcp3008(channel: 5),
    ]
    let runtime = try Runtime {
      Lane("plants") {
        Loop("plants", every: .hertz(1)) {
          PlantSensorLoop(
            probes: probes, bus: bus.port(), port: spi.port(), snapshot: output.writer(), readings: ring.writer())
        }
      }
    }
    let simulation = try runtime.simulation(seed: 1)
    var readings = ring.reader()
    var ran: Int64 = 0
    var step = 0
    while ran < Self.ticks {
      step += 1
      converter.set(0, Microvolts(Int64(1_100_000 + step % 15 * 100_000)))
      mcp[5] = Double(step % 33) / 10
      if step % 3 == 0 { seesaw.glitch(reads: step % 7) }
      if step % 5 == 0 {
        step % 10 == 0 ? bus.inject(.stuck) : bus.inject(.noAcknowledge(address: I2CAddress(0x36)!, count: nil))
      }
      if step % 5 == 2 { bus.clearFaults() }
      ran += simulation.run(for: .seconds(30))
      if step % 16 == 0 { while readings.pop() != nil {} }
    }
    simulation.stop()
  }

  @Test("the other boards on simulated buses", arguments: ["raspbot-v2", "xgo-rider"])
  func boards(board: String) throws {
    let network = SimulatedNetwork([RobotSimulation.robotEndpoint], seed: 1)
    let bus = SimulatedI2CBus(seed: 1)
    let raspbot = RaspbotV2Simulator()
    bus.attach(raspbot.chip, at: RaspbotV2.standardAddress)
    let line = SimulatedSerialPort()
    line.attach(XGORiderSimulator().device)
    try run(
      motors: board == "raspbot-v2" ? Motors(RaspbotV2(), on: bus.port()) : Motors(XGORider(), on: line.port()),
      port: network.port(RobotSimulation.robotEndpoint))
  }

  @Test("a real socket, and a real serial line whose reader has gone to sleep")
  func real() throws {
    let socket = try LinuxDatagramSocket(address: "127.0.0.1", port: 0)
    let terminal = try LinuxPTY()
    let line = try LinuxSerialPort(path: terminal.path, baudRate: 115_200)
    try run(motors: Motors(XGORider(), on: line.port()), port: socket.port())
  }

  /// Toggles a relay by the pulses of a flow sensor, and looks whether it did.
  struct Irrigation: ~Copyable, ControlLoop, NoOutput {
    var relays: GPIOLines
    var sensor: GPIOEvents
    var batch = GPIOEdgeBatch()
    var pulses = GPIOPulseCount()
    var failures: Int64 = 0

    @_noLocks @_noAllocation
    mutating func tick(_ tick: Tick) {
      relays.now = tick.started
      sensor.now = tick.started
      do throws(GPIOError) {
        while try sensor.receive(into: &batch) {}
        for index in 0..<batch.count { pulses.add(batch[index]) }
        try relays.set(0, pulses.count & 1 != 0)
        if try relays.read() & 1 != UInt64(bitPattern: pulses.count) & 1 { failures &+= 1 }
      } catch {
        failures &+= 1
      }
    }
  }

  @Test("GPIO: outputs and input changes, the chip vanishing, a line stuck")
  func gpio() throws {
    let bank = SimulatedGPIOBank()
    let lines = try bank.outputs([GPIOLine(.bcm(17), isActiveLow: true), GPIOLine(.bcm(27))])
    let recording = RecordingGPIOLines(lines.port())
    let events = try bank.events([GPIOInput(.bcm(5), edges: .rising, debounce: .microseconds(500))])
    let runtime = try Runtime {
      Lane("a") {
        Loop("irrigation", every: .hertz(1_000)) { Irrigation(relays: recording.port(), sensor: events.port()) }
      }
    }
    let simulation = try runtime.simulation(seed: 1)
    for step in 1...Self.ticks / 1_000 {
      for pulse in 0..<20 {
        bank.pulse(
          5, at: TickInstant(nanoseconds: (step - 1) * 1_000_000_000 + Int64(pulse) * 40_000_000),
          width: .milliseconds(2))
      }
      if step % 5 == 0 { bank.inject(step % 10 == 0 ? .gone : .stuck(line: 17, isHigh: true)) }
      if step % 5 == 1 { bank.clearFaults() }
      simulation.run(for: .seconds(1))
    }
    simulation.stop()
    #expect(bank.transactionCount > Self.ticks)
    withExtendedLifetime(events) {}
  }

  @Test("the supervisor, its guard listening")
  func supervisor() throws {
    var sockets: [Int32] = [0, 0]
    #expect(socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue), 0, &sockets) == 0)
    defer { for socket in sockets { close(socket) } }
    let bell = try Doorbell()
    let snapshot = Latest(RobotSnapshot(.standard))
    let notices = Ring<SupervisorNotice>(capacity: 16)
    let runtime = try Runtime {
      Lane("a") {
        Loop("supervisor", every: SupervisorLoop.rate) {
          SupervisorLoop(
            watching: [snapshot.version], notices: notices.writer(), bell: bell.button,
            heartbeats: HeartbeatSender(socket: sockets[0]), patience: .seconds(1))
        }
      }
    }
    let simulation = try runtime.simulation()
    var writer = snapshot.writer()
    var value = RobotSnapshot(.standard)
    for second in 1...(Self.ticks / 10) {
      value.at = simulation.now
      // Every fifth second nothing is published: a stall, and a return.
      if second % 5 != 0 { writer.write(value) }
      simulation.run(for: .seconds(1))
      bell.clear()
    }
    #expect(try #require(runtime.statistics["supervisor"]).counters.ran >= Self.ticks)
  }

  /// A robot's loop for 100,000 ticks, driven by requests.
  private func run(motors: consuming Motors, port: consuming DatagramPort) throws {
    var motors: Motors? = motors
    var port: DatagramPort? = port
    let mailbox = try RobotLoop.Mailbox(
      state: RobotSnapshot(.standard), rules: .standard, answers: 64, notices: 64)
    let runtime = try Runtime {
      Lane("robot") {
        Loop("robot", every: .hertz(20)) {
          RobotLoop(ends: mailbox.loopEnds(), motors: motors.take()!, port: port.take()!)
        }
      }
    }
    let simulation = try runtime.simulation()
    let client = mailbox.client()
    for second in 0..<(Self.ticks / 20) {
      let speeds = WheelSpeeds(left: Percent(Double(second % 200 - 100)), right: Percent(30))
      let request = Request(
        number: UInt64(second), issued: simulation.now, makesSafe: false, client: 1,
        order: RobotOrder.command(.drive(speeds)))
      _ = client.send(request)
      // Every other second the ring of answers is full.
      if second % 128 == 0 { while client.nextAnswer() != nil {} }
      simulation.run(for: .seconds(1))
    }
    simulation.stop()
    #expect(try #require(runtime.statistics["robot"]).counters.ran >= Self.ticks)
  }
}
