import Foundation
import Tactus
import Testing
import WireSupport

@testable import Leg

@Suite struct LegFrameTests {
  static let fuzzCount = ProcessInfo.processInfo.environment["TACTUS_FUZZ_COUNT"].flatMap { Int($0) } ?? 200_000
  static let fuzzSeed = ProcessInfo.processInfo.environment["TACTUS_FUZZ_SEED"].flatMap { UInt64($0) } ?? 20_261_121

  static let commands: [(LegCommand, [UInt8])] = [
    (.arm, [0x01, 0x01, 0x00, 0x00]), (.disarm, [0x01, 0x02, 0x00, 0x00]),
    (.setServo(.microseconds(1500)), [0x01, 0x03, 0x02, 0x00, 0xDC, 0x05]),
    (.setServo(.microseconds(500)), [0x01, 0x03, 0x02, 0x00, 0xF4, 0x01]),
    (.setServo(.microseconds(2500)), [0x01, 0x03, 0x02, 0x00, 0xC4, 0x09]),
    (.ping, [0x01, 0x04, 0x00, 0x00]),
  ]

  @Test("commands: the specification's test vectors, both ways", arguments: commands)
  func commandVectors(command: LegCommand, bytes: [UInt8]) {
    #expect(encoded(capacity: 6) { command.encode(into: $0) } == bytes)
    #expect(decodeLegCommand(bytes) == .success(command))
  }

  static let telemetry: [(LegTelemetry, [UInt8])] = [
    (
      LegTelemetry(state: .armed, error: .none, lastCommandAgeMilliseconds: 50, battery: Millivolts(7400)),
      [0x01, 0x10, 0x08, 0x00, 0x01, 0x00, 0x32, 0x00, 0xE8, 0x1C, 0x00, 0x00]
    ),
    (
      LegTelemetry(state: .fault, error: .deadmanTimeout, lastCommandAgeMilliseconds: 200, battery: Millivolts(7400)),
      [0x01, 0x10, 0x08, 0x00, 0x02, 0x01, 0xC8, 0x00, 0xE8, 0x1C, 0x00, 0x00]
    ),
  ]

  @Test("telemetry: the specification's test vectors, both ways", arguments: telemetry)
  func telemetryVectors(telemetry: LegTelemetry, bytes: [UInt8]) {
    #expect(encoded(capacity: 12) { telemetry.encode(into: $0) } == bytes)
    #expect(decodeLegTelemetry(bytes) == .success(telemetry))
  }

  @Test(
    "command: what is none says what was expected and what came",
    arguments: [
      ([], .noHeader(count: 0), "no-header: expected at least 4 bytes, got 0"),
      ([1, 1, 0], .noHeader(count: 3), "no-header: expected at least 4 bytes, got 3"),
      ([2, 1, 0, 0], .wrongVersion(2), "wrong-version: expected 1, got 2"),
      ([1, 0, 0, 0], .notACommand(type: 0), "not-a-command: expected type 1…4, got 0"),
      ([1, 0x10, 0, 0], .notACommand(type: 16), "not-a-command: expected type 1…4, got 16"),
      (
        [1, 1, 1, 0, 0], .wrongPayloadLength(type: 1, expected: 0, got: 1),
        "wrong-payload-length: expected 0 for type 1, got 1"
      ),
      (
        [1, 1, 0, 0, 0], .wrongLength(type: 1, expected: 4, got: 5), "wrong-length: expected 4 bytes for type 1, got 5"
      ),
      (
        [1, 3, 1, 0, 9], .wrongPayloadLength(type: 3, expected: 2, got: 1),
        "wrong-payload-length: expected 2 for type 3, got 1"
      ),
      (
        [1, 3, 2, 0, 0xDC], .wrongLength(type: 3, expected: 6, got: 5),
        "wrong-length: expected 6 bytes for type 3, got 5"
      ),
    ] as [([UInt8], LegFrameError, String)])
  func commandErrors(bytes: [UInt8], error: LegFrameError, words: String) {
    #expect(decodeLegCommand(bytes) == .failure(error))
    #expect(error.description == words)
  }

  @Test(
    "telemetry: an unknown state is an error, an unknown error code reads as unknown, reserved bytes are not looked at")
  func telemetryEdges() {
    var bytes = Self.telemetry[0].1
    bytes[4] = 3
    #expect(decodeLegTelemetry(bytes) == .failure(.unknownState(3)))
    bytes[4] = 2
    bytes[5] = 9
    bytes[3] = 0xAA
    bytes[10] = 0xBB
    bytes[11] = 0xCC
    let expected = LegTelemetry(
      state: .fault, error: .unknown, lastCommandAgeMilliseconds: 50, battery: Millivolts(7400))
    #expect(decodeLegTelemetry(bytes) == .success(expected))
    #expect(decodeLegTelemetry([1, 4, 0, 0]) == .failure(.notTelemetry(type: 4)))
  }

  @Test("fuzz: every command and telemetry comes back from its bytes")
  func roundTrip() {
    for pulse in UInt16.min...UInt16.max {
      let command = LegCommand.setServo(.microseconds(pulse))
      guard decodeLegCommand(encoded(capacity: 6) { command.encode(into: $0) }) == .success(command) else {
        Issue.record("\(pulse) µs does not come back")
        return
      }
    }
    var random = SplitMix64(seed: Self.fuzzSeed)
    for number in 0..<Self.fuzzCount {
      let telemetry = LegTelemetry(
        state: random.pick(LegTelemetry.State.allCases), error: random.pick(LegErrorCode.allCases),
        lastCommandAgeMilliseconds: UInt16(truncatingIfNeeded: random.next()),
        battery: Millivolts(UInt16(truncatingIfNeeded: random.next())))
      let isSame = decodeLegTelemetry(encoded(capacity: 12) { telemetry.encode(into: $0) }) == .success(telemetry)
      guard isSame else {
        Issue.record("seed \(Self.fuzzSeed), number \(number): \(telemetry)")
        return
      }
    }
  }

  @Test("fuzz: random bytes are a frame exactly when an independent reading of the specification says so")
  func randomBytes() {
    var random = SplitMix64(seed: Self.fuzzSeed)
    var commands = 0
    var telemetries = 0
    for number in 0..<Self.fuzzCount {
      // Near misses are the interesting ones: random bytes alone hardly ever have the right version.
      var bytes: [UInt8] = random.pick([Self.commands[random.below(6)].1, Self.telemetry[random.below(2)].1])
      switch random.below(4) {
      case 0: bytes = (0..<random.below(16)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      case 1: bytes = mutated(bytes, &random)
      default:
        for _ in 0...random.below(3) { bytes[random.below(bytes.count)] = UInt8(truncatingIfNeeded: random.next()) }
      }
      let command = decodeLegCommand(bytes)
      let telemetry = decodeLegTelemetry(bytes)
      if case .success(let command) = command {
        commands += 1
        let again = encoded(capacity: 6) { command.encode(into: $0) }
        #expect(again == bytes.withReservedZero, "seed \(Self.fuzzSeed), number \(number): \(bytes)")
      }
      if case .success(let telemetry) = telemetry {
        telemetries += 1
        let again = encoded(capacity: 12) { telemetry.encode(into: $0) }
        var expected = bytes.withReservedZero
        if expected[5] > 4 { expected[5] = 0xFF }
        #expect(again == expected, "seed \(Self.fuzzSeed), number \(number): \(bytes)")
      }
      let isCommand = (try? command.get()) != nil
      let isTelemetry = (try? telemetry.get()) != nil
      guard isCommand == bytes.isLegCommand, isTelemetry == bytes.isLegTelemetry else {
        Issue.record("seed \(Self.fuzzSeed), number \(number): \(bytes)")
        return
      }
    }
    #expect(commands > Self.fuzzCount / 50 && telemetries > Self.fuzzCount / 50)
  }
}

func decodeLegCommand(_ bytes: [UInt8]) -> Result<LegCommand, LegFrameError> {
  bytes.withUnsafeBytes { buffer in
    do throws(LegFrameError) {
      return .success(try LegCommand.decode(buffer))
    } catch {
      return .failure(error)
    }
  }
}

func decodeLegTelemetry(_ bytes: [UInt8]) -> Result<LegTelemetry, LegFrameError> {
  bytes.withUnsafeBytes { buffer in
    do throws(LegFrameError) {
      return .success(try LegTelemetry.decode(buffer))
    } catch {
      return .failure(error)
    }
  }
}

extension [UInt8] {
  /// The specification's table, read row by row.
  fileprivate var isLegCommand: Bool {
    switch count {
    case 4: self[0] == 1 && [1, 2, 4].contains(self[1]) && self[2] == 0
    case 6: self[0] == 1 && self[1] == 3 && self[2] == 2
    default: false
    }
  }

  fileprivate var isLegTelemetry: Bool {
    count == 12 && self[0] == 1 && self[1] == 0x10 && self[2] == 8 && self[4] <= 2
  }

  /// As an encoder writes it.
  fileprivate var withReservedZero: [UInt8] {
    var bytes = self
    bytes[3] = 0
    if bytes.count == 12 {
      bytes[10] = 0
      bytes[11] = 0
    }
    return bytes
  }
}
