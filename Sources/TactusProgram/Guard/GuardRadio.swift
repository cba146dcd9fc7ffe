import BluetoothBlueZ
import Buses
import Pump
import Tactus

#if Bluetooth
  /// The guard's way to a pump by Bluetooth: connects when it has something to say, and says OFF until the pump confirms it.
  ///
  /// A connection takes seconds, so that it is told what is still missing and asks again; nothing waits here. BlueZ lets only
  /// one program write: while a daemon that hangs has the connection the attempt ends it, and the next one succeeds.
  final class GuardRadio {
    private let central: BluetoothCentral
    private var words: PumpLastWords

    init(_ place: BluetoothPlace) throws(RuntimeError) {
      let link = try MessageLink(capacity: 64)
      central = try BluetoothCentral(.serialModule, to: place.wanted, adapter: place.adapter, link: link) { _ in }
      words = PumpLastWords(PumpLink(messages: link.port(), control: link.control()))
      central.start()
    }

    deinit { central.stop() }

    /// nil: the pump says that it is off. Otherwise how far it is.
    func turnOff() -> String? {
      if words.step(at: MonotonicClock.now) { return nil }
      return central.state.trouble ?? "the pump has not confirmed the off"
    }
  }
#endif
