import HTTPTypes

/// Finds the token in a request (RFC 6750 §2.1): in `Authorization: Bearer TOKEN` or, for the WebSocket of a browser,
/// which cannot set that field, in the subprotocol `bearer.TOKEN`. A token in the URL is not accepted, because URLs end
/// up in logs.
enum BearerToken {
  enum Presented: Equatable {
    case none
    /// The request has an `Authorization` field of another scheme.
    case otherScheme
    case token(String)
    /// The request has more than one token or `Authorization` field.
    case ambiguous
  }

  static let subprotocolPrefix = "bearer."

  static func find(in fields: HTTPFields) -> Presented {
    var found = Presented.none
    func add(_ another: Presented) { found = found == .none ? another : .ambiguous }
    for field in fields {
      if field.name == .authorization {
        add(read(field.value))
      } else if field.name == .secWebSocketProtocol {
        for item in field.value.split(separator: ",") {
          let item = item.trimmingSpace
          if item.hasPrefix(subprotocolPrefix) { add(.token(String(item.dropFirst(subprotocolPrefix.count)))) }
        }
      }
    }
    return found
  }

  private static func read(_ value: String) -> Presented {
    let words = value.split(whereSeparator: { $0 == " " || $0 == "\t" })
    guard words.first?.lowercased() == "bearer" else { return .otherScheme }
    // An empty or a torn token is refused like any wrong token, whatever its form.
    return .token(words.count == 2 ? String(words[1]) : "")
  }

  /// Returns whether `Authorization: Bearer` can carry the token (b64token of RFC 6750).
  static func isPresentable(_ token: String) -> Bool {
    let body = token.utf8.reversed().drop { $0 == UInt8(ascii: "=") }
    return !body.isEmpty && body.allSatisfy { $0.isLetterOrDigit || "-._~+/".utf8.contains($0) }
  }
}

extension Substring {
  fileprivate var trimmingSpace: Substring {
    var text = self
    while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return text
  }
}

extension UInt8 {
  var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
  var isLetterOrDigit: Bool { isDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }
}
