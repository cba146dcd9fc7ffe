import Logging
import Pictures
import Plants
import Service
import Synchronization
import Tactus
import TactusDaemon
import Water

/// The plants' desk in the daemon, with its periodic work.
public final class PlantDuty: SystemDesk, Sendable {
  public static var beatPeriod: Nanoseconds { .milliseconds(100) }

  let desk: PlantDesk
  /// The host's name for the app, or `nil` if the app is not served.
  let hostName: String?
  /// The daily pictures, or `nil` if none are taken.
  let pictures: PlantPictures?
  private let errands: PlantErrands?

  /// Creates a desk without periodic work, for a caller that does this work.
  public init(_ desk: PlantDesk, hostName: String?) {
    (self.desk, self.hostName, pictures, errands) = (desk, hostName, nil, nil)
  }

  /// Creates the desk and reads the store.
  init(_ made: DeskMaterial<Plants>) {
    let (newest, water) = (made.newest, made.need(WaterSupply.self))
    let parts = Plants.deskParts(made.wiring, made.rules())
    let (store, camera) = (PlantStore(made.storeFile), made.need(PictureSource.self))
    desk = PlantDesk(
      parts, store: store, newest: { newest().state },
      water: { parts.links.isEmpty ? nil : water.offer }, clock: made.clock)
    hostName = made.wiring.app
    pictures = made.wiring.pictures.map {
      PlantPictures($0, store: store, camera: { camera.offer }, clock: made.clock, zone: made.zone, logger: made.logger)
    }
    errands = PlantErrands(desk, made, water)
    made.share(desk)
    made.offer(desk.soil)
  }

  /// Does nothing, because the loop has no notices.
  public func told(_ notice: Told<NoNotice>) {}
  /// Does the periodic work. While it waits for a disk, readings are queued in their ring, which drops those that do not fit.
  public func beat(_ newest: Published<PlantSensorSnapshot>) {
    errands?.run()
    pictures?.beat(at: MonotonicClock.now)
  }
  public func finish(_ last: Published<PlantSensorSnapshot>) {
    errands?.takeReadings()
    errands?.tellNews()
    desk.finish()
  }
}

/// Connects the desk: passes the loop's readings, the time, the rules and the water supply to the desk, and sends the desk's news to log and
/// subscribers.
// Safe: all of it belongs to the thread of the system's desk.
private final class PlantErrands: @unchecked Sendable {
  private let desk: PlantDesk
  private let wiring: Plants.Wiring
  private let rules: @Sendable () -> Plants.Rules
  private var taken: Plants.Rules
  private var readings: RingReader<PlantProbeReading>
  /// The simulated garden that is watered, or `nil` if the probes are real.
  private let garden: SimulatedGarden?
  private let water: Needed<WaterSupply>
  private let tell: @Sendable (Event) -> Void
  private let logger: Logger

  init(_ desk: PlantDesk, _ made: DeskMaterial<Plants>, _ water: Needed<WaterSupply>) {
    guard let ring = made.shared(Ring<PlantProbeReading>.self) else { preconditionFailure("the bench shares readings") }
    (self.desk, self.water, wiring, rules, taken) = (desk, water, made.wiring, made.rules, made.rules())
    (tell, logger, garden) = (made.tell, made.logger, made.shared())
    readings = ring.reader()
  }

  func run() {
    let now = MonotonicClock.now
    takeReadings()
    let rules = rules()
    if rules != taken {
      taken = rules
      desk.apply(Plants.host(wiring, rules), Plants.links(wiring, rules))
    }
    if let garden {
      if let water = water.offer { desk.rain(on: garden, isOpen: water.isOpen) }
      garden.beat(at: now)
    }
    desk.beat(at: now)
    tellNews()
  }

  func takeReadings() {
    while let reading = readings.pop() {
      if case .failed(let failure) = reading.result {
        // People are told by an alert; this line is for those who look for the cause.
        logger.debug(
          "a probe could not be read",
          metadata: ["sensor": .string(wiring.sensors[reading.probe].name), "failure": .string("\(failure)")])
      }
      desk.receive(reading)
    }
  }

  /// Logs the news about plants and sends the events to subscribers.
  func tellNews() {
    for news in desk.takeNews() {
      news.log(logger)
      if let event = news.event(at: desk.newest.at) { tell(event) }
    }
  }
}
