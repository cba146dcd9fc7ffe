import DaemonSupport
import Glibc
import Testing
import Video

@testable import TactusDaemon
@testable import VideoDaemon

@Suite("video configuration")
struct VideoConfigTests {
  private func read(_ text: String, environment: [String: String] = [:]) throws -> Configuration {
    try Configuration.read(YAMLFile(text: text, name: "c.yaml"), environment: environment)
  }

  private func errors(_ text: String) -> [String] {
    do {
      _ = try read(text)
      return []
    } catch {
      return (error as? ConfigErrors)?.errors.map(\.description) ?? ["\(error)"]
    }
  }

  @Test("neither camera nor video: no video; one of them: video with its defaults")
  func presence() throws {
    #expect(try read("motors: { }").video == nil)
    #expect(try read("camera: { }").video != nil)
    let video = try #require(try read("video: { }").video)
    #expect(video.settings == VideoSettings() && video.wiring.recordFolder == nil)
  }

  @Test("every key: in the settings that the video process gets")
  func everyKey() throws {
    let video = try #require(
      try read(
        """
        network: { bind_address: 0.0.0.0, rtsp_port: 9000 }
        camera:
          source: pipeline
          device: /dev/video3
          pipeline: videotestsrc
          resolution: [1280, 720]
          framerate: 25
          encoder: openh264enc
          bitrate: 4_000_000
          min_bitrate: 300_000
          min_framerate: 5
          key_frame_s: 2
          rotation: 90
        video:
          bind_address: 127.0.0.2
          user: robot
          password: ${CAMERA_PASSWORD}
          viewers: 3
          mjpeg_rate_hz: 5
          clock: true
          record_dir: /tmp
          record_limit_mb: 10
          detector: { model: /m.onnx, command: [a, b], labels_file: /l, input_px: 320, rate_hz: 2, confidence: 0.5, overlap: 0.25, always: true }
        """, environment: ["CAMERA_PASSWORD": "a long secret"]
      ).video)
    var settings = VideoSettings()
    settings.source = .pipeline
    settings.device = "/dev/video3"
    settings.pipeline = "videotestsrc"
    (settings.width, settings.height, settings.framesPerSecond) = (1280, 720, 25)
    settings.encoder = .openh264enc
    (settings.bitsPerSecond, settings.lowestBitsPerSecond, settings.slowestFramesPerSecond) = (4_000_000, 300_000, 5)
    settings.keyFrameInterval = 50
    settings.rotation = 90
    (settings.bindAddress, settings.port) = ("127.0.0.2", 9000)
    (settings.user, settings.password) = ("robot", "a long secret")
    (settings.viewerLimit, settings.picturesPerSecond, settings.drawsClock) = (3, 5, true)
    settings.detector.command = ["a", "b"]
    (settings.detector.side, settings.detector.picturesPerSecond) = (320, 2)
    (settings.detector.confidence, settings.detector.overlap, settings.detector.isAlwaysOn) = (0.5, 0.25, true)
    #expect((video.wiring.detector.model, video.wiring.detector.labelsFile) == ("/m.onnx", "/l"))
    #expect(video.settings == settings)
    #expect((video.wiring.recordFolder, video.rules.recordLimitBytes) == ("/tmp", 10_000_000))
    #expect(!video.summary.contains("secret") && video.summary.contains("with a password"))
  }

  @Test("a port that everyone reaches without a password: said")
  func openToAll() throws {
    let video = try #require(try read("network: { bind_address: 0.0.0.0 }\ncamera: { }").video)
    #expect(video.summary.contains("NO PASSWORD"))
    #expect(try read("camera: { }").video?.summary.contains("NO PASSWORD") == false)
  }

  @Test(
    "what cannot be: an error with its key",
    arguments: [
      ("camera: { source: pipeline }", "camera.pipeline: expected GStreamer elements"),
      ("camera: { resolution: [641, 480] }", "camera.resolution: expected even numbers"),
      ("video: { detector: { input_px: 100 } }", "video.detector.input_px: expected a multiple of 32, got 100"),
      ("video: { user: a }", "video.user: expected video.password or video.password_file with it, got none"),
      ("video: { password: a }", "video.password: expected video.user with it, got none"),
      (
        "video: { user: u, password: a, password_file: /b }",
        "video.password_file: expected one of video.password and video.password_file, got both"
      ),
      (
        "network: { http_port: 8000, rtsp_port: 8000 }\nvideo: { }",
        "network.rtsp_port: expected one owner of TCP port 8000, got two: line 1: network.http_port has it"
      ),
    ])
  func refusals(text: String, expected: String) {
    let found = errors(text)
    #expect(found.count == 1 && found[0].contains(expected), "\(found)")
  }

  @Test("the folder of recordings is a named pipe: refused at once; one that is not there yet is taken")
  func recordFolder() throws {
    let folder = try TemporaryFolder()
    let pipe = folder.path("pipe")
    try #require(mkfifo(pipe, 0o600) == 0)
    #expect(
      errors("video: { record_dir: \(pipe) }").first?.contains(
        "video.record_dir: expected a folder, got something else at \(pipe)") == true)
    #expect(errors("video: { record_dir: \(folder.path("later")) }").isEmpty)
  }
}
