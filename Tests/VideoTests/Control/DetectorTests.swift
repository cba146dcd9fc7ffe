import TestSupport
import Testing
import Video

@Suite("a detector's words", .ownThread)
struct DetectorTests {
  private let wide = Letterbox(pictureWidth: 320, pictureHeight: 240, side: 64)

  private func floats(_ values: [Float]) -> [UInt8] {
    values.flatMap { value in (0..<4).map { UInt8(truncatingIfNeeded: value.bitPattern >> UInt32($0 * 8)) } }
  }

  @Test("boxes, a tensor, a failure, byte by byte: as they were said")
  func answers() throws {
    let text = Array("boxes 2\n0.9 32 32 8 4 traffic light\n0.5 1 2 3 4 cat\n".utf8)
    var reader = DetectorReader()
    var found: [DetectorAnswer] = []
    for byte in text + Array("boxes 0\ntensor 5 2\n".utf8) + floats([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
      + Array("failed no model, no boxes\n".utf8)
    {
      reader.append([byte])
      while let answer = try reader.next() { found.append(answer) }
    }
    #expect(
      found == [
        .boxes([
          DetectorBox(label: "traffic light", confidence: 0.9, centreX: 32, centreY: 32, width: 8, height: 4),
          DetectorBox(label: "cat", confidence: 0.5, centreX: 1, centreY: 2, width: 3, height: 4),
        ]),
        .boxes([]), .tensor([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], channels: 5, candidates: 2),
        .failed("no model, no boxes"),
      ])
  }

  @Test(
    "what is no answer: said, and never a trap",
    arguments: [
      "hello\n", "boxes\n", "boxes -1\n", "boxes 1001\n", "boxes 1\n0.5 1 2 3 cat\n", "boxes 1\n0.5 1 2 3 4\n",
      "boxes 1\nhigh 1 2 3 4 cat\n",
      "tensor 5\n", "tensor 0 5\n", "tensor 5 -2\n", "tensor 9223372036854775807 2\n", "tensor 16777216 2\n",
      "\u{0}\u{1}\n", String(repeating: "x", count: 5000),
    ])
  func nonsense(text: String) {
    var reader = DetectorReader()
    reader.append(text.utf8)
    #expect(throws: DetectorFailure.self) { while try reader.next() != nil {} }
  }

  @Test("an answer that ends with the bytes that have come: at once; the most that may come: taken, and not one more")
  func limits() throws {
    func next(_ bytes: [UInt8]) throws -> DetectorAnswer? {
      var reader = DetectorReader()
      reader.append(bytes)
      return try reader.next()
    }
    #expect(try next(Array("tensor 1 2\n".utf8) + floats([1, 2])) == .tensor([1, 2], channels: 1, candidates: 2))
    #expect(try next(Array("tensor 5 0\n".utf8)) == .tensor([], channels: 5, candidates: 0))
    #expect(try next(Array("failed\n".utf8)) == .failed("it gives no reason"))
    for begun in ["tensor 16777216 1\n", "boxes 1000\n", String(repeating: "x", count: DetectorReader.longestLine)] {
      #expect(try next(Array(begun.utf8)) == nil)
    }
    let tooLong = [UInt8](repeating: UInt8(ascii: "x"), count: DetectorReader.longestLine + 1)
    #expect {
      try next(tooLong)
    } throws: { error in
      "\(error)".utf8.count < 200
    }
    #expect {
      try next(tooLong.dropLast(2) + [0x0A])
    } throws: { error in
      "\(error)".utf8.count < 200
    }
  }

  @Test("many boxes, and how certain: a hundred at most, from the threshold on, and none that is more than any number")
  func manyBoxes() throws {
    func found(_ confidences: [Float]) throws -> [Float] {
      let boxes = confidences.map {
        DetectorBox(label: "a", confidence: $0, centreX: 32, centreY: 32, width: 8, height: 8)
      }
      return try DetectorAnswer.boxes(boxes).objects(of: VideoDetector(), in: wide).map(\.confidence)
    }
    #expect(try found((0..<150).map { 0.3 + Float($0) / 1000 }) == (50..<150).reversed().map { 0.3 + Float($0) / 1000 })
    #expect(try found([0.25, 0.249, .infinity, .nan]) == [0.25])
  }

  @Test("boxes in pixels of the square: fractions of the picture, the most certain first, nothing below the threshold")
  func boxes() throws {
    let answer = DetectorAnswer.boxes([
      DetectorBox(label: "a", confidence: 0.3, centreX: 32, centreY: 32, width: 64, height: 48),
      DetectorBox(label: "b", confidence: 2, centreX: 16, centreY: 20, width: 32, height: 24),
      DetectorBox(label: "c", confidence: 0.2, centreX: 32, centreY: 32, width: 8, height: 8),
      DetectorBox(label: "d", confidence: 0.9, centreX: 32, centreY: 3, width: 8, height: 4),
    ])
    let found = try answer.objects(of: VideoDetector(), in: wide)
    #expect(
      found == [
        DetectedObject(label: "b", confidence: 1, box: DetectedBox(left: 0, top: 0, width: 0.5, height: 0.5)),
        DetectedObject(label: "a", confidence: 0.3, box: DetectedBox(left: 0, top: 0, width: 1, height: 1)),
      ])
  }

  @Test("a tensor: decoded with its labels, or with their numbers; of other classes than the labels: said")
  func tensor() throws {
    let answer = DetectorAnswer.tensor([32, 32, 32, 24, 0.1, 0.8], channels: 6, candidates: 1)
    var detector = VideoDetector()
    #expect(try answer.objects(of: detector, in: wide).map(\.label) == ["class 1"])
    detector.labels = ["person", "ball"]
    let found = try answer.objects(of: detector, in: wide)
    #expect(found.map(\.label) == ["ball"])
    #expect(found.first?.box == DetectedBox(left: 0.25, top: 0.25, width: 0.5, height: 0.5))
    let two = DetectorAnswer.tensor(
      [32, 34, 32, 32, 32, 32, 24, 24, 0.1, 0.1, 0.8, 0.7], channels: 6, candidates: 2)
    #expect(try two.objects(of: detector, in: wide).count == 1)
    detector.overlap = 0.95
    #expect(try two.objects(of: detector, in: wide).count == 2)
    detector.confidence = 0.9
    #expect(try answer.objects(of: detector, in: wide) == [])
    detector.labels = ["person"]
    #expect(throws: DetectorFailure("its output has 2 classes, and there are 1 labels")) {
      try answer.objects(of: detector, in: wide)
    }
    #expect(throws: DetectorFailure.self) {
      try DetectorAnswer.tensor([1, 2, 3, 4], channels: 4, candidates: 1).objects(of: VideoDetector(), in: wide)
    }
    #expect(throws: DetectorFailure("no model")) {
      try DetectorAnswer.failed("no model").objects(of: VideoDetector(), in: wide)
    }
  }
}
