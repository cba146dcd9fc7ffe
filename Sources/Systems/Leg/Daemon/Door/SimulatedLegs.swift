import Buses
import Devices
import Service
import TactusDaemon

/// The simulated servos of the legs, as shown by `GET /api/sim/leg`.
struct SimulatedLegs: Sendable {
  private let chips: [PCA9685Simulator]
  private let wiring: Legs.Wiring
  private let outputEnables: [SimulatedGPIOLevel?]

  /// Creates the view of the simulated chips.
  ///
  /// - Parameters:
  ///   - chips: the simulated chips, in the order of the file.
  ///   - outputEnables: for each chip the level of the line at its output-enable pin, or `nil` if the pin is tied low.
  init(_ chips: [PCA9685Simulator], _ wiring: Legs.Wiring, _ outputEnables: [SimulatedGPIOLevel?]) {
    (self.chips, self.wiring, self.outputEnables) = (chips, wiring, outputEnables)
  }

  /// The route `GET /api/sim/leg`.
  var route: Route { Route(.get, "/api/sim/leg") { _ in .json(document) } }

  var document: SimulatedLegsDocument {
    SimulatedLegsDocument(
      chips.map(\.snapshot), wiring, areEnabled: outputEnables.map { $0?.isActive() ?? true })
  }
}

/// The response of `GET /api/sim/leg`: the simulated servos at their chips' last accesses, and the status of the chips as a whole.
struct SimulatedLegsDocument: Encodable {
  struct Servo: Encodable {
    let index: Int
    let name: String
    /// The channel as the file counts it: 16 is the second chip's first.
    let channel: Int
    /// The servo's angle: −90 at a pulse of 500 µs, 90 at 2500 µs.
    let positionDegrees: Double
    @OrNull var targetDegrees: Double?
    /// The pulse in µs, or `nil` (null) if the channel is off or the output-enable pin does not let it out.
    @OrNull var pulseUs: Double?
    let pulses, cutPulses: Int64
    let stuckHigh: Bool
  }

  let ok = true
  let monotonicNs: Int64
  /// Whether every chip is asleep.
  let asleep: Bool
  /// Whether the level of an output-enable pin lets pulses out.
  let outputsEnabled: Bool
  /// The number of times that chips were powered up again after the first time.
  let resets: Int64
  /// The number of writes that chips acknowledged but ignored.
  let ignoredWrites: Int64
  let legs: [Servo]

  init(_ chips: [SimulatedServosSnapshot], _ wiring: Legs.Wiring, areEnabled: [Bool]) {
    outputsEnabled = areEnabled.contains(true)
    monotonicNs = chips.map(\.at.nanoseconds).max() ?? 0
    asleep = chips.allSatisfy(\.isAsleep)
    resets = chips.reduce(0) { $0 + $1.resets }
    ignoredWrites = chips.reduce(0) { $0 + $1.ignored }
    legs = wiring.legs.indices.map { index in
      let channel = wiring.channel(index)
      let chip = channel / PCA9685.channelCount
      let servo = chips[chip][channel % PCA9685.channelCount]
      return Servo(
        index: index, name: wiring.name(index), channel: channel, positionDegrees: servo.position,
        targetDegrees: servo.target,
        pulseUs: areEnabled[chip] ? servo.pulse.map { Double($0.count) / 1000 } : nil, pulses: servo.pulses,
        cutPulses: servo.cutPulses, stuckHigh: servo.isStuckHigh)
    }
  }
}
