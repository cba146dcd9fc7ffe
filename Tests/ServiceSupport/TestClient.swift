import Foundation
import TestSupport

/// A blocking HTTP client on a plain socket: it sends exactly what a test says. Nothing waits longer than a minute.
package final class TestClient {
  package struct Reply: Sendable {
    package var status = 0
    /// Names in lower case.
    package var headers: [String: String] = [:]
    package var body: [UInt8] = []

    package var text: String { String(decoding: body, as: UTF8.self) }
    package var json: [String: Any]? { (try? JSONSerialization.jsonObject(with: Data(body))) as? [String: Any] }
    package var code: String? { json?["code"] as? String }
    package var message: String { json?["message"] as? String ?? "" }
  }

  package struct Failure: Error, Equatable {
    package var call: String

    package init(call: String) { self.call = call }
  }

  private let descriptor: Int32
  private var received: [UInt8] = []

  /// Connects to a port of this machine.
  package init(port: UInt16) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    // No close: what is thrown here runs deinit.
    guard result == 0 else {
      throw Failure(call: "connect: \(String(cString: strerror(errno)))")
    }
  }

  deinit { close(descriptor) }

  /// Sends as much as the other side takes; false: it has closed.
  @discardableResult
  package func send(_ bytes: [UInt8]) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      guard poll(&waiting, 1, patience) > 0 else { return false }
      let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
      let count = rest.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, flags) }
      if count < 0 && errno == EAGAIN { continue }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }

  @discardableResult
  package func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  /// Closes our half.
  package func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// More bytes into `received`; false at the end of the connection.
  private func receive() throws -> Bool {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&waiting, 1, patience) > 0 else { throw Failure(call: "nothing came") }
    var chunk = [UInt8](repeating: 0, count: 65536)
    let count = recv(descriptor, &chunk, chunk.count, 0)
    guard count > 0 else { return false }
    received += chunk[..<count]
    return true
  }

  /// The next reply. `toHead`: the request was HEAD, no body follows.
  package func reply(toHead: Bool = false) throws -> Reply {
    let separator = Array("\r\n\r\n".utf8)
    var end: Int?
    while end == nil {
      end = received.indices.first { received[$0...].starts(with: separator) }
      if end == nil, try !receive() { throw Failure(call: "the connection ended before a reply") }
    }
    let lines = String(decoding: received[..<end!], as: UTF8.self).components(separatedBy: "\r\n")
    received.removeFirst(end! + 4)
    var reply = Reply()
    reply.status = Int(lines[0].split(separator: " ")[1]) ?? 0
    for line in lines.dropFirst() {
      let sides = line.split(separator: ":", maxSplits: 1)
      reply.headers[sides[0].lowercased()] = sides[1].trimmingCharacters(in: .whitespaces)
    }
    if reply.status < 200 || toHead { return reply }
    let length = reply.headers["content-length"].flatMap { Int($0) } ?? 0
    while received.count < length {
      guard try receive() else { throw Failure(call: "the connection ended within a body") }
    }
    reply.body = Array(received[..<length])
    received.removeFirst(length)
    return reply
  }

  /// Whether the other side closes the connection, whatever it still sends.
  package func isClosed() throws -> Bool {
    while try receive() {}
    return true
  }

  /// One request and its reply. A body goes as JSON unless `headers` say otherwise.
  package func request(
    _ method: String, _ path: String, headers: [String: String] = [:], body: String? = nil
  ) throws -> Reply {
    var fields = ["Host": "127.0.0.1"].merging(headers) { $1 }
    if let body {
      fields["Content-Length"] = String(body.utf8.count)
      fields["Content-Type"] = fields["Content-Type"] ?? "application/json"
    }
    let lines = fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\r\n" }.joined()
    send("\(method) \(path) HTTP/1.1\r\n\(lines)\r\n\(body ?? "")")
    return try reply(toHead: method == "HEAD")
  }

  package static func request(
    _ port: UInt16, _ method: String, _ path: String, headers: [String: String] = [:], body: String? = nil
  ) throws -> Reply {
    try TestClient(port: port).request(method, path, headers: headers, body: body)
  }
}
