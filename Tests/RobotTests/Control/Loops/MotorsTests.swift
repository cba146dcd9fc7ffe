import Buses
import Devices
import Tactus
import TestSupport
import Testing

@testable import Robot

@Suite(.ownThread) struct MotorsTests {
  private let both = WheelInversion(left: true, right: true)

  @Test("inversion: each wheel by itself, on every board")
  func inversion() throws {
    let bus = SimulatedI2CBus()
    let car = YBPcbCarSimulator()
    let second = RaspbotV2Simulator()
    bus.attach(car.chip, at: YBPcbCar.standardAddress)
    bus.attach(second.chip, at: RaspbotV2.standardAddress)
    let rider = XGORiderSimulator()
    let line = SimulatedSerialPort()
    line.attach(rider.device)

    for inversion in [WheelInversion(), WheelInversion(left: true), WheelInversion(right: true), both] {
      let wired = speeds(inversion.left ? -100 : 100, inversion.right ? -50 : 50)
      func check(_ robot: SimulatedVehicle, _ make: (WheelInversion) -> Motors) throws {
        var plain = make(WheelInversion())
        try plain.drive(wired)
        let expected = robot.snapshot.target
        var motors = make(inversion)
        try motors.stop()
        #expect(robot.snapshot.target.left == 0 && robot.snapshot.target.right == 0)
        try motors.drive(speeds(100, 50))
        #expect(robot.snapshot.target == expected, "\(inversion)")
      }
      try check(car.vehicle) { Motors(YBPcbCar(), on: bus.port(), inversion: $0) }
      try check(second.vehicle) { Motors(RaspbotV2(), on: bus.port(), inversion: $0) }
      try check(rider.vehicle) { Motors(XGORider(), on: line.port(), inversion: $0) }
    }
  }

  @Test("failures: the bus's and the line's errors become the machine's kinds")
  func failures() throws {
    let address = YBPcbCar.standardAddress
    #expect(MotorFailure(I2CError.noAcknowledge(address: address, register: 1)).kind == .noAcknowledge)
    #expect(MotorFailure(I2CError.arbitrationLost(address: address, register: 1)).kind == .arbitrationLost)
    #expect(MotorFailure(I2CError.timedOut(address: address, register: 1)).kind == .timedOut)
    #expect(MotorFailure(I2CError.system(errno: 22, address: address, register: 1)) == MotorFailure(.system, code: 22))
    #expect(MotorFailure(SerialError.full(written: 3, count: 18)).kind == .serialFull)
    #expect(MotorFailure(SerialError.gone).kind == .serialGone)
    #expect(MotorFailure(SerialError.system(errno: 5)) == MotorFailure(.system, code: 5))
  }
}
