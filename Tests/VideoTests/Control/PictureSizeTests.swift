import Testing
import Video

@Suite("a picture's size")
struct PictureSizeTests {
  private static let sizes = [
    PictureSize(1920, 1080), PictureSize(320, 240), PictureSize(800, 600), PictureSize(640, 360),
    PictureSize(1280, 720),
  ]

  @Test(
    "a camera's size to scale from: the smallest that covers, else the largest",
    arguments: [
      (PictureSize(640, 480), PictureSize(800, 600)), (PictureSize(800, 600), PictureSize(800, 600)),
      (PictureSize(801, 600), PictureSize(1280, 720)), (PictureSize(16, 16), PictureSize(320, 240)),
      (PictureSize(600, 700), PictureSize(1280, 720)), (PictureSize(3840, 2160), PictureSize(1920, 1080)),
    ])
  func nearest(wanted: PictureSize, expected: PictureSize) {
    #expect(wanted.nearest(of: Self.sizes) == expected)
    #expect(wanted.nearest(of: Self.sizes.reversed()) == expected)
    #expect(wanted.nearest(of: []) == nil)
  }

  @Test("a wide size and a tall one: the one of fewer pixels is the smaller")
  func pixels() {
    #expect(
      PictureSize(640, 480).nearest(of: [PictureSize(800, 1200), PictureSize(1000, 500)]) == PictureSize(1000, 500))
  }
}
