import Buses
import BusesLinux
import MotorSpeed
import Tactus
import TactusGuard

// motor-speed [DEVICE]: turns the motor at 150 rad/s for three seconds; without a device it is a simulated one.
let simulated = SimulatedSerialPort()
let board = SimulatedMotorBoard()
simulated.attach(board.device)
let path = CommandLine.arguments.dropFirst().first
// However this program ends, a second process tells a real board: 0 V.
let outputs = try path.map { try Guard([.serial(path: $0, baud: 115_200, bytes: [0])], timeout: .milliseconds(200)) }
let device = try path.map { try LinuxSerialPort(path: $0, baudRate: 115_200) }

let commands = Ring<SpeedCommand>(capacity: 16)
let report = Latest(SpeedReport())
let controller = try SpeedController()
let runtime = try Runtime {
  Lane("motion", scheduling: .fifo(80)) {
    Loop("speed", every: .hertz(1000), safeStateAfter: 3) {
      SpeedLoop(
        controller, line: device?.port() ?? simulated.port(), commands: commands.reader(), published: report.writer())
    }
  }
}

try outputs?.watch(runtime)
try runtime.start()
for report in runtime.reports { for finding in report.findings { print("note: \(finding)") } }
let pause = try Doorbell()
var writer = commands.writer()
var reader = report.reader()
for _ in 0..<30 {
  _ = writer.push(.turn(150))
  pause.wait(limit: .milliseconds(100))
  print(reader.read())
}
runtime.stop()
outputs?.dismiss()
print(runtime.statistics["speed"]!)
