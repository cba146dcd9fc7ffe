import TestSupport
import Testing

@testable import Pump

@Suite(.ownThread) struct PumpAssemblerTests {
  private func lines(
    _ pieces: [[UInt8]], capacity: Int = PumpLineAssembler.standardCapacity,
    overflow: PumpLineAssembler.Overflow = .dropsLine
  ) -> [String] {
    var assembler = PumpLineAssembler(overflow: overflow)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 1)
    defer { buffer.deallocate() }
    var found: [String] = []
    for byte in pieces.joined() {
      switch assembler.receive(byte, into: buffer) {
      case .incomplete: break
      case .line(let count): found.append(String(decoding: buffer[..<count], as: UTF8.self))
      case .cut(let count): found.append("cut " + String(decoding: buffer[..<count], as: UTF8.self))
      case .rest(let count): found.append("rest " + String(decoding: buffer[..<count], as: UTF8.self))
      case .dropped(let count): found.append("dropped \(count)")
      }
    }
    return found
  }

  @Test("pieces of any length: the same lines")
  func pieces() {
    let text = "OK\r\nPUMP:ON\r\nSTATUS:{State:ON,Speed:70%,Runtime:5m,Remaining:24m,WaterTemp: 5.0C}\n\n\rOFF\rTEMP"
    for size in 1...40 {
      let bytes = Array(text.utf8)
      let pieces = stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
      #expect(
        lines(pieces) == [
          "OK", "PUMP:ON", "STATUS:{State:ON,Speed:70%,Runtime:5m,Remaining:24m,WaterTemp: 5.0C}", "OFF",
        ])
    }
  }

  @Test("longer than the buffer: dropped to the line's end and counted, the next line is whole")
  func tooLong() {
    #expect(lines([Array("12345678\n123456789\nOK\n".utf8)], capacity: 8) == ["12345678", "dropped 9", "OK"])
    let noise = [UInt8](repeating: 0x41, count: 100_000)
    #expect(lines([noise, Array("\nOK\n".utf8)]) == ["dropped 100000", "OK"])
  }

  @Test("longer than the firmware's buffer: told at the byte that does not fit, and what follows it is a line")
  func firmwareOverflow() {
    func read(_ text: String) -> [String] {
      lines([Array(text.utf8)], capacity: 8, overflow: .dropsBeginning)
    }
    #expect(read("12345678\nON\n") == ["12345678", "ON"])
    #expect(read("123456789\nON\n") == ["dropped 9", "ON"])
    #expect(read("123456789ON\n") == ["dropped 9", "ON"])
    #expect(read("123456789123456789OFF\r\n") == ["dropped 9", "dropped 9", "OFF"])
    #expect(read("123456789") == ["dropped 9"], "before any line end")
  }

  @Test(
    "a module's notice between the bytes: no part of a line; what it has cut is told as cut, to the line's end",
    arguments: [
      ("OK+LOSTOFF\n", ["OFF"]), ("OK+CONNON\r\n", ["ON"]), ("OK+CONNON 70\n", ["ON 70"]),
      ("OK+LOSTOK+CONNOFF\n", ["OFF"]), ("OK+CONN\r\nOFF\n", ["OFF"]), ("ON\nOK+LOST", ["ON"]),
      ("OK+CONN:0017EA09ab12ON\n", ["ON"]), ("OK+LOST:0017EA09AB12", []), ("OK+CONN:0017EAON\n", [":0017EAON"]),
      ("OK+CONNEOK+CONNFOK+CONNNOK+CONNON\n", ["ON"]), ("OK+CONNE\nOK+CONNF\nOFF\n", ["OFF"]),
      ("OK+CONNERROR:OVERHEAT\r\n", ["ERROR:OVERHEAT"]), ("OK+CONNOK\r\n", ["OK"]),
      ("SPEED:18OK+LOSTOK+CONNON\nON\n", ["cut SPEED:18", "rest ON", "ON"]), ("OFFOK+LOST", ["cut OFF"]),
      ("OOK+CONNN\n", ["cut O"]), ("OOK+CONNFF\n", ["cut O", "rest F"]),
      ("OK+COK+LOSTOFF\n", ["cut OK+C", "rest OFF"]),
      ("OK\n+LOST\n", ["OK", "+LOST"]), ("ok+lostOFF\n", ["ok+lostOFF"]), ("OK+CONMOFF\n", ["OK+CONMOFF"]),
    ] as [(String, [String])])
  func notices(text: String, expected: [String]) { #expect(lines([Array(text.utf8)]) == expected) }

  @Test("notices for days without a command between them: the command that comes at last is whole")
  func manyNotices() {
    let days = String(repeating: "OK+CONNOK+LOST", count: 10_000)
    #expect(lines([Array((days + "OK+CONNOFF\n").utf8)]) == ["OFF"])
    let noise = [UInt8](repeating: 0x41, count: 600)
    #expect(lines([noise, Array("OK+LOSTOFF\nON\n".utf8)]) == ["dropped 600", "rest OFF", "ON"])
  }

  @Test("as the firmware: a notice is bytes like any others")
  func firmwareNotices() {
    #expect(lines([Array("OK+LOSTOFF\n".utf8)], capacity: 63, overflow: .dropsBeginning) == ["OK+LOSTOFF"])
  }

  @Test("reset: the beginning of a line is forgotten")
  func reset() {
    var assembler = PumpLineAssembler()
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16, alignment: 1)
    defer { buffer.deallocate() }
    for byte in "STAT".utf8 { _ = assembler.receive(byte, into: buffer) }
    assembler.reset()
    var outcomes: [PumpLineAssembler.Outcome] = []
    for byte in "OK\n".utf8 { outcomes.append(assembler.receive(byte, into: buffer)) }
    #expect(outcomes == [.incomplete, .incomplete, .line(count: 2)])
  }
}
