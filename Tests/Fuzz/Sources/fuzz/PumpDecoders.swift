import Pump
import Wire

extension FuzzedDecoder {
  static let pump = [
    FuzzedDecoder(name: "pump-command", longest: 80) { bytes in
      // The first byte says by which rule.
      guard let first = bytes.first else { return }
      let line = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
      guard let command = try? PumpCommand.decode(line, rule: first & 1 == 0 ? .strict : .firmware) else { return }
      for rule in [PumpCommandRule.strict, .firmware] {
        let again = lineOf(encoded(PumpCommand.maximumEncodedLength) { command.encode(into: $0) })
        let read = again.withUnsafeBytes { try? PumpCommand.decode($0, rule: rule) }
        expect(read == command, "\(command) became \(String(describing: read))")
      }
    },
    FuzzedDecoder(name: "pump-reply", longest: 520) { bytes in
      guard let reply = try? PumpReply.decode(bytes) else { return }
      if case .status(let status) = reply { expect(status.percent ?? 0 <= 100, "\(status)") }
      for reading in readings(of: reply) {
        expect((-9_999...9_999).contains(reading.temperature?.tenths ?? 0), "\(reading)")
      }
      // Of a longer tag only the beginning is kept, which may be another tag.
      if case .error(.other(let tag)) = reply, tag.count == ShortText.capacity { return }
      let once = decoded(reply)
      expect(decoded(once) == once, "\(once) became \(decoded(once))")
      if !hasTwoDialects(reply) { expect(once == reply, "\(reply) became \(once)") }
    },
    FuzzedDecoder(name: "pump-lines", longest: 256) { bytes in
      guard let first = bytes.first else { return }
      let capacity = 1 + Int(first >> 1 & 31)
      let overflow: PumpLineAssembler.Overflow = first & 1 == 0 ? .dropsLine : .dropsBeginning
      var assembler = PumpLineAssembler(overflow: overflow)
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 1)
      defer { buffer.deallocate() }
      for byte in bytes.dropFirst() {
        switch assembler.receive(byte, into: buffer) {
        case .incomplete: break
        case .line(let count), .cut(let count), .rest(let count):
          expect((1...capacity).contains(count), "\(count) of \(capacity)")
          expect(!buffer.prefix(count).contains { $0 == 0x0A || $0 == 0x0D }, "a line end in a line")
        case .dropped(let count): expect(count > capacity, "\(count) of \(capacity)")
        }
      }
    },
  ]

  /// Without its line end.
  private static func lineOf(_ bytes: [UInt8]) -> [UInt8] { bytes.filter { $0 != 0x0A && $0 != 0x0D } }

  private static func decoded(_ reply: PumpReply) -> PumpReply {
    let line = lineOf(encoded(PumpReply.maximumEncodedLength) { reply.encode(into: $0) })
    return line.withUnsafeBytes { line in
      do { return try PumpReply.decode(line) } catch { fatalError("\(reply): \(error)") }
    }
  }

  private static func readings(of reply: PumpReply) -> [PumpReading] {
    switch reply {
    case .temperatures(let all): [all.water, all.skin, all.single]
    case .status(let status): [status.temperatures.water, status.temperatures.skin, status.temperatures.single]
    case .remark(.skinTooHot(let reading)): [reading]
    default: []
    }
  }

  /// Of readings in both dialects only one goes on the wire.
  private static func hasTwoDialects(_ reply: PumpReply) -> Bool {
    let temperatures: PumpTemperatures
    switch reply {
    case .temperatures(let all): temperatures = all
    case .status(let status): temperatures = status.temperatures
    default: return false
    }
    return !temperatures.single.isAbsent && !(temperatures.water.isAbsent && temperatures.skin.isAbsent)
  }
}
