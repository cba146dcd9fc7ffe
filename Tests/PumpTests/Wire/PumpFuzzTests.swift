import Foundation
import Tactus
import TestSupport
import Testing

@testable import Pump

/// `TACTUS_FUZZ_COUNT` and `TACTUS_FUZZ_SEED` change how many lines, and which.
@Suite(.ownThread) struct PumpFuzzTests {
  private let count: Int
  private let seed: UInt64

  init() {
    let environment = ProcessInfo.processInfo.environment
    count = environment["TACTUS_FUZZ_COUNT"].flatMap(Int.init) ?? 200_000
    seed = environment["TACTUS_FUZZ_SEED"].flatMap(UInt64.init) ?? 1
  }

  private static let words = [
    "STATUS:{", "State:", "ON", "OFF", "ERROR", "Speed:", "70%", "Runtime:", "5m", "Remaining:", "WaterTemp:", " 5.0C",
    "SkinTemp:", "-77.0C", "Temp:", "34.5", "?", "}", ",", ":", "TEMP:", "{", "Water:", "Skin:", "PUMP:", "MANUAL:",
    "SPEED:", "180", "ERROR:", "SAFETY_SHUTOFF", "OK", "nan", "99999999999", "-", "+", ".", " ",
    "Maximum runtime exceeded",
    "Skin temperature too high:",
  ].map { Array($0.utf8) }

  private func line(_ random: inout SplitMix64) -> [UInt8] {
    var bytes: [UInt8] = []
    for _ in 0..<Int.random(in: 0...12, using: &random) {
      bytes += Self.words[Int.random(in: 0..<Self.words.count, using: &random)]
    }
    // Most of them are nearly right.
    if !bytes.isEmpty, UInt8.random(in: 0..<4, using: &random) == 0 {
      bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
    }
    return bytes
  }

  @Test("any bytes: a value that encodes to a line of the same value, or an error within the line")
  func anything() {
    var random = SplitMix64(seed: seed)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: PumpReply.maximumEncodedLength, alignment: 1)
    defer { buffer.deallocate() }
    var values = 0
    for number in 0..<count {
      line(&random).withUnsafeBytes { bytes in
        do throws(PumpLineError) {
          let reply = try PumpReply.decode(bytes)
          values += 1
          let length = reply.encode(into: buffer)
          let again = try PumpReply.decode(UnsafeRawBufferPointer(rebasing: buffer[..<(length - 2)]))
          if again != reply { Issue.record("\(reply) became \(again), line \(number), seed \(seed)") }
        } catch {
          if let place = place(error), place > bytes.count {
            Issue.record("\(error) beyond \(bytes.count) bytes, line \(number), seed \(seed)")
          }
        }
        for rule in [PumpCommandRule.strict, .firmware] {
          do throws(PumpLineError) {
            let command = try PumpCommand.decode(bytes, rule: rule)
            let length = command.encode(into: buffer)
            let again = try PumpCommand.decode(UnsafeRawBufferPointer(rebasing: buffer[..<(length - 1)]))
            if again != command { Issue.record("\(command) became \(again), line \(number), seed \(seed)") }
          } catch {
            if let place = place(error), place > bytes.count {
              Issue.record("\(error) beyond \(bytes.count) bytes, line \(number), seed \(seed)")
            }
          }
        }
      }
    }
    #expect(values > count / 50, "the generator makes too few lines that mean something")
  }

  @Test("any value: encoded and read again it is the same")
  func roundTrip() {
    var random = SplitMix64(seed: seed)
    for _ in 0..<count / 4 {
      let reply = reply(&random)
      if pumpReply(String(pumpText(reply).dropLast())) != .success(reply) {
        Issue.record("\(reply): \(pumpText(reply)), seed \(seed)")
      }
    }
  }

  private func place(_ error: PumpLineError) -> Int? {
    switch error {
    case .empty, .tooLong: nil
    case .unknownCommand(let at), .unknownReply(let at), .malformed(let at), .outOfRange(let at),
      .unknownState(let at), .unterminated(let at), .trailing(let at):
      at
    }
  }

  private func reading(_ random: inout SplitMix64) -> PumpReading {
    switch UInt8.random(in: 0..<4, using: &random) {
    case 0: .absent
    case 1: .unknown
    default: .value(PumpTemperature(tenths: .random(in: -9_999...9_999, using: &random)))
    }
  }

  private func reply(_ random: inout SplitMix64) -> PumpReply {
    switch UInt8.random(in: 0..<3, using: &random) {
    case 0:
      return .status(
        PumpStatus(
          state: PumpReportedState.allCases.randomElement(using: &random),
          percent: Bool.random(using: &random) ? .random(in: 0...100, using: &random) : nil,
          runtimeMinutes: Bool.random(using: &random) ? .random(in: 0...65_535, using: &random) : nil,
          remainingMinutes: Bool.random(using: &random) ? .random(in: 0...65_535, using: &random) : nil,
          temperatures: PumpTemperatures(water: reading(&random), skin: reading(&random), single: reading(&random))))
    case 1: return .temperatures(PumpTemperatures(water: reading(&random), skin: reading(&random)))
    default: return .speed(PumpSpeed(duty: .random(in: 0...255, using: &random)))
    }
  }
}
