/// The target of a request, split into path segments and query, each percent-decoded separately.
///
/// Splitting precedes decoding, so an encoded slash never makes another segment; `.` and `..` are refused.
struct RequestTarget: Equatable {
  /// The segments of the path: `["api", "status"]`, or `[]` for `/`.
  let segments: [String]
  /// The query's values by name; the last value of a repeated name counts.
  let query: [String: String]

  /// The greatest length of a target in bytes, and the greatest number of pairs in its query. Targets are decoded on the event loop for every client,
  /// before a token is checked.
  static let longest = 2048
  static let mostPairs = 32

  /// Splits and decodes a request's target.
  ///
  /// - Throws: 414 `URI_TOO_LONG`; 400 `BAD_PATH` or `BAD_QUERY`, or 400 `TOKEN_IN_QUERY`, because a token in a URL ends up in logs and histories.
  init(_ target: String) throws(APIError) {
    try Self.checkLength(target)
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    query = try parts.count == 2 ? Self.query(parts[1]) : [:]
    guard let path = parts.first, path.hasPrefix("/") else {
      throw APIError(.badRequest, "BAD_PATH", "expected a path that begins with '/'")
    }
    var segments: [String] = []
    if path != "/" {
      for piece in path.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
        guard let segment = percentDecoded(piece) else {
          throw APIError(.badRequest, "BAD_PATH", "expected UTF-8 with '%' before two hexadecimal digits")
        }
        // The text is compared by scalars, since a slash with a combining mark is another character.
        guard segment != ".", segment != "..",
          !segment.unicodeScalars.contains(where: { $0 == "/" || $0 == "\\" || $0 == "\0" })
        else { throw APIError(.badRequest, "BAD_PATH", "expected names without '.', '..', '/', '\\' and NUL") }
        segments.append(segment)
      }
    }
    self.segments = segments
  }

  /// Refuses a target that is too long, before its request is processed.
  static func checkLength(_ target: String) throws(APIError) {
    guard target.utf8.count > longest else { return }
    throw APIError(.uriTooLong, "URI_TOO_LONG", "expected at most \(longest) bytes, got \(target.utf8.count)")
  }

  private static func query(_ text: Substring) throws(APIError) -> [String: String] {
    var result: [String: String] = [:]
    let pairs = text.split(separator: "&", maxSplits: mostPairs)
    guard pairs.count <= mostPairs else {
      throw APIError(.badRequest, "BAD_QUERY", "expected at most \(mostPairs) parameters")
    }
    for pair in pairs {
      let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = percentDecoded(sides[0], plusIsSpace: true),
        let value = sides.count == 2 ? percentDecoded(sides[1], plusIsSpace: true) : ""
      else { throw APIError(.badRequest, "BAD_QUERY", "expected UTF-8 with '%' before two hexadecimal digits") }
      guard !["token", "access_token"].contains(name.lowercased()) else {
        throw APIError(
          .badRequest, "TOKEN_IN_QUERY",
          "a token does not belong into a URL: send the header field Authorization: Bearer TOKEN")
      }
      result[name] = value
    }
    return result
  }
}

/// Returns the decoded text, or `nil` if `text` is not UTF-8 or has a `%` without two hexadecimal digits.
private func percentDecoded(_ text: Substring, plusIsSpace: Bool = false) -> String? {
  var bytes: [UInt8] = []
  bytes.reserveCapacity(text.utf8.count)
  var rest = text.utf8[...]
  while let byte = rest.popFirst() {
    switch byte {
    case UInt8(ascii: "%"):
      guard let high = rest.popFirst().flatMap(hexadecimalDigit), let low = rest.popFirst().flatMap(hexadecimalDigit)
      else { return nil }
      bytes.append(high << 4 | low)
    case UInt8(ascii: "+") where plusIsSpace: bytes.append(0x20)
    default: bytes.append(byte)
    }
  }
  return String(validating: bytes, as: UTF8.self)
}

private func hexadecimalDigit(_ byte: UInt8) -> UInt8? {
  Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8(clamping: $0) }
}
