import Buses
import BusesLinux
import CBench
import Devices
import Robot
import Tactus

/// receive PORT FD FIFO CPU: the robot's motor loop on 127.0.0.1:PORT, its board's writes going to FD; ends on SIGTERM
/// with the loop's counters.
///
/// As the daemon runs it: 20 Hz, released by arrival too. No ramp, so that every command shows in the very next write.
enum Receive {
  static func run(_ arguments: Arguments) throws {
    bench_block_termination()
    let socket = try LinuxDatagramSocket(address: "127.0.0.1", port: UInt16(arguments.int(0)))
    // Lives as long as the program.
    let motor = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
    motor.initialize(to: Int32(arguments.int(1)))
    let scheduling = Scheduling.fifo(arguments.int(2))
    let cpu = arguments.int(3)

    let settings = try RobotSettings(acceleration: 0)
    let mailbox = try RobotLoop.Mailbox(state: RobotSnapshot(settings), rules: settings)
    var reader = mailbox.state.reader()
    let runtime = try Runtime(strict: true) {
      Lane("motion", scheduling: scheduling, cpu: cpu) {
        Loop("robot", every: .hertz(20), inputs: [.descriptor(socket.port().descriptor!)]) {
          RobotLoop(
            ends: mailbox.loopEnds(), motors: Motors(YBPcbCar(), on: I2CBus(context: motor, transfer: writeToMotor)),
            port: socket.port())
        }
      }
    }
    try runtime.start()
    bench_await_termination()
    // Before the stop, whose own accounts are not the row's.
    let counters = runtime.statistics["robot"]!.counters
    runtime.stop()
    let seen = reader.read().state.counters
    print(
      "{\"released\": \(counters.released), \"ran\": \(counters.ran), \"skipped\": \(counters.skipped), "
        + "\"by_input\": \(counters.byInput), \"overruns\": \(counters.overruns), \"datagrams\": \(seen.datagrams), "
        + "\"malformed\": \(seen.malformed), \"accepted\": \(seen.accepted)}")
  }
}

/// The bus of a board whose motors are a socket: the block of a run command, nothing else.
@_noLocks @_noAllocation
private func writeToMotor(_ context: UnsafeMutableRawPointer, _ request: UnsafeMutableRawPointer) -> Int32 {
  let transfer = request.assumingMemoryBound(to: I2CTransfer.self)
  guard case .writeBlock = transfer.pointee.operation, transfer.pointee.bytes.count == 4 else { return 0 }
  var block: (UInt8, UInt8, UInt8, UInt8) = (
    transfer.pointee.bytes[0], transfer.pointee.bytes[1], transfer.pointee.bytes[2], transfer.pointee.bytes[3]
  )
  bench_send_now(context.assumingMemoryBound(to: Int32.self).pointee, &block, 4)
  return 0
}
