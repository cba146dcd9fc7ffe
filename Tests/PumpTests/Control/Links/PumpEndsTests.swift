import Buses
import Tactus
import TestSupport
import Testing

@testable import Pump

/// The far end of a cable, by hand.
private struct FarEnd: ~Copyable {
  private var port: SerialPort
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1_024, alignment: 8)

  init(_ port: consuming SerialPort) { self.port = port }

  deinit { buffer.deallocate() }

  mutating func heard(at now: TickInstant) throws -> String {
    port.now = now
    let count = try port.read(into: buffer)
    return String(decoding: UnsafeRawBufferPointer(rebasing: buffer[..<count]), as: UTF8.self)
  }

  mutating func say(_ text: String, at now: TickInstant) throws {
    port.now = now
    let bytes = Array(text.utf8)
    buffer.copyBytes(from: bytes)
    try port.write(UnsafeRawBufferPointer(rebasing: buffer[..<bytes.count]))
  }
}

@Suite(.ownThread) struct PumpEndsTests {
  @Test(
    "last words: OFF every half second; only PUMP:OFF after it confirms, no OK, no STATUS, nothing said before the first OFF"
  )
  func untilConfirmed() throws {
    let cable = PumpCable()
    var words = PumpLastWords(PumpLink(serial: cable.operatorPort()))
    var pump = FarEnd(cable.devicePort())
    var heard = ""
    // Answers to what a loop asked that is no more: an ON of its may have come after them.
    try pump.say("OK\r\nPUMP:OFF\r\nSTATUS:{State:OFF}\r\n", at: .zero)
    let start = TickInstant.zero + .seconds(1)
    for millisecond in stride(from: Int64(0), through: 1_600, by: 100) {
      let now = start + .milliseconds(millisecond)
      let isConfirmed = words.step(at: now)
      #expect(!isConfirmed, "\(millisecond) ms")
      heard += try pump.heard(at: now)
      if millisecond == 700 { try pump.say("OK\r\nSTATUS:{State:OFF}\r\nSTATUS:{State:ERROR}\r\nPUMP:ON\r\n", at: now) }
    }
    #expect(heard.split(separator: "\n") == ["OFF", "OFF", "OFF", "OFF"])
    try pump.say("PUMP:OFF\r\n", at: start + .milliseconds(1_600))
    let isConfirmed = words.step(at: start + .milliseconds(1_700))
    #expect(isConfirmed)
  }

  @Test("two ways in: an answer goes to who has asked, what the pump does by itself to both")
  func twoLinks() throws {
    let (first, second, world) = (PumpCable(), PumpCable(), PumpWorld())
    var loop = PumpDeviceLoop(
      try PumpMailbox(own: .standard).loopEnds(), link: PumpLink(serial: first.devicePort()),
      second: PumpLink(serial: second.devicePort()),
      motor: world.motor(), inputs: world.inputs())
    var one = FarEnd(first.operatorPort())
    var other = FarEnd(second.operatorPort())
    Self.run(&loop, 0...0)
    try one.say("ON\n", at: Self.instant(0))
    Self.run(&loop, 1...10)
    let oneAt10 = try one.heard(at: Self.instant(10))
    #expect(oneAt10 == "OK\r\nPUMP:ON\r\n")
    let otherAt10 = try other.heard(at: Self.instant(10))
    #expect(otherAt10 == "")
    try other.say("SPEED:9\n", at: Self.instant(10))
    Self.run(&loop, 11...20)
    let oneAt20 = try one.heard(at: Self.instant(20))
    #expect(oneAt20 == "")
    let otherAt20 = try other.heard(at: Self.instant(20))
    #expect(otherAt20 == "OK\r\nSPEED:9\r\n")
    Self.run(&loop, 21...120)
    let told = try one.heard(at: Self.instant(120))
    let toldOther = try other.heard(at: Self.instant(120))
    #expect(told.hasPrefix("STATUS:{State:ON,Speed:3%") && toldOther == told)
  }

  @Test("device, wider rules: they wait until the motor is off")
  func widerRules() throws {
    let (cable, world, mailbox) = (PumpCable(), PumpWorld(), try PumpMailbox(own: .standard))
    let rules = mailbox.rules
    var loop = PumpDeviceLoop(
      mailbox.loopEnds(), link: PumpLink(serial: cable.devicePort()), motor: world.motor(), inputs: world.inputs())
    var app = FarEnd(cable.operatorPort())
    Self.run(&loop, 0...0)
    try app.say("ON\n", at: Self.instant(0))
    Self.run(&loop, 1...10)
    let wide = PumpRules(own: try PumpDeviceSettings(runLimit: .seconds(7_000)))
    let number = rules.propose()
    rules.commit(number, now: .standard, whenSafe: wide)
    Self.run(&loop, 11...12)
    #expect(rules.progress(number) == .takenInPart && rules.inEffect == .standard)
    try app.say("OFF\n", at: Self.instant(12))
    Self.run(&loop, 13...20)
    #expect(rules.progress(number) == .taken && rules.inEffect == wide)
  }

  private static func instant(_ index: Int64) -> TickInstant { .zero + .milliseconds(50 * index) }

  private static func run(_ loop: inout PumpDeviceLoop, _ ticks: ClosedRange<Int64>) {
    for index in ticks {
      loop.tick(Tick(index: index, cause: .period, scheduled: instant(index), started: instant(index)))
    }
  }
}
