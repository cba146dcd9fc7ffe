// Both ends of a Bluetooth link through a real bluetoothd: a leg's peripheral on hci0, a central on hci1, two virtual radios
// (btvirt) between them. Prints one line a check, "RIG passed: …" or "RIG failed: …". Runs inside `scripts/rig --bluetooth`.
import BluetoothBlueZ
import Buses
import Glibc
import Tactus

#if Bluetooth
  try Probe().run()

  struct Probe {
    private let leg: End
    private let operatorEnd: End
    private let peripheral: BluetoothPeripheral
    private let central: BluetoothCentral

    init() throws {
      leg = End(try MessageLink())
      operatorEnd = End(try MessageLink())
      peripheral = try BluetoothPeripheral(.framed, name: "LegCtrl", adapter: "hci0", link: leg.link) {
        print("RIG log: peripheral: \($0)")
      }
      central = try BluetoothCentral(
        .framed, to: BluetoothPeer(name: "LegCtrl"), adapter: "hci1", link: operatorEnd.link
      ) { print("RIG log: central: \($0)") }
    }

    func run() {
      peripheral.start()
      central.start()
      let start = MonotonicClock.now
      check("the peripheral advertises on hci0") {
        wait(30) { if case .advertising(adapter: "hci0") = peripheral.state { true } else { false } }
      }
      check("the central finds it by name and connects; both loops are told") {
        connect() && wait(5) { leg.isUp }
      }
      print("RIG log: connected after \((MonotonicClock.now - start).count / 1_000_000) ms")

      check("50 Hz for 2 s, without response: every frame arrives, in order, none late by more than a period") {
        var latencies: [Int64] = []
        var expected: UInt32 = 0
        var isInOrder = true
        leg.received = { bytes in
          let (number, sent) = stamp(of: bytes)
          if number != expected { isInOrder = false }
          expected = number + 1
          latencies.append((MonotonicClock.now.nanoseconds - sent) / 1000)
        }
        var due = MonotonicClock.now
        for number in UInt32(0)..<100 {
          _ = turn(until: due) { false }
          guard operatorEnd.send(frame(number)) else { return false }
          due = due + .milliseconds(20)
        }
        guard wait(5, { latencies.count == 100 }) else {
          print("RIG log: \(latencies.count) of 100 arrived")
          return false
        }
        latencies.sort()
        print("RIG log: write to loop: p50 \(latencies[50]) µs, p99 \(latencies[98]) µs, most \(latencies[99]) µs")
        leg.received = nil
        return isInOrder && latencies[99] < 20_000
      }

      check("10 Hz telemetry is notified") {
        var got = 0
        operatorEnd.received = { if $0.count == 12 { got += 1 } }
        for _ in 0..<5 {
          guard leg.send([UInt8](repeating: 1, count: 12)) else { return false }
          _ = turn(until: MonotonicClock.now + .milliseconds(100)) { false }
        }
        defer { operatorEnd.received = nil }
        return wait(2) { got == 5 }
      }

      check("the central disconnects: the leg's loop is told, and the peripheral advertises again") {
        operatorEnd.control.disconnect()
        return wait(5) { !leg.isUp && !operatorEnd.isUp }
          && wait(5) { if case .advertising = peripheral.state { true } else { false } }
      }

      check("bluetoothd is killed while connected and started again: both loops are told, advertised again") {
        guard connect(), wait(5, { leg.isUp }), system("killall -9 bluetoothd") == 0 else { return false }
        return wait(5) { !leg.isUp && !operatorEnd.isUp }
          && wait(30) { if case .advertising = peripheral.state { true } else { false } }
      }

      check("connected again, the leg stops: the central's loop is told, the service is withdrawn") {
        guard connect(), wait(5, { leg.isUp }) else { return false }
        peripheral.stop()
        return wait(5) { !operatorEnd.isUp } && peripheral.state == .stopped
      }
      central.stop()
    }

    /// As a loop with a back-off does.
    func connect() -> Bool {
      for _ in 0..<5 {
        operatorEnd.control.connect()
        if wait(10, { operatorEnd.isUp }) { return true }
      }
      return false
    }

    func wait(_ seconds: Int64, _ condition: () -> Bool) -> Bool {
      turn(until: MonotonicClock.now + .seconds(seconds), condition)
    }

    /// Serves both ends until `condition` holds: true, or until the instant: false.
    func turn(until limit: TickInstant, _ condition: () -> Bool) -> Bool {
      while true {
        leg.turn()
        operatorEnd.turn()
        if condition() { return true }
        let left = (limit - MonotonicClock.now).count
        if left <= 0 { return false }
        var polls = [leg.descriptor, operatorEnd.descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        poll(&polls, 2, Int32(min(50, left / 1_000_000 + 1)))
      }
    }

    func frame(_ number: UInt32) -> [UInt8] {
      withUnsafeBytes(of: number) { Array($0) } + withUnsafeBytes(of: MonotonicClock.now.nanoseconds) { Array($0) }
    }

    func stamp(of bytes: UnsafeRawBufferPointer) -> (UInt32, Int64) {
      (bytes.loadUnaligned(as: UInt32.self), bytes.loadUnaligned(fromByteOffset: 4, as: Int64.self))
    }

    func check(_ title: String, _ body: () -> Bool) {
      print("RIG \(body() ? "passed" : "failed"): Bluetooth: \(title)")
    }
  }

  /// A loop's end of a link, turned by hand.
  final class End {
    let link: MessageLink
    var control: LinkControl
    private(set) var isUp = false
    var received: ((UnsafeRawBufferPointer) -> Void)?
    private var port: DatagramPort
    private var batch = DatagramBatch(capacity: 16, size: 64)

    init(_ link: MessageLink) {
      self.link = link
      port = link.port()
      control = link.control()
    }

    var descriptor: Int32 { port.descriptor! }

    func turn() {
      while let event = control.takeEvent() { isUp = event == .up }
      _ = port.receive(into: &batch)
      for index in 0..<batch.count { if let bytes = batch.bytes(index) { received?(bytes) } }
    }

    func send(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { port.send($0, to: MessageLink.peer) } }
  }
#else
  print("RIG skipped: Bluetooth: this build has the trait Bluetooth off")
#endif
