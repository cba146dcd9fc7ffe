/// One decoder as libFuzzer sees it.
struct FuzzedDecoder: Sendable {
  let name: String
  /// Bytes of the longest input.
  let longest: Int
  /// Takes any bytes, and traps if what becomes of them is wrong.
  let take: @Sendable (UnsafeRawBufferPointer) -> Void

  static let all: [FuzzedDecoder] =
    robot + leg + pump + plants + video + boards + texts + guards + spawner + daemon + client
}

/// Traps, which libFuzzer reports with the input, if `condition` does not hold.
func expect(_ condition: @autoclosure () -> Bool, _ message: @autoclosure () -> String) {
  if !condition() { fatalError(message()) }
}

/// What `encode` writes into a buffer of `capacity` bytes.
func encoded(_ capacity: Int, _ encode: (UnsafeMutableRawBufferPointer) -> Int) -> [UInt8] {
  [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
    count = encode(UnsafeMutableRawBufferPointer(buffer))
  }
}

/// A piece of the input for each of several decisions.
struct Bytes {
  private var rest: UnsafeRawBufferPointer.SubSequence

  init(_ bytes: UnsafeRawBufferPointer) { rest = bytes[...] }

  var isEmpty: Bool { rest.isEmpty }

  /// 0 when there is none left.
  mutating func next() -> UInt8 { rest.popFirst() ?? 0 }

  mutating func word() -> UInt64 { (0..<8).reduce(0) { word, _ in word << 8 | UInt64(next()) } }

  mutating func remaining() -> [UInt8] {
    defer { rest = rest[rest.endIndex...] }
    return Array(rest)
  }
}
