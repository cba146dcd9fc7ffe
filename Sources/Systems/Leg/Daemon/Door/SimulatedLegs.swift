import Buses
import Devices
import Service

/// The servos of simulated legs: what `GET /api/sim/leg` shows.
struct SimulatedLegs: Sendable {
  private let chip: PCA9685Simulator
  private let legs: [LegDescription]
  private let outputEnable: (bank: SimulatedGPIOBank, line: Int)?

  /// - Parameter outputEnable: the line at the chip's output-enable pin, which is active low, or `nil` if the pin is tied low.
  init(
    _ chip: PCA9685Simulator, legs: [LegDescription], outputEnable: (bank: SimulatedGPIOBank, line: Int)? = nil
  ) {
    (self.chip, self.legs, self.outputEnable) = (chip, legs, outputEnable)
  }

  /// `GET /api/sim/leg`
  var routes: [Route] { [Route(.get, "/api/sim/leg") { _ in .json(document) }] }

  var document: SimulatedLegsDocument {
    SimulatedLegsDocument(
      chip.snapshot, legs: legs, isEnabled: outputEnable.map { !$0.bank.isHigh($0.line) } ?? true)
  }
}

/// The simulated servos at their chip's last access.
struct SimulatedLegsDocument: Encodable {
  struct Servo: Encodable {
    let index: Int
    let name: String
    let channel: Int
    /// −90 at a pulse of 500 µs, 90 at 2500 µs.
    let positionDegrees: Double
    @OrNull var targetDegrees: Double?
    /// Null: no pulse, or none that the output-enable pin lets out.
    @OrNull var pulseUs: Double?
    let pulses, cutPulses: Int64
    let stuckHigh: Bool
  }

  let ok = true
  let monotonicNs: Int64
  let asleep: Bool
  /// By the level of the output-enable pin.
  let outputsEnabled: Bool
  /// Times that the chip came up from nothing, the first not counted.
  let resets: Int64
  /// Writes that the chip acknowledged and ignored.
  let ignoredWrites: Int64
  let legs: [Servo]

  init(_ snapshot: SimulatedServosSnapshot, legs: [LegDescription], isEnabled: Bool) {
    outputsEnabled = isEnabled
    monotonicNs = snapshot.at.nanoseconds
    (asleep, resets, ignoredWrites) = (snapshot.isAsleep, snapshot.resets, snapshot.ignored)
    self.legs = legs.enumerated().map { index, leg in
      let channel = leg.configuration.channel.number
      let servo = snapshot[channel]
      return Servo(
        index: index, name: leg.name, channel: channel, positionDegrees: servo.position,
        targetDegrees: servo.target,
        pulseUs: isEnabled ? servo.pulse.map { Double($0.count) / 1000 } : nil, pulses: servo.pulses,
        cutPulses: servo.cutPulses, stuckHigh: servo.isStuckHigh)
    }
  }
}
