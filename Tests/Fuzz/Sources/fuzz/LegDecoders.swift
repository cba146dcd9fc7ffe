import Leg

extension FuzzedDecoder {
  static let leg = [
    FuzzedDecoder(name: "leg-command", longest: 16) { bytes in
      guard let command = try? LegCommand.decode(bytes) else { return }
      let again = encoded(LegCommand.maximumEncodedLength) { command.encode(into: $0) }
      expect(isSame(again, bytes, apartFrom: [3]), "\(command) became \(again)")
    },
    FuzzedDecoder(name: "leg-telemetry", longest: 24) { bytes in
      guard let telemetry = try? LegTelemetry.decode(bytes) else { return }
      let again = encoded(LegTelemetry.encodedLength) { telemetry.encode(into: $0) }
      // Reserved bytes, and the errors that are not known.
      expect(isSame(again, bytes, apartFrom: [3, 5, 10, 11]), "\(telemetry) became \(again)")
      expect(try! again.withUnsafeBytes { try LegTelemetry.decode($0) } == telemetry, "\(telemetry) became \(again)")
    },
    FuzzedDecoder(name: "leg-serial", longest: 256) { bytes in
      var decoder = LegSerialDecoder()
      for byte in bytes { if let message = take(byte, by: &decoder) { expectsAgain(message) } }
      // Whatever there was, the frame behind the next zero is found.
      _ = take(0, by: &decoder)
      if !bytes.isEmpty { expectsAgain(Array(bytes.prefix(LegSerialFrame.maximumMessageLength)), by: decoder) }
    },
    FuzzedDecoder(name: "leg-address", longest: 16) { bytes in
      let frame = Array(bytes)
      expect((LegFrameAddress(frame) != nil) == LegFrameAddress.isLegs(frame), "\(frame)")
      guard let address = LegFrameAddress(frame) else { return }
      expect((0...63).contains(address.leg), "\(address)")
      expect(address.payload.elementsEqual(frame.dropFirst(address.isPrefixed ? 1 : 0)), "\(address)")
    },
  ]

  private static func isSame(_ left: [UInt8], _ right: UnsafeRawBufferPointer, apartFrom free: Set<Int>) -> Bool {
    left.count == right.count && left.indices.allSatisfy { free.contains($0) || left[$0] == right[$0] }
  }

  private static func take(_ byte: UInt8, by decoder: inout LegSerialDecoder) -> [UInt8]? {
    var outcome = LegSerialDecoder.Outcome.incomplete
    let message = encoded(LegSerialFrame.maximumMessageLength) { buffer in
      outcome = decoder.receive(byte, into: buffer)
      guard case .message(let count) = outcome else { return 0 }
      return count
    }
    switch outcome {
    case .message(let count):
      expect((1...LegSerialFrame.maximumMessageLength).contains(count), "\(outcome)")
      return message
    case .refused(_, let count): expect(count > 0, "\(outcome)")
    case .incomplete: break
    }
    return nil
  }

  private static func expectsAgain(_ message: [UInt8], by decoder: LegSerialDecoder = LegSerialDecoder()) {
    let frame = message.withUnsafeBytes { message in
      encoded(LegSerialFrame.maximumEncodedLength) { LegSerialFrame.encode(message, into: $0) }
    }
    var decoder = decoder
    let found = frame.compactMap { take($0, by: &decoder) }
    expect(found == [message], "\(message) became \(found)")
  }
}
