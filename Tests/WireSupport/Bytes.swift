/// The bytes that `write` puts into a buffer of `capacity`.
public func encoded(capacity: Int = 160, _ write: (UnsafeMutableRawBufferPointer) -> Int) -> [UInt8] {
  var bytes = [UInt8](repeating: 0xEE, count: capacity)
  let count = bytes.withUnsafeMutableBytes { write($0) }
  return Array(bytes[..<count])
}

/// The bytes as UTF-8.
public func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
