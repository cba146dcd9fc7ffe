import Buses
import Devices
import Synchronization
import Tactus

/// The soil around one simulated probe: it dries out slowly and becomes wet when it is watered. All members may be used from any thread.
public final class SimulatedSoil: Sendable {
  /// A fault of the probe's wiring.
  public enum Fault: String, Sendable, Hashable, CaseIterable {
    case none
    /// The wire is open: a converter's input is at its supply voltage, and a seesaw returns all ones.
    case open
    /// The wire is shorted: a converter's input is at ground, and a seesaw measures nothing.
    case short
  }
  enum Chip: Sendable {
    case seesaw(SeesawSoilSimulator)
    case ads1115(ADS1115Simulator, channel: Int)
    case mcp3008(MCP3008Simulator, channel: Int)
    case radio(SimulatedAir, probe: Int)
  }
  private struct State {
    var percent: Double
    var celsius: Double
    var fault = Fault.none
    var at: TickInstant?
  }

  /// The time constant of drying: half of the water is gone in about 40 min, slowly but visibly for a person who tries the program.
  static let timeConstant = Nanoseconds.seconds(3_600)
  /// The moisture in per cent below which the soil does not dry.
  static let driest = 3.0

  public let sensor: PlantSensorID
  private let chip: Chip
  private let state: Mutex<State>

  init(_ sensor: PlantSensorID, _ chip: Chip, percent: Double, celsius: Double) {
    self.sensor = sensor
    self.chip = chip
    state = Mutex(State(percent: percent, celsius: celsius))
    state.withLock { show($0) }
  }

  /// The moisture according to the standard calibration, 0…100 %.
  public var moisturePercent: Double { state.withLock { $0.percent } }
  public var celsius: Double { state.withLock { $0.celsius } }
  public var fault: Fault { state.withLock { $0.fault } }

  /// Sets the given values; one that is `nil` stays as it is. `celsius` is 0…85 and has no effect on a probe without a thermometer.
  public func set(moisturePercent: Double? = nil, celsius: Double? = nil, fault: Fault? = nil) {
    state.withLock { state in
      if let moisturePercent { state.percent = min(max(moisturePercent, 0), 100) }
      if let celsius { state.celsius = min(max(celsius, 0), 85) }
      if let fault { state.fault = fault }
      show(state)
    }
  }

  /// Adds water, in percentage points.
  public func pour(_ percent: Double) { set(moisturePercent: moisturePercent + percent) }

  /// Advances the soil to `now`.
  public func beat(at now: TickInstant) {
    state.withLock { state in
      let before = state.at
      state.at = now
      guard let last = before, last < now else { return }
      let share = min((now - last).inSeconds / Self.timeConstant.inSeconds, 1)
      state.percent -= max(0, state.percent - Self.driest) * share
      show(state)
    }
  }

  private func show(_ state: State) {
    switch (chip, state.fault) {
    case (.seesaw(let chip), let fault):
      chip.celsius = state.celsius
      chip.moisture =
        switch fault {
        case .none: Int(saturating: Self.raw(state.percent, .seesaw).rounded())
        case .open: 0xFFFF
        case .short: 0
        }
    case (.ads1115(let chip, let channel), let fault):
      let millivolts = fault == .none ? Self.raw(state.percent, .capacitiveMillivolts) : fault == .open ? 3_300 : 0
      chip.set(channel, Microvolts(Int64(saturating: millivolts * 1_000)))
    case (.mcp3008(let chip, let channel), let fault):
      let counts = fault == .none ? Self.raw(state.percent, .capacitiveCounts) : fault == .open ? 1_024 : 0
      // Half a count is added, so that rounding down does not give the count below.
      chip[channel] = (counts + (fault == .none ? 0.5 : 0)) * 3.3 / 1_024
    // A sensor on the radio says something at each beat, unless its wire is open or shorted: it is then silent.
    case (.radio(let air, let probe), let fault):
      guard fault == .none, let now = state.at else { break }
      air.say(
        SoilAdvertisement(moisturePercent: state.percent, celsius: state.celsius), of: probe, at: now)
    }
  }

  private static func raw(_ percent: Double, _ points: PlantCalibration) -> Double {
    points.dry + (points.wet - points.dry) * percent / 100
  }
}
