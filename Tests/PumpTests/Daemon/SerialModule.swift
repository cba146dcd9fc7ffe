#if Bluetooth
  import BlueZSupport
  import BusesLinux
  import Foundation
  import Testing

  /// A serial module such as the HM-10, on a bluetoothd of the test's own, with a pump at its line: what is written to its
  /// characteristic goes to a pseudo-terminal, and what comes from there is notified in pieces of at most 20 bytes.
  final class SerialModule {
    static let address = "98:5D:AD:01:02:03"
    static let path = MockBlueZ.path("/org/bluez/hci0", address)

    private let bus: PrivateBus
    let mock: MockBlueZ
    private let line: LinuxSerialPort

    init(name: String = "HMSoft", pump terminal: String) throws {
      bus = try PrivateBus()
      mock = try MockBlueZ(on: bus.address)
      let line = try LinuxSerialPort(path: terminal, baudRate: 9_600, exclusive: false)
      self.line = line
      let descriptor = line.descriptor
      mock.on { mock in
        let made = MadeDevice(
          name, address: Self.address, advertised: ["0000ffe0-0000-1000-8000-00805f9b34fb"],
          service: "0000ffe0-0000-1000-8000-00805f9b34fb",
          [("0000ffe1-0000-1000-8000-00805f9b34fb", ["read", "notify", "write-without-response"])])
        made.take = { bytes in _ = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) } }
        mock.add(made, on: "/org/bluez/hci0")
        mock.bridges.append(
          MockBlueZ.Bridge(from: descriptor) { [unowned made] bytes in
            for start in stride(from: 0, to: bytes.count, by: 20) { made.notify?(Array(bytes[start...].prefix(20))) }
          })
      }
    }

    deinit {
      mock.stop()
      bus.stop()
    }

    var environment: [String: String] { ["DBUS_SYSTEM_BUS_ADDRESS": bus.address] }

    /// What has been written, each piece.
    var written: [[UInt8]] {
      mock.on { mock in
        guard case .made(let made)? = mock.remotes[Self.path] else { return [] }
        return made.written
      }
    }

    /// The connection breaks, and nobody can be connected to until `isInReach` again.
    func loseConnection() {
      mock.on { mock in
        mock.refusal["Connect"] = "le-connection-abort-by-local"
        if case .made(let made)? = mock.remotes[Self.path] { made.notify = nil }
        mock.disconnect(Self.path)
      }
    }

    func comeBack() { mock.on { $0.refusal["Connect"] = nil } }
  }
#endif
