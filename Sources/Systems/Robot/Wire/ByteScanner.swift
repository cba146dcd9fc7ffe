/// A position in received bytes. The bytes must outlive the scanner.
struct ByteScanner: BitwiseCopyable {
  let bytes: UnsafeRawBufferPointer
  var index = 0

  @_noLocks @_noAllocation
  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var isAtEnd: Bool {
    @_noLocks @_noAllocation @inline(__always) get { index == bytes.count }
  }

  /// The byte at the current position, or NUL at the end; no grammar of this module allows NUL anywhere.
  var byte: UInt8 {
    @_noLocks @_noAllocation @inline(__always) get { index < bytes.count ? bytes[index] : 0 }
  }

  /// Skips space, tab, CR and LF: the white space of JSON and of the CSV form.
  @_noLocks @_noAllocation @inline(__always)
  mutating func skipWhiteSpace() {
    while byte == 0x20 || byte == 0x09 || byte == 0x0D || byte == 0x0A { index &+= 1 }
  }

  /// Skips `expected` if it is the next byte, and returns whether it was.
  @_noLocks @_noAllocation @inline(__always)
  mutating func skip(_ expected: UInt8) -> Bool {
    guard byte == expected else { return false }
    index &+= 1
    return true
  }

  @_noLocks @_noAllocation @inline(__always)
  mutating func require(_ expected: UInt8) throws(DatagramError) {
    guard skip(expected) else { throw .malformed(at: index) }
  }
}
