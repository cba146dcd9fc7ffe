import Foundation
import Testing

/// One HTTP request over a connection of its own, a GET unless something is posted; the body of its answer, whatever the
/// status.
package func ask(_ path: String, of endpoint: String, posting body: String? = nil) throws -> [String: Any] {
  let port = try #require(endpoint.split(separator: ":").last.flatMap { UInt16($0) })
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
  defer { close(descriptor) }
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  let connected = withUnsafePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
    }
  }
  try #require(connected == 0)
  var lines = ["\(body == nil ? "GET" : "POST") \(path) HTTP/1.1", "Host: \(endpoint)", "Connection: close"]
  if let body { lines += ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"] }
  let bytes = Array((lines + ["", body ?? ""]).joined(separator: "\r\n").utf8)
  try #require(write(descriptor, bytes, bytes.count) == bytes.count)
  var answer: [UInt8] = []
  while let more = readWhenReady(descriptor), !more.isEmpty { answer += more }
  let parts = String(decoding: answer, as: UTF8.self).components(separatedBy: "\r\n\r\n")
  try #require(parts.count == 2, "\(parts)")
  return try #require(try JSONSerialization.jsonObject(with: Data(parts[1].utf8)) as? [String: Any])
}
