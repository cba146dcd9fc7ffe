import TestSupport
import Testing

@testable import Wire

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
      switch assembler.take(byte, into: buffer) {
      case .incomplete: break
      case .line(let count): found.append(String(decoding: buffer[..<count], as: UTF8.self))
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

  @Test("reset: the beginning of a line is forgotten")
  func reset() {
    var assembler = PumpLineAssembler()
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16, alignment: 1)
    defer { buffer.deallocate() }
    for byte in "STAT".utf8 { _ = assembler.take(byte, into: buffer) }
    assembler.reset()
    var outcomes: [PumpLineAssembler.Outcome] = []
    for byte in "OK\n".utf8 { outcomes.append(assembler.take(byte, into: buffer)) }
    #expect(outcomes == [.incomplete, .incomplete, .line(count: 2)])
  }
}
