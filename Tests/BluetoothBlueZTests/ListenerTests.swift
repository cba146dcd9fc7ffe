#if Bluetooth
  import BlueZSupport
  import Foundation
  import SystemBus
  import Tactus
  import TestSupport
  import Testing

  @testable import BluetoothBlueZ

  /// The listener against a bluetoothd of the test's own, with made-up sensors that advertise.
  @Suite(
    "Bluetooth listener", .serialized, .ownThread,
    .enabled(if: PrivateBus.isThere, "dbus-daemon is not installed (Debian: dbus-daemon)"))
  struct ListenerTests {
    private static let btHome = BluetoothUUID("fcd2")!
    private static let path = "/org/bluez/hci0/dev_AA_BB_CC_DD_EE_01"

    private static func listener(
      _ bus: PrivateBus, _ heard: States<BluetoothAdvertisement>, _ states: States<BluetoothListenerState>,
      others: States<BluetoothAdvertisement> = States()
    ) throws -> BluetoothListener {
      let listener = try BluetoothListener(
        for: [btHome], busAddress: bus.address, retryPeriod: .milliseconds(50), report: { states.add($0) },
        heard: { $0.service == btHome ? heard.add($0) : others.add($0) })
      listener.start()
      return listener
    }

    private static func data(_ bytes: [UInt8], of service: BluetoothUUID = btHome) -> BusValue {
      .properties([service.text: .bytes(bytes)])
    }

    private static func advertisement(_ bytes: [UInt8]) -> BluetoothAdvertisement {
      BluetoothAdvertisement(address: "AA:BB:CC:DD:EE:01", service: btHome, data: bytes)
    }

    private static func sensor(_ bytes: [UInt8]) -> [String: [String: BusValue]] {
      [BlueZTree.device: ["Address": .text("AA:BB:CC:DD:EE:01"), "ServiceData": data(bytes)]]
    }

    @Test("a sensor is heard when it appears and whenever it advertises, of wanted services only; stop ends the scan")
    func hears() throws {
      let (bus, heard, states) = (try PrivateBus(), States<BluetoothAdvertisement>(), States<BluetoothListenerState>())
      let mock = try MockBlueZ(on: bus.address)
      defer { mock.stop() }
      let others = States<BluetoothAdvertisement>()
      let listener = try Self.listener(bus, heard, states, others: others)
      #expect(states.reach(.listening(adapter: "hci0")))
      mock.on { $0.put(Self.path, Self.sensor([0x40, 0x2F, 31])) }
      #expect(heard.reach(Self.advertisement([0x40, 0x2F, 31])))
      mock.on { mock in
        mock.set(Self.path, BlueZTree.device, "RSSI", .int16(-60))
        mock.set(Self.path, BlueZTree.device, "ServiceData", Self.data([1], of: BluetoothUUID("180f")!))
        mock.set(Self.path, BlueZTree.device, "ServiceData", Self.data([0x40, 0x2F, 32]))
      }
      #expect(heard.reach(Self.advertisement([0x40, 0x2F, 32])))
      #expect(heard.all.isEmpty && others.all.isEmpty)
      listener.stop()
      #expect(mock.on { $0.log }.filter { $0.hasSuffix("StopDiscovery") }.count == 1)
    }

    @Test("no bluetoothd, then one that refuses, then one that scans: each is said, and sensors are heard in the end")
    func waits() throws {
      let (bus, heard, states) = (try PrivateBus(), States<BluetoothAdvertisement>(), States<BluetoothListenerState>())
      let listener = try Self.listener(bus, heard, states)
      defer { listener.stop() }
      #expect(states.reach(.waiting(.noBluetoothd)))
      let mock = try MockBlueZ(on: bus.address)
      mock.on { $0.refusal["StartDiscovery"] = "Operation already in progress" }
      #expect(states.reach { if case .refused(let reason) = $0 { reason.contains("in progress") } else { false } })
      mock.on { $0.refusal["StartDiscovery"] = nil }
      #expect(states.reach(.listening(adapter: "hci0")))
      mock.stop()
      #expect(states.reach(.waiting(.noBluetoothd)))
      let again = try MockBlueZ(on: bus.address)
      defer { again.stop() }
      #expect(states.reach(.listening(adapter: "hci0")))
      again.on { $0.put(Self.path, Self.sensor([0x40, 0x2F, 33])) }
      #expect(heard.reach(Self.advertisement([0x40, 0x2F, 33])))
    }
  }
#endif
