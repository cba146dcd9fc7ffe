import Buses
import Devices
import Foundation
import HTTPTypes
import ServiceSupport
import Tactus
import Testing
import Wire

@testable import Service

@Suite("simulated world")
struct SimulatedWorldTests {
  private let bus = SimulatedI2CBus(logCapacity: 8)
  private let line = SimulatedSerialPort(logCapacity: 8)
  private let network = SimulatedNetwork([device, operatorEnd])
  private let datagrams: ImpairedDatagrams
  private let bank = SimulatedGPIOBank(count: 28, logCapacity: 8)
  private let converter = ADS1115Simulator()
  private let stall = LaneStall()
  private let board = YBPcbCarSimulator(acceptsLegacyRegister: false)
  private let routes: [Route]

  private static let device = Endpoint.ipv4(127, 0, 0, 1, port: 5005)
  private static let operatorEnd = Endpoint.ipv4(127, 0, 0, 1, port: 40_000)
  private static let address = I2CAddress(0x16)!

  init() {
    datagrams = ImpairedDatagrams(network.port(Self.device))
    bus.attach(board.chip, at: Self.address)
    routes =
      SimulatedWorld(
        buses: [
          SimulatedBus("i2c-1", .i2c(bus), converters: [0x48: converter]), SimulatedBus("ttyAMA0", .serial(line)),
          SimulatedBus("robot-udp", .datagram(datagrams)), SimulatedBus("gpio", .gpio(bank)),
        ], lanes: ["robot": stall],
        named: [NamedFaults(system: "kiln", [NamedFault(name: "sensor-open", meaning: "A wire is off.") { _ in }])]
      ).routes
  }

  private func fault(_ body: String) async throws -> [[String: Any]] {
    let object = try await routes.answer(.post, "/api/sim/fault", body: body).object()
    return try #require(object["faults"] as? [[String: Any]])
  }

  private func transactions(_ name: String, _ query: [String: String] = [:]) async throws -> [String: Any] {
    try await routes.answer(.get, "/api/sim/bus/\(name)", query: query).object()
  }

  private func drive(_ percent: Double, at nanoseconds: Int64) throws {
    var port = bus.port(attempts: 1)
    port.now = TickInstant(nanoseconds: nanoseconds)
    let driver = YBPcbCar(address: Self.address)
    try driver.drive(WheelSpeeds(left: Percent(percent), right: Percent(percent)), on: &port)
  }

  @Test("the list: every bus with its kind, its transactions so far, its faults")
  func list() async throws {
    try drive(50, at: 1)
    _ = try await fault(#"{"bus":"ttyAMA0","fault":"full"}"#)
    let object = try await routes.answer(.get, "/api/sim/bus").object()
    let buses = try #require(object["buses"] as? [[String: Any]])
    #expect(buses.map { $0["name"] as? String } == ["i2c-1", "ttyAMA0", "robot-udp", "gpio"])
    #expect(buses.map { $0["kind"] as? String } == ["i2c", "serial", "datagram", "gpio"])
    #expect(buses[0]["transactions"] as? Int == Int(bus.transactionCount) && bus.transactionCount > 0)
    #expect((buses[1]["faults"] as? [[String: Any]])?.first?["fault"] as? String == "full")
  }

  @Test("transactions: what went over the bus, with its result by name")
  func contents() async throws {
    try drive(50, at: 7)
    #expect(try await fault(#"{"bus":"i2c-1","fault":"nak","address":22,"count":1}"#).count == 1)
    #expect(throws: I2CError.self) { try drive(50, at: 8) }
    #expect(try await fault(#"{"fault":"clear"}"#).isEmpty)
    let all = try #require(try await transactions("i2c-1")["transactions"] as? [[String: Any]])
    let first = try #require(all.first)
    let last = try #require(all.last)
    #expect(first["sequence"] as? Int == 0 && first["monotonicNs"] as? Int == 7 && first["address"] as? Int == 22)
    #expect(first["result"] as? Int == 0 && first["error"] == nil)
    #expect(first["operation"] as? String == "writeBlock" && (first["bytes"] as? String)?.isEmpty == false)
    #expect(last["result"] as? Int == -121 && last["error"] as? String == "EREMOTEIO")
  }

  @Test("GPIO: every access with its lines and their electrical levels, page by page as of a bus")
  func lines() async throws {
    let outputs = try bank.outputs([GPIOLine(.bcm(17)), GPIOLine(.bcm(4), isActiveLow: true)])
    var port = outputs.port()
    port.now = TickInstant(nanoseconds: 9)
    try port.set(1, true)
    _ = try port.read()
    bank.inject(.gone)
    #expect(throws: GPIOError.self) { try port.turnAllOff() }
    let page = try await transactions("gpio")
    let all = try #require(page["transactions"] as? [[String: Any]])
    #expect(page["next"] as? Int == 4 && page["dropped"] as? Int == 0)
    #expect(all.map { $0["operation"] as? String } == ["request", "set", "read", "set"])
    #expect(all.map { $0["lines"] as? [Int] } == [[4, 17], [4], [4, 17], [4, 17]])
    #expect(all.prefix(3).map { $0["levels"] as? [Int] } == [[1, 0], [0], [0, 0]])
    #expect(all[1]["monotonicNs"] as? Int == 9 && all[1]["result"] as? Int == 0 && all[1]["bytes"] == nil)
    #expect(all[3]["result"] as? Int == -19 && all[3]["error"] as? String == "ENODEV")
    let rest = try await transactions("gpio", ["since": "3"])
    #expect((rest["transactions"] as? [Any])?.count == 1)
  }

  @Test("GPIO faults: a line stuck at a level, the chip gone; shown, cleared, refused where they cannot be")
  func lineFaults() async throws {
    let outputs = try bank.outputs([GPIOLine(.bcm(17))])
    var port = outputs.port()
    try port.set(0, true)
    var faults = try await fault(#"{"bus":"gpio","fault":"stuck-low","line":17}"#)
    #expect(faults.count == 1 && faults[0]["fault"] as? String == "stuck-low" && faults[0]["line"] as? Int == 17)
    #expect(try port.read() == 0 && !bank.isHigh(17))
    faults = try await fault(#"{"bus":"gpio","fault":"gone"}"#)
    #expect(faults.count == 2)
    #expect(throws: GPIOError.self) { try port.read() }
    #expect(try await fault(#"{"fault":"clear","bus":"gpio"}"#).isEmpty)
    #expect(try port.read() == 1)
    for body in [
      #"{"bus":"gpio","fault":"stuck-high","line":28}"#, #"{"bus":"gpio","fault":"nak","address":22}"#,
      #"{"bus":"i2c-1","fault":"stuck-high","line":2}"#, #"{"bus":"gpio","fault":"stuck-high"}"#,
    ] {
      await #expect(throws: APIError.self, "\(body)") {
        try await routes.answer(.post, "/api/sim/fault", body: body)
      }
    }
  }

  @Test("a voltage at a converter's input: set, shown, back as it was after clear; no converter there: refused")
  func voltage() async throws {
    let body = #"{"bus":"i2c-1","fault":"voltage","address":72,"channel":3,"mv":2100}"#
    let faults = try await fault(body)
    #expect(faults.count == 1 && faults[0]["mv"] as? Int == 2100 && faults[0]["channel"] as? Int == 3)
    #expect(converter.voltage(3) == Microvolts(2_100_000))
    #expect(try await fault(#"{"fault":"clear"}"#).isEmpty && converter.voltage(3) == Microvolts(0))
    await #expect(throws: APIError.self) {
      try await routes.answer(
        .post, "/api/sim/fault", body: #"{"bus":"i2c-1","fault":"voltage","address":73,"channel":3,"mv":2100}"#)
    }
  }

  @Test("transactions page by page: nothing twice, nothing missed; what was overwritten is counted")
  func pages() async throws {
    for number in 0..<20 { try drive(Double(number), at: Int64(number)) }
    let count = Int(bus.transactionCount)
    let first = try await transactions("i2c-1", ["since": "0", "limit": "3"])
    #expect(first["dropped"] as? Int == count - 8 && first["next"] as? Int == count - 5)
    let rest = try await transactions("i2c-1", ["since": "\(count - 5)"])
    #expect(rest["dropped"] as? Int == 0 && rest["next"] as? Int == count)
    #expect((rest["transactions"] as? [[String: Any]])?.count == 5)
    let none = try await transactions("i2c-1", ["since": "\(count)"])
    #expect(none["next"] as? Int == count && (none["transactions"] as? [Any])?.isEmpty == true)
    #expect(try await transactions("i2c-1", ["since": "99999"])["next"] as? Int == count)
  }

  @Test("a serial line: its writes are in the log, with what a fault made of them")
  func serial() async throws {
    var port = line.port()
    func write(_ bytes: [UInt8]) { bytes.withUnsafeBytes { try? port.write($0) } }
    write([0x55, 0x00])
    _ = try await fault(#"{"bus":"ttyAMA0","fault":"gone"}"#)
    write([1])
    _ = try await fault(#"{"bus":"ttyAMA0","fault":"full"}"#)
    write([2])
    let all = try #require(try await transactions("ttyAMA0")["transactions"] as? [[String: Any]])
    #expect(all.map { $0["bytes"] as? String } == ["5500", "01", "02"])
    #expect(all.map { $0["error"] as? String } == [nil, "EIO", "EAGAIN"])
  }

  @Test(
    "a fault that cannot be: 422 that names the field and what is known",
    arguments: [
      (#"{"fault":"fire"}"#, "fault", "lane-stall"), (#"{"fault":"fire"}"#, "fault", "of the system kiln sensor-open"),
      (#"{"fault":"sensor-open"}"#, "system", "kiln"), (#"{"fault":1}"#, "fault", "lane-stall"),
      (#"{}"#, "fault", "lane-stall"),
      (#"{"fault":"nak","bus":"i2c-9","address":22}"#, "bus", "i2c-1"),
      (#"{"fault":"nak","bus":"i2c-1"}"#, "address", "8…119"),
      (#"{"fault":"nak","bus":"i2c-1","address":22,"ms":1}"#, "ms", "address"),
      (#"{"fault":"nak","bus":"i2c-1","address":true}"#, "address", "true"),
      (#"{"fault":"nak","bus":"ttyAMA0","address":22}"#, "fault", "full, gone"),
      (#"{"fault":"packet-loss","bus":"robot-udp","perMille":1001}"#, "perMille", "0…1000"),
      (#"{"fault":"lane-stall","lane":"moon","ms":1}"#, "lane", "robot"),
      (#"{"fault":"lane-stall","lane":"robot","ms":5001}"#, "ms", "5000"),
    ])
  func refused(body: String, field: String, says: String) async throws {
    let error = try await #require(throws: APIError.self) { try await fault(body) }
    #expect(error.status == .unprocessableContent && error.field == field && error.message.contains(says), "\(error)")
    let active = try await routes.answer(.get, "/api/sim/fault").object()["faults"] as? [Any]
    #expect(active?.isEmpty == true)
  }

  @Test("an unknown bus: 404 that names those there are")
  func unknown() async throws {
    let error = try await #require(throws: APIError.self) { try await transactions("i2c-7") }
    #expect(error.status == .notFound && error.message.contains("i2c-1, ttyAMA0, robot-udp"))
  }

  @Test("every kind of fault: listed while it is active, gone after clear")
  func everyFault() async throws {
    let bodies = [
      #"{"fault":"nak","bus":"i2c-1","address":22}"#, #"{"fault":"stuck","bus":"i2c-1"}"#,
      #"{"fault":"random-nak","bus":"i2c-1","perMille":5}"#, #"{"fault":"gone","bus":"ttyAMA0"}"#,
      #"{"fault":"link-loss","bus":"robot-udp"}"#, #"{"fault":"packet-loss","bus":"robot-udp","perMille":10}"#,
      #"{"fault":"delay","bus":"robot-udp","ms":30,"jitterMs":5}"#,
      #"{"fault":"duplication","bus":"robot-udp","perMille":10}"#,
      #"{"fault":"reordering","bus":"robot-udp","perMille":10,"holdMs":15}"#,
      #"{"fault":"lane-stall","lane":"robot","ms":5}"#,
    ]
    for (index, body) in bodies.enumerated() { #expect(try await fault(body).count == index + 1, "\(body)") }
    let delay = try #require(
      (try await routes.answer(.get, "/api/sim/fault").object()["faults"] as? [[String: Any]])?
        .first { $0["fault"] as? String == "delay" })
    #expect(delay["ms"] as? Int == 30 && delay["jitterMs"] as? Int == 5 && delay["bus"] as? String == "robot-udp")
    #expect(try await fault(#"{"fault":"clear","bus":"i2c-1"}"#).count == bodies.count - 3)
    #expect(try await fault(#"{"fault":"clear"}"#).isEmpty)
  }

  @Test("who may: read the world, admin the faults; an injected fault is an action in the log")
  func scopes() {
    #expect(routes.allSatisfy { $0.scope == ($0.method == .post ? .admin : .read) })
    #expect(routes.first { $0.method == .post }?.action == "sim.fault")
  }
}
