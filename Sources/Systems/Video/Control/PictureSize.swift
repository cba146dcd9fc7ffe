/// A picture's size in pixels.
public struct PictureSize: Equatable, Sendable {
  public var width: Int
  public var height: Int

  public init(_ width: Int, _ height: Int) { (self.width, self.height) = (width, height) }

  /// Of the sizes that a camera has the one to scale from: the smallest that is as wide and as high as this; where none is, the
  /// largest. Nil: it has none.
  public func nearest(of sizes: [PictureSize]) -> PictureSize? {
    func smaller(_ one: PictureSize, _ other: PictureSize) -> Bool { one.pixels < other.pixels }
    return sizes.filter { $0.width >= width && $0.height >= height }.min(by: smaller) ?? sizes.max(by: smaller)
  }

  private var pixels: Int { width * height }
}
