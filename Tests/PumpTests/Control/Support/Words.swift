import Foundation
import Tactus
import Testing

@testable import Pump

extension TickInstant {
  static func seconds(_ count: Double) -> TickInstant { TickInstant(nanoseconds: Int64((count * 1e9).rounded())) }
}

extension PumpReading {
  /// To the nearest tenth.
  static func celsius(_ value: Double) -> PumpReading { .value(PumpTemperature(celsius: value)) }
}

/// The words of the tables and transcripts; `?` marks an off that is not confirmed.
func words(_ off: Tactus.Confirmation) -> String { off.isConfirmed ? "" : "?" }

func words(_ fault: PumpFault) -> String {
  switch fault {
  case .sensor(let sensor, let temperature):
    "sensor:\(sensor.map { "\($0)" } ?? "")\(temperature.map { ":\($0.tenths)" } ?? "")"
  case .overheat(let temperature): "overheat\(temperature.map { ":\($0.tenths)" } ?? "")"
  default: fault.name
  }
}

func words(_ state: PumpOperatorState) -> String {
  switch state {
  case .unknown: "unknown"
  case .off(let off): "off\(words(off))"
  case .starting: "starting"
  case .on: "on"
  case .fault(let fault, let off): "fault:\(words(fault))\(words(off))"
  case .emergencyStopped(let off): "stopped\(words(off))"
  case .shutDown(let off): "down\(words(off))"
  }
}

func words(_ contact: PumpContact) -> String {
  switch contact {
  case .down: "down"
  case .waiting: "waiting"
  case .answering: "answering"
  case .silent: "silent"
  }
}

func words(_ action: PumpOperatorAction) -> String {
  var parts: [String] = []
  if let command = action.command { parts.append("\(command)" + (action.copies > 1 ? "×\(action.copies)" : "")) }
  if action.connects { parts.append("connect") }
  if case .refused(let reason) = action.verdict {
    parts.append("ignored:\(String(reflecting: reason).suffix(after: "."))")
  }
  if let failure = action.failure { parts.append("failed:\(failure.command)") }
  return parts.isEmpty ? "-" : parts.joined(separator: " ")
}

extension String {
  func suffix(after mark: Character) -> Substring { split(separator: mark).last ?? "" }
}

/// Compares lines with a golden file beside the test, or writes it: `TACTUS_REWRITE=1 scripts/swift test --filter PumpTests`, and
/// then the difference is read line by line.
func expectGolden(_ lines: [String], _ name: String, file: String = #filePath) throws {
  let golden = URL(filePath: file).deletingLastPathComponent().appending(path: name)
  if ProcessInfo.processInfo.environment["TACTUS_REWRITE"] != nil {
    try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: golden)
    return
  }
  let expected = try String(contentsOf: golden, encoding: .utf8).split(
    separator: "\n", omittingEmptySubsequences: false
  )
  .dropLast()
  #expect(lines.count == expected.count)
  var row: Substring = ""
  for (one, other) in zip(lines, expected) {
    if !other.hasPrefix(" ") { row = other }
    #expect(one == other, "\(row)")
  }
}

func padded(_ fields: [String], _ widths: [Int]) -> String {
  zip(fields, widths + [0]).map { $0.padding(toLength: max($0.count + 1, $1), withPad: " ", startingAt: 0) }.joined()
    .trimmingCharacters(in: .whitespaces)
}
