import Buses
import Tactus
import TestSupport
import Testing

@testable import Pump

/// A `PumpOperatorLoop` ticked by hand; the test is the pump.
private final class Bench {
  let line = SimulatedSerialPort()
  private let client: PumpMailbox.Client
  let rules: RulesBox<PumpRules>
  private var loop: PumpOperatorLoop
  private var index: Int64 = 0
  private var number: UInt64 = 0
  private(set) var now = TickInstant.zero

  init(_ settings: PumpOperatorSettings = .standard, turnsOffAtEnd: Bool = true) {
    let mailbox = try! PumpMailbox(operating: settings)
    client = mailbox.client()
    rules = mailbox.rules
    loop = PumpOperatorLoop(mailbox.loopEnds(), link: PumpLink(serial: line.port()), turnsOffAtEnd: turnsOffAtEnd)
  }

  func tick(_ seconds: Double) {
    now = .seconds(seconds)
    loop.tick(Tick(index: index, scheduled: now, started: now))
    index += 1
  }

  func stop() { loop.safeState(Tick(index: index, scheduled: now, started: now), cause: .stop) }

  func say(_ text: String) { Array(text.utf8).withUnsafeBytes { _ = line.device.write($0) } }

  /// What the loop has written since the last call.
  func heard() -> String {
    var bytes = [UInt8](repeating: 0, count: 512)
    let count = bytes.withUnsafeMutableBytes { line.device.read(into: $0) }
    return String(decoding: bytes[..<count], as: UTF8.self)
  }

  func ask(_ order: PumpOrder, at seconds: Double, issued: Double? = nil) -> PumpVerdict? {
    number += 1
    let issued = TickInstant.seconds(issued ?? seconds)
    _ = client.send(Request(number: number, issued: issued, makesSafe: order.makesSafe, order: order))
    tick(seconds)
    return client.nextAnswer()?.verdict
  }

  var snapshot: PumpSnapshot { client.newest().state.operated! }
}

@Suite(.ownThread) struct PumpOperatorLoopTests {
  @Test("wider rules wait until the pump has confirmed that it is off")
  func widerRules() throws {
    let bench = Bench()
    bench.tick(0)
    bench.say("STATUS:{State:ON}\n")
    bench.tick(0.1)
    #expect(words(bench.snapshot.state) == "on")
    let wide = PumpRules(operating: try PumpOperatorSettings(runLimit: .seconds(7_000)))
    let number = bench.rules.propose()
    bench.rules.commit(number, now: .standard, whenSafe: wide)
    bench.tick(0.2)
    bench.tick(0.3)
    #expect(bench.rules.progress(number) == .takenInPart && bench.rules.inEffect == .standard)
    bench.say("STATUS:{State:OFF}\n")
    bench.tick(0.4)
    bench.tick(0.5)
    #expect(bench.rules.progress(number) == .taken && bench.rules.inEffect == wide)
  }

  @Test("pieces of any length: the same lines, whatever comes between them is counted")
  func pieces() {
    let bench = Bench()
    bench.tick(0)
    #expect(bench.heard() == "STATUS\n")
    for (tenth, piece) in ["STATUS:{State:O", "FF,WaterTemp: 5.0C,", "SkinTemp:34.0C}\r", "\nWHAT\r\n"].enumerated() {
      bench.say(piece)
      bench.tick(Double(tenth + 1) / 10)
    }
    #expect(bench.snapshot.state == .off(.confirmed))
    #expect(bench.snapshot.temperatures.water == .celsius(5))
    #expect(bench.snapshot.malformed == 1)
    #expect(bench.snapshot.lastMalformed == .unknownReply(at: 0))
    bench.say(String(repeating: "x", count: 600) + "\nSTATUS:{State:ON}\n")
    bench.tick(0.6)
    #expect(bench.snapshot.dropped == 1)
    #expect(words(bench.snapshot.state) == "on")
  }

  @Test("a module's notices between the replies: no malformed lines, and what they have cut confirms nothing")
  func moduleNotices() {
    let bench = Bench()
    bench.tick(0)
    bench.say("OK+CONNSTATUS:{State:ON}\r\nOK+LOST")
    bench.tick(0.1)
    #expect(words(bench.snapshot.state) == "on")
    #expect(bench.ask(.turnOff, at: 0.2) == .accepted)
    bench.say("PUMP:OFFOK+LOST")
    bench.tick(0.3)
    bench.say("OK+CONNEOK+CONN:0017EA09AB12")
    bench.tick(0.4)
    #expect(bench.snapshot.state != .off(.confirmed))
    bench.say("OK\r\nPUMP:OFF\r\n")
    bench.tick(0.5)
    #expect(bench.snapshot.state == .off(.confirmed))
    #expect(bench.snapshot.malformed == 0 && bench.snapshot.dropped == 0)
  }

  @Test("a request is answered in its tick, what follows from it sent; one that waited is not obeyed, an OFF is")
  func requests() {
    let bench = Bench()
    bench.tick(0)
    bench.say("STATUS:{State:OFF}\n")
    bench.tick(0.1)
    _ = bench.heard()
    #expect(bench.ask(.turnOn(nil), at: 1, issued: 0.4) == .stale)
    #expect(bench.heard() == "")
    #expect(bench.ask(.turnOn(PumpSpeed(duty: 90)), at: 1.1) == .accepted)
    #expect(bench.heard() == "ON\n")
    bench.say("OK\r\nPUMP:ON\r\n")
    bench.tick(1.2)
    #expect(bench.heard() == "SPEED:90\n")
    #expect(bench.ask(.turnOff, at: 9, issued: 1) == .accepted)
    #expect(bench.heard().hasSuffix("OFF\n"))
    #expect(bench.ask(.query, at: 9.1) == .accepted)
  }

  @Test("unplugged: unknown at once; tried again later and later; back, its state is asked for before anything else")
  func unplugs() {
    let bench = Bench()
    bench.tick(0)
    bench.say("STATUS:{State:ON,Speed:70%}\n")
    bench.tick(0.1)
    bench.line.inject(.gone)
    bench.tick(0.2)
    #expect(words(bench.snapshot.state) == "unknown")
    #expect(words(bench.snapshot.contact) == "down")
    for tenth in 3...50 { bench.tick(Double(tenth) / 10) }
    bench.line.clearFaults()
    _ = bench.heard()
    for tenth in 51...90 { bench.tick(Double(tenth) / 10) }
    #expect(bench.heard().hasPrefix("\nSTATUS\n"))
    #expect(bench.snapshot.connections == 2)
  }

  @Test("a line that takes nothing: an OFF is counted as not sent, and sent again a second later")
  func fullLine() {
    let bench = Bench()
    bench.tick(0)
    bench.say("STATUS:{State:ON}\n")
    bench.tick(0.1)
    _ = bench.heard()
    bench.line.inject(.full)
    #expect(bench.ask(.turnOff, at: 0.2) == .accepted)
    #expect(bench.snapshot.sendFailures == 1)
    bench.line.clearFaults()
    bench.tick(1.1)
    #expect(bench.heard() == "")
    bench.tick(1.2)
    #expect(bench.heard() == "OFF\n")
  }

  @Test("the runtime stops: OFF goes out twice; who only looks leaves the pump as it is")
  func stops() {
    for turnsOff in [true, false] {
      let bench = Bench(turnsOffAtEnd: turnsOff)
      bench.tick(0)
      bench.say("STATUS:{State:ON}\n")
      bench.tick(0.1)
      _ = bench.heard()
      bench.stop()
      #expect(bench.heard() == (turnsOff ? "OFF\nOFF\n" : ""))
      #expect(words(bench.snapshot.state) == (turnsOff ? "down?" : "on"))
    }
  }

  @Test("messages of at most 20 bytes: a line goes out in pieces, and comes in so")
  func messages() throws {
    let bridge = try MessageLink()
    var driver = bridge.driver()
    var link = PumpLink(messages: bridge.port(), control: bridge.control())
    driver.up()
    link.begin(at: .zero)
    #expect(link.takeEvent() == .up)
    let text = Array("STATUS:{State:ON,Speed:70%,Runtime:5m,Remaining:24m}\r\n".utf8)
    #expect(text.withUnsafeBytes { link.send($0) })
    var pieces: [[UInt8]] = []
    while let piece = driver.takeMessage() { pieces.append(piece) }
    #expect(pieces.map(\.count) == [20, 20, 14])
    #expect(Array(pieces.joined()) == text)
    #expect(Array("OK\r".utf8).withUnsafeBytes { driver.deliver($0) })
    #expect(link.receive().map { Array($0) } == Array("OK\r".utf8))
    #expect(link.receive() == nil)
    driver.down()
    #expect(link.takeEvent() == .down)
  }
}
