import TestSupport
import Testing
import Video

@Suite("YOLOv8's output", .ownThread)
struct YOLOv8OutputTests {
  private let output = YOLOv8Output(labels: ["person", "cat"])
  private let square = Letterbox(pictureWidth: 640, pictureHeight: 640, side: 640)

  /// Channels first, as the network gives them, from candidates.
  private func tensor(_ candidates: [(x: Float, y: Float, width: Float, height: Float, scores: [Float])]) -> [Float] {
    (0..<6).flatMap { channel in
      candidates.map { candidate in
        switch channel {
        case 0: candidate.x
        case 1: candidate.y
        case 2: candidate.width
        case 3: candidate.height
        default: candidate.scores[channel - 4]
        }
      }
    }
  }

  private func isClose(_ box: DetectedBox, _ other: DetectedBox) -> Bool {
    zip([box.left, box.top, box.width, box.height], [other.left, other.top, other.width, other.height])
      .allSatisfy { abs($0 - $1) < 1e-5 }
  }

  @Test("one candidate above the threshold: its best class, its box in fractions of the picture")
  func one() throws {
    let found = try output.decode(
      tensor([(320, 160, 64, 32, [0.1, 0.8]), (100, 100, 10, 10, [0.24, 0.2])]), candidates: 2, in: square)
    try #require(found.count == 1)
    #expect((found[0].label, found[0].confidence) == ("cat", 0.8))
    #expect(isClose(found[0].box, DetectedBox(left: 0.45, top: 0.225, width: 0.1, height: 0.05)))
  }

  @Test("boxes upon each other: the most certain of each class stays, other classes and places stay beside it")
  func suppression() throws {
    let found = try output.decode(
      tensor([
        (100, 100, 50, 50, [0.6, 0]), (102, 101, 50, 50, [0.9, 0]), (101, 100, 50, 50, [0, 0.7]),
        (300, 300, 50, 50, [0.5, 0]),
      ]), candidates: 4, in: square)
    #expect(found.map(\.label) == ["person", "cat", "person"])
    #expect(found.map(\.confidence) == [0.9, 0.7, 0.5])
  }

  @Test("boxes with 44 % in common, and with 47 %: both stay, and one", arguments: [(119.5, 2), (118, 1)])
  func neighbours(x: Float, count: Int) throws {
    let found = try output.decode(
      tensor([(100, 100, 50, 50, [0.9, 0]), (x, 100, 50, 50, [0.8, 0])]), candidates: 2, in: square)
    #expect(found.count == count)
  }

  @Test("just at a threshold: certain enough, and not too much in common")
  func thresholds() throws {
    var output = output
    output.overlap = Float(1) / 3
    let found = try output.decode(
      tensor([(160, 320, 320, 640, [0.25, 0]), (320, 320, 320, 640, [0.25, 0])]), candidates: 2, in: square)
    #expect(found.map(\.confidence) == [0.25, 0.25])
  }

  @Test("as certain as another: the first class, the first candidate; more than certain: 1")
  func equals() throws {
    let found = try output.decode(
      tensor([(100, 100, 50, 50, [0.5, 0.5]), (101, 100, 50, 50, [0.5, 0]), (300, 300, 10, 10, [0, 1.5])]),
      candidates: 3, in: square)
    try #require(found.map(\.label) == ["cat", "person"])
    #expect(found[0].confidence == 1)
    #expect(isClose(found[1].box, DetectedBox(left: 75 / 640, top: 75 / 640, width: 50 / 640, height: 50 / 640)))
  }

  @Test("a tall picture in the square, and one so flat that it has no height there: bars at its sides, one pixel")
  func otherPictures() throws {
    let tall = Letterbox(pictureWidth: 720, pictureHeight: 1280, side: 640)
    #expect((tall.left, tall.top, tall.width, tall.height) == (140, 0, 360, 640))
    let box = try #require(tall.box(centreX: 500, centreY: 640, width: 72, height: 128))
    #expect(isClose(box, DetectedBox(left: 0.9, top: 0.9, width: 0.1, height: 0.1)))
    #expect(tall.box(centreX: 50, centreY: 320, width: 40, height: 40) == nil)
    #expect(tall.box(centreX: 590, centreY: 320, width: 40, height: 40) == nil)
    #expect(Letterbox(pictureWidth: 10_000, pictureHeight: 1, side: 64).height == 1)
    #expect(Letterbox(pictureWidth: 1, pictureHeight: 10_000, side: 64).width == 1)
  }

  @Test("a wide picture in the square: boxes are of the picture, cut at its edges; one in the bars is nothing")
  func letterbox() throws {
    let wide = Letterbox(pictureWidth: 1280, pictureHeight: 720, side: 640)
    #expect((wide.left, wide.top, wide.width, wide.height) == (0, 140, 640, 360))
    let found = try output.decode(
      tensor([(320, 320, 64, 36, [0.9, 0]), (0, 320, 128, 36, [0.8, 0]), (320, 50, 40, 40, [0.7, 0])]), candidates: 3,
      in: wide)
    try #require(found.count == 2)
    #expect(isClose(found[0].box, DetectedBox(left: 0.45, top: 0.45, width: 0.1, height: 0.1)))
    #expect(found[1].box.left == 0 && abs(found[1].box.width - 0.1) < 1e-6)
  }

  @Test("what is not a number, has no size or is not there: nothing; a tensor of another shape: an error")
  func nonsense() throws {
    let nothing = try output.decode(
      tensor([
        (.nan, 1, 1, 1, [0.9, 0]), (1, 1, 0, 1, [0.9, 0]), (1, 1, .infinity, 1, [0.9, 0]), (1, 1, 1, 1, [.nan, .nan]),
        (1, 1, 1, .infinity, [0.9, 0]), (1, 1, 1, 0, [0.9, 0]), (1, 1, -1, 1, [0.9, 0]), (1, 1, 1, -1, [0.9, 0]),
        (1, .nan, 1, 1, [0.9, 0]), (1, .infinity, 1, 1, [0.9, 0]), (1, 1, 1, 1, [.infinity, 0]),
      ]), candidates: 11, in: square)
    #expect(nothing.isEmpty)
    for count in [11, 13] {
      #expect(throws: YOLOv8Output.Failure.shape(expected: 12, got: count)) {
        try output.decode(Array(repeating: 0, count: count), candidates: 2, in: square)
      }
    }
    #expect(try output.decode([], candidates: 0, in: square).isEmpty)
  }

  @Test("a picture full of things: the most certain hundred")
  func limit() throws {
    typealias Candidate = (x: Float, y: Float, width: Float, height: Float, scores: [Float])
    var many: [Candidate] = []
    for row in 0..<20 {
      for column in 0..<20 {
        let score: Float = 0.3 + Float(row * 20 + column) / 1000
        many.append((Float(column) * 30 + 15, Float(row) * 30 + 15, 10, 10, [score, 0]))
      }
    }
    let found = try output.decode(tensor(many), candidates: 400, in: square)
    #expect(found.count == 100 && found[0].confidence == 0.3 + 399 / Float(1000))
  }
}
