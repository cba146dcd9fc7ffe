#if Bluetooth
  import BlueZSupport
  import Buses
  import Foundation
  import Tactus
  import TestSupport
  import Testing

  @testable import BluetoothBlueZ

  /// What a link costs, printed; the figures are this machine's, the gates only say that nothing is lost.
  @Suite(
    "Bluetooth, measured", .serialized, .ownThread,
    .enabled(if: PrivateBus.isThere, "dbus-daemon is not installed (Debian: dbus-daemon)"))
  struct MeasuredTests {
    /// A loop that is released by the link, and tells how old each message is.
    struct Receiver: ~Copyable, ControlLoop, NoOutput {
      var port: DatagramPort
      var control: LinkControl
      var ages: RingWriter<Int64>
      let bell: DoorbellButton
      var batch = DatagramBatch(capacity: 16, size: 64)

      init(_ link: MessageLink, _ ages: consuming RingWriter<Int64>, _ bell: DoorbellButton) {
        port = link.port()
        control = link.control()
        self.ages = ages
        self.bell = bell
      }

      @_noLocks @_noAllocation
      mutating func tick(_ tick: Tick) {
        while case .some = control.takeEvent() {}
        _ = port.receive(into: &batch)
        for index in 0..<batch.count {
          guard let bytes = batch.bytes(index), bytes.count == 8 else { continue }
          _ = ages.push(tick.started.nanoseconds - bytes.loadUnaligned(as: Int64.self))
        }
        if batch.count > 0 { bell.ring() }
      }
    }

    @Test("a write of the central until the peripheral's loop ticks", arguments: [true, false])
    func latency(hasSockets: Bool) throws {
      let bus = try PrivateBus()
      let mock = try MockBlueZ(on: bus.address)
      mock.on { $0.hasSockets = hasSockets }
      let legLink = try MessageLink()
      let link = try MessageLink()
      let states = States<BluetoothPeripheralState>()
      let peripheral = try BluetoothPeripheral(
        .framed, name: "LegCtrl", adapter: "hci0", link: legLink, busAddress: bus.address
      ) { states.add($0) }
      let central = try BluetoothCentral(
        .framed, to: BluetoothPeer(), adapter: "hci1", link: link, busAddress: bus.address
      ) { _ in }
      let ages = Ring<Int64>(capacity: 64)
      var arrived = ages.reader()
      let bell = try Doorbell()
      let runtime = try Runtime {
        Lane("leg") {
          Loop("leg", every: .hertz(10), inputs: [legLink.input], minimumInterval: Nanoseconds(50_000)) {
            Receiver(legLink, ages.writer(), bell.button)
          }
        }
      }
      try runtime.start()
      peripheral.start()
      central.start()
      #expect(states.reach(.advertising(adapter: "hci0")))
      let end = LinkEnd(link)
      end.control.connect()
      #expect(end.event() == .up)
      var measured: [Int64] = []
      for _ in 0..<500 {
        let now = MonotonicClock.now.nanoseconds
        #expect(end.send(withUnsafeBytes(of: now) { Array($0) }))
        #expect(bell.wait(limit: .seconds(60)))
        if let age = arrived.pop() { measured.append(age / 1000) }
      }
      measured.sort()
      #expect(measured.count == 500)
      let what = hasSockets ? "through a socket" : "by WriteValue"
      print("write to tick, \(what): p50 \(measured[250]) µs, p99 \(measured[495]) µs, most \(measured[499]) µs")
      central.stop()
      peripheral.stop()
      runtime.stop()
      mock.stop()
    }
  }
#endif
