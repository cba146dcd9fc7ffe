extension FuzzedDecoder {
  static let video = [
    FuzzedDecoder(name: "video-orders", longest: 1024) { bytes in
      every(bytes, next: nextOrder) { order in
        if case .settings(let settings) = order {
          expect(settings.width > 0 && settings.height > 0 && settings.rotation % 90 == 0, "\(order)")
          expect((0...1).contains(settings.detector.confidence), "\(order)")
          expect((0...1).contains(settings.detector.overlap), "\(order)")
        }
        return order.bytes
      }
    },
    FuzzedDecoder(name: "video-reports", longest: 1024) { bytes in
      every(bytes, next: nextReport) { $0.bytes }
    },
    FuzzedDecoder(name: "camera-line", longest: 256) { bytes in
      let line = String(decoding: bytes, as: UTF8.self)
      guard let camera = VideoCamera(libcameraLine: line[...]) else { return }
      expect(!camera.device.isEmpty && !camera.name.isEmpty, "\(camera)")
    },
    FuzzedDecoder(name: "webrtc-offer", longest: 2048) { bytes in
      guard let offer = try? WebRTCOffer.decode(Array(bytes)) else { return }
      expect((96...127).contains(offer.payloadType), "\(offer.payloadType)")
      // The words within another line are no candidate.
      let isLeft = offer.text.split(whereSeparator: \.isNewline).contains { $0.hasPrefix("a=candidate:") }
      expect(!isLeft, "a candidate is left in \(offer.text)")
      // As the video process reads it again.
      expect((try? WebRTCOffer.decode(Array(offer.text.utf8))) == offer, "\(offer.text)")
    },
    FuzzedDecoder(name: "codec-configuration", longest: 64) { bytes in
      let configuration = Array(bytes)
      let codec = FragmentedMP4.codec(configuration: configuration)
      expect(codec.map { $0.utf8.count == 11 } ?? true, "\(String(describing: codec))")
      let file = FragmentedMP4.initialisation(configuration: configuration, width: 640, height: 480)
      expect(isBoxes(file[...]), "an initialisation is not made of boxes")
    },
    FuzzedDecoder(name: "detector-answers", longest: 512) { bytes in
      var input = Bytes(bytes)
      let letterbox = Letterbox(
        pictureWidth: 1 + Int(input.next()), pictureHeight: 1 + Int(input.next()), side: 32 + 32 * Int(input.next()))
      var reader = DetectorReader()
      reader.append(input.remaining())
      while let answer = try? reader.next() {
        guard let objects = try? answer.objects(of: VideoDetector(), in: letterbox) else { continue }
        expect(objects.count <= 100, "\(objects.count) objects")
        // As the video process tells the daemon, which takes nothing beyond 0…1.
        var detection = VideoDetection(.running)
        detection.objects = objects
        var messages = VideoMessages()
        messages.append(VideoReport.detection(detection).bytes)
        expect((try? messages.nextReport()) == .detection(detection), "\(objects)")
      }
    },
  ]

  private static func nextOrder(_ messages: inout VideoMessages) throws(VideoMessageError) -> VideoOrder? {
    try messages.nextOrder()
  }

  private static func nextReport(_ messages: inout VideoMessages) throws(VideoMessageError) -> VideoReport? {
    try messages.nextReport()
  }

  /// Each message of a stream in two pieces, cut where the first byte says, and each that was read written and read once more.
  private static func every<Message: Equatable>(
    _ bytes: UnsafeRawBufferPointer,
    next: (inout VideoMessages) throws(VideoMessageError) -> Message?, check: (Message) -> [UInt8]
  ) {
    guard let first = bytes.first else { return }
    let stream = bytes.dropFirst()
    let (before, after) = (stream.prefix(Int(first)), stream.dropFirst(Int(first)))
    var messages = VideoMessages()
    for piece in [before, after] {
      messages.append(piece)
      while let message = try? next(&messages) {
        var again = VideoMessages()
        again.append(check(message))
        let read = try? next(&again)
        expect(read == message, "\(message) became \(String(describing: read))")
      }
    }
  }

  /// Whether it is a row of boxes of ISO/IEC 14496-12, each as long as it says.
  private static func isBoxes(_ bytes: ArraySlice<UInt8>) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      let size = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      guard size >= 8, size <= rest.count else { return false }
      rest = rest.dropFirst(size)
    }
    return true
  }
}
