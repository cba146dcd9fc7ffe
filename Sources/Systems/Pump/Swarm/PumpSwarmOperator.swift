import Buses
import Pump
import Tactus
import TactusSwarm
import Wire

/// A person with the production operator loop of the pump, in the swarm. Lines in both directions pass a faulty wire; the operator outlives the
/// pump's daemon.
final class PumpSwarmOperator {
  var wire: PumpSwarmWire
  private(set) var nextTick: TickInstant
  /// Carries bytes between the operator's loop and the wire without delay.
  private let cable: PumpCable
  private let runtime: Runtime
  private let simulation: Simulation
  private let client: PumpMailbox.Client
  private let bell = SimulatedInput()
  private var number: UInt64 = 0
  private var oracle: PumpOperatorOracle
  /// Whether a pump's daemon has died in the middle of a line.
  private var isTorn = false

  /// Starts the operator's program at `now` on an existing wire.
  init(at now: TickInstant, seed: UInt64, _ wire: PumpSwarmWire) throws(RuntimeError) {
    self.wire = wire
    nextTick = now
    var conditions = PumpCable.Conditions()
    conditions.byteTime = .zero
    let (cable, bell) = (PumpCable(conditions, seed: seed), bell)
    let mailbox = try PumpMailbox(operating: .standard)
    runtime = try Runtime {
      Lane("operator") {
        Loop(
          "operator", every: PumpOperatorLoop.rate, phase: .zero, safeStateAfter: 3,
          inputs: [.simulated(cable.operatorInput), .simulated(bell)]
        ) {
          PumpOperatorLoop(
            mailbox.loopEnds(requestBell: bell.doorbell), link: PumpLink(serial: cable.operatorPort()))
        }
      }
    }
    simulation = try runtime.simulation(seed: seed, from: now)
    self.cable = cable
    client = mailbox.client()
    oracle = PumpOperatorOracle(from: now)
  }

  /// Carries out an action of the person.
  func apply(_ action: SwarmAction) {
    let now = action.at
    let speed = PumpSpeed(percent: UInt8(clamping: action[0]))
    switch action.verb {
    // A negative number means the pump's initial speed.
    case "op-on": ask(.turnOn(action[0] < 0 ? nil : speed), at: now)
    case "op-off": ask(.turnOff, at: now)
    case "op-speed": ask(.setSpeed(speed), at: now)
    case "op-e-stop": ask(.emergencyStop, at: now)
    case "op-reset": ask(.reset, at: now)
    case "op-look": ask(.watched, at: now)
    case "op-read": ask(.readTemperatures, at: now)
    case "op-quit": ask(.quit, at: now)
    case "op-plug":
      if action[0] > 0 { cable.plugIn() } else { cable.unplug() }
      oracle.plugged(isIn: action[0] > 0, at: now)
    default: break
    }
  }

  private func ask(_ order: PumpOrder, at now: TickInstant) {
    guard client.send(Request(number: number + 1, issued: now, makesSafe: order.makesSafe, order: order)) else {
      return
    }
    bell.ring(at: now)
    number += 1
    oracle.asked.append(order)
  }

  /// Notes that the pump's daemon has died, possibly in the middle of a line.
  func pumpDied() { isTorn = wire.hasBegun(.back) }

  /// Runs the operator's next tick.
  ///
  /// - Parameters:
  ///   - bytes: the bytes received from the pump.
  ///   - pump: the oracle of the pump.
  /// - Returns: the bytes that have arrived at the pump.
  func tick(_ bytes: [UInt8], _ pump: inout PumpOracle) -> [UInt8] {
    let now = nextTick
    nextTick = now + PumpOperatorLoop.rate.period
    var arrived: [UInt8] = []
    for line in wire.lines(of: bytes, .back) {
      // The first line after a daemon's death may complete a line that the dead daemon had begun, so it is not checked.
      if !isTorn, let reply = PumpSwarmWire.reply(line) { pump.said(reply, at: now) }
      isTorn = false
      let bytes = wire.carry(line, .back)
      oracle.arrived(bytes, at: now)
      write(bytes, at: now)
    }
    arrived += run(until: now, &pump)
    return arrived
  }

  /// Runs the ticks caused by requests and deadlines, up to and including `instant`. Returns the bytes that have arrived at the pump.
  func run(until instant: TickInstant, _ pump: inout PumpOracle) -> [UInt8] {
    var arrived: [UInt8] = []
    while simulation.runTick(until: instant) {
      let now = simulation.now
      let lines = wire.lines(of: sent, .there)
      _ = client.takeNotices()
      oracle.check(
        sent: lines.compactMap(PumpSwarmWire.command), client.takeAnswers(), client.newest().state.operated!, at: now,
        &pump.output)
      for line in lines { arrived += wire.carry(line, .there) }
    }
    return arrived
  }

  private func write(_ bytes: [UInt8], at now: TickInstant) {
    var port = cable.devicePort()
    port.now = now
    _ = bytes.withUnsafeBytes { try? port.write($0) }
  }

  /// All bytes that the last tick has sent.
  private var sent: [UInt8] {
    var port = cable.devicePort()
    port.now = nextTick
    return port.all
  }
}

/// A wire between a pump and its operator with the faults of the history: bytes are lost or changed, and one or both directions can be dead.
struct PumpSwarmWire {
  private var random: SplitMix64
  private let tamper: SwarmLink.Tamper?
  private var lostPerMille = 0
  private var changedPerMille = 0
  private var isDead = [false, false]
  /// The beginning of an unfinished line, for each direction.
  private var begun: [[UInt8]] = [[], []]

  /// Creates a wire without faults.
  ///
  /// - Parameter tamper: changes lines one at a time, as in `SwarmLink`.
  init(seed: UInt64, _ tamper: SwarmLink.Tamper? = nil) { (random, self.tamper) = (SplitMix64(seed: seed), tamper) }

  /// The same wire without unfinished lines, for a program that is started again.
  var emptied: PumpSwarmWire {
    var wire = self
    wire.begun = [[], []]
    return wire
  }

  /// Returns whether a line in this direction has begun and not ended.
  func hasBegun(_ way: SwarmLink.Way) -> Bool { !begun[way.rawValue].isEmpty }

  /// Carries out an action of the wire: `wire LOST CHANGED`, in bytes per thousand, and `wire-dead THERE BACK`.
  ///
  /// - Returns: whether the action was one of these.
  mutating func apply(_ action: SwarmAction) -> Bool {
    switch action.verb {
    case "wire": (lostPerMille, changedPerMille) = (Int(clamping: action[0]), Int(clamping: action[1]))
    case "wire-dead": isDead = [action[0] > 0, action[1] > 0]
    default: return false
    }
    return true
  }

  /// Returns the lines that these bytes complete, each with its line end.
  mutating func lines(of bytes: [UInt8], _ way: SwarmLink.Way) -> [[UInt8]] {
    var lines: [[UInt8]] = []
    for byte in bytes {
      begun[way.rawValue].append(byte)
      guard byte == 0x0A else { continue }
      lines.append(tamper?(begun[way.rawValue], way) ?? begun[way.rawValue])
      begun[way.rawValue] = []
    }
    return lines
  }

  /// Returns the bytes of a line that arrive.
  mutating func carry(_ line: [UInt8], _ way: SwarmLink.Way) -> [UInt8] {
    if isDead[way.rawValue] { return [] }
    return line.compactMap { byte in
      if random.chance(perMille: lostPerMille) { return nil }
      return random.chance(perMille: changedPerMille) ? byte ^ 1 << UInt8(clamping: random.below(8)) : byte
    }
  }

  static func command(_ line: [UInt8]) -> PumpCommand? { decode(line) { try? PumpCommand.decode($0) } }
  static func reply(_ line: [UInt8]) -> PumpReply? { decode(line) { try? PumpReply.decode($0) } }

  private static func decode<Value>(_ line: [UInt8], _ decode: (UnsafeRawBufferPointer) -> Value?) -> Value? {
    Array(line.prefix { $0 != 0x0A && $0 != 0x0D }).withUnsafeBytes(decode)
  }
}

extension SerialPort {
  /// Reads all bytes that have arrived.
  var all: [UInt8] {
    mutating get {
      var all: [UInt8] = []
      withUnsafeTemporaryAllocation(byteCount: 512, alignment: 1) { buffer in
        while let count = try? read(into: buffer), count > 0 { all += buffer[..<count] }
      }
      return all
    }
  }
}
