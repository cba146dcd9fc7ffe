import ArgumentParser
import BluetoothBlueZ
import Buses
import BusesLinux
import Devices
import Leg
import LegDocuments
import ServiceDocuments
import Tactus
import TactusDaemon
import Wire

/// The servo legs, for a program's list of systems.
public let legs: any DeviceSystem.Type = Legs.self

/// The servo legs, sections `leg:` and `legs:` of the configuration. One chip, or several, drive all legs. Each leg has a UDP port, and leg 0 may also
/// have a Bluetooth radio and a serial line.
///
/// Each protocol in the line below is a word that the declaration adopts; docs/own-daemon.md says what each of them gives. The keys (`Wiring`, `Rules`)
/// are in the folder `Config`, the fields of the state (`seenFields`), the notices, the refusals and the frames in `Door`, the links and what is
/// printed at the start in `Run`, the command of the terminal in `Console`. The machine and the loop are in `Leg/Control`, the frames' bytes in `Leg/Wire`.
enum Legs: DeviceSystem, Sections, ShapesLane, ConvertsRules, ChecksTogether, MayBeSimulated, PreparesState, Sees,
  AnswersInFull, Explains, TellsInFull, TakesFrames, MeasuresMore, ShowsEntities, Introduces, Reaches, Checks,
  HasCommands, FindsDevices, Serves, OrdersLoop,
  HasDocuments
{
  typealias LoopRules = LegRules
  typealias Order = LegRequest
  typealias Refusal = LegRefusal
  typealias Notice = LegNotice
  typealias State = LegSnapshot

  static let name = "leg"
  static let summary = "Servo legs."
  static var bluetoothPeers: [BluetoothUUID: String] { [BluetoothProfile.framed.service: "a servo leg (LegCtrl)"] }
  static var documents: SystemDocuments { SystemDocuments(name, leg_documents()) }
  static let documentSchema = "Legs"
  static var terminal: [any ParsableCommand.Type] { [OperateLegCommand.self] }

  static func initialState(_ wiring: Wiring, _ rules: Rules) -> LegSnapshot {
    LegSnapshot(legs: wiring.legs.count)
  }
  static func isSimulated(_ wiring: Wiring) -> Bool { wiring.backend == .sim }
  /// Returns whether at least one leg is emergency-stopped.
  static func isEmergencyStopped(_ state: LegSnapshot) -> Bool {
    (0..<state.count).contains { if case .emergencyStopped = state[$0].state { true } else { false } }
  }
  static func reach(_ wiring: Wiring, _ rules: Rules) -> Reach { Reach() }

  @DeclarationBuilder<Command<LegRequest>> static var commands: [Command<LegRequest>] {
    ItemCommand("arm", on: \Wiring.legs, each: "leg", "Arms it.") { LegRequest(.command(.arm), to: .leg($0)) }
    ItemCommand("disarm", on: \Wiring.legs, each: "leg", makesSafe: true, "Disarms it.") {
      LegRequest(.command(.disarm), to: .leg($0))
    }
    ItemCommand("ping", on: \Wiring.legs, each: "leg", "Feeds its deadman.") {
      LegRequest(.command(.ping), to: .leg($0))
    }
    ItemCommand(
      "set", on: \Wiring.legs, each: "leg", "Moves it.",
      Parameter<UInt16>("pulseUs", in: 500...2500, unit: .microseconds, "The pulse.")
    ) { LegRequest(.command(.setServo(PulseWidth(microseconds: $1))), to: .leg($0)) }
    Command("arm", "Arms all legs, or none.") { LegRequest(.command(.arm), to: .all) }
    Command("disarm", makesSafe: true, "Disarms all legs.") { LegRequest(.command(.disarm), to: .all) }
    Command("stop-sequence", makesSafe: true, "Ends the sequence that is played; its legs stay where they are.") {
      LegRequest(.stopSequence, to: .all)
    }
  }
  static let emergencyStop = LegRequest(.emergencyStop, to: .all)
  static let reset = LegRequest(.reset, to: .all)
  /// The refusal that means that there is nothing to reset: `nil`, because the loop accepts such a reset.
  static let nothingToReset: LegRefusal? = nil
  static let whenClientLeaves: LegRequest? = LegRequest(.clientLeft, to: .all)

  static func desk(_ made: DeskMaterial<Legs>) throws -> LegDesk { LegDesk(made) }
  static var routes: [SystemRoute<Legs>] { SystemRoute.own { $0.routes } }

  static func loops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop] {
    let wiring = bench.wiring
    let chips = wiring.drivers
    // One byte turns every channel of a chip off. The chip is not put to sleep as at an orderly end, because that could cut a pulse.
    let buses = try chips.enumerated().map { index, chip in
      try bench.i2c(
        \.i2cBus, chip: chip.address, at: \.givenI2CAddress,
        safe: .writes { (bus) throws(I2CError) in try chip.turnAllOff(on: &bus) },
        key: wiring.chips.isEmpty ? nil : "leg.chips[\(index)].i2c_address")
    }
    let bus = buses[0]
    let sensor = try wiring.battery.map { battery in
      try bench.i2c(
        \.i2cBus, chip: battery.converter.address, at: \.converter.i2cAddress, safe: .none(because: "it only measures"))
    }
    let (lines, linesOfChips) = wiring.enableLines
    let enable =
      lines.isEmpty
      ? nil
      : try bench.outputs(lines, of: wiring.outputEnable == nil ? \.chips : \.outputEnable, safe: .inactive)
    let links = try LegLinks(bench)
    for index in wiring.legs.indices {
      bench.claim("servo channel \(wiring.channel(index))", of: \.legs, index, \.givenChannel)
      bench.claim("the name \(wiring.name(index))", of: \.legs, index, \.givenName)
    }
    if bench.isSimulated { bench.simulates(routes: [simulate(wiring, buses, sensor, enable).route]) }
    bench.afterLoops("a chip of the servos was not put to sleep") { try putToSleep(chips, bus) }
    bench.share(links.ways)
    let book = LegSequenceBook()
    bench.share(book)
    let commandAge = DataAge("command", fromOutside: .releasesLoop)
    return [
      mailbox.loop(
        "leg.servos", every: .hertz(Double(wiring.rateHertz)), safeStateAfter: bench.safeStateAfter,
        inputs: links.loopInputs, ages: [commandAge]
      ) {
        LegLoop(
          ends: $0, servos: wiring.servos, chips: chips, on: bus.port(), outputEnable: enable?.port(),
          lines: linesOfChips,
          battery: wiring.battery, ports: links.ports(), sequences: book.reader(), commandAge: commandAge.meter())
      }
    ]
  }

  /// Puts the chips to sleep, one PWM period after their outputs were turned off, so that no pulse is cut in half. A chip that fails keeps
  /// no other from its sleep; the first error is thrown at the end.
  private static func putToSleep(_ chips: [PCA9685], _ part: I2CPart) throws {
    var bus = part.port()
    var failure: I2CError?
    let bell = try Doorbell()
    bus.now = MonotonicClock.now
    var shutdowns = chips.map { PCA9685Shutdown($0) }
    // A chip takes two steps, and more only if a wait ended early or a transfer failed.
    for _ in 0..<8 {
      var latest: TickInstant?
      for index in shutdowns.indices {
        do throws(I2CError) {
          if let next = try shutdowns[index].step(on: &bus) { latest = max(latest ?? next, next) }
        } catch {
          failure = failure ?? error
        }
      }
      guard let latest else { break }
      // No other thread rings the bell, so the wait ends by the clock.
      bell.wait(limit: latest - MonotonicClock.now)
      bus.now = MonotonicClock.now
    }
    if let failure { throw failure }
  }

  /// Attaches the simulated chips with their servos, and the battery's converter, to the simulated bus, and returns them.
  private static func simulate(
    _ wiring: Wiring, _ buses: [I2CPart], _ sensor: I2CPart?, _ enable: OutputPart?
  ) -> SimulatedLegs {
    let simulators = zip(wiring.drivers, buses).map { chip, bus in
      var parameters = PCA9685Simulator.Parameters()
      // The simulated oscillator is that of the configuration, so that the servos get the commanded pulses.
      parameters.oscillator = chip.timing.oscillator
      let simulator = PCA9685Simulator(parameters)
      bus.attach(simulator.chip, at: chip.address)
      return simulator
    }
    if let battery = wiring.battery, let sensor {
      let converter = ADS1115Simulator()
      // The voltage is that of two lithium cells.
      converter.set(battery.channel, Microvolts(Int64(saturating: 7_400_000 / wiring.converter.divider)))
      sensor.attach(converter, at: battery.converter.address)
    }
    let levels = enable?.levels ?? []
    return SimulatedLegs(simulators, wiring, wiring.enableLines.ofChips.map { $0.map { levels[$0] } })
  }
}
