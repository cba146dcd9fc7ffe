#if Bluetooth
  import BlueZSupport
  import Foundation
  import Tactus
  import TestSupport
  import Testing

  @testable import TactusDaemon

  @Suite(
    "scan for Bluetooth devices", .serialized, .ownThread,
    .enabled(if: PrivateBus.isThere, "dbus-daemon is not installed (Debian: dbus-daemon)"))
  struct BluetoothScanTests {
    private func report(_ bus: PrivateBus) -> ScanReport {
      Scan(machine: .current(), patience: .milliseconds(100), busAddress: bus.address).bluetooth()
    }

    /// The first report of so many finds: on a loaded machine the radio may not have told of all within one scan.
    private func report(_ bus: PrivateBus, finds count: Int) -> ScanReport {
      let until = MonotonicClock.now + .seconds(60)
      while true {
        let report = report(bus)
        if report.finds.count >= count || MonotonicClock.now >= until { return report }
      }
    }

    @Test("devices by strength, with services, what they are and their key; a name's control characters are left out")
    func devices() throws {
      let bus = try PrivateBus()
      let mock = try MockBlueZ(on: bus.address, powered: false)
      defer { mock.stop() }
      mock.on { mock in
        func add(_ name: String, _ address: String, _ services: [String]) {
          mock.add(MadeDevice(name, address: address, advertised: services, service: "ffe0", []), on: "/org/bluez/hci0")
        }
        add("HM\u{1B}[2JSoft", "AA:BB:CC:DD:EE:01", ["0000ffe0-0000-1000-8000-00805f9b34fb"])
        add("LegCtrl", "AA:BB:CC:DD:EE:02", ["12345678-1234-1234-1234-123456789abc"])
        add("AA-BB-CC-DD-EE-03", "AA:BB:CC:DD:EE:03", [])
      }
      let finds = report(bus, finds: 3).finds
      #expect(finds.map(\.place) == ["AA:BB:CC:DD:EE:01", "AA:BB:CC:DD:EE:02", "AA:BB:CC:DD:EE:03"])
      #expect(finds.map(\.name) == ["HM[2JSoft", "LegCtrl", ""])
      #expect(finds.map(\.probably) == [["a serial module (HM-10)"], ["a servo leg (LegCtrl)"], []])
      #expect(finds[0].details == ["-50 dBm", "ffe0"])
      #expect(finds[0].settings == [[.init(key: "pump.device", value: "ble:AA:BB:CC:DD:EE:01")]])
      #expect(finds[1].settings.isEmpty && finds[2].settings.isEmpty)
      #expect(mock.on { $0.log }.contains("/org/bluez/hci0 StopDiscovery"))
    }

    @Test("a soil sensor that lists no service is known by the data that it advertises, with the key of a probe")
    func soilSensors() throws {
      let bus = try PrivateBus()
      let mock = try MockBlueZ(on: bus.address)
      defer { mock.stop() }
      mock.on { mock in
        mock.discovering.insert("/org/bluez/hci0")
        mock.put(
          "/org/bluez/hci0/dev_C4_7C_8D_6A_11_22",
          [
            "org.bluez.Device1": [
              "Address": .text("C4:7C:8D:6A:11:22"), "Alias": .text("Flower care"), "RSSI": .int16(-70),
              "ServiceData": .properties(["0000fe95-0000-1000-8000-00805f9b34fb": .bytes([0x71, 0x20])]),
            ]
          ])
      }
      let found = try #require(report(bus, finds: 1).finds.first)
      #expect(found.probably == ["soil sensor (MiBeacon)"])
      #expect(
        found.settings.contains([.init(key: "plants.sensors[].ble_address", value: "C4:7C:8D:6A:11:22")]),
        "\(found.settings)")
    }

    @Test("no bluetoothd, no adapter, an adapter that stays off: each says what to do")
    func absences() throws {
      let bus = try PrivateBus()
      #expect(report(bus) == ScanReport(remarks: ["bluetoothd is not running (sudo systemctl start bluetooth)"]))
      let none = try MockBlueZ(on: bus.address, adapters: [])
      #expect(report(bus).remarks == ["no Bluetooth adapter"])
      none.stop()
      let off = try MockBlueZ(on: bus.address, powered: false)
      defer { off.stop() }
      off.on { $0.refusal["Set"] = "Blocked through rfkill" }
      #expect(
        report(bus).remarks
          == ["hci0 is switched off and cannot be switched on: Blocked through rfkill (rfkill unblock bluetooth)"])
    }
  }
#endif
