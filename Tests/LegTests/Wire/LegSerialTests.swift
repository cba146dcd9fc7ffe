import Tactus
import Testing
import WireSupport

@testable import Leg

@Suite struct LegSerialTests {
  /// Computed apart, with Python's `binascii.crc_hqx`.
  static let vectors: [([UInt8], [UInt8])] = [
    ([0x01, 0x01, 0x00, 0x00], [0x00, 0x03, 0x01, 0x01, 0x01, 0x03, 0x44, 0xC5, 0x00]),
    ([0x01, 0x04, 0x00, 0x00], [0x00, 0x03, 0x01, 0x04, 0x01, 0x03, 0xB4, 0x2E, 0x00]),
    ([0x01, 0x03, 0x02, 0x00, 0xDC, 0x05], [0x00, 0x04, 0x01, 0x03, 0x02, 0x05, 0xDC, 0x05, 0xE5, 0x48, 0x00]),
    (
      [0x01, 0x10, 0x08, 0x00, 0x01, 0x00, 0x32, 0x00, 0xE8, 0x1C, 0x00, 0x00],
      [
        0x00, 0x04, 0x01, 0x10, 0x08, 0x02, 0x01, 0x02, 0x32, 0x03, 0xE8, 0x1C, 0x01, 0x03, 0xCE, 0x4C, 0x00,
      ]
    ),
  ]

  @Test("messages: the README's bytes, both ways", arguments: vectors)
  func specified(message: [UInt8], frame: [UInt8]) {
    #expect(serialFrame(message) == frame)
    #expect(decoded(frame) == [.message(message)])
  }

  @Test("checksum: of 123456789 it is 0x29B1")
  func checksum() {
    var crc = CRC16()
    for byte in "123456789".utf8 { crc.add(byte) }
    #expect(crc.value == 0x29B1)
  }

  @Test(
    "between two zeros and no frame: refused, with what it is and how long; the next frame is found",
    arguments: [
      ([1], .tooShort, 1), ([3, 0x44, 0xC5], .tooShort, 3), ([9, 1, 1], .badStuffing, 3),
      ([3, 1, 1, 1, 3, 0x44, 0xC4], .wrongChecksum(expected: 0xC544, got: 0xC444), 7),
      (Array(repeating: 1, count: 24), .tooLong, 24), (Array(repeating: 7, count: 60), .tooLong, 60),
    ] as [([UInt8], LegSerialError, Int)])
  func refusals(bytes: [UInt8], error: LegSerialError, count: Int) {
    let (message, frame) = Self.vectors[0]
    #expect(decoded([0] + bytes + frame) == [.refused(error, count), .message(message)])
  }

  @Test("noise before a frame, a cut frame before it, zeros between: no frame is lost")
  func resynchronises() {
    let (message, frame) = Self.vectors[2]
    #expect(decoded([0x55, 0x13, 0xFF] + frame).last == .message(message))
    // A Bluetooth module's words about its connection are noise, too.
    #expect(decoded(frame[..<5] + Array("OK+LOSTOK+CONN".utf8) + frame).last == .message(message))
    for cut in 1..<frame.count - 1 {
      #expect(decoded(frame[..<cut] + frame).last == .message(message), "cut after \(cut)")
      #expect(decoded(Array(frame[cut...]) + frame).last == .message(message), "beginning at \(cut)")
    }
    #expect(decoded(frame + [0, 0, 0] + frame) == [.message(message), .message(message)])
  }

  @Test("one bit changed, anywhere: that message never comes as another one")
  func bits() {
    for (message, frame) in Self.vectors {
      for bit in 8..<8 * (frame.count - 1) {
        var changed = frame
        changed[bit / 8] ^= 1 << UInt8(bit % 8)
        for outcome in decoded(changed) {
          if case .message(let other) = outcome { Issue.record("bit \(bit): \(other) instead of \(message)") }
        }
      }
    }
  }

  @Test("fuzz: every message of 1…20 bytes comes back, in one stream with noise between")
  func roundTrip() {
    var random = SplitMix64(seed: LegFrameTests.fuzzSeed)
    for number in 0..<LegFrameTests.fuzzCount / 4 {
      let message = randomMessage(&random)
      let noise = (0..<random.below(30)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      let frame = serialFrame(message)
      #expect(frame.count == message.count + 5)
      guard !frame.dropFirst().dropLast().contains(0), decoded(noise + frame).last == .message(message) else {
        Issue.record("seed \(LegFrameTests.fuzzSeed), number \(number): \(message) after \(noise)")
        return
      }
    }
  }

  @Test(
    "fuzz: any bytes are messages that encode to the very bytes they came in, refusals that count every byte, or incomplete"
  )
  func anyBytes() {
    var random = SplitMix64(seed: LegFrameTests.fuzzSeed)
    var messages = 0
    for number in 0..<LegFrameTests.fuzzCount / 20 {
      var bytes: [UInt8] = []
      while bytes.count < 120 {
        var piece = serialFrame(randomMessage(&random))
        if random.chance(30) { piece = piece.map { _ in UInt8(truncatingIfNeeded: random.next()) } }
        if random.chance(30) { piece[random.below(piece.count)] = UInt8(truncatingIfNeeded: random.next()) }
        if random.chance(10) { piece.removeSubrange(random.below(piece.count)...) }
        bytes += piece
      }
      // What an independent reading of the framing finds.
      let expected = bytes.split(separator: 0, omittingEmptySubsequences: true).dropLast(bytes.last == 0 ? 0 : 1)
      let found = decoded(bytes)
      guard found.count == expected.count else {
        Issue.record("seed \(LegFrameTests.fuzzSeed), number \(number): \(found.count) for \(expected.count)")
        return
      }
      for (outcome, piece) in zip(found, expected) {
        switch outcome {
        case .message(let message):
          messages += 1
          #expect((1...20).contains(message.count) && serialFrame(message) == [0] + piece + [0])
        case .refused(_, let count): #expect(count == piece.count)
        }
      }
    }
    #expect(messages > LegFrameTests.fuzzCount / 20)
  }

  private func randomMessage(_ random: inout SplitMix64) -> [UInt8] {
    let zeros = random.pick([0, 20, 80])
    return (0...random.below(20)).map { _ in random.chance(zeros) ? 0 : UInt8(truncatingIfNeeded: random.next()) }
  }
}

private enum Found: Equatable {
  case message([UInt8])
  case refused(LegSerialError, Int)
}

private func serialFrame(_ message: [UInt8]) -> [UInt8] {
  message.withUnsafeBytes { bytes in
    encoded(capacity: LegSerialFrame.maximumEncodedLength) { LegSerialFrame.encode(bytes, into: $0) }
  }
}

private func decoded(_ bytes: some Sequence<UInt8>) -> [Found] {
  var decoder = LegSerialDecoder()
  var buffer = [UInt8](repeating: 0xEE, count: 20)
  return bytes.compactMap { byte in
    switch buffer.withUnsafeMutableBytes({ decoder.receive(byte, into: $0) }) {
    case .incomplete: nil
    case .message(let count): .message(Array(buffer[..<count]))
    case .refused(let error, let count): .refused(error, count)
    }
  }
}
