import Foundation
import TestSupport

/// A blocking TCP connection to this machine: it sends exactly what a test says. Nothing waits longer than a minute.
final class RawSocket {
  struct Failure: Error, CustomStringConvertible { let description: String }

  let descriptor: Int32
  private(set) var received: [UInt8] = []
  private(set) var isClosed = false

  /// - Parameter receiveBuffer: SO_RCVBUF, for a reader that is to be slow; nil: the kernel's choice.
  init(port: Int, receiveBuffer: Int32? = nil) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    if var receiveBuffer {
      setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
    }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    // No close: what is thrown here runs deinit.
    guard result == 0 else { throw Failure(description: "connect: \(String(cString: strerror(errno)))") }
  }

  deinit { close(descriptor) }

  func send(_ text: String) { send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  /// More bytes into `received`; false: the other side has closed, or nothing came for a minute.
  @discardableResult
  func fill() -> Bool {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&waiting, 1, patience) > 0 else { return false }
    var buffer = [UInt8](repeating: 0, count: 65536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    guard count > 0 else {
      isClosed = true
      return false
    }
    received += buffer[..<count]
    return true
  }

  /// Takes this many bytes; nil: they did not come.
  func take(_ count: Int) -> [UInt8]? {
    while received.count < count { guard fill() else { return nil } }
    defer { received.removeFirst(count) }
    return Array(received[..<count])
  }

  /// Takes everything up to and including an empty line.
  func takeHead() -> String? {
    let end = Array("\r\n\r\n".utf8)
    while true {
      if let range = Data(received).range(of: Data(end)) {
        return take(range.upperBound).map { String(decoding: $0, as: UTF8.self) }
      }
      guard fill() else { return nil }
    }
  }

  /// One answer: status, its head in lower case, its body by content-length.
  func takeAnswer(toHead: Bool = false) -> (status: Int, head: String, body: String)? {
    guard let head = takeHead()?.lowercased(), let status = Int(head.split(separator: " ")[1]) else { return nil }
    let line = head.split(separator: "\r\n").first { $0.hasPrefix("content-length: ") }
    let count = line.flatMap { Int($0.dropFirst("content-length: ".count)) } ?? 0
    guard let body = take(toHead ? 0 : count) else { return nil }
    return (status, head, String(decoding: body, as: UTF8.self))
  }

  /// Whether the other side closes and sends nothing more.
  func ends() -> Bool {
    while fill() {}
    return isClosed && received.isEmpty
  }
}
