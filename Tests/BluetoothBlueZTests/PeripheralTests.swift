#if Bluetooth
  import BlueZSupport
  import Buses
  import Foundation
  import SystemBus
  import Tactus
  import TestSupport
  import Testing

  @testable import BluetoothBlueZ

  /// The peripheral against a bluetoothd of the test's own.
  @Suite(
    "Bluetooth peripheral", .serialized, .ownThread,
    .enabled(if: PrivateBus.isThere, "dbus-daemon is not installed (Debian: dbus-daemon)"))
  struct PeripheralTests {
    static let adapter = "/org/bluez/hci0"
    static let written = "/tactus/service0/char0"
    static let notified = "/tactus/service0/char1"

    /// A leg's peripheral on a bus of its own.
    final class Bench {
      let bus: PrivateBus
      let link: MessageLink
      let states = States<BluetoothPeripheralState>()
      let peripheral: BluetoothPeripheral

      init(_ profile: BluetoothProfile = .framed, adapter: String? = nil) throws {
        bus = try PrivateBus()
        link = try MessageLink()
        let states = states
        peripheral = try BluetoothPeripheral(
          profile, name: "LegCtrl", adapter: adapter, link: link, busAddress: bus.address,
          retryPeriod: .milliseconds(50)
        ) { states.add($0) }
        peripheral.start()
      }
    }

    /// A central that is connected to hci0, its path there.
    static func central(_ mock: MockBlueZ, _ address: String = "11:22:33:44:55:66") -> String {
      let path = MockBlueZ.path(adapter, address)
      mock.on {
        $0.put(path, [MockBlueZ.device: ["Address": .text(address), "Connected": .bool(true)]])
        $0.remotes[path] = .adapter("none")
      }
      return path
    }

    /// As a central does it; nil: taken, else the error's name.
    static func call(
      _ mock: MockBlueZ, _ method: String, from device: String, _ bytes: [UInt8]? = nil, offset: UInt16 = 0,
      on object: String = written
    ) -> String? {
      let done = States<String>()
      mock.on { mock in
        guard let owner = mock.applications[adapter]?.owner else { return done.add("no application") }
        mock.call(owner, object, method, device, bytes, offset: offset) { _, failure in done.add(failure?.name ?? "") }
      }
      var name: String?
      guard
        done.reach({
          name = $0
          return true
        })
      else { return "no answer" }
      return name == "" ? nil : name
    }

    @Test("bluetoothd there: service and advertisement are registered as the leg's firmware shows them")
    func registers() throws {
      let bench = try Bench()
      #expect(bench.states.reach(.waiting(.noBluetoothd)))
      let mock = try MockBlueZ(on: bench.bus.address)
      #expect(bench.states.reach(.advertising(adapter: "hci0")))
      let (objects, advertisement) = mock.on { mock in
        (mock.applications[Self.adapter]?.objects, mock.advertisements[Self.adapter]?.properties)
      }
      let service = objects?.properties?["/tactus/service0"]?.properties?["org.bluez.GattService1"]?.properties
      #expect(service?["UUID"]?.text == "12345678-1234-1234-1234-123456789abc" && service?["Primary"]?.bool == true)
      func characteristic(_ path: String) -> [String: BusValue]? {
        objects?.properties?[path]?.properties?[MockBlueZ.characteristic]?.properties
      }
      #expect(characteristic(Self.written)?["UUID"]?.text == "12345678-1234-1234-1234-123456789abd")
      #expect(characteristic(Self.written)?["Flags"]?.texts == ["write", "write-without-response"])
      #expect(characteristic(Self.notified)?["UUID"]?.text == "12345678-1234-1234-1234-123456789abe")
      #expect(characteristic(Self.notified)?["Flags"]?.texts == ["notify"])
      #expect(advertisement?["LocalName"]?.text == "LegCtrl" && advertisement?["Type"]?.text == "peripheral")
      #expect(advertisement?["ServiceUUIDs"]?.texts == ["12345678-1234-1234-1234-123456789abc"])
      bench.peripheral.stop()
      #expect(mock.on { $0.applications.isEmpty && $0.advertisements.isEmpty })
      #expect(bench.states.reach(.stopped))
      mock.stop()
    }

    @Test("a write: the link is up, then the message; the advertisement is withdrawn until the central has gone")
    func writes() throws {
      let bench = try Bench()
      let end = LinkEnd(bench.link)
      let mock = try MockBlueZ(on: bench.bus.address)
      #expect(bench.states.reach(.advertising(adapter: "hci0")))
      #expect(!end.send([1]))
      let central = Self.central(mock)
      #expect(Self.call(mock, "WriteValue", from: central, [1, 1, 0, 0]) == nil)
      #expect(end.event() == .up)
      #expect(end.message() == [1, 1, 0, 0])
      #expect(bench.states.reach(.connected(device: "11:22:33:44:55:66")))
      #expect(Self.call(mock, "WriteValue", from: central, [1, 4, 0, 0]) == nil)
      #expect(end.message() == [1, 4, 0, 0])
      #expect(mock.on { $0.advertisements.isEmpty })
      mock.on { $0.disconnect(central) }
      #expect(end.event() == .down)
      #expect(bench.states.reach(.advertising(adapter: "hci0")))
      #expect(mock.on { $0.advertisements[Self.adapter] != nil })
      bench.peripheral.stop()
      mock.stop()
    }

    @Test("a subscription: the link is up, what the loop sends is notified; unsubscribed, it is dropped")
    func notifies() throws {
      let bench = try Bench()
      let end = LinkEnd(bench.link)
      let mock = try MockBlueZ(on: bench.bus.address)
      #expect(bench.states.reach(.advertising(adapter: "hci0")))
      let central = Self.central(mock)
      #expect(Self.call(mock, "AcquireNotify", from: central, on: Self.notified) == nil)
      #expect(end.event() == .up)
      let telemetry: [UInt8] = [1, 16, 8, 0, 1, 0, 50, 0, 232, 28, 0, 0]
      let arrived = States<[UInt8]>()
      mock.on { $0.notified[central] = { arrived.add($0) } }
      #expect(end.send(telemetry))
      #expect(arrived.reach(telemetry))
      // Too long for a notification, and no stream: refused.
      #expect(end.send([UInt8](repeating: 7, count: 21)))
      #expect(end.send(telemetry))
      #expect(arrived.reach(telemetry))
      #expect(bench.peripheral.traffic.dropped == 1)
      mock.on { $0.closeSockets(of: central) }
      while bench.peripheral.traffic.dropped == 1 { _ = end.send(telemetry) }
      mock.on { $0.disconnect(central) }
      #expect(end.event() == .down)
      bench.peripheral.stop()
      mock.stop()
    }

    @Test("a write before the central is told to be connected: taken; told, or told that it is not: down when it goes")
    func writesFirst() throws {
      let bench = try Bench()
      let end = LinkEnd(bench.link)
      let mock = try MockBlueZ(on: bench.bus.address)
      #expect(bench.states.reach(.advertising(adapter: "hci0")))
      let central = Self.central(mock)
      for isTold in [true, false] {
        mock.on { $0.set(central, MockBlueZ.device, "Connected", .bool(false)) }
        #expect(Self.call(mock, "WriteValue", from: central, [1, 1, 0, 0]) == nil)
        #expect(end.event() == .up)
        #expect(end.message() == [1, 1, 0, 0])
        if isTold { mock.on { $0.set(central, MockBlueZ.device, "Connected", .bool(true)) } }
        // Came and went within one turn of bluetoothd, it is told the value of the end only.
        mock.on { $0.set(central, MockBlueZ.device, "Connected", .bool(false)) }
        #expect(end.event() == .down)
        #expect(bench.states.reach(.advertising(adapter: "hci0")))
      }
      bench.peripheral.stop()
      mock.stop()
    }

    @Test("a second central: refused while the first is connected, taken afterwards")
    func one() throws {
      let bench = try Bench()
      let end = LinkEnd(bench.link)
      let mock = try MockBlueZ(on: bench.bus.address)
      #expect(bench.states.reach(.advertising(adapter: "hci0")))
      let first = Self.central(mock)
      let second = Self.central(mock, "66:55:44:33:22:11")
      #expect(Self.call(mock, "WriteValue", from: first, [1]) == nil)
      #expect(Self.call(mock, "WriteValue", from: second, [2]) == "org.bluez.Error.NotPermitted")
      #expect(Self.call(mock, "AcquireNotify", from: second, on: Self.notified) == "org.bluez.Error.NotPermitted")
      #expect(end.event() == .up)
      #expect(end.message() == [1])
      mock.on { $0.disconnect(first) }
      #expect(end.event() == .down)
      #expect(Self.call(mock, "WriteValue", from: second, [3]) == nil)
      #expect(end.event() == .up)
      #expect(end.message() == [3])
      bench.peripheral.stop()
      mock.stop()
    }

    @Test("a disconnection and a new connection that come at once: down, then up, and nothing of the old one")
    func blip() throws {
      let bench = try Bench()
      let end = LinkEnd(bench.link)
      let mock = try MockBlueZ(on: bench.bus.address)
      #expect(bench.states.reach(.advertising(adapter: "hci0")))
      let central = Self.central(mock)
      #expect(Self.call(mock, "WriteValue", from: central, [1]) == nil)
      #expect(end.event() == .up)
      #expect(Self.call(mock, "WriteValue", from: central, [2]) == nil)
      mock.on {
        $0.disconnect(central)
        $0.set(central, MockBlueZ.device, "Connected", .bool(true))
      }
      #expect(Self.call(mock, "WriteValue", from: central, [3]) == nil)
      #expect(end.event() == .down)
      #expect(end.event() == .up)
      #expect(end.message() == [3])
      bench.peripheral.stop()
      mock.stop()
    }

    @Test("writes that are none: offset, empty, too long, to the wrong characteristic, from somebody else on the bus")
    func refusals() throws {
      let bench = try Bench()
      let mock = try MockBlueZ(on: bench.bus.address)
      #expect(bench.states.reach(.advertising(adapter: "hci0")))
      let central = Self.central(mock)
      #expect(Self.call(mock, "WriteValue", from: central, [1], offset: 1) == "org.bluez.Error.InvalidOffset")
      #expect(Self.call(mock, "WriteValue", from: central, []) == "org.bluez.Error.InvalidValueLength")
      let long = [UInt8](repeating: 0, count: 21)
      #expect(Self.call(mock, "WriteValue", from: central, long) == "org.bluez.Error.InvalidValueLength")
      #expect(Self.call(mock, "WriteValue", from: central, [1], on: Self.notified)?.contains("Unknown") == true)
      #expect(Self.call(mock, "ReadValue", from: central)?.contains("Unknown") == true)
      let owner = try #require(mock.on { $0.applications[Self.adapter]?.owner })
      let stranger = try SystemBus(address: bench.bus.address)
      #expect(throws: SystemBus.Failure.self) {
        _ = try stranger.call(owner, Self.written, MockBlueZ.characteristic, "WriteValue") {
          (message) throws(SystemBus.Failure) in
          try message.append(.bytes([1, 1, 0, 0]), as: "ay")
          try message.append(.properties(["device": .path(central)]), as: "a{sv}")
        }
      }
      #expect(bench.peripheral.state == .advertising(adapter: "hci0"))
      bench.peripheral.stop()
      mock.stop()
    }

    @Test("bluetoothd ends while connected: down, told; started again: advertised again")
    func restart() throws {
      let bench = try Bench()
      let end = LinkEnd(bench.link)
      var mock = try MockBlueZ(on: bench.bus.address)
      #expect(bench.states.reach(.advertising(adapter: "hci0")))
      #expect(Self.call(mock, "WriteValue", from: Self.central(mock), [1]) == nil)
      #expect(end.event() == .up)
      #expect(end.message() == [1])
      mock.stop()
      #expect(end.event() == .down)
      #expect(bench.states.reach(.waiting(.noBluetoothd)))
      mock = try MockBlueZ(on: bench.bus.address)
      #expect(bench.states.reach(.advertising(adapter: "hci0")))
      #expect(Self.call(mock, "WriteValue", from: Self.central(mock), [2]) == nil)
      #expect(end.event() == .up)
      #expect(end.message() == [2])
      bench.peripheral.stop()
      mock.stop()
    }

    @Test("the adapter is pulled out while connected: down, told; put back: advertised again")
    func unplugged() throws {
      let bench = try Bench(adapter: "hci0")
      let end = LinkEnd(bench.link)
      let mock = try MockBlueZ(on: bench.bus.address)
      #expect(bench.states.reach(.advertising(adapter: "hci0")))
      #expect(Self.call(mock, "WriteValue", from: Self.central(mock), [1]) == nil)
      #expect(end.event() == .up)
      mock.on { $0.drop(Self.adapter) }
      #expect(end.event() == .down)
      #expect(bench.states.reach(.waiting(.noAdapter(wanted: "hci0"))))
      mock.on { $0.putAdapter("hci0", 0) }
      #expect(bench.states.reach(.advertising(adapter: "hci0")))
      bench.peripheral.stop()
      mock.stop()
    }

    @Test("an adapter that is off is switched on; one that cannot be is told, and tried again")
    func power() throws {
      let bench = try Bench(adapter: "00:aa:01:00:00:01")
      let mock = try MockBlueZ(on: bench.bus.address, powered: false)
      #expect(bench.states.reach(.advertising(adapter: "hci1")))
      #expect(mock.on { $0.objects["/org/bluez/hci0"]?[MockBlueZ.adapter]?["Powered"]?.bool } == false)
      mock.on { mock in
        mock.refusal["Set"] = "Blocked through rfkill"
        mock.set("/org/bluez/hci1", MockBlueZ.adapter, "Powered", .bool(false))
      }
      #expect(bench.states.reach(.waiting(.notPowered(adapter: "hci1", reason: "Blocked through rfkill"))))
      mock.on { $0.refusal["Set"] = nil }
      // bluetoothd still has the service and the advertisement, and says so.
      #expect(bench.states.reach(.advertising(adapter: "hci1")))
      bench.peripheral.stop()
      mock.stop()
    }

    @Test("advertising refused: told with bluetoothd's reason, and tried again")
    func refused() throws {
      let bench = try Bench()
      let mock = try MockBlueZ(on: bench.bus.address)
      #expect(bench.states.reach(.advertising(adapter: "hci0")))
      mock.on { mock in
        mock.refusal["RegisterAdvertisement"] = "Maximum advertisements reached"
        let (owner, path, _) = mock.advertisements.removeValue(forKey: Self.adapter)!
        try? mock.bus.request(owner, path, "org.bluez.LEAdvertisement1", "Release") { _, _ in }
      }
      #expect(bench.states.reach(.refused(reason: "Maximum advertisements reached")))
      mock.on { $0.refusal = [:] }
      #expect(bench.states.reach(.advertising(adapter: "hci0")))
      bench.peripheral.stop()
      mock.stop()
    }

    @Test("no bus at all: told, and gone on when there is one that ended: told again")
    func bus() throws {
      let link = try MessageLink()
      let states = States<BluetoothPeripheralState>()
      let peripheral = try BluetoothPeripheral(
        .framed, name: "LegCtrl", link: link, busAddress: "unix:path=/nonexistent/bus",
        retryPeriod: .milliseconds(50)
      ) { states.add($0) }
      peripheral.start()
      #expect(states.reach { if case .waiting(.noBus) = $0 { true } else { false } })
      peripheral.stop()
      let bench = try Bench()
      let mock = try MockBlueZ(on: bench.bus.address)
      #expect(bench.states.reach(.advertising(adapter: "hci0")))
      bench.bus.stop()
      #expect(bench.states.reach { if case .waiting(.noBus) = $0 { true } else { false } })
      bench.peripheral.stop()
      mock.stop()
    }

    @Test("the loop is behind: what does not fit is refused to the central, and counted")
    func behind() throws {
      let bench = try Bench()
      let mock = try MockBlueZ(on: bench.bus.address)
      #expect(bench.states.reach(.advertising(adapter: "hci0")))
      let central = Self.central(mock)
      for number in 0..<16 { #expect(Self.call(mock, "WriteValue", from: central, [UInt8(number)]) == nil) }
      #expect(Self.call(mock, "WriteValue", from: central, [16]) == "org.bluez.Error.Failed")
      #expect(bench.peripheral.traffic.received == 16 && bench.peripheral.traffic.refused == 1)
      bench.peripheral.stop()
      mock.stop()
    }
  }
#endif
