@_spi(FromOutside) import Conversions

/// Parses a detector's output into answers: `tensor CHANNELS CANDIDATES` and the values, `boxes COUNT` and as many lines, or `failed
/// REASON`. The README of this folder describes the protocol.
public struct DetectorReader: Sendable {
  /// The length limit of a line in bytes.
  public static let longestLine = 4096
  /// The limit on the values of one tensor; enough for an input of 1,280 pixels and hundreds of classes.
  public static let mostValues = 16 << 20
  public static let mostBoxes = 1000

  private enum Awaited {
    case word
    case boxes(left: Int, found: [DetectorBox])
    case values(channels: Int, candidates: Int)
  }

  private var bytes: [UInt8] = []
  private var awaited = Awaited.word

  public init() {}

  public mutating func append(_ more: some Sequence<UInt8>) { bytes += more }

  /// Returns the next answer, or `nil` if more bytes are needed.
  ///
  /// - Throws: an error that contains the unexpected text. The reader must not be used afterwards.
  public mutating func next() throws(DetectorFailure) -> DetectorAnswer? {
    while true {
      switch awaited {
      case .word:
        guard let line = try line() else { return nil }
        if let answer = try begin(line) { return answer }
      case .boxes(0, let found):
        awaited = .word
        return .boxes(found)
      case .boxes(let left, let found):
        guard let line = try line() else { return nil }
        awaited = .boxes(left: left - 1, found: found + [try Self.box(line)])
      case .values(let channels, let candidates):
        let count = channels * candidates * 4
        guard bytes.count >= count else { return nil }
        let values = bytes.withUnsafeBytes { bytes in
          (0..<channels * candidates).map { index in
            Float(bitPattern: UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: index * 4, as: UInt32.self)))
          }
        }
        bytes.removeFirst(count)
        awaited = .word
        return .tensor(values, channels: channels, candidates: candidates)
      }
    }
  }

  private mutating func begin(_ line: String) throws(DetectorFailure) -> DetectorAnswer? {
    let words = line.split(separator: " ", maxSplits: 1)
    let rest = words.count > 1 ? String(words[1]) : ""
    switch words.first {
    case "failed": return .failed(rest.isEmpty ? "it gives no reason" : rest)
    case "boxes":
      guard let count = Int(rest), (0...Self.mostBoxes).contains(count) else { throw Self.nonsense(line) }
      awaited = .boxes(left: count, found: [])
    case "tensor":
      let sizes = rest.split(separator: " ").map { Int($0) }
      guard sizes.count == 2, let channels = sizes[0], let candidates = sizes[1],
        (1...Self.mostValues).contains(channels), (0...Self.mostValues).contains(candidates),
        channels * candidates <= Self.mostValues
      else { throw Self.nonsense(line) }
      awaited = .values(channels: channels, candidates: candidates)
    default: throw Self.nonsense(line)
    }
    return nil
  }

  private mutating func line() throws(DetectorFailure) -> String? {
    guard let end = bytes.firstIndex(of: 0x0A) else {
      guard bytes.count <= Self.longestLine else {
        throw Self.nonsense(String(decoding: bytes, as: UTF8.self))
      }
      return nil
    }
    defer { bytes.removeFirst(end + 1) }
    return String(decoding: bytes[..<end], as: UTF8.self)
  }

  /// Parses a line `CONFIDENCE X Y WIDTH HEIGHT LABEL`, whose label may contain spaces.
  private static func box(_ line: String) throws(DetectorFailure) -> DetectorBox {
    let words = line.split(separator: " ", maxSplits: 5)
    let numbers = words.prefix(5).compactMap { Float($0) }
    guard words.count == 6, numbers.count == 5 else { throw nonsense(line) }
    return DetectorBox(
      label: String(words[5]), confidence: numbers[0], centreX: numbers[1], centreY: numbers[2], width: numbers[3],
      height: numbers[4])
  }

  private static func nonsense(_ line: String) -> DetectorFailure {
    DetectorFailure("it said \"\(line.prefix(80))\" where a tensor, boxes or its failure was expected")
  }
}
