import Buses
import Tactus
import TestSupport
import Testing

@testable import Pump

/// A `PumpDeviceLoop` ticked by hand; the test is its app, behind a module that tells of its connection.
private final class Bench {
  private let line = SimulatedSerialPort()
  private let client: PumpMailbox.Client
  private let world = PumpWorld(PumpWorld.Parameters())
  private var loop: PumpDeviceLoop
  private var index: Int64 = 0

  init() {
    let mailbox = try! PumpMailbox(own: .standard)
    client = mailbox.client()
    loop = PumpDeviceLoop(
      mailbox.loopEnds(), link: PumpLink(serial: line.port()), motor: world.motor(), inputs: world.inputs())
    tick()
  }

  func tick() {
    let now = TickInstant.zero + .milliseconds(50) * index
    loop.tick(Tick(index: index, scheduled: now, started: now))
    index += 1
  }

  /// A tick after `releases` that were missed, as after a process was frozen.
  func wake(afterMissing releases: Int64) {
    index += releases
    let now = TickInstant.zero + .milliseconds(50) * index
    loop.tick(Tick(index: index, scheduled: now, started: now, missed: releases))
    index += 1
  }

  func write(_ text: String) { Array(text.utf8).withUnsafeBytes { _ = line.device.write($0) } }

  /// A tick for each piece.
  func say(_ pieces: [String]) {
    for piece in pieces {
      write(piece)
      tick()
    }
  }

  /// What the loop has written since the last call.
  func heard() -> String {
    var bytes = [UInt8](repeating: 0, count: 512)
    let count = bytes.withUnsafeMutableBytes { line.device.read(into: $0) }
    return String(decoding: bytes[..<count], as: UTF8.self)
  }

  var isOn: Bool { snapshot.state.isOn }
  var snapshot: PumpDeviceSnapshot { client.newest().state.own! }
}

@Suite(.ownThread) struct PumpModuleNoticeTests {
  @Test(
    "a module's notice before an OFF, or behind one without its end, split anywhere: the pump stops",
    arguments: [
      "OK+LOSTOFF\n", "OK+LOSTOK+CONNOFF\r\n", "OK+CONN:0017EA09AB12off\n", "SPEED:9OK+LOSTOK+CONNOFF\n", "OFFOK+LOST",
      "STATUSOK+LOST OFF \n", "OK+CONNEOK+CONNOFF\n",
    ])
  func stops(text: String) {
    for place in 0...text.count {
      let bench = Bench()
      bench.say(["OK+CONNON\n"])
      #expect(bench.isOn)
      bench.say([String(text.prefix(place)), String(text.dropFirst(place))])
      #expect(!bench.isOn, "split at \(place)")
      #expect(bench.snapshot.malformed == 0)
    }
  }

  @Test(
    "a module's notice beside an ON that is not exact, or that it has cut: the pump does not start",
    arguments: [
      "OK+CONNON 70\n", "xOK+CONNON\n", "OOK+LOSTN\n", "ONOK+LOST", "ONOK+LOST\n", "SPEED:18OK+LOSTOK+CONNON\n",
      "OK+CONNONOFF\n",
      "OK+CONN:ON\n", "OK+CONN ON ON\n", "OK+LOSTONOK+CONN\n",
    ])
  func doesNotStart(text: String) {
    let bench = Bench()
    bench.say([text])
    #expect(!bench.isOn)
  }

  @Test("a line that a module's notice has cut: an OFF of its rest is obeyed, anything else is refused and answered")
  func rest() {
    let bench = Bench()
    bench.say(["SPEED:1OK+LOSTOK+CONNSTATUS\n"])
    #expect(bench.heard() == "ERROR:UNKNOWN_COMMAND\r\n" && bench.snapshot.malformed == 1)
    bench.say(["STATUSOK+LOST", "OK+CONN", "OFF\n"])
    #expect(bench.heard() == "OK\r\nPUMP:OFF\r\n")
    bench.say(["TEMP\n"])
    #expect(bench.heard().hasPrefix("TEMP:{"))
    #expect(bench.snapshot.malformed == 1)
  }

  @Test("frozen program: an ON that lay in the line meanwhile starts no pump, an OFF stops it, a new ON is obeyed")
  func frozen() {
    let bench = Bench()
    bench.write("ON\n")
    bench.wake(afterMissing: 19)
    #expect(!bench.isOn)
    #expect(bench.heard().hasPrefix("ERROR:"))
    for _ in 0..<40 { bench.tick() }
    bench.say(["ON\n"])
    #expect(bench.isOn)
    bench.write("OFF\n")
    bench.wake(afterMissing: 100)
    #expect(!bench.isOn)
  }

  @Test("random lines of notices and words: a pump that is off starts only by an exact ON")
  func random() {
    let seed: UInt64 = 31
    var random = SplitMix64(seed: seed)
    let words = ["OK+CONN", "OK+LOST", ":0017EA09AB12", "E", "F", "N", "O", "ON", "OFF", " ", "\n", "SPEED:9", "x"]
    var starts = 0
    for _ in 0..<2_000 {
      let text = (0..<8).map { _ in words[Int.random(in: 0..<words.count, using: &random)] }.joined()
      let bench = Bench()
      bench.say([text, "\n"])
      // A notice may stand before the word, and blanks around it; nothing else may.
      let notice = #/OK\+(CONN|LOST)(:[0-9A-F]{12}|[EFN])?/#
      let mayStart = text.replacing(notice, with: "!").split(separator: "\n").contains { line in
        line.drop { $0 == "!" }.filter { $0 != " " } == "ON"
      }
      if bench.isOn { starts += 1 }
      #expect(mayStart || !bench.isOn, "seed \(seed): \(text)")
    }
    #expect(starts > 0, "seed \(seed) never started it")
  }
}
