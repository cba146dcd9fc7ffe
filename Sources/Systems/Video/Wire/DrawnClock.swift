/// A clock drawn into pictures and read back from them by a program, to measure how long a picture took to arrive.
///
/// The clock shows the 32 lowest bits of a number of milliseconds, and their complement as a check, as two rows of 32 squares in the
/// upper left corner; white is 1, the highest bit is on the left. Squares of 16 pixels survive any encoder whose pictures a person would
/// watch.
public enum DrawnClock {
  public static let square = 16
  public static let bits = 32
  public static let width = bits * square
  public static let height = 2 * square

  /// Draws the clock into a plane of brightness. A picture that is too small is left unchanged.
  public static func draw(
    _ milliseconds: UInt32, into plane: UnsafeMutableRawBufferPointer, stride: Int, width: Int, height: Int
  ) {
    guard width >= Self.width, height >= Self.height, plane.count >= stride * Self.height else { return }
    for row in 0..<Self.height {
      let word = row < square ? milliseconds : ~milliseconds
      for bit in 0..<bits {
        let isSet = word >> UInt32(clamping: bits - 1 - bit) & 1 == 1
        let start = row * stride + bit * square
        for column in start..<start + square { plane[column] = isSet ? 235 : 16 }
      }
    }
  }

  /// Reads the clock of a picture. Returns the number, or `nil` if the picture has no clock or the clock cannot be read.
  ///
  /// - Parameter brightness: returns the brightness of the pixel in this column and row.
  public static func read(brightness: (_ column: Int, _ row: Int) -> UInt8) -> UInt32? {
    var words: [UInt32] = [0, 0]
    for row in 0..<2 {
      for bit in 0..<bits {
        let value = brightness(bit * square + square / 2, row * square + square / 2)
        words[row] = words[row] << 1 | (value >= 128 ? 1 : 0)
      }
    }
    return words[0] == ~words[1] ? words[0] : nil
  }
}
