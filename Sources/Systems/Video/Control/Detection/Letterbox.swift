/// The placement of a picture in a detector's square input: scaled to fit, centred, with bars on two sides.
public struct Letterbox: Sendable, Hashable {
  /// The side length of the input in pixels.
  public let side: Int
  /// The left edge of the picture within the input, in pixels.
  public let left: Int
  /// The upper edge of the picture within the input, in pixels.
  public let top: Int
  /// The width of the picture within the input, in pixels.
  public let width: Int
  /// The height of the picture within the input, in pixels.
  public let height: Int

  /// Computes the placement of pictures of one size.
  ///
  /// - Parameters:
  ///   - width: the width of the picture in pixels, positive, as must be the height.
  public init(pictureWidth: Int, pictureHeight: Int, side: Int) {
    precondition(pictureWidth > 0 && pictureHeight > 0 && side > 0, "pictures have a size")
    let longer = max(pictureWidth, pictureHeight)
    self.side = side
    width = max(1, pictureWidth * side / longer)
    height = max(1, pictureHeight * side / longer)
    left = (side - width) / 2
    top = (side - height) / 2
  }

  /// Returns the box in the picture for a box in pixels of the input given by its centre. The result is clipped to the picture, and `nil`
  /// if the box lies in the bars.
  public func box(centreX: Float, centreY: Float, width: Float, height: Float) -> DetectedBox? {
    guard centreX.isFinite, centreY.isFinite, width.isFinite, height.isFinite else { return nil }
    func edge(_ value: Float, _ start: Int, _ length: Int) -> Float {
      min(1, max(0, (value - Float(start)) / Float(length)))
    }
    let left = edge(centreX - width / 2, self.left, self.width)
    let right = edge(centreX + width / 2, self.left, self.width)
    let top = edge(centreY - height / 2, self.top, self.height)
    let bottom = edge(centreY + height / 2, self.top, self.height)
    guard right > left, bottom > top else { return nil }
    return DetectedBox(left: left, top: top, width: right - left, height: bottom - top)
  }
}
