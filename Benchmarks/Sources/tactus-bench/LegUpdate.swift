import Buses
import BusesLinux
import CBench
import Devices
import Leg
import Tactus

/// leg PORT FD FIFO CPU: one leg on 127.0.0.1:PORT, its chip's writes going to FD; ends on SIGTERM.
///
/// As the daemon runs it: 50 Hz, released by arrival and by its deadlines.
enum LegReceive {
  static func run(_ arguments: Arguments) throws {
    bench_block_termination()
    let socket = try LinuxDatagramSocket(address: "127.0.0.1", port: UInt16(arguments.int(0)))
    let registers = ServoRegisters(socket: Int32(arguments.int(1)))
    let runtime = try LegsOnRegisters.runtime(
      [socket], registers, try LegsOnRegisters.mailbox(1), (arguments.int(2), arguments.int(3))
    ) { [] }
    try runtime.start()
    bench_await_termination()
    let counters = runtime.statistics["leg"]!.counters
    runtime.stop()
    print("{\"ran\": \(counters.ran), \"by_input\": \(counters.byInput), \"skipped\": \(counters.skipped)}")
  }
}

/// Production legs on registers in memory.
enum LegsOnRegisters {
  /// A leg for each socket, on channels 0, 1 and so on; `others` are lanes beside theirs.
  static func runtime(
    _ sockets: [LinuxDatagramSocket], _ registers: ServoRegisters, _ mailbox: LegLoop.Mailbox,
    _ lane: (priority: Int, cpu: Int), others: () -> [Lane]
  ) throws -> Runtime {
    let legs = try legs(sockets.count)
    return try Runtime(strict: true) {
      Lane("leg", scheduling: .fifo(lane.priority), cpu: lane.cpu) {
        Loop("leg", every: .hertz(50), inputs: sockets.map { .descriptor($0.port().descriptor!) }) {
          LegLoop(
            ends: mailbox.loopEnds(), servos: legs.map(\.channel), chip: PCA9685(), on: registers.bus(),
            ports: ports(sockets))
        }
      }
      for lane in others() { lane }
    }
  }

  /// The mailboxes of so many legs.
  static func mailbox(_ count: Int) throws -> LegLoop.Mailbox { try LegLoop.mailbox(legs(count)) }

  private static func legs(_ count: Int) throws -> [LegConfiguration] {
    try (0..<count).map { LegConfiguration(channel: try ServoChannel($0)) }
  }

  private static func ports(_ sockets: [LinuxDatagramSocket]) -> LegPorts {
    var ports = LegPorts()
    for socket in sockets { ports.append(socket.port()) }
    return ports
  }
}
