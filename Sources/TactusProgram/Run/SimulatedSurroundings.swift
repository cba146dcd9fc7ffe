import Buses
import Service
import Tactus

/// What a simulated daemon has around its robot: faults to inject, transactions to look at. Must outlive the lanes.
final class SimulatedSurroundings {
  private let datagrams: ImpairedDatagrams
  private let robotStall = LaneStall()
  private let world: SimulatedWorld

  /// `port`: the robot's socket.
  init(_ hardware: MotorHardware, _ motors: Configuration.Motors, port: consuming DatagramPort) {
    datagrams = ImpairedDatagrams(port, stall: robotStall.served)
    var buses = [SimulatedBus("robot-udp", .datagram(datagrams))]
    if let bus = hardware.simulatedBus { buses.append(SimulatedBus("i2c-\(motors.i2cBus)", .i2c(bus))) }
    if let line = hardware.simulatedLine {
      let name = motors.serialDevice.split(separator: "/").last.map { String($0) } ?? "serial"
      buses.append(SimulatedBus(name, .serial(line)))
    }
    world = SimulatedWorld(buses: buses, lanes: ["robot": robotStall], robot: hardware.simulated)
  }

  /// The robot's socket as its loop shall see it.
  func port() -> DatagramPort { datagrams.port() }

  var routes: [Route] { world.routes }
}
