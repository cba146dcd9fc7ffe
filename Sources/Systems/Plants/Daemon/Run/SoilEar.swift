import BluetoothBlueZ
import Logging
import Plants
import Synchronization
import Tactus
import TactusDaemon

/// Listens for soil sensors that advertise their measurements, and hands these to the loop.
///
/// Any device in reach may send advertisements in a sensor's name, so their values are kept within the valid ranges and have no more effect than
/// those of a wired probe.
final class SoilEar: OwnLink, Sendable {
  /// The latest advertisements of the sensors, in the order of the probes.
  let sightings = Latest(SoilSightings())
  private let radios: [RadioAddress?]
  private let logger: Logger
  #if Bluetooth
    private let listener = Mutex<BluetoothListener?>(nil)
  #endif

  /// Creates the listener for these radio sensors.
  ///
  /// - Parameter radios: the addresses in the order of the probes; `nil` for those that are wired.
  init(_ radios: [RadioAddress?], logger: Logger) { (self.radios, self.logger) = (radios, logger) }

  func start() {
    #if Bluetooth
      let notes = Notes(sightings.writer(), radios)
      let logger = logger
      do throws(RuntimeError) {
        let listener = try BluetoothListener(
          for: SoilAdvertisement.Format.allCases.map(\.uuid),
          report: { state in
            switch state {
            case .starting: break
            case .waiting, .refused:
              logger.warning("soil sensors are not heard", metadata: ["reason": .string("\(state)")])
            case .listening(let adapter):
              logger.info("listening for soil sensors", metadata: ["adapter": .string(adapter)])
            }
          }, heard: { notes.receive($0) })
        listener.start()
        self.listener.withLock { $0 = listener }
      } catch {
        logger.error("soil sensors are not heard", metadata: ["failure": .string("\(error)")])
      }
    #else
      logger.warning("soil sensors are not heard: this build has no Bluetooth (trait Bluetooth)")
    #endif
  }

  func stop() {
    #if Bluetooth
      listener.withLock { $0.take() }?.stop()
    #endif
  }

  #if Bluetooth
    /// The sightings on the listener's thread.
    // Safe: the listener calls from one thread only.
    private final class Notes: @unchecked Sendable {
      private var writer: LatestWriter<SoilSightings>
      private var sightings = SoilSightings()
      private let probes: [String: Int]

      init(_ writer: consuming LatestWriter<SoilSightings>, _ radios: [RadioAddress?]) {
        self.writer = writer
        probes = Dictionary(
          radios.enumerated().compactMap { index, radio in radio.map { ($0.text, index) } },
          uniquingKeysWith: { one, _ in one }
        )
      }

      func receive(_ heard: BluetoothAdvertisement) {
        guard let probe = probes[heard.address],
          let format = SoilAdvertisement.Format.allCases.first(where: { $0.uuid == heard.service }),
          let said = SoilAdvertisement(heard.data, as: format)
        else { return }
        sightings[probe].note(said, at: MonotonicClock.now)
        writer.write(sightings)
      }
    }
  #endif
}
