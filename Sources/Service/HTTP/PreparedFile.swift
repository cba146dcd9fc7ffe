import CCompression
@_spi(FromOutside) import Conversions
import NIOCore
import NIOHTTP1

/// The time for which browsers may keep a document.
enum Keeping: String, Sendable {
  /// Browsers do not keep the document, because it may change.
  case never = "no-store"
  /// Browsers keep the document, and ask at each use whether it has changed.
  case asked = "no-cache"
  /// Browsers keep the document for a year without asking, because other contents have another name.
  case forever = "public, max-age=31536000, immutable"
}

/// The gzip form and the entity tag (RFC 9110, 8.8.3) of a file that never changes.
struct PreparedFile: Sendable {
  /// The file in gzip, or `nil` if compression makes it no shorter.
  let gzip: ByteBuffer?
  /// The entity tag with its quotes. It is weak, because the plain and the compressed form of the file share it.
  let tag: String

  /// Compresses the file, which takes a few milliseconds for each 100 kB. This is done once for each file of the program.
  init(_ bytes: [UInt8]) {
    gzip = Self.gzip(bytes)
    // FNV-1a, 64 bits: two versions of one file, not two strangers, have to differ.
    let hash = bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    tag = "W/\"" + String(hash, radix: 16) + "\""
  }

  /// Returns the bytes in gzip, or `nil` if that makes them no shorter.
  static func gzip(_ bytes: [UInt8]) -> ByteBuffer? {
    var short = [UInt8](repeating: 0, count: bytes.count)
    let length = compression_gzip(bytes, bytes.count, &short, short.count)
    return length > 0 && length < bytes.count ? ByteBuffer(bytes: short.prefix(length)) : nil
  }

  /// Returns whether the client has this version: `If-None-Match` is the tag, a list with the tag, or `*`.
  func isKnown(_ headers: HTTPHeaders) -> Bool {
    headers[canonicalForm: "if-none-match"].contains { field in
      field == "*" || field.dropPrefix("W/") == tag.dropPrefix("W/")
    }
  }

  /// Returns whether the client accepts gzip and does not exclude it by `q=0`.
  ///
  /// - Parameter codings: the items of the list `Accept-Encoding`.
  static func takesGzip(_ codings: [Substring]) -> Bool {
    codings.contains { field in
      let parts = field.lowercased().split(separator: ";").map { $0.filter { $0 != " " } }
      guard let coding = parts.first, coding == "gzip" || coding == "*" else { return false }
      return !parts.dropFirst().contains { $0.hasPrefix("q=0") && $0.dropFirst(3).allSatisfy { "0.".contains($0) } }
    }
  }
}

extension StringProtocol {
  fileprivate func dropPrefix(_ prefix: String) -> String {
    hasPrefix(prefix) ? String(dropFirst(prefix.count)) : String(self)
  }
}
