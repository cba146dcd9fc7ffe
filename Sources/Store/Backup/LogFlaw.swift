@_spi(FromOutside) import Conversions

/// The damaged part of a write-ahead log. SQLite applies the transactions up to the first damaged frame and does not report that there were more.
///
/// Source: the SQLite file format, "The Write-Ahead Log".
public struct LogFlaw: Sendable, Hashable {
  /// The path of the write-ahead log: the store's path with `-wal` appended.
  public let file: String
  /// The offset of the first damaged frame, or 0 if the header is damaged.
  public let offset: Int
  /// The number of transactions that begin or end after the damage. One of them may be the rest of a write that a power cut
  /// interrupted and that was never confirmed to a caller.
  public let transactions: Int
  /// The path of a copy of the whole log, or `nil` if no copy was kept.
  public internal(set) var copy: String?

  /// Whether acknowledged changes may be lost.
  public var isLoss: Bool { offset == 0 || transactions > 1 }

  /// A line for the program's log.
  public var line: String {
    let place = copy.map { "; a copy is \($0)" } ?? ""
    if offset == 0 { return "\(file): its header is damaged: every change in it is lost\(place)" }
    if isLoss { return "\(file): damaged at byte \(offset): the last \(transactions) changes are lost\(place)" }
    return "\(file): its last change, from byte \(offset), is not whole, as a power cut leaves it: dropped\(place)"
  }
}

extension LogFlaw {
  private static let headerLength = 32
  private static let frameHeaderLength = 24

  /// Returns the damage in the bytes of a log, or `nil` if the log is intact.
  static func find(in log: UnsafeRawBufferPointer) -> (offset: Int, transactions: Int)? {
    guard log.count >= headerLength else { return (0, 0) }
    let magic = word(log, 0)
    let isBig = magic & 1 == 1
    var sum = Checksum()
    sum.add(log, 0..<24, isBig: isBig)
    let page = Int(word(log, 8))
    guard magic & ~1 == 0x377f_0682, sum.isStored(log, 24), (512...65_536).contains(page) else {
      return (0, 0)
    }
    let frame = frameHeaderLength + page
    let count = (log.count - headerLength) / frame
    func isOurs(_ start: Int) -> Bool {
      word(log, start + 8) == word(log, 16) && word(log, start + 12) == word(log, 20)
    }
    func endsTransaction(_ start: Int) -> Bool { word(log, start + 4) != 0 }
    for index in 0..<count {
      let start = headerLength + index * frame
      var next = sum
      next.add(log, start..<start + 8, isBig: isBig)
      next.add(log, start + frameHeaderLength..<start + frame, isBig: isBig)
      if isOurs(start), next.isStored(log, start + 16) {
        sum = next
        continue
      }
      let rest = (index + 1..<count).map { headerLength + $0 * frame }
      let behind = rest.count { isOurs($0) && endsTransaction($0) }
      let itself = endsTransaction(start) && (isOurs(start) || behind > 0) ? 1 : 0
      return behind + itself > 0 ? (start, behind + itself) : nil
    }
    return nil
  }

  private static func word(_ log: UnsafeRawBufferPointer, _ offset: Int) -> UInt32 {
    UInt32(bigEndian: log.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  /// The running checksum of a log.
  private struct Checksum {
    private var first: UInt32 = 0
    private var second: UInt32 = 0

    mutating func add(_ log: UnsafeRawBufferPointer, _ range: Range<Int>, isBig: Bool) {
      var place = range.lowerBound
      while place < range.upperBound {
        let pair = (
          log.loadUnaligned(fromByteOffset: place, as: UInt32.self),
          log.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self)
        )
        first &+= (isBig ? UInt32(bigEndian: pair.0) : UInt32(littleEndian: pair.0)) &+ second
        second &+= (isBig ? UInt32(bigEndian: pair.1) : UInt32(littleEndian: pair.1)) &+ first
        place += 8
      }
    }

    func isStored(_ log: UnsafeRawBufferPointer, _ offset: Int) -> Bool {
      LogFlaw.word(log, offset) == first && LogFlaw.word(log, offset + 4) == second
    }
  }
}
