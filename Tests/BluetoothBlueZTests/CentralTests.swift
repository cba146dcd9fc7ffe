#if Bluetooth
  import BlueZSupport
  import Buses
  import Foundation
  import SystemBus
  import Tactus
  import TestSupport
  import Testing

  @testable import BluetoothBlueZ

  /// The central against a bluetoothd of the test's own: our peripheral on the other radio, or a made-up device.
  @Suite(
    "Bluetooth central", .serialized, .ownThread,
    .enabled(if: PrivateBus.isThere, "dbus-daemon is not installed (Debian: dbus-daemon)"))
  struct CentralTests {
    /// A central on hci1, with the loop's end of its link.
    final class Bench {
      let bus: PrivateBus
      let mock: MockBlueZ
      let link: MessageLink
      let end: LinkEnd
      let states = States<BluetoothCentralState>()
      let central: BluetoothCentral

      init(
        _ profile: BluetoothProfile = .framed, to peer: BluetoothPeer = BluetoothPeer(),
        patience: Nanoseconds = .seconds(60), made: MadeDevice? = nil, prepare: (MockBlueZ) -> Void = { _ in }
      ) throws {
        bus = try PrivateBus()
        mock = try MockBlueZ(on: bus.address)
        prepare(mock)
        link = try MessageLink()
        end = LinkEnd(link)
        let states = states
        central = try BluetoothCentral(
          profile, to: peer, adapter: "hci1", link: link, patience: patience, busAddress: bus.address,
          retryPeriod: .milliseconds(50)
        ) { states.add($0) }
        central.start()
      }

      func stop() {
        central.stop()
        #expect(states.reach(.stopped))
        mock.stop()
      }

      /// Asks for a connection until there is one. An attempt that ends as the last one did is no news, so none is waited for.
      func connects() -> Bool {
        for _ in 0..<TestSupport.patience / 10 {
          end.control.connect()
          if let event = end.event(within: 10) { return event == .up }
        }
        return false
      }

      /// Asks for a connection and expects it to fail.
      func fails(_ failure: BluetoothCentralFailure) -> Bool {
        end.control.connect()
        return states.reach(.idle(failure))
      }
    }

    /// A serial module, as HM-10.
    static func module(
      _ flags: [String], name: String = "HMSoft", advertised: [String] = ["0000ffe0-0000-1000-8000-00805f9b34fb"],
      service: String = "0000ffe0-0000-1000-8000-00805f9b34fb"
    ) -> MadeDevice {
      MadeDevice(
        name, address: "AA:BB:CC:DD:EE:FF", advertised: advertised, service: service,
        [("0000ffe1-0000-1000-8000-00805f9b34fb", flags)])
    }

    /// What a made-up device was written, when `count` writes have come.
    static func written(_ mock: MockBlueZ, _ path: String, _ count: Int) -> [[UInt8]] {
      let until = MonotonicClock.now + .seconds(60)
      while MonotonicClock.now < until {
        let written = mock.on { mock -> [[UInt8]] in
          if case .made(let made)? = mock.remotes[path] { made.written } else { [] }
        }
        if written.count >= count { return written }
      }
      return []
    }

    static let path = "/org/bluez/hci1/dev_AA_BB_CC_DD_EE_FF"

    @Test(
      "our peripheral on hci0, our central on hci1: found, connected, frames both ways; disconnected: both loops are told"
    )
    func both() throws {
      let bench = try Bench()
      let link = try MessageLink()
      let leg = LinkEnd(link)
      let states = States<BluetoothPeripheralState>()
      let peripheral = try BluetoothPeripheral(
        .framed, name: "LegCtrl", adapter: "hci0", link: link, busAddress: bench.bus.address,
        retryPeriod: .milliseconds(50)
      ) { states.add($0) }
      peripheral.start()
      #expect(states.reach(.advertising(adapter: "hci0")))
      bench.end.control.connect()
      #expect(bench.end.event() == .up)
      #expect(bench.states.reach(.connected(device: "00:AA:01:00:00:00")))
      #expect(leg.event() == .up)  // the subscription
      #expect(bench.end.send([1, 1, 0, 0]))
      #expect(leg.message() == [1, 1, 0, 0])
      let telemetry: [UInt8] = [1, 16, 8, 0, 1, 0, 50, 0, 232, 28, 0, 0]
      #expect(leg.send(telemetry))
      #expect(bench.end.message() == telemetry)
      bench.end.control.disconnect()
      #expect(bench.end.event() == .down)
      #expect(leg.event() == .down)
      #expect(bench.states.reach(.idle(.asked)))
      #expect(states.reach(.advertising(adapter: "hci0")))
      // And again, ended by the peripheral this time.
      bench.end.control.connect()
      #expect(bench.end.event() == .up)
      #expect(leg.event() == .up)
      peripheral.stop()
      #expect(bench.end.event() == .down)
      #expect(bench.states.reach(.idle(.disconnected)))
      bench.stop()
    }

    @Test(
      "a serial module: one characteristic both ways, pieces of at most 20 bytes, without response",
      arguments: [true, false])
    func module(hasSockets: Bool) throws {
      let bench = try Bench(.serialModule)
      bench.mock.on {
        $0.hasSockets = hasSockets
        $0.add(Self.module(["notify", "write-without-response"]), on: "/org/bluez/hci1")
      }
      bench.end.control.connect()
      #expect(bench.end.event() == .up)
      let text = Array("SPEED:180 and a line that is longer than twenty bytes\n".utf8)
      #expect(bench.end.send(text))
      let written = Self.written(bench.mock, Self.path, 3)
      #expect(written.flatMap { $0 } == text && written.allSatisfy { $0.count <= 20 })
      bench.mock.on { mock in
        if case .made(let made)? = mock.remotes[Self.path] {
          made.notify?(Array("OK\r\n".utf8))
          made.notify?(Array("OK\r\n".utf8))
        }
      }
      #expect(bench.end.message() == Array("OK\r\n".utf8))
      #expect(bench.end.message() == Array("OK\r\n".utf8))
      #expect(bench.mock.on { $0.log.contains("type command") } == !hasSockets)
      bench.mock.on { $0.disconnect(Self.path) }
      #expect(bench.end.event() == .down)
      #expect(bench.states.reach(.idle(.disconnected)))
      bench.stop()
    }

    @Test("a characteristic that is written with response only: one write after the other, in order")
    func requests() throws {
      let bench = try Bench(.serialModule, to: BluetoothPeer(name: "HMSoft"))
      bench.mock.on { $0.add(Self.module(["notify", "write"], advertised: []), on: "/org/bluez/hci1") }
      bench.end.control.connect()
      #expect(bench.end.event() == .up)
      for number in 0..<10 { #expect(bench.end.send([UInt8](repeating: UInt8(number), count: 30))) }
      let written = Self.written(bench.mock, Self.path, 20)
      #expect(written.flatMap { $0 } == (0..<10).flatMap { [UInt8](repeating: UInt8($0), count: 30) })
      #expect(bench.mock.on { $0.log.filter { $0 == "type request" }.count } == 20)
      #expect(bench.mock.on { !$0.log.contains { $0.hasSuffix("AcquireWrite") } })
      bench.stop()
    }

    @Test("by name and by address: another device is left alone")
    func chosen() throws {
      for peer in [BluetoothPeer(name: "pump"), BluetoothPeer(address: "aa:bb:cc:dd:ee:ff")] {
        let bench = try Bench(.serialModule, to: peer)
        bench.mock.on {
          $0.add(
            MadeDevice(
              "other", address: "00:00:00:00:00:01", advertised: ["0000ffe0-0000-1000-8000-00805f9b34fb"],
              service: "0000ffe0-0000-1000-8000-00805f9b34fb", []), on: "/org/bluez/hci1")
          $0.add(Self.module(["notify", "write"], name: "pump"), on: "/org/bluez/hci1")
        }
        bench.end.control.connect()
        #expect(bench.end.event() == .up)
        #expect(bench.states.reach(.connected(device: "AA:BB:CC:DD:EE:FF")))
        bench.stop()
      }
    }

    @Test("what can go wrong on the way: each is told for what it is, the scan is ended, and it can be asked again")
    func failures() throws {
      let patience = Nanoseconds.milliseconds(30)
      let nobody = try Bench(patience: patience)
      #expect(nobody.fails(.notFound(after: patience)))
      #expect(nobody.mock.on { $0.discovering.isEmpty })
      nobody.stop()

      // Long enough for a loaded machine to find the device.
      let hasty = try Bench(.serialModule, patience: .seconds(5))
      hasty.mock.on {
        $0.add(Self.module(["notify", "write"]), on: "/org/bluez/hci1")
        $0.silent = ["Connect"]
      }
      #expect(hasty.fails(.connectRefused(reason: "no answer")))
      hasty.mock.on { $0.silent = [] }
      hasty.end.control.connect()
      #expect(hasty.end.event() == .up)
      hasty.stop()

      let bench = try Bench(.serialModule)
      func put(_ device: @escaping @Sendable () -> MadeDevice) {
        bench.mock.on { $0.add(device(), on: "/org/bluez/hci1") }
      }
      bench.mock.on { $0.refusal["StartDiscovery"] = "Not Ready" }
      #expect(bench.fails(.scanRefused(reason: "Not Ready")))
      bench.mock.on { $0.refusal = [:] }
      put { Self.module(["notify", "write"]) }
      bench.mock.on { $0.refusal["Connect"] = "le-connection-abort-by-local" }
      #expect(bench.fails(.connectRefused(reason: "le-connection-abort-by-local")))
      bench.mock.on { $0.refusal = [:] }
      put { Self.module(["notify", "write"], service: "0000180f-0000-1000-8000-00805f9b34fb") }
      #expect(bench.fails(.noService(BluetoothProfile.serialModule.service)))
      put { Self.module(["notify"]) }
      #expect(bench.fails(.notWritable(BluetoothProfile.serialModule.toPeripheral)))
      put { Self.module(["write"]) }
      #expect(bench.fails(.notNotifying(BluetoothProfile.serialModule.toCentral)))
      put {
        MadeDevice(
          "x", address: "AA:BB:CC:DD:EE:FF", advertised: ["0000ffe0-0000-1000-8000-00805f9b34fb"],
          service: "0000ffe0-0000-1000-8000-00805f9b34fb", [])
      }
      #expect(bench.fails(.noCharacteristic(BluetoothProfile.serialModule.toPeripheral)))
      put { Self.module(["notify", "write"]) }
      bench.mock.on {
        $0.hasSockets = false
        $0.refusal["StartNotify"] = "Not Permitted"
      }
      #expect(bench.fails(.subscriptionRefused(reason: "Not Permitted")))
      // What bluetoothd remembered of it may be why: it is forgotten.
      #expect(bench.mock.on { $0.log.contains("/org/bluez/hci1 RemoveDevice") && $0.objects[Self.path] == nil })
      bench.mock.on { $0.refusal = [:] }
      put { Self.module(["notify", "write"]) }
      bench.end.control.connect()
      #expect(bench.end.event() == .up)
      bench.stop()
    }

    @Test("Connect is answered before the connection is told: connected all the same; gone after that: down")
    func answeredFirst() throws {
      let bench = try Bench(.serialModule)
      bench.mock.on {
        $0.answersBeforeItTells = true
        $0.add(Self.module(["notify", "write"]), on: "/org/bluez/hci1")
      }
      bench.end.control.connect()
      #expect(bench.end.event() == .up)
      #expect(!bench.states.all.contains(.idle(.disconnected)))
      bench.mock.on { $0.disconnect(Self.path) }
      #expect(bench.end.event() == .down)
      #expect(bench.states.reach(.idle(.disconnected)))
      bench.stop()
    }

    @Test("bluetoothd ends while connected: down; asked meanwhile: told; started again and asked: connected")
    func restart() throws {
      let bench = try Bench(.serialModule)
      bench.mock.on { $0.add(Self.module(["notify", "write"]), on: "/org/bluez/hci1") }
      bench.end.control.connect()
      #expect(bench.end.event() == .up)
      bench.mock.stop()
      #expect(bench.end.event() == .down)
      #expect(bench.states.reach(.idle(.absent(.noBluetoothd))))
      bench.end.control.connect()
      let mock = try MockBlueZ(on: bench.bus.address)
      mock.on { $0.add(Self.module(["notify", "write"]), on: "/org/bluez/hci1") }
      #expect(bench.connects())
      bench.central.stop()
      mock.stop()
    }

    @Test("the adapter is pulled out while scanning and while connected: told")
    func unplugged() throws {
      let bench = try Bench(.serialModule)
      bench.end.control.connect()
      #expect(bench.states.reach(.scanning(adapter: "hci1")))
      bench.mock.on { $0.drop("/org/bluez/hci1") }
      #expect(bench.states.reach(.idle(.absent(.noAdapter(wanted: "hci1")))))
      bench.mock.on {
        $0.putAdapter("hci1", 1)
        $0.add(Self.module(["notify", "write"]), on: "/org/bluez/hci1")
      }
      #expect(bench.connects())
      bench.mock.on { $0.drop("/org/bluez/hci1") }
      #expect(bench.end.event() == .down)
      bench.stop()
    }
  }
#endif
