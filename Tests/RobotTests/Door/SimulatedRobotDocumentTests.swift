import Buses
import Devices
import ServiceSupport
import Tactus
import Testing
import Wire

@testable import RobotDaemon
@testable import Service

@Suite("simulated world of the robot")
struct SimulatedRobotDocumentTests {
  private static let address = I2CAddress(0x16)!

  private func drive(_ bus: SimulatedI2CBus, _ percent: Double, at nanoseconds: Int64) throws {
    var port = bus.port(attempts: 1)
    port.now = TickInstant(nanoseconds: nanoseconds)
    let driver = YBPcbCar(address: Self.address)
    try driver.drive(WheelSpeeds(left: Percent(percent), right: Percent(percent)), on: &port)
  }

  @Test("the robot: where it is and how fast its wheels turn")
  func robot() async throws {
    let bus = SimulatedI2CBus(logCapacity: 8)
    let board = YBPcbCarSimulator(acceptsLegacyRegister: false)
    bus.attach(board.chip, at: Self.address)
    let routes = SimulatedWorld(buses: [SimulatedBus("i2c-1", .i2c(bus))], routes: board.vehicle.routes).routes
    try drive(bus, 100, at: 0)
    try drive(bus, 100, at: 2_000_000_000)
    let object = try await routes.answer(.get, "/api/sim/robot").object()
    let wheels = try #require(object["wheels"] as? [String: Double])
    let pose = try #require(object["pose"] as? [String: Double])
    #expect(try #require(wheels["leftMPerS"]) > 0.1 && wheels["leftMPerS"] == wheels["rightMPerS"])
    #expect(try #require(pose["xM"]) > 0.1 && object["monotonicNs"] as? Int == 2_000_000_000)
    #expect(routes.allSatisfy { $0.scope == ($0.method == .post ? .admin : .read) })
  }
}
