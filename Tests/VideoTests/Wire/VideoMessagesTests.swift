import Tactus
import TestSupport
import Testing
import Video

@Suite("messages of the video process", .ownThread)
struct VideoMessagesTests {
  private static let settings: VideoSettings = {
    var settings = VideoSettings()
    settings.source = .pipeline
    settings.device = "/base/soc/i2c0mux/imx219@10"
    settings.pipeline = "videotestsrc ! identity"
    settings.encoder = .openh264enc
    settings.rotation = 270
    settings.lowestBitsPerSecond = 100_000
    settings.slowestFramesPerSecond = 5
    settings.drawsClock = true
    settings.user = "robot"
    settings.password = "pässword"
    settings.detector.command = ["tactus-detect", "yolov8n.onnx"]
    settings.detector.labels = ["person", "cat"]
    settings.detector.side = 320
    settings.detector.picturesPerSecond = 3
    settings.detector.confidence = 0.5
    settings.detector.overlap = 0.25
    settings.detector.isAlwaysOn = true
    return settings
  }()

  static let orders: [VideoOrder] = [
    .settings(settings), .settings(VideoSettings()), .want(fragments: true, pictures: false),
    .record(path: "/var/lib/tactus/a.mp4", limitBytes: .max), .stopRecording, .listCameras,
    .open(session: 1 << 63 | 5, try! WebRTCOffer.decode(Array(WebRTCOffers.chromium.utf8))), .close(session: .max),
    .waits(milliseconds: 1_500),
  ]

  static let reports: [VideoReport] = {
    var statistics = VideoStatistics()
    statistics.frames = 1
    statistics.keyFrames = 2
    statistics.encodedBytes = .max
    statistics.pictures = 4
    statistics.framesLastSecond = 5
    statistics.bitsLastSecond = 6
    statistics.encodeMean = 7
    statistics.encodeWorst = 8
    statistics.firstFrame = 9
    statistics.viewers = 10
    statistics.viewersEver = 11
    statistics.viewersRefused = 12
    statistics.starts = 13
    statistics.failures = 14
    statistics.fragmentsDropped = 15
    statistics.rateBits = 16
    statistics.rateFrames = 17
    statistics.rateCause = .rising
    statistics.lostThousandths = 18
    statistics.waitMilliseconds = 19
    var detection = VideoDetection(.running)
    (detection.cause, detection.duration, detection.pictures, detection.failures) = ("slow", 1, 2, 3)
    detection.objects = [
      DetectedObject(label: "cat", confidence: 0.5, box: DetectedBox(left: 0, top: 0.25, width: 1, height: 0.125))
    ]
    return [
      .hello, .detection(detection), .detection(VideoDetection(.starting)),
      .choice(VideoChoice(source: "a", sourceReason: "b", encoder: "c", encoderReason: "d")),
      .camera(VideoCameraState(.failed, cause: "gone", retryMilliseconds: 500)), .camera(VideoCameraState(.idle)),
      .rtsp(VideoRTSPState(port: 8554)), .rtsp(VideoRTSPState(port: 0, cause: "taken")), .statistics(statistics),
      .initialisation(codec: "avc1.42C01F", bytes: [1, 2, 3]),
      .fragment(isKey: true, bytes: Array(repeating: 7, count: 70_000)),
      .picture([]), .recording(VideoRecording(.full, path: "/a", bytes: 5, cause: "")),
      .cameras([VideoCamera(name: "n", kind: "v4l2", device: "/dev/video0", location: "", modes: ["raw", "jpeg"])]),
      .cameras([]), .answer(session: .max, "v=0\r\n"),
      .ended(session: 1, WebRTCEnd(.unavailable, "apt install gstreamer1.0-nice")),
    ]
  }()

  @Test("every order: comes back as it was, also byte by byte", arguments: orders)
  func order(order: VideoOrder) throws {
    var messages = VideoMessages()
    for byte in order.bytes.dropLast() {
      messages.append([byte])
      #expect(try messages.nextOrder() == nil)
    }
    messages.append([order.bytes.last!] + order.bytes)
    #expect(try messages.nextOrder() == order)
    #expect(try messages.nextOrder() == order)
    #expect(try messages.nextOrder() == nil)
  }

  @Test("every report: comes back as it was", arguments: reports.indices)
  func report(index: Int) throws {
    let report = Self.reports[index]
    var messages = VideoMessages()
    messages.append(report.bytes)
    messages.append(report.bytes)
    #expect(try messages.nextReport() == report)
    #expect(try messages.nextReport() == report)
    #expect(try messages.nextReport() == nil)
  }

  @Test("a message cut short within, or with more behind its last field: an error, never a guess")
  func cut() {
    for order in Self.orders {
      let payload = Array(order.bytes.dropFirst(4))
      for count in 0..<payload.count {
        var messages = VideoMessages()
        messages.append(framed(Array(payload.prefix(count))))
        #expect(throws: VideoMessageError.self) { try messages.nextOrder() }
      }
      var messages = VideoMessages()
      messages.append(framed(payload + [0]))
      #expect(throws: VideoMessageError.trailing(1)) { try messages.nextOrder() }
    }
  }

  @Test("a length beyond the limit: an error before anything is kept")
  func tooLong() {
    var messages = VideoMessages()
    messages.append([0xFF, 0xFF, 0xFF, 0x7F])
    #expect(throws: VideoMessageError.tooLong(0x7FFF_FFFF)) { try messages.nextReport() }
  }

  @Test("any bytes, seeded: an error or a message, and never a trap")
  func anything() {
    let seed: UInt64 = 7
    var random = SplitMix64(seed: seed)
    for _ in 0..<20_000 {
      var payload = (0..<Int(random.next() % 40)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      if !payload.isEmpty, random.next() % 2 == 0 {
        payload[0] = UInt8(random.next() % 2 == 0 ? 1 + random.next() % 5 : 65 + random.next() % 10)
      }
      var orders = VideoMessages()
      orders.append(framed(payload))
      _ = try? orders.nextOrder()
      var reports = VideoMessages()
      reports.append(framed(payload))
      _ = try? reports.nextReport()
    }
  }

  private func framed(_ payload: [UInt8]) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: payload.count >> ($0 * 8)) } + payload
  }

  @Test("a camera of libcamera's: its line's fields; without a model its other name; less is no camera")
  func libcameraLine() {
    #expect(
      VideoCamera(
        libcameraLine: "/base/soc/i2c0mux/i2c@1/imx219@10\timx219\tback\traw 640×480 NV12\tbayer 1640×1232 SBGGR10")
        == VideoCamera(
          name: "imx219", kind: "libcamera", device: "/base/soc/i2c0mux/i2c@1/imx219@10", location: "back",
          modes: ["raw 640×480 NV12", "bayer 1640×1232 SBGGR10"]))
    #expect(
      VideoCamera(libcameraLine: "Virtual0\t\t")
        == VideoCamera(name: "Virtual0", kind: "libcamera", device: "Virtual0", location: "", modes: []))
    for line in ["", "Virtual0", "Virtual0\timx219", "\timx219\tback"] {
      #expect(VideoCamera(libcameraLine: Substring(line)) == nil)
    }
  }
}
