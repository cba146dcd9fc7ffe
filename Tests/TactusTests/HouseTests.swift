import Foundation
import TestSupport
import Testing

/// Rules of the house that a reader of the sources can check, and therefore a test does.
@Suite("Rules of the house", .ownThread)
struct HouseTests {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  static func sources(_ floors: [String]) throws -> [(path: String, text: String)] {
    try floors.flatMap { floor in
      let folder = root.appendingPathComponent("Sources/\(floor)")
      let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
      return try files.compactMap { $0 as? URL }.filter { ["swift", "c", "h"].contains($0.pathExtension) }
        .map { ("\(floor)/\($0.lastPathComponent)", try String(contentsOf: $0, encoding: .utf8)) }
    }
  }

  static let all = [
    "CTactus", "Tactus", "TactusControl", "Wire", "Buses", "Devices", "Robot", "Leg", "Sprinkler", "Pump", "Plants",
    "Video", "Store",
    "CBusesLinux", "BusesLinux", "CTactusGuard", "TactusGuard", "CSystemBus", "SystemBus", "AvahiSystemd",
    "BluetoothBlueZ", "CMosquitto", "MQTTMosquitto", "CGStreamer", "VideoGStreamer", "VideoProgram", "CamerasLibcamera",
    "DetectorOpenCV",
    "CCrypto", "Service", "CDaemon",
    "TactusProgram",
  ]

  @Test(
    "nothing outside the runtime reads a clock or sleeps; nothing at all but the log's time stamp asks for the date")
  func clocks() throws {
    let clocks = ["clock_gettime", "ContinuousClock", "SuspendingClock", "DispatchTime.now", "mach_absolute_time"]
    let sleeps = ["Task.sleep", "usleep", "nanosleep", "Thread.sleep", " sleep("]
    let dates = ["CLOCK_REALTIME", "Date()", "gettimeofday", "time(nil)", "time(NULL)", "DispatchWallTime"]
    for (path, text) in try Self.sources(Self.all) {
      for word in dates where text.contains(word) {
        #expect(["CTactus/time.c", "Tactus/WallClock.swift", "CTactus/CTactus.h"].contains(path), "\(path): \(word)")
      }
      guard !path.hasPrefix("Tactus/"), !path.hasPrefix("CTactus/") else { continue }
      for word in clocks + sleeps { #expect(!text.contains(word), "\(path): \(word)") }
    }
  }

  @Test("the runtime's traps say why in an optimised build, too: precondition drops its text there")
  func texts() throws {
    for (path, text) in try Self.sources(["Tactus"]) {
      for word in ["precondition(", "preconditionFailure(", "assert("] {
        #expect(!text.contains(word), "\(path): \(word)")
      }
    }
  }

  @Test("every tick and every safe state carries the promise that the compiler proves")
  func promises() throws {
    for (path, text) in try Self.sources(Self.all) where path != "Tactus/ControlLoop.swift" {
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
      for (number, line) in lines.enumerated() {
        guard line.contains("mutating func tick(_ tick: Tick)") || line.contains("mutating func safeState(_ tick: Tick")
        else { continue }
        let promised = number > 0 && lines[number - 1].contains("@_noLocks @_noAllocation")
        #expect(promised, "\(path):\(number + 1)")
      }
    }
  }
}
