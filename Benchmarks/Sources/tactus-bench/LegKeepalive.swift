import Buses
import BusesLinux
import CBench
import Dispatch
import Glibc
import Leg
import Tactus
import Wire

/// keepalive lane|dispatch PORT SECONDS [FIFO CPU]: sends a leg on 127.0.0.1:PORT its pulse, 50 times a second.
enum LegKeepalive {
  static func run(_ arguments: Arguments) throws {
    let leg = Endpoint.ipv4(127, 0, 0, 1, port: UInt16(arguments.int(1)))
    let seconds = Double(arguments.int(2))
    switch arguments.word(0) {
    case "lane": try runLane(leg, seconds, (arguments.int(3), arguments.int(4)))
    case "dispatch": runDispatch(arguments.int(1), seconds)
    default: arguments.fail()
    }
  }

  /// As `tactus leg` runs it. Asked for the periodic mode until somebody has answered.
  private static func runLane(_ leg: Endpoint, _ seconds: Double, _ lane: (priority: Int, cpu: Int)) throws {
    let socket = try LinuxDatagramSocket(address: "127.0.0.1", port: 0)
    let pulse = Latest(PulseWidth.middle)
    let requests = Ring<LegOperatorRequest>(capacity: 16)
    let snapshot = Latest(LegOperatorSnapshot())
    var ask = requests.writer()
    var seen = snapshot.reader()
    let runtime = try Runtime(strict: true) {
      Lane("operator", scheduling: .fifo(lane.priority), cpu: lane.cpu) {
        Loop("operator", every: LegOperatorLoop.rate, inputs: [.descriptor(socket.port().descriptor!)]) {
          LegOperatorLoop(
            port: socket.port(), leg: leg, pulse: pulse.reader(), requests: requests.reader(),
            snapshot: snapshot.writer())
        }
      }
    }
    try runtime.start()
    let end = bench_now() + Int64(seconds * 1e9)
    while bench_now() < end {
      if case .connected = seen.read().state { _ = ask.push(.periodic(true)) }
      bench_pause(100)
    }
    runtime.stop()
  }

  private static func runDispatch(_ port: Int, _ seconds: Double) {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    precondition(result == 0, "connect")
    let queue = DispatchQueue(label: "bench.keepalive")
    let timer = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
    let frame: [UInt8] = [0x01, 0x03, 0x02, 0x00, 0xDC, 0x05]
    timer.setEventHandler { bench_send_now(socket, frame, frame.count) }
    timer.schedule(deadline: .now() + .milliseconds(20), repeating: .milliseconds(20), leeway: .nanoseconds(0))
    timer.resume()
    _ = DispatchSemaphore(value: 0).wait(timeout: .now() + seconds)
    timer.cancel()
    queue.sync {}
  }
}
