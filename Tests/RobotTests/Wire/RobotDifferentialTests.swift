import Foundation
import Robot
import TestSupport
import Testing
import WireSupport

/// The decoder against `reference/robot_reference.py`, an independent strict one.
///
/// `TACTUS_FUZZ_COUNT` sets the number of datagrams (200,000), `TACTUS_FUZZ_SEED` the seed.
@Suite(.ownThread) struct RobotDifferentialTests {
  static let python = ProcessInfo.processInfo.environment["PATH", default: ""].split(separator: ":")
    .map { "\($0)/python3" }.first { FileManager.default.isExecutableFile(atPath: $0) }

  @Test(
    "every datagram: same verdict and bit-identical values as the reference decoder",
    .enabled(if: python != nil, "python3, which runs the reference decoder, is not in PATH"))
  func differential() throws {
    let environment = ProcessInfo.processInfo.environment
    let count = environment["TACTUS_FUZZ_COUNT"].flatMap { Int($0) } ?? 200_000
    let seed = environment["TACTUS_FUZZ_SEED"].flatMap { UInt64($0) } ?? 20_260_100
    var generator = DatagramGenerator(seed: seed)
    let datagrams = (0..<count).map { _ in generator.next() }
    let expected = try reference(datagrams)
    try #require(expected.count == count, "the reference decoder did not answer every datagram")

    var tally: [String: Int] = [:]
    var differences = 0
    for (number, datagram) in datagrams.enumerated() {
      let line = verdict(datagram)
      tally[line.split(separator: " ").prefix(2).joined(separator: " "), default: 0] += 1
      if line == expected[number] { continue }
      differences += 1
      if differences <= 10 {
        Issue.record(
          """
          seed \(seed), datagram \(number): \(text(datagram).debugDescription)
          reference: \(expected[number])
          decoder:   \(line)
          """)
      }
    }
    #expect(differences == 0, "seed \(seed)")
    // A generator that no longer reaches a verdict would pass silently.
    if count >= 50_000 {
      for kind in [
        "accept drive", "accept stop", "accept estop", "accept reset", "accept query", "accept twist", "reject syntax",
        "reject empty",
        "reject too-long", "reject wrong-type", "reject not-finite", "reject out-of-range", "reject unknown-command",
        "reject missing", "reject two-units",
      ] {
        #expect(tally[kind, default: 0] > 0, "seed \(seed): no datagram with the verdict \(kind)")
      }
    }
  }

  /// One line for each datagram, through files, so that no pipe can fill up.
  private func reference(_ datagrams: [[UInt8]]) throws -> [String] {
    let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "reference/robot_reference.py")
    let folder = FileManager.default.temporaryDirectory.appending(path: "tactus-wire-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var input: [UInt8] = []
    for datagram in datagrams {
      withUnsafeBytes(of: UInt32(datagram.count).littleEndian) { input += $0 }
      input += datagram
    }
    let inputFile = folder.appending(path: "datagrams")
    let outputFile = folder.appending(path: "verdicts")
    try Data(input).write(to: inputFile)
    try Data().write(to: outputFile)
    let process = Process()
    process.executableURL = URL(filePath: try #require(Self.python))
    process.arguments = [script.path]
    process.standardInput = try FileHandle(forReadingFrom: inputFile)
    process.standardOutput = try FileHandle(forWritingTo: outputFile)
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
    return String(decoding: try Data(contentsOf: outputFile), as: UTF8.self).split(separator: "\n").map(String.init)
  }

  /// The decoder's verdict in the reference's words. Which syntax error is found first is the decoder's own business.
  private func verdict(_ datagram: [UInt8]) -> String {
    switch decode(datagram) {
    case .failure(let error):
      switch error {
      case .malformed, .notUTF8, .tooDeep, .trailing, .unknownDirection: return "reject syntax"
      case .notFinite where isCSV(datagram): return "reject syntax"
      default: return "reject \(error.name)"
      }
    case .success(let message):
      var kind = "drive"
      var speeds = "- -"
      switch message.command {
      case .drive(let wheels): speeds = "\(bits(wheels.left.value)) \(bits(wheels.right.value))"
      case .twist(let twist):
        kind = "twist"
        speeds = "\(bits(twist.metresPerSecond)) \(bits(twist.radiansPerSecond))"
      case .stop: kind = "stop"
      case .emergencyStop: kind = "estop"
      case .reset: kind = "reset"
      case .query: kind = "query"
      }
      let timestamp = message.timestamp.map { bits($0.seconds) } ?? "-"
      let echo = message.echo.map(String.init) ?? "-"
      return "accept \(kind) \(speeds) \(timestamp) \(echo) \(message.directionMismatch ? 1 : 0)"
    }
  }

  private func isCSV(_ datagram: [UInt8]) -> Bool {
    datagram.first { ![0x20, 0x09, 0x0D, 0x0A].contains($0) } != UInt8(ascii: "{")
  }

  private func bits(_ value: Double) -> String {
    let digits = String(value.bitPattern, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
