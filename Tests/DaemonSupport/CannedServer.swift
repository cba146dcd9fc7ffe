import Foundation
import Synchronization
import TestSupport

/// An HTTP server with prepared answers, one connection after the other.
package final class CannedServer: Sendable {
  package struct Answer: Sendable {
    package var status: Int
    package var body: String

    package init(status: Int = 200, body: String) { (self.status, self.body) = (status, body) }
  }

  package let reserved: ReservedPort
  package var port: UInt16 { reserved.number }
  private let listener: Int32
  private let state: Mutex<State>

  private struct State {
    var answers: [String: Answer]
    var requests: [String] = []
  }

  /// `answers` by path without its query. `port`: of a server that was stopped; nil: a new one.
  package init(_ answers: [String: Answer], port reserved: ReservedPort = ReservedPort()) throws {
    self.reserved = reserved
    state = Mutex(State(answers: answers))
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var yes: Int32 = 1
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = reserved.number.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let listener = listener
    let result = withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 && listen(listener, 16) == 0
      }
    }
    guard result else { throw POSIXError(.init(rawValue: errno) ?? .EINVAL) }
    Thread.detachNewThread { [self] in serve() }
  }

  /// Connections are refused from now on.
  package func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

  /// The heads of all requests so far.
  package var requests: [String] { state.withLock { $0.requests } }

  package func set(_ path: String, _ answer: Answer) { state.withLock { $0.answers[path] = answer } }

  private func serve() {
    defer { close(listener) }
    while case let connection = accept(listener, nil, nil), connection >= 0 {
      defer { close(connection) }
      var head = ""
      while !head.contains("\r\n\r\n") {
        guard let bytes = readWhenReady(connection, limit: patience), !bytes.isEmpty else { break }
        head += String(decoding: bytes, as: UTF8.self)
      }
      let path = head.split(separator: " ").dropFirst().first.map { String($0.prefix { $0 != "?" }) } ?? ""
      let answer = state.withLock { state in
        state.requests.append(head)
        return state.answers[path] ?? Answer(status: 404, body: "{}")
      }
      let text = "HTTP/1.1 \(answer.status) X\r\ncontent-length: \(answer.body.utf8.count)\r\n\r\n\(answer.body)"
      _ = send(connection, text, text.utf8.count, Int32(MSG_NOSIGNAL))
    }
  }
}
