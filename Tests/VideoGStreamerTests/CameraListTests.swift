import Foundation
import TestSupport
import Testing

/// `tactus-video cameras` with a `tactus-cameras` of the test's beside it.
@Suite("the list of cameras", .ownThread)
struct CameraListTests {
  private struct Camera: Decodable, Equatable {
    var name: String
    var kind: String
    var device: String
    var location: String
    var modes: [String]
  }

  /// What libcamera is said to know; V4L2's own stay out, which the machine may have.
  private func libcameraCameras(_ script: String?) throws -> [Camera] {
    let folder = FileManager.default.temporaryDirectory.appending(path: "cameras-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let program = folder.appending(path: "tactus-video")
    try RunnableFile.copy(VideoChildProcess.executable, to: program.path)
    if let script { try RunnableFile.write("#!/bin/sh\n\(script)", to: folder.appending(path: "tactus-cameras").path) }
    let process = Process()
    let output = Pipe()
    process.executableURL = program
    process.arguments = ["cameras"]
    process.environment = ProcessInfo.processInfo.environment.merging(["XDG_CACHE_HOME": VideoChildProcess.caches]) {
      $1
    }
    process.standardOutput = output
    try process.run()
    let bytes = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return try bytes.split(separator: 0x0A).map { try JSONDecoder().decode(Camera.self, from: $0) }
      .filter { $0.kind == "libcamera" && !$0.device.hasPrefix("/base") }
  }

  @Test("libcamera's cameras: model, location and modes, as its own program says them")
  func libcamera() throws {
    let cameras = try libcameraCameras(
      #"printf 'Virtual0\timx219 "wide"\tback\traw 640×480 NV12\traw 1280×720 NV12\nnonsense\nVirtual1\t\t\n'"#)
    #expect(
      cameras == [
        Camera(
          name: "imx219 \"wide\"", kind: "libcamera", device: "Virtual0", location: "back",
          modes: ["raw 640×480 NV12", "raw 1280×720 NV12"]),
        Camera(name: "Virtual1", kind: "libcamera", device: "Virtual1", location: "", modes: []),
      ])
  }

  @Test("a program that is not there, or fails, or is killed: what GStreamer knows, and no end")
  func withoutProgram() throws {
    for script in [nil, "printf 'Virtual0\\tx\\tback\\n'; exit 1", "printf 'Virtual0\\tx\\tback\\n'; kill -9 $$"] {
      #expect(try libcameraCameras(script) == [])
    }
  }
}
