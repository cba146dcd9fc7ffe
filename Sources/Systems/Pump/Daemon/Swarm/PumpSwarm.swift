import Buses
import Logging
import Pump
import Store
import Tactus
import TactusDaemon
import Wire

/// A pump under the swarm: the daemon is the pump (`pump.role: device`), its apps send lines and requests, and what it has pumped is kept in a
/// store that survives it.
final class PumpSwarm: SwarmPart {
  private static let loop = "pump-device"
  /// Short, so that a minute holds several.
  static let settings = try! PumpDeviceSettings(runLimit: .seconds(8), rest: .seconds(6))

  let name = "pump"
  let hasDied = false
  var checks: SwarmChecks { oracle.output.checks }
  private let seed: UInt64
  private let loopSettings: PumpDeviceSettings
  private let world = PumpWorld()
  private let cable: PumpCable
  private let store = SimulatedPumpLimit()
  private var oracle = PumpOracle()
  private var daemon: Daemon?

  /// What dies with the process.
  private struct Daemon {
    let runtime: Runtime
    let simulation: Simulation
    let channel: PumpDeviceLoop.Channel
    let client: PumpDeviceLoop.Channel.Client
    let bell: SimulatedInput
    let keeper: PumpLimitKeeper
    var number: UInt64 = 0
    var nextBeat: TickInstant
  }

  /// - Parameter settings: the loop's; what must hold stays that of the standard ones.
  init(seed: UInt64, settings: PumpDeviceSettings = PumpSwarm.settings) {
    (self.seed, loopSettings) = (seed, settings)
    cable = PumpCable(seed: seed)
  }

  var heartbeats: [(version: LatestVersion, period: Nanoseconds)] {
    daemon.map { [($0.channel.state.version, .zero)] } ?? []
  }

  var isEmergencyStopped: Bool {
    if case .emergencyStopped? = daemon?.client.newest().state { true } else { false }
  }

  var remoteWords: [String: String] { ["off": "ask-off", "on": "ask-on"] }

  func plan(until end: TickInstant, around incidents: [TickInstant], _ random: inout SplitMix64) -> [SwarmAction] {
    PumpSwarmPlan.actions(until: end, around: incidents, &random)
  }

  func start(at now: TickInstant, _ cover: SwarmCover) throws(RuntimeError) {
    let keeper = PumpLimitKeeper(
      store, boot: BootID("1"), logger: Logger(label: "swarm") { _ in SwiftLogNoOpLogHandler() })
    let governor = keeper.resume(loopSettings.governor(), now: now, bootNow: now)
    let channel = PumpDeviceLoop.channel()
    let bell = SimulatedInput()
    let runtime = try Runtime(externalStops: cover.stops) {
      Lane("pump") {
        Loop(
          Self.loop, every: PumpDeviceLoop.rate, phase: .zero, safeStateAfter: 3,
          inputs: [.simulated(cable.deviceInput), .simulated(bell)]
        ) {
          PumpDeviceLoop(
            RulesBox(loopSettings).input(), governor: governor, link: PumpLink(serial: cable.devicePort()),
            motor: world.motor(), inputs: world.inputs(), channel: channel.loopEnds(requestBell: bell.doorbell))
        }
      }
    }
    daemon = Daemon(
      runtime: runtime, simulation: try runtime.simulation(seed: seed, from: now), channel: channel,
      client: channel.client(), bell: bell, keeper: keeper, nextBeat: now)
    oracle.started(at: now, cover)
  }

  func kill(at now: TickInstant, safeBy: TickInstant) {
    daemon = nil
    // What was on the line is lost with whoever read it.
    cable.unplug()
    cable.plugIn()
    oracle.killed(at: now, safeBy: safeBy)
  }

  func freeze(at now: TickInstant, for span: Nanoseconds) {
    guard let daemon else { return }
    daemon.simulation.oversleep(lane: "pump", at: now, by: span)
    self.daemon?.nextBeat = max(daemon.nextBeat, now + span)
    oracle.output.reach.stalled(at: now, for: span)
  }

  func run(until instant: TickInstant) {
    while let simulation = daemon?.simulation, let beat = daemon?.nextBeat {
      let before = isPumping
      if simulation.runTick(until: min(instant, beat)) {
        oracle.look(isPumping: before, at: simulation.now)
        oracle.ticked(at: simulation.now)
        oracle.look(isPumping: isPumping, at: simulation.now)
        oracle.output.answered(daemon!.client.takeAnswers().map(\.number), at: simulation.now)
        account(at: simulation.now)
      } else if beat <= instant {
        keep(at: beat)
      } else {
        break
      }
    }
    oracle.look(isPumping: isPumping, at: instant)
    listen(at: instant)
    account(at: instant)
  }

  private func account(at now: TickInstant) {
    guard let counters = daemon?.runtime.counters(of: Self.loop) else { return }
    oracle.output.account(counters, at: now)
  }

  /// The daemon's other threads, ten times a second: what has been pumped goes to the store.
  private func keep(at now: TickInstant) {
    guard let daemon else { return }
    self.daemon?.nextBeat = now + .milliseconds(100)
    _ = daemon.client.takeNotices()
    let newest = daemon.client.newest()
    if newest.at > .zero { daemon.keeper.keep(newest.governor, now: now, bootNow: now) }
  }

  /// Of the motor's output.
  private var isPumping: Bool { world.reading.duty.duty > 0 }

  func makeSafe(at now: TickInstant) -> Bool {
    let wasPumping = isPumping
    var motor = world.motor()
    motor.now = now
    let isConfirmed: Bool
    do throws(PWMError) {
      try motor.set(active: .zero)
      isConfirmed = true
    } catch {
      isConfirmed = false
    }
    oracle.cut(wasPumping: wasPumping, isConfirmed: isConfirmed, at: now)
    return isConfirmed
  }

  func emergencyStop(at now: TickInstant) { ask(.emergencyStop, at: now) }
  func reset(at now: TickInstant) { ask(.reset, at: now) }

  func apply(_ action: SwarmAction) {
    let now = action.at
    switch action.verb {
    case "line-on": say("ON\n", at: now)
    case "line-off": say("OFF\n", at: now)
    case "line-speed": say("SPEED:\(action[0])\n", at: now)
    case "line-noise": say("ON?\(action[0])\n", at: now)
    case "ask-on": ask(.command(.on), at: now)
    case "ask-off": ask(.command(.off), at: now)
    case "ask-e-stop": emergencyStop(at: now)
    case "ask-reset": reset(at: now)
    case "output-gone":
      if action[0] > 0 { world.inject(.outputGone) } else { world.clear(.outputGone) }
      oracle.output.reach.bus(isFaulty: action[0] > 0, at: now)
    case "stall":
      daemon?.simulation.stall(loop: Self.loop, at: now, by: .milliseconds(action[0]))
      // The tick that is prolonged begins within a period.
      if daemon != nil { oracle.output.reach.stalled(at: now, for: .milliseconds(action[0] + 50)) }
    default: break
    }
  }

  // MARK: Apps

  private func say(_ line: String, at now: TickInstant) {
    guard daemon != nil else { return }
    var port = cable.operatorPort()
    port.now = now
    var bytes = Array(line.utf8)
    let isWritten = bytes.withUnsafeMutableBytes { bytes in
      do throws(SerialError) {
        try port.write(UnsafeRawBufferPointer(bytes))
        return true
      } catch {
        return false
      }
    }
    // It arrives a few milliseconds later.
    if isWritten, line == "ON\n" { oracle.hear(.on, issued: nil) }
    if isWritten, line == "OFF\n" { oracle.hear(.off, issued: nil) }
  }

  /// An app that reads what it is told, so that the line does not fill.
  private func listen(at now: TickInstant) {
    var port = cable.operatorPort()
    port.now = now
    var bytes = [UInt8](repeating: 0, count: 512)
    bytes.withUnsafeMutableBytes { bytes in
      while let count = try? port.read(into: bytes), count > 0 {}
    }
  }

  private func ask(_ order: PumpDeviceRequest.Order, at now: TickInstant) {
    guard var daemon else { return }
    guard daemon.client.send(PumpDeviceRequest(number: daemon.number + 1, issued: now, order)) else { return }
    daemon.bell.ring(at: now)
    daemon.number += 1
    self.daemon = daemon
    oracle.output.asked(daemon.number)
    switch order {
    case .command(.on): oracle.hear(.on, issued: now)
    case .command(.off): oracle.hear(.off, issued: now)
    case .emergencyStop: oracle.hear(.emergencyStop, issued: now)
    case .reset: oracle.hear(.reset, issued: now)
    default: break
    }
  }
}
