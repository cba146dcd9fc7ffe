import HTTPTypes
import NIOCore
import NIOHTTP1

extension HTTPRequestHead {
  /// Checks that the head has one `Host` field; HTTP/1.0 may have none. Two of them could make two servers see different hosts.
  func checkHost() throws(APIError) {
    var hosts = 0
    for (name, _) in headers where name.utf8.count == 4 && name.lowercased() == "host" { hosts += 1 }
    if hosts > 1 || hosts == 0 && version != .http1_0 {
      throw APIError(.badRequest, "BAD_REQUEST", "expected one Host header, got \(hosts)")
    }
  }

  /// Returns the head in the form that the access control and the responder use. If the target is a whole URL, its host
  /// counts and not the field `Host`, as RFC 9112, 3.2.2 requires.
  func request(isSecure: Bool) throws(APIError) -> HTTPRequest {
    guard let method = HTTPRequest.Method(method.rawValue) else {
      throw APIError(.badRequest, "BAD_REQUEST", "a method that no HTTP request has")
    }
    var (host, path) = (headers.first(name: "host"), uri[...])
    for scheme in ["http://", "https://"] where uri.prefix(scheme.count).lowercased() == scheme {
      let rest = uri.dropFirst(scheme.count)
      host = String(rest.prefix { $0 != "/" && $0 != "?" })
      path = rest.drop { $0 != "/" && $0 != "?" }
      if path.first != "/" { path = "/" + path }
    }
    var fields = HTTPFields()
    fields.reserveCapacity(headers.count)
    var hosts = 0
    for (name, value) in headers {
      // The first one becomes `host`; the access control refuses a request with another one.
      if name.utf8.count == 4, name.lowercased() == "host" {
        hosts += 1
        if hosts == 1 { continue }
      }
      if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
    }
    return HTTPRequest(
      method: method, scheme: isSecure ? "https" : "http", authority: host, path: String(path), headerFields: fields)
  }
}

extension HTTPResponseHead {
  /// Makes the head of an answer as NIO's encoder takes it.
  init(_ response: HTTPResponse) {
    self.init(
      version: .http1_1,
      status: HTTPResponseStatus(statusCode: response.status.code, reasonPhrase: response.status.reasonPhrase),
      headers: HTTPHeaders(response.headerFields.map { ($0.name.rawName, $0.value) }))
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
