/// The protocol that the daemon and a child speak over the child's descriptor 3, a byte stream in both directions.
///
/// A value decodes the messages of one process; a process that is started again gets a new value.
public protocol ChildTalk: Sendable {
  /// A message from the child.
  associatedtype Word: Sendable
  /// A message to the child.
  associatedtype Order: Sendable

  /// Creates a decoder that has received no bytes yet.
  init()
  /// Appends bytes from the child.
  mutating func append(_ bytes: [UInt8])
  /// Returns the next complete message, or `nil` if more bytes are needed.
  ///
  /// - Throws: an error that explains why the bytes are invalid. The child is then killed and started again.
  mutating func next() throws -> Word?
  /// Returns the encoded form of an order to the child.
  static func bytes(of order: Order) -> [UInt8]
}

/// A protocol of text lines in both directions, which a shell reads with `read line <&3` and writes with `echo word
/// >&3`.
public struct ChildLines: ChildTalk {
  /// The maximum length of a line in bytes.
  public static let limit = 65_536

  private var bytes: [UInt8] = []

  public init() {}

  public mutating func append(_ bytes: [UInt8]) { self.bytes += bytes }

  /// Returns the next line without its line feed, or `nil` if more bytes are needed; invalid UTF-8 is replaced.
  public mutating func next() throws(LineTooLong) -> String? {
    guard let end = bytes.firstIndex(of: 0x0A) else {
      guard bytes.count <= Self.limit else { throw LineTooLong() }
      return nil
    }
    defer { bytes.removeFirst(end + 1) }
    guard end <= Self.limit else { throw LineTooLong() }
    return String(decoding: bytes[..<end], as: UTF8.self)
  }

  /// Returns the line followed by a line feed; line feeds within the line are removed.
  public static func bytes(of order: String) -> [UInt8] { order.utf8.filter { $0 != 0x0A } + [0x0A] }

  /// The error for a line of more than `limit` bytes.
  public struct LineTooLong: Error, CustomStringConvertible {
    public var description: String { "a line of more than \(ChildLines.limit) bytes" }
  }
}
