import TestSupport
import Testing

@testable import TactusDaemon
@testable import VideoDaemon

@Suite("doctor of the video", .ownThread)
struct VideoDoctorTests {
  @Test("cameras: listed with where they are; a detector whose model is not there: told")
  func video() throws {
    let camera = CameraReport(
      name: "imx219", kind: "libcamera", device: "/base/soc/i2c0mux/i2c@1/imx219@10", location: "back",
      modes: ["raw", "jpeg"])
    func doctor(_ text: String = "camera: { }", _ folders: [String: [String]] = [:]) throws -> Doctor {
      let pi = goodPi().changed { $0.list = { folders[$0] ?? [] } }
      return Doctor(
        machine: pi, configuration: try Configuration.read(YAMLFile(text: text, name: "c.yaml"), environment: [:]))
    }
    #expect(
      try doctor().cameras([camera]).found
        == "imx219 (libcamera /base/soc/i2c0mux/i2c@1/imx219@10, back, 2 modes)")
    #expect(try doctor().cameras([]).found == "none")
    #expect(Doctor(machine: goodPi()).cameras(nil).status == .ok)
    #if Video
      #expect(try doctor().cameras(nil).status == .warn)
      #expect(try doctor().detector().isEmpty)
      let text = "video: { detector: { command: [a], model: /models/cat.onnx } }"
      #expect(try doctor(text).detector().map(\.found) == ["/models/cat.onnx is not there"])
      #expect(try doctor(text, ["/models": ["cat.onnx"]]).detector().map(\.status) == [.ok])
    #endif
  }
}
