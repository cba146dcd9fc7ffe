@_spi(FromOutside) import Conversions

/// Splits the stream between the daemon and its video process into messages: four bytes of length, one of kind, fields.
///
/// Once an error has been thrown, every further call throws as well; the reader then closes the connection.
public struct VideoMessages: Sendable {
  /// The length limit of a message in bytes, including its kind; many times that of a key frame of a large picture at a high bit rate.
  public static let limit = 8 << 20

  private var bytes: [UInt8] = []
  private var start = 0

  public init() {}

  public mutating func append(_ more: some Sequence<UInt8>) {
    if start > 0 {
      bytes.removeFirst(start)
      start = 0
    }
    bytes += more
  }

  /// Returns the next report, or `nil` if more bytes are needed.
  public mutating func nextReport() throws(VideoMessageError) -> VideoReport? {
    guard let message = try next() else { return nil }
    return try VideoReport(kind: message.kind, message.fields)
  }

  /// Returns the next order, or `nil` if more bytes are needed.
  public mutating func nextOrder() throws(VideoMessageError) -> VideoOrder? {
    guard let message = try next() else { return nil }
    return try VideoOrder(kind: message.kind, message.fields)
  }

  private mutating func next() throws(VideoMessageError) -> (kind: UInt8, fields: ArraySlice<UInt8>)? {
    let rest = bytes[start...]
    guard rest.count >= 4 else { return nil }
    let count = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
    guard count <= Self.limit else { throw .tooLong(count) }
    guard count > 0 else { throw .truncated("kind") }
    guard rest.count >= 4 + count else { return nil }
    start += 4 + count
    let first = rest.startIndex + 4
    return (rest[first], rest[first + 1..<first + count])
  }

  static func framed(_ kind: UInt8, _ fields: VideoFieldWriter) -> [UInt8] {
    var head = VideoFieldWriter()
    head.add(UInt32(clamping: fields.bytes.count + 1))
    head.add(kind)
    return head.bytes + fields.bytes
  }
}
