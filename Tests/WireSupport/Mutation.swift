public import Tactus

/// `original` with one to four bytes changed, removed, doubled or inserted.
public func mutated(_ original: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
  var bytes = original
  let telling = Array(#"{}[]",:\0123456789.-+eEtfnul "#.utf8) + [0, 9, 10, 13, 0x80, 0xC3, 0xFF]
  for _ in 0...random.below(4) where !bytes.isEmpty {
    let at = random.below(bytes.count)
    switch random.below(6) {
    case 0: bytes[at] = UInt8(truncatingIfNeeded: random.next())
    case 1: bytes[at] = random.pick(telling)
    case 2: bytes.remove(at: at)
    case 3: bytes.insert(random.pick(telling), at: at)
    case 4: bytes.insert(contentsOf: random.pick(notQuiteUTF8), at: at)
    default:
      let end = min(bytes.count, at + random.below(12))
      bytes.insert(contentsOf: bytes[at..<end], at: at)
    }
  }
  return bytes
}

/// The edges of table 3-7 of the Unicode standard: the last sequence that is refused, the first that is not.
private let notQuiteUTF8: [[UInt8]] = [
  [0xC1, 0xBF], [0xC2, 0x80], [0xDF, 0xBF], [0xDF, 0xC0], [0xE0, 0x9F, 0xBF], [0xE0, 0xA0, 0x80], [0xED, 0x9F, 0xBF],
  [0xED, 0xA0, 0x80], [0xEE, 0x80, 0x80], [0xEF, 0xBF, 0xBF], [0xEF, 0xBF, 0x7F], [0xF0, 0x8F, 0xBF, 0xBF],
  [0xF0, 0x90, 0x80, 0x80], [0xF4, 0x8F, 0xBF, 0xBF], [0xF4, 0x90, 0x80, 0x80], [0xF1, 0x80, 0x80],
  [0xF5, 0x80, 0x80, 0x80],
]
