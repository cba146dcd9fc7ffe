import Synchronization
import Tactus

/// The advertisements of simulated soil sensors. All members may be used from any thread.
final class SimulatedAir: Sendable {
  private struct State: ~Copyable {
    var said = SoilSightings()
    var writer: LatestWriter<SoilSightings>
  }

  /// The latest advertisements, in the order of the probes.
  let sightings: Latest<SoilSightings>
  private let state: Mutex<State>

  init() {
    let sightings = Latest(SoilSightings())
    self.sightings = sightings
    state = Mutex(State(writer: sightings.writer()))
  }

  /// Sends an advertisement of a probe's sensor, which is heard at `now`.
  func say(_ advertisement: SoilAdvertisement, of probe: Int, at now: TickInstant) {
    state.withLock { state in
      state.said[probe].note(advertisement, at: now)
      state.writer.write(state.said)
    }
  }
}

extension SoilAdvertisement {
  /// Creates the advertisement of a sensor that measures these values.
  init(moisturePercent: Double, celsius: Double) {
    self.init()
    moisture = Int(saturating: (moisturePercent * 100).rounded())
    temperature = Int(saturating: (celsius * 100).rounded())
  }
}
