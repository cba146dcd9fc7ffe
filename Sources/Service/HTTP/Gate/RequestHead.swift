import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypesHTTP1

extension HTTPRequestHead {
  /// Checks that the head has one `Host` field; HTTP/1.0 may have none. Two of them could make two servers see different hosts.
  func checkHost() throws(APIError) {
    var hosts = 0
    for (name, _) in headers where name.utf8.count == 4 && name.lowercased() == "host" { hosts += 1 }
    if hosts > 1 || hosts == 0 && version != .http1_0 {
      throw APIError(.badRequest, "BAD_REQUEST", "expected one Host header, got \(hosts)")
    }
  }

  /// Returns the head in the form that the doorman and the responder use.
  func request(isSecure: Bool) throws(APIError) -> HTTPRequest {
    do {
      guard uri.utf8.first == UInt8(ascii: "/") else {
        return try HTTPRequest(self, secure: isSecure, splitCookie: false)
      }
      return HTTPRequest(
        method: try HTTPRequest.Method(method), scheme: isSecure ? "https" : "http",
        authority: headers.first(name: "host"), path: uri, headerFields: HTTPFields(headers, splitCookie: false))
    } catch {
      throw APIError(.badRequest, "BAD_REQUEST", "a method or a target that no HTTP request has")
    }
  }
}

extension APIError {
  /// Makes the error for input that the HTTP decoder could not parse.
  init(_ error: HTTPParserError, _ limits: ConnectionLimits) {
    switch error {
    case .headerOverflow:
      self.init(
        .requestHeaderFieldsTooLarge, "HEADERS_TOO_LARGE",
        "expected at most \(limits.headerFields) header fields, \(limits.headerFieldBytes) bytes each and "
          + "\(limits.headerBytes) bytes in all, the target included")
    case .invalidVersion: self.init(.init(code: 505), "BAD_REQUEST", "expected HTTP/1.1 or HTTP/1.0")
    default: self.init(.badRequest, "BAD_REQUEST", "not HTTP: \(error)")
    }
  }

  /// Returns the error for a request that was not complete in time, and counts it.
  static func timedOut(_ part: String, _ limit: TimeAmount, _ counters: ServiceCounters) -> APIError {
    counters.timeouts.add(1)
    let seconds = limit.nanoseconds / 1_000_000_000
    return APIError(.requestTimeout, "REQUEST_TIMEOUT", "the \(part) was not whole after \(seconds) s")
  }
}
