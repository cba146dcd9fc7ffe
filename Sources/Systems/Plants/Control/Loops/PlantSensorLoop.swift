import Buses
@_spi(FromOutside) import Conversions
import Devices
import Tactus

/// Reads up to sixteen soil probes on one I2C bus and one SPI port and publishes their readings.
///
/// The loop actuates nothing, so its safe state is to do nothing. Between a request and its read the bus is free: the loop returns the instant of the
/// read as its deadline and serves other probes meanwhile; probes of one chip take turns. A tick makes at most two transfers for each probe, and no
/// further I2C transfer after one that timed out.
public struct PlantSensorLoop: ~Copyable, ControlLoop {
  public static var maximumProbes: Int {
    @_noLocks @_noAllocation get { 16 }
  }

  private let count: Int
  private var machines: [16 of PlantProbeMachine]
  /// Whether a probe's chip is converting for another probe, whose deadline then applies to both.
  private var isBlocked: [16 of Bool]
  private var bus: I2CBus?
  private var port: SPIPort?
  private var air: LatestReader<SoilSightings>?
  /// The instant at which each radio sensor advertised the value that was last read from it.
  private var heardAt: [16 of TickInstant]
  private var output: LatestWriter<PlantSensorSnapshot>?
  private var readings: RingWriter<PlantProbeReading>
  private let bell: DoorbellButton?
  /// The snapshot of the last tick.
  public private(set) var snapshot: PlantSensorSnapshot

  // State of the tick in progress.
  private var now = TickInstant.zero
  private var isBusStuck = false
  private var hasPushed = false

  /// Creates the loop that reads these probes.
  ///
  /// - Parameters:
  ///   - probes: 1…16 different probes; those on I2C need `bus`, those on SPI `port`, those on the radio `air`. Anything else is a
  ///     programming error.
  ///   - air: the advertisements of the radio sensors, in the order of the probes.
  ///   - snapshot: where `snapshot` is published, or `nil` if the caller publishes it.
  ///   - readings: receives every reading and every failure, to be calibrated and evaluated by another thread.
  ///   - bell: rung after a push to `readings`. The bell must outlive the loop.
  public init(
    probes: [PlantProbe], settings: PlantProbeSettings = PlantProbeSettings(), bus: consuming I2CBus? = nil,
    port: consuming SPIPort? = nil, air: consuming LatestReader<SoilSightings>? = nil,
    snapshot: consuming LatestWriter<PlantSensorSnapshot>? = nil,
    readings: consuming RingWriter<PlantProbeReading>, bell: DoorbellButton? = nil
  ) {
    precondition((1...Self.maximumProbes).contains(probes.count), "a loop reads 1…16 probes")
    precondition(Set(probes).count == probes.count, "no two probes are the same")
    let addresses = probes.compactMap(\.address)
    let hasBus = bus != nil
    let hasPort = port != nil
    let hasAir = air != nil
    precondition(addresses.isEmpty || hasBus, "probes on I2C need a bus")
    precondition(!probes.contains(where: \.isOnSPI) || hasPort, "probes on SPI need a port")
    precondition(!probes.contains { $0.radio != nil } || hasAir, "sensors on the radio need a listener")
    count = probes.count
    machines = .init(repeating: PlantProbeMachine(probes[0], settings))
    for (index, probe) in probes.enumerated() { machines[index] = PlantProbeMachine(probe, settings) }
    isBlocked = .init(repeating: false)
    self.bus = bus
    self.port = port
    self.air = air
    heardAt = .init(repeating: .zero)
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
    // Reads come first, because they free chips that other probes wait for.
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
    switch machines[index].probe {
    case .mcp3008, .radio: return step(index, .done)
    case .seesaw, .ads1115: break
    }
    if isBusStuck { return step(index, .failed(.timedOut)) }
    do throws(I2CError) {
      switch machines[index].probe {
      case .seesaw(let chip): try chip.request(quantity, on: &bus!)
      case .ads1115(let chip, let channel): try chip.start(channel, on: &bus!)
      case .mcp3008, .radio: break
      }
      step(index, .done)
    } catch {
      fail(index, error)
    }
  }

  @_noLocks @_noAllocation
  private mutating func read(_ quantity: SeesawSoil.Quantity, _ index: Int) {
    switch machines[index].probe {
    case .mcp3008(let channel): return readSPI(channel, index)
    case .radio: return listen(index)
    case .seesaw, .ads1115: break
    }
    if isBusStuck { return step(index, .failed(.timedOut)) }
    do throws(I2CError) {
      switch machines[index].probe {
      case .seesaw(let chip): try read(quantity, of: chip, index)
      case .ads1115(let chip, let channel):
        guard try chip.isReady(channel, on: &bus!) else { return step(index, .failed(.notAMeasurement)) }
        step(index, .sample(try chip.read(on: &bus!).count))
      case .mcp3008, .radio: break
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

  /// Takes the advertisement that a radio sensor has sent since the last call. The age of the reading counts from the advertisement.
  @_noLocks @_noAllocation
  private mutating func listen(_ index: Int) {
    guard let sighting = air?.read()[index], let moisture = sighting.moisture, moisture.at > heardAt[index] else {
      return step(index, .nothingNew)
    }
    heardAt[index] = moisture.at
    step(index, .heard(Int64(moisture.value), celsius: sighting.celsius(at: now)), at: moisture.at)
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
  private mutating func step(_ index: Int, _ event: PlantProbeEvent, at measured: TickInstant? = nil) {
    switch machines[index].step(event, at: now) {
    case .none: break
    case .reading(let median, let celsius):
      snapshot[index].sample = median
      snapshot[index].celsius = celsius
      snapshot[index].readAt = measured ?? now
      snapshot[index].readings &+= 1
      snapshot[index].failuresInARow = 0
      push(PlantProbeReading(probe: index, at: measured ?? now, .sample(median, celsius: celsius)))
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
    output?.write(snapshot)
    if hasPushed, let bell { bell.ring() }
  }
}
