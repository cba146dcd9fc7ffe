import BluetoothBlueZ
import Buses
import Pump
import Tactus
import TactusDaemon
import TactusGuard

/// The guard's Bluetooth link to a pump: connects on demand and sends OFF until the pump confirms it.
///
/// A connection takes seconds, so `makeSafe` does not wait: it returns what is still missing, and the guard calls again. BlueZ lets only one program
/// write: while a hanging daemon holds the connection, an attempt ends that connection and the next attempt succeeds.
final class GuardRadio {
  /// The name of the custom write whose text is a `BluetoothPlace`, for example `pump:HMSoft@hci0`.
  static let name = "pump"

  static func open(_ text: String) throws -> any GuardOutput {
    #if Bluetooth
      guard let place = BluetoothPlace(text[...]) else {
        throw GuardError.cannotOpen(["\(text): a name or an address was expected"])
      }
      return try GuardRadio(place)
    #else
      throw PumpAddress.Failure.noBluetooth
    #endif
  }

  #if Bluetooth
    private let central: BluetoothCentral
    private var words: PumpLastWords

    init(_ place: BluetoothPlace) throws(RuntimeError) {
      let link = try MessageLink(capacity: 64)
      central = try BluetoothCentral(.serialModule, to: place.wanted, adapter: place.adapter, link: link) { _ in }
      words = PumpLastWords(PumpLink(messages: link.port(), control: link.control()))
      central.start()
    }

    deinit { central.stop() }
  #endif
}

#if Bluetooth
  extension GuardRadio: GuardOutput {
    func makeSafe() -> String? {
      if words.step(at: MonotonicClock.now) { return nil }
      return central.state.trouble ?? "the pump has not confirmed the off"
    }
  }
#endif
