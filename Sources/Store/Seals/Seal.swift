@_spi(FromOutside) import Conversions

/// The checksum of a row's columns: FNV-1a over their kinds and bytes. Files contain it, so its value for the same columns must never change.
struct Seal {
  private var sum: UInt64 = 0xcbf2_9ce4_8422_2325

  var value: Int64 { Int64(bitPattern: sum) }

  mutating func addNull() { add(0 as UInt8) }

  mutating func add(integer: Int64) {
    add(1 as UInt8)
    add(word: UInt64(bitPattern: integer))
  }

  mutating func add(real: Double) {
    add(2 as UInt8)
    add(word: real.bitPattern)
  }

  /// Adds a text in UTF-8.
  mutating func add(text: UnsafeRawBufferPointer) {
    add(3 as UInt8)
    add(bytes: text)
    // The separator is a byte that no text contains, so that two columns cannot exchange characters.
    add(0xff as UInt8)
  }

  mutating func add(blob: UnsafeRawBufferPointer) {
    add(4 as UInt8)
    add(word: UInt64(clamping: blob.count))
    add(bytes: blob)
  }

  private mutating func add(_ byte: UInt8) { sum = (sum ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }

  private mutating func add(word: UInt64) {
    var shift: UInt64 = 0
    while shift < 64 {
      add(UInt8(truncatingIfNeeded: word >> shift))
      shift += 8
    }
  }

  /// Adds bytes. The code uses no iterator and a single variable to be fast, because whole logs are added when a store is opened.
  private mutating func add(bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    var sum = sum
    var place = 0
    while place < bytes.count {
      sum = (sum ^ UInt64(start.load(fromByteOffset: place, as: UInt8.self))) &* 0x0000_0100_0000_01b3
      place += 1
    }
    self.sum = sum
  }
}
