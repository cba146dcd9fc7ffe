/// A QR code (ISO/IEC 18004) of a text: byte mode, error correction level M, versions 1…9.
public struct QRCode: Sendable, Equatable {
  /// The greatest length of the text in bytes.
  public static let greatestLength = 180

  /// The modules by row and column, `true` for dark, without the margin of four light modules that a reader needs.
  public let modules: [[Bool]]

  /// Makes the code of a text, with the mask that the standard's penalties prefer. Returns `nil` for a text of more than
  /// `greatestLength` bytes.
  public init?(of text: String) {
    let bytes = Array(text.utf8)
    guard let size = QRSize.smallest(for: bytes.count) else { return nil }
    let words = Self.interleaved(Self.data(bytes, size), size)
    let plain = QRMatrix(size, words: words)
    var best = plain.masked(0)
    for mask in 1..<8 {
      let other = plain.masked(mask)
      if other.penalty < best.penalty { best = other }
    }
    modules = best.modules
  }

  /// Returns the data codewords: mode, length, text, terminator, padding.
  private static func data(_ bytes: [UInt8], _ size: QRSize) -> [UInt8] {
    let length = UInt8(truncatingIfNeeded: bytes.count)
    var data = [0x40 | length >> 4]
    var low = length & 15
    for byte in bytes {
      data.append(low << 4 | byte >> 4)
      low = byte & 15
    }
    data.append(low << 4)
    var pad: UInt8 = 0xEC
    while data.count < size.dataWords {
      data.append(pad)
      pad ^= 0xEC ^ 0x11
    }
    return data
  }

  /// Returns the codewords in the order in which they are placed: the first of every block, the second of every block, …
  private static func interleaved(_ data: [UInt8], _ size: QRSize) -> [UInt8] {
    let (short, longer) = data.count.quotientAndRemainder(dividingBy: size.blocks)
    var blocks: [ArraySlice<UInt8>] = []
    var rest = data[...]
    for index in 0..<size.blocks {
      let block = rest.prefix(short + (index >= size.blocks - longer ? 1 : 0))
      blocks.append(block)
      rest = rest.dropFirst(block.count)
    }
    let corrections = blocks.map { Self.correction(of: $0, count: size.correctionWords) }
    var words: [UInt8] = []
    for column in 0...short {
      for block in blocks where column < block.count { words.append(block[block.startIndex + column]) }
    }
    for column in 0..<size.correctionWords { words += corrections.map { $0[column] } }
    return words
  }

  // MARK: Reed-Solomon over GF(256), polynomial 0x11D

  private static func product(_ one: UInt8, _ other: UInt8) -> UInt8 {
    var result: UInt8 = 0
    for bit in (0..<8).reversed() {
      result = result << 1 ^ (result >> 7) &* 0x1D
      if other >> bit & 1 == 1 { result ^= one }
    }
    return result
  }

  /// Returns the remainder of the division by the generator polynomial of this degree.
  private static func correction(of block: ArraySlice<UInt8>, count: Int) -> [UInt8] {
    var generator = [UInt8](repeating: 0, count: count - 1) + [1]
    var root: UInt8 = 1
    for _ in 0..<count {
      for index in 0..<count {
        generator[index] = product(generator[index], root) ^ (index + 1 < count ? generator[index + 1] : 0)
      }
      root = product(root, 2)
    }
    var remainder = [UInt8](repeating: 0, count: count)
    for byte in block {
      let factor = byte ^ remainder.removeFirst()
      remainder.append(0)
      for index in 0..<count { remainder[index] ^= product(generator[index], factor) }
    }
    return remainder
  }
}

/// One version of the code at error correction level M (ISO/IEC 18004, table 9).
struct QRSize {
  let version: Int
  /// The correction codewords of one block.
  let correctionWords: Int
  let blocks: Int
  /// The data codewords of all blocks.
  let dataWords: Int

  /// The modules of one side.
  var side: Int { 17 + 4 * version }

  private static let all = [
    (10, 1, 16), (16, 1, 28), (26, 1, 44), (18, 2, 64), (24, 2, 86), (16, 4, 108), (18, 4, 124), (22, 4, 154),
    (22, 5, 182),
  ].enumerated().map { QRSize(version: $0 + 1, correctionWords: $1.0, blocks: $1.1, dataWords: $1.2) }

  /// Returns the smallest version that holds a text of `bytes` bytes, or `nil` if none does.
  static func smallest(for bytes: Int) -> QRSize? { all.first { bytes + 2 <= $0.dataWords } }
}
