/// Cuts the stream between the daemon and its video process into messages: four bytes of length, one of kind, fields.
///
/// A stream that is not made of messages stays an error: the reader ends the connection.
public struct VideoMessages: Sendable {
  /// Longest message, its kind included: a key frame of a large picture at a high bit rate fits many times.
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

  /// The next report, once it is whole, or `nil` if more bytes are needed.
  public mutating func nextReport() throws(VideoMessageError) -> VideoReport? {
    guard let message = try next() else { return nil }
    return try VideoReport(kind: message.kind, message.fields)
  }

  /// The next order, once it is whole, or `nil` if more bytes are needed.
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
