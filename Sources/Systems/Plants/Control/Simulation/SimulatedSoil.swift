import Buses
import Devices
import Synchronization
import Tactus

/// The soil around one simulated probe: it dries out slowly, and gets wet when it is watered. Every member may be called from any thread.
public final class SimulatedSoil: Sendable {
  /// What is wrong with the wire.
  public enum Fault: String, Sendable, Hashable, CaseIterable {
    case none
    /// A converter's input is at its supply; a seesaw gives all ones.
    case open
    /// A converter's input is at ground; a seesaw measures nothing.
    case short
  }
  enum Chip: Sendable {
    case seesaw(SeesawSoilSimulator)
    case ads1115(ADS1115Simulator, channel: Int)
    case mcp3008(MCP3008Simulator, channel: Int)
  }
  private struct State {
    var percent: Double
    var celsius: Double
    var fault = Fault.none
    var at: TickInstant?
  }

  /// Half of the water is gone in about 40 min: slowly, and yet to be seen by somebody who tries the program.
  static let timeConstant = Nanoseconds.seconds(3_600)
  /// It never becomes drier.
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

  /// Of the usual calibration, 0…100 %.
  public var moisturePercent: Double { state.withLock { $0.percent } }
  public var celsius: Double { state.withLock { $0.celsius } }
  public var fault: Fault { state.withLock { $0.fault } }

  /// It is `nil` to leave it as it is. `celsius` is 0…85, and means nothing to a probe without a thermometer.
  public func set(moisturePercent: Double? = nil, celsius: Double? = nil, fault: Fault? = nil) {
    state.withLock { state in
      if let moisturePercent { state.percent = min(max(moisturePercent, 0), 100) }
      if let celsius { state.celsius = min(max(celsius, 0), 85) }
      if let fault { state.fault = fault }
      show(state)
    }
  }

  /// Water, in percentage points.
  public func pour(_ percent: Double) { set(moisturePercent: moisturePercent + percent) }

  /// Time passes.
  public func beat(at now: TickInstant) {
    state.withLock { state in
      defer { state.at = now }
      guard let last = state.at, last < now else { return }
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
      // Within the count, so that rounding down does not miss it.
      chip[channel] = (counts + (fault == .none ? 0.5 : 0)) * 3.3 / 1_024
    }
  }

  private static func raw(_ percent: Double, _ points: PlantCalibration) -> Double {
    points.dry + (points.wet - points.dry) * percent / 100
  }
}
