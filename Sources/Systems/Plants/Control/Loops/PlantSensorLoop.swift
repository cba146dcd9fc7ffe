import Buses
import Devices
import Tactus

/// Reads up to sixteen soil probes, on one I2C bus and one SPI port, and publishes what they say.
///
/// It actuates nothing, so its safe state is to do nothing. Between a request and its read the bus is free: the loop names the
/// read's instant as its deadline, and other probes are served meanwhile; probes of one chip take turns. A tick makes at most
/// two transfers a probe, and after one that timed out no further one on I2C.
public struct PlantSensorLoop: ~Copyable, ControlLoop {
  public static var maximumProbes: Int {
    @_noLocks @_noAllocation get { 16 }
  }

  private let count: Int
  private var machines: [16 of PlantProbeMachine]
  /// Their chip converts for another probe: they wait for that one's deadline, not for their own.
  private var isBlocked: [16 of Bool]
  private var bus: I2CBus?
  private var port: SPIPort?
  private var output: LatestWriter<PlantSensorSnapshot>
  private var readings: RingWriter<PlantProbeReading>
  private let bell: DoorbellButton?
  private var snapshot: PlantSensorSnapshot

  // Within one tick.
  private var now = TickInstant.zero
  private var isBusStuck = false
  private var hasPushed = false

  /// - Parameters:
  ///   - probes: 1…16; those on I2C need `bus`, those on SPI `port`; no two are the same. Anything else is our bug.
  ///   - readings: every reading and every failure, for what calibrates and judges them.
  ///   - bell: rung when `readings` has been pushed to. Must outlive the loop.
  public init(
    probes: [PlantProbe], settings: PlantProbeSettings = PlantProbeSettings(), bus: consuming I2CBus? = nil,
    port: consuming SPIPort? = nil, snapshot: consuming LatestWriter<PlantSensorSnapshot>,
    readings: consuming RingWriter<PlantProbeReading>, bell: DoorbellButton? = nil
  ) {
    precondition((1...Self.maximumProbes).contains(probes.count), "a loop reads 1…16 probes")
    precondition(Set(probes).count == probes.count, "no two probes are the same")
    let addresses = probes.compactMap(\.address)
    let hasBus = bus != nil
    let hasPort = port != nil
    precondition(addresses.isEmpty || hasBus, "probes on I2C need a bus")
    precondition(addresses.count == probes.count || hasPort, "probes on SPI need a port")
    count = probes.count
    machines = .init(repeating: PlantProbeMachine(probes[0], settings))
    for (index, probe) in probes.enumerated() { machines[index] = PlantProbeMachine(probe, settings) }
    isBlocked = .init(repeating: false)
    self.bus = bus
    self.port = port
    output = snapshot
    self.readings = readings
    self.bell = bell
    self.snapshot = PlantSensorSnapshot(probes: probes.count)
    prepareDriversToThrow()
  }

  public var nextDeadline: TickInstant? {
    @_noLocks @_noAllocation get {
      var first: TickInstant?
      for index in 0..<count where !isBlocked[index] {
        let deadline = machines[index].nextDeadline
        if let earliest = first {
          if deadline < earliest { first = deadline }
        } else {
          first = deadline
        }
      }
      return first
    }
  }

  @_noLocks @_noAllocation
  public mutating func tick(_ tick: Tick) {
    now = tick.started
    bus?.now = now
    port?.now = now
    isBusStuck = false
    hasPushed = false
    // Reads first: they free chips that other probes wait for.
    for index in 0..<count {
      if case .read(let quantity) = machines[index].task(at: now) { read(quantity, index) }
    }
    for index in 0..<count {
      isBlocked[index] = false
      switch machines[index].task(at: now) {
      case .none, .read: break
      case .reset: reset(index)
      case .request(let quantity):
        if isChipConverting(index) { isBlocked[index] = true } else { request(quantity, index) }
      }
    }
    publish()
  }

  @_noLocks @_noAllocation
  public mutating func safeState(_ tick: Tick, cause: SafeStateCause) {}

  // MARK: transfers

  @_noLocks @_noAllocation
  private func isChipConverting(_ index: Int) -> Bool {
    guard let address = machines[index].probe.address else { return false }
    for other in 0..<count where other != index && machines[other].isConverting {
      if let busy = machines[other].probe.address, busy == address { return true }
    }
    return false
  }

  @_noLocks @_noAllocation
  private mutating func reset(_ index: Int) {
    guard case .seesaw(let chip) = machines[index].probe else { return step(index, .done) }
    if isBusStuck { return step(index, .failed(.timedOut)) }
    do throws(I2CError) {
      try chip.reset(on: &bus!)
      step(index, .done)
    } catch {
      fail(index, error)
    }
  }

  @_noLocks @_noAllocation
  private mutating func request(_ quantity: SeesawSoil.Quantity, _ index: Int) {
    if case .mcp3008 = machines[index].probe { return step(index, .done) }
    if isBusStuck { return step(index, .failed(.timedOut)) }
    do throws(I2CError) {
      switch machines[index].probe {
      case .seesaw(let chip): try chip.request(quantity, on: &bus!)
      case .ads1115(let chip, let channel): try chip.start(channel, on: &bus!)
      case .mcp3008: break
      }
      step(index, .done)
    } catch {
      fail(index, error)
    }
  }

  @_noLocks @_noAllocation
  private mutating func read(_ quantity: SeesawSoil.Quantity, _ index: Int) {
    if case .mcp3008(let channel) = machines[index].probe { return readSPI(channel, index) }
    if isBusStuck { return step(index, .failed(.timedOut)) }
    do throws(I2CError) {
      switch machines[index].probe {
      case .seesaw(let chip): try read(quantity, of: chip, index)
      case .ads1115(let chip, let channel):
        guard try chip.isReady(channel, on: &bus!) else { return step(index, .failed(.notAMeasurement)) }
        step(index, .sample(try chip.read(on: &bus!).count))
      case .mcp3008: break
      }
    } catch {
      fail(index, error)
    }
  }

  @_noLocks @_noAllocation
  private mutating func read(
    _ quantity: SeesawSoil.Quantity, of chip: SeesawSoil, _ index: Int
  ) throws(I2CError) {
    switch quantity {
    case .hardware:
      let isSeesaw = if case .some = try chip.hardware(on: &bus!) { true } else { false }
      step(index, isSeesaw ? .identified : .failed(.wrongChip))
    case .moisture:
      if let counts = try chip.moisture(on: &bus!) {
        step(index, .sample(Int64(counts)))
      } else {
        step(index, .failed(.notAMeasurement))
      }
    case .temperature:
      if let celsius = try chip.temperature(on: &bus!) {
        step(index, .celsius(celsius))
      } else {
        step(index, .failed(.notAMeasurement))
      }
    }
  }

  @_noLocks @_noAllocation
  private mutating func readSPI(_ channel: Int, _ index: Int) {
    do throws(SPIError) {
      if let value = try MCP3008().read(channel, on: &port!) {
        step(index, .sample(Int64(value)))
      } else {
        step(index, .failed(.noAnswer))
      }
    } catch {
      step(index, .failed(.noAnswer))
    }
  }

  @_noLocks @_noAllocation
  private mutating func fail(_ index: Int, _ error: I2CError) {
    if case .timedOut = error {
      isBusStuck = true
      step(index, .failed(.timedOut))
    } else {
      step(index, .failed(.noAnswer))
    }
  }

  // MARK: news

  @_noLocks @_noAllocation
  private mutating func step(_ index: Int, _ event: PlantProbeEvent) {
    switch machines[index].step(event, at: now) {
    case .none: break
    case .reading(let median, let celsius):
      snapshot[index].sample = median
      snapshot[index].celsius = celsius
      snapshot[index].readAt = now
      snapshot[index].readings &+= 1
      snapshot[index].failuresInARow = 0
      push(PlantProbeReading(probe: index, at: now, .sample(median, celsius: celsius)))
    case .failed(let failure):
      snapshot[index].failures &+= 1
      snapshot[index].failuresInARow &+= 1
      snapshot[index].lastFailure = failure
      push(PlantProbeReading(probe: index, at: now, .failed(failure)))
    }
    snapshot[index].retries = machines[index].retries
  }

  @_noLocks @_noAllocation
  private mutating func push(_ reading: PlantProbeReading) {
    if readings.push(reading) { hasPushed = true } else { snapshot.readingsDropped &+= 1 }
  }

  @_noLocks @_noAllocation
  private mutating func publish() {
    snapshot.at = now
    if let retries = bus?.retries { snapshot.busRetries = retries }
    output.write(snapshot)
    if hasPushed, let bell { bell.ring() }
  }
}
