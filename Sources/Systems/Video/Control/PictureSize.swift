/// The size of a picture in pixels.
public struct PictureSize: Equatable, Sendable {
  public var width: Int
  public var height: Int

  public init(_ width: Int, _ height: Int) { (self.width, self.height) = (width, height) }

  /// Returns the camera size to scale from: the smallest that is at least as wide and as high as this size, or the largest if none is.
  /// Returns `nil` if `sizes` is empty.
  public func nearest(of sizes: [PictureSize]) -> PictureSize? {
    func smaller(_ one: PictureSize, _ other: PictureSize) -> Bool { one.pixels < other.pixels }
    return sizes.filter { $0.width >= width && $0.height >= height }.min(by: smaller) ?? sizes.max(by: smaller)
  }

  private var pixels: Int { width * height }
}
