import Buses
import Testing

@Suite("Words that one writes and all read")
struct SharedWordsTests {
  @Test(
    "a value of any size: read as it was written; what lies behind it is neither read nor written",
    arguments: [1, 5, 8, 13, 68, 72])
  func sizes(size: Int) {
    let words = SharedWords.allocate(byteCount: size, entries: 3)
    defer { words.deallocate() }
    var value = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) }
    for number in 0..<3 { words.entry(number).store(number: UInt64(number + 1), from: value) }
    // Behind the value: nothing of it was taken along, and nothing is put there.
    value += Array(repeating: 0xEE, count: 16)
    for number in 0..<3 {
      var found = Array(repeating: UInt8(0xEE), count: size + 16)
      #expect(words.entry(number).load(into: &found) == UInt64(number + 1))
      #expect(found == value)
    }
  }
}
