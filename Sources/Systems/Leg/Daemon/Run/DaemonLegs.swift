import Buses
import BusesLinux
import Devices
import Leg
import Logging
import Service
import Tactus
import TactusDaemon

/// The servo legs in the daemon: their chip, a port each, what leg 0 is reached by besides, their lane.
final class DaemonLegs: LoopSystem {
  let name = "leg"
  let loopName = "leg.servos"
  let simulation: SimulatedSurroundings?
  private let configuration: Configuration.Legs
  private let inFile: Guarded<Configuration.Legs>
  private let rules: WantedRules<LegRules>
  private let hardware: ServoHardware
  private let sockets: [LinuxDatagramSocket]
  /// What stands between the sockets and the loop of simulated legs; empty on real hardware.
  private let datagrams: [ImpairedDatagrams]
  private let links: DaemonLegLinks
  private let door: LegDoor
  private let channel: LegLoop.Channel
  private let requestBell: Doorbell
  private var notices: RingReader<LegNotice>

  /// Opens the bus and the ports. Nothing is written to the chip yet.
  init(_ legs: Configuration.Legs, address: String, simulate: Bool, logger: Logger) throws {
    configuration = legs
    inFile = Guarded(legs)
    rules = WantedRules(RulesBox(legs.rules))
    let hardware = try ServoHardware(legs, simulate: simulate)
    self.hardware = hardware
    let sockets = try legs.legs.indices.map { index in
      try LinuxDatagramSocket(
        address: address, port: legs.port == 0 ? 0 : legs.port + UInt16(clamping: index))
    }
    self.sockets = sockets
    let links = try DaemonLegLinks(legs, simulate: simulate, logger: logger)
    self.links = links
    channel = LegLoop.channel(legs: legs.legs.count)
    notices = channel.noticeReader()
    let bell = try Doorbell()
    requestBell = bell
    let descriptions = zip(legs.legs, zip(legs.configurations, sockets)).enumerated().map { index, found in
      let (leg, made) = found
      return LegDescription(
        name: leg.name, configuration: made.0, port: made.1.localEndpoint.port, links: index == 0 ? links.reports : [])
    }
    door = LegDoor(descriptions, channel: channel, ring: { bell.button.ring() })
    guard let bus = hardware.simulatedBus, let chip = hardware.simulator else {
      (simulation, datagrams) = (nil, [])
      return
    }
    let stall = LaneStall()
    let datagrams = sockets.enumerated().map { index, socket in
      ImpairedDatagrams(socket.port(), clock: .monotonic, stall: index == 0 ? stall.served : nil)
    }
    self.datagrams = datagrams
    simulation = SimulatedSurroundings(
      buses: [SimulatedBus("leg-i2c-\(legs.i2cBus)", .i2c(bus), converters: hardware.simulatedConverters)]
        + (hardware.simulatedBank.map { [SimulatedBus("leg-gpio", .gpio($0))] } ?? [])
        + datagrams.enumerated().map { SimulatedBus("leg-udp-\($0)", .datagram($1)) } + links.buses,
      lanes: ["leg": stall],
      routes: SimulatedLegs(chip, legs: descriptions, outputEnable: hardware.simulatedOutputEnable).routes
    )
  }

  var endpoints: [Endpoint] { sockets.map(\.localEndpoint) }
  var startMetadata: Logger.Metadata { ["legs": .array(endpoints.map { .string("\($0)") })] }
  var heartbeat: LatestVersion { channel.state.version }

  var heldLines: [LinuxGPIOLines] { hardware.heldLine.map { [$0] } ?? [] }

  func lane(bell: DoorbellButton) -> Lane {
    var ports = LegPorts()
    var inputs: [LoopInput] = []
    for (index, socket) in sockets.enumerated() {
      let port = datagrams.isEmpty ? socket.port() : datagrams[index].port()
      // A kernel socket has a descriptor.
      inputs.append(.descriptor(port.descriptor!))
      ports.append(port)
    }
    inputs += links.append(to: &ports)
    var all: LegPorts? = ports
    let commandAge = DataAge("command", fromOutside: .releasesLoop)
    return Lane(
      "leg", scheduling: configuration.scheduling.lane(rateHertz: configuration.rateHertz), cpus: configuration.cpus
    ) {
      Loop(
        loopName, every: .hertz(Double(configuration.rateHertz)), late: .skip,
        safeStateAfter: configuration.safeStateAfter, counting: simulation.countedMisses(lane: "leg"),
        inputs: inputs + [requestBell.loopInput], ages: [commandAge]
      ) {
        LegLoop(
          legs: configuration.configurations, rules: rules.box.input(), chip: configuration.chip, on: hardware.bus(),
          outputEnable: hardware.outputEnable(), battery: configuration.battery?.sensor, ports: all.take()!,
          channel: channel.loopEnds(requestBell: requestBell.input, bell: bell), commandAge: commandAge.meter())
      }
    }
  }

  /// A longer deadman, a faster slew, a later release and lower voltages wait until no leg has a pulse.
  func change(to new: Configuration) -> (any RulesChange)? {
    guard let new = new.legs else { return nil }
    let keys = KeyChange.between(inFile.value.everyReloadable, new.everyReloadable)
    return rules.change(of: name, keys, to: new.rules) { [inFile] in inFile.value = new }
  }

  func finishKeeping() -> KeptOutcome { .known }
  var brokerParticipants: [any BrokerParticipant] { [] }
  var heartbeatPeriod: Nanoseconds { .zero }
  func beat(at now: TickInstant) {}
  var served: any ServedSystem { door }
  var metrics: any MetricSource { LegMetrics(door) }

  func takeAnswers(at now: TickInstant) { door.takeAnswers(at: now) }

  func takeNotices(_ logger: Logger) -> [Event] {
    var events: [Event] = []
    while let notice = notices.pop() {
      log(notice, logger)
      events.append(door.edge(notice))
    }
    return events
  }

  func started() { links.start() }

  func report(_ logger: Logger) { links.mend(logger) }

  /// Puts the chip to sleep, one PWM period after its outputs were turned off, so that no pulse is cut in half.
  func finish(_ logger: Logger) {
    var bus = hardware.bus()
    var shutdown = PCA9685Shutdown(configuration.chip)
    do {
      let bell = try Doorbell()
      bus.now = MonotonicClock.now
      while let next = try shutdown.step(on: &bus) {
        // No other thread rings it: the wait ends by the clock.
        bell.wait(limit: next - MonotonicClock.now)
        bus.now = MonotonicClock.now
      }
    } catch {
      logger.warning(
        "the servos' chip was not put to sleep", metadata: ["system": "leg", "failure": .string("\(error)")])
    }
    // Last: it may wait for bluetoothd.
    links.stop()
  }

  var unconfirmed: (message: String, state: String)? {
    let newest = channel.state.newest
    for index in 0..<newest.count {
      if case .shutDown(.confirmed) = newest[index].state { continue }
      return ("the servos' chip has not confirmed that every leg is off", "\(newest[index].state)")
    }
    return nil
  }

  /// One line for a change of a leg or of the chip.
  private func log(_ notice: LegNotice, _ logger: Logger) {
    switch notice.subject {
    case .state(let index, let state):
      var metadata: Logger.Metadata = [
        "system": "leg", "leg": .stringConvertible(index), "name": .string(configuration.legs[index].name),
        "state": .string("\(state)"),
      ]
      if let wayOut = state.wayOut { metadata["way_out"] = .string(wayOut) }
      logger.log(level: state.logLevel, "leg", metadata: metadata)
    case .chipFails(let failure):
      logger.error("the servos' chip fails", metadata: ["system": "leg", "failure": .string("\(failure)")])
    case .chipAnswers:
      logger.notice("the servos' chip answers", metadata: ["system": "leg"])
    case .batterySilent(let failure):
      logger.warning("the battery's sensor is silent", metadata: ["system": "leg", "failure": .string("\(failure)")])
    case .batteryAnswers:
      logger.notice("the battery's sensor answers", metadata: ["system": "leg"])
    }
  }
}

extension LegState {
  fileprivate var logLevel: Logger.Level {
    switch self {
    case .disarmed, .armed, .shutDown: .info
    case .emergencyStopped, .fault(.silence, _), .fault(.linkLost, _): .warning
    case .fault: .error
    }
  }
}
