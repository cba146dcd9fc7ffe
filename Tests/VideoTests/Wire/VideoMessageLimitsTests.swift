import TestSupport
import Testing
import Video

@Suite("limits of the video process's messages", .ownThread)
struct VideoMessageLimitsTests {
  private func order(_ bytes: [UInt8]) throws -> VideoOrder? {
    var messages = VideoMessages()
    messages.append(bytes)
    return try messages.nextOrder()
  }

  private func report(_ bytes: [UInt8]) throws -> VideoReport? {
    var messages = VideoMessages()
    messages.append(bytes)
    return try messages.nextReport()
  }

  @Test("the longest message: awaited; one byte more, or none at all: an error at once")
  func length() throws {
    func header(_ count: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) } }
    #expect(try report(header(8 << 20)) == nil)
    #expect(throws: VideoMessageError.tooLong(8 << 20 + 1)) { try report(header(8 << 20 + 1)) }
    #expect(throws: VideoMessageError.truncated("kind")) { try report(header(0)) }
    let error = VideoMessageError.tooLong(8 << 20 + 1)
    #expect("\(error)" == "a message of 8388609 bytes, expected at most 8388608")
  }

  @Test("one message after another, each read before the next comes: each once")
  func one() throws {
    var messages = VideoMessages()
    for limit in [1, 2, 3] as [UInt64] {
      let order = VideoOrder.record(path: "/a", limitBytes: limit)
      messages.append(order.bytes)
      #expect(try messages.nextOrder() == order)
      #expect(try messages.nextOrder() == nil)
    }
  }

  @Test("a kind that is not known on this side: an error", arguments: [0, 9, 64, 78, 255] as [UInt8])
  func kind(kind: UInt8) {
    #expect(throws: VideoMessageError.unknownKind(kind)) { try order([1, 0, 0, 0, kind]) }
    #expect(throws: VideoMessageError.unknownKind(kind)) { try report([1, 0, 0, 0, kind]) }
  }

  @Test("a report cut short within, or with more behind its last field: an error, never a guess")
  func cut() {
    for whole in VideoMessagesTests.reports where whole.bytes.count < 1000 {
      for count in 5..<whole.bytes.count {
        var bytes = Array(whole.bytes.prefix(count))
        bytes[0...1] = [UInt8(truncatingIfNeeded: count - 4), UInt8(truncatingIfNeeded: (count - 4) >> 8)]
        #expect(throws: VideoMessageError.self) { try report(bytes) }
      }
      var bytes = whole.bytes + [0]
      bytes[0...1] = [UInt8(truncatingIfNeeded: bytes.count - 4), UInt8(truncatingIfNeeded: (bytes.count - 4) >> 8)]
      #expect(throws: VideoMessageError.trailing(1)) { try report(bytes) }
    }
  }

  @Test("an offer that is none, an answer that is too long, an end for no known reason: which field")
  func sessions() throws {
    var bytes = VideoOrder.open(session: 1, try WebRTCOffer.decode(Array(WebRTCOffers.chromium.utf8))).bytes
    // The first letter of the offer, behind length, kind, session and the offer's length.
    bytes[4 + 1 + 8 + 4] = 0x78
    #expect(throws: VideoMessageError.invalid("offer")) { try order(bytes) }
    let longest = String(repeating: "a", count: WebRTCOffer.limit)
    #expect(try report(VideoReport.answer(session: 1, longest).bytes) == .answer(session: 1, longest))
    #expect(throws: VideoMessageError.invalid("answer")) {
      try report(VideoReport.answer(session: 1, longest + "a").bytes)
    }
    var end = VideoReport.ended(session: 1, WebRTCEnd(.over, "left")).bytes
    end[4 + 1 + 8] = 3
    #expect(throws: VideoMessageError.invalid("kind")) { try report(end) }
  }

  @Test("settings that no camera could have: which field")
  func settings() throws {
    func refused(_ field: String, _ change: (inout VideoSettings) -> Void) {
      var settings = VideoSettings()
      change(&settings)
      #expect(throws: VideoMessageError.invalid(field)) { try order(VideoOrder.settings(settings).bytes) }
    }
    refused("size") { $0.width = 0 }
    refused("size") { $0.height = 0 }
    refused("rate") { $0.framesPerSecond = 0 }
    refused("rate") { $0.keyFrameInterval = 0 }
    refused("rate") { $0.picturesPerSecond = 0 }
    for rotation in [1, 89, 360] as [UInt16] { refused("rotation") { $0.rotation = rotation } }
    for side in [0, 33, 48] as [UInt16] { refused("detector's side") { $0.detector.side = side } }
    for share in [-0.01, 1.01, .infinity, .nan] as [Float] {
      refused("confidence") { $0.detector.confidence = share }
      refused("overlap") { $0.detector.overlap = share }
    }
    refused("detector's rate") { $0.detector.picturesPerSecond = 0 }
    for rotation in [0, 90, 180, 270] as [UInt16] {
      var settings = VideoSettings()
      settings.rotation = rotation
      #expect(try order(VideoOrder.settings(settings).bytes) == .settings(settings))
    }
  }

  @Test("a byte that is no truth value, no UTF-8, no word of its kind: which field")
  func bytes() {
    var want = VideoOrder.want(fragments: true, pictures: false).bytes
    want[want.count - 1] = 2
    #expect(throws: VideoMessageError.invalid("pictures")) { try order(want) }
    var record = VideoOrder.record(path: "ab", limitBytes: 1).bytes
    record[9] = 0xFF
    #expect(throws: VideoMessageError.invalid("path")) { try order(record) }
    var settings = VideoOrder.settings(VideoSettings()).bytes
    settings[5] = UInt8(VideoSource.allCases.count)
    #expect(throws: VideoMessageError.invalid("source")) { try order(settings) }
  }

  @Test("an object's confidence and place: from 0 to 1, and nothing else")
  func objects() throws {
    for value in [0, 1, -0.001, 1.001, .nan, .infinity] as [Float] {
      var detection = VideoDetection(.running)
      detection.objects = [
        DetectedObject(label: "cat", confidence: 1, box: DetectedBox(left: 0, top: 0, width: value, height: 1))
      ]
      let bytes = VideoReport.detection(detection).bytes
      if value == 0 || value == 1 {
        #expect(try report(bytes) == .detection(detection))
      } else {
        #expect(throws: VideoMessageError.invalid("box")) { try report(bytes) }
      }
    }
  }

  @Test("more than a list may have: as many as it may")
  func lists() throws {
    let camera = VideoCamera(
      name: "n", kind: "v4l2", device: "/dev/video0", location: "", modes: Array(repeating: "m", count: 256))
    guard case .cameras(let cameras) = try report(VideoReport.cameras(Array(repeating: camera, count: 256)).bytes)
    else {
      return #expect(Bool(false), "no list of cameras")
    }
    #expect(cameras.count == 255 && cameras.allSatisfy { $0.modes.count == 255 })

    var detection = VideoDetection(.running)
    let object = DetectedObject(label: "", confidence: 1, box: DetectedBox(left: 0, top: 0, width: 1, height: 1))
    detection.objects = Array(repeating: object, count: 1001)
    guard case .detection(let found) = try report(VideoReport.detection(detection).bytes) else {
      return #expect(Bool(false), "no detection")
    }
    #expect(found.objects.count == 1000)

    var settings = VideoSettings()
    settings.detector.labels = Array(repeating: "", count: 65_536)
    guard case .settings(let read) = try order(VideoOrder.settings(settings).bytes) else {
      return #expect(Bool(false), "no settings")
    }
    #expect(read.detector.labels.count == 65_535)
  }
}

@Suite("boxes of objects", .ownThread)
struct DetectedBoxTests {
  @Test("what two boxes have in common: of both together, nothing where they only touch, are apart or are empty")
  func overlap() {
    let box = DetectedBox(left: 0, top: 0, width: 0.5, height: 0.5)
    func common(_ left: Float, _ top: Float, _ size: Float) -> Float {
      box.overlap(DetectedBox(left: left, top: top, width: size, height: size))
    }
    #expect(common(0, 0, 0.5) == 1)
    #expect(common(0, 0, 0.25) == 0.25)
    #expect(common(0.25, 0, 0.5) == Float(1) / 3)
    #expect(common(0, 0.25, 0.5) == Float(1) / 3)
    for (left, top) in [(0.5, 0), (0, 0.5), (0.75, 0), (0, 0.75), (0.75, 0.75)] as [(Float, Float)] {
      #expect(common(left, top, 0.25) == 0)
    }
    let nothing = DetectedBox(left: 0, top: 0, width: 0, height: 0)
    #expect(nothing.overlap(nothing) == 0)
  }
}
