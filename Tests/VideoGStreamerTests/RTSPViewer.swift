import Foundation
import TestSupport
import Testing

#if Video
  import CGStreamer

  private func md5(_ text: String) -> String {
    let digest = g_compute_checksum_for_string(G_CHECKSUM_MD5, text, -1)!
    defer { g_free(digest) }
    return String(cString: digest)
  }
#else
  private func md5(_ text: String) -> String { "" }
#endif

/// A player of an RTSP stream, over one TCP connection (RFC 2326 §10.12): as much of one as tests need.
final class RTSPViewer {
  struct Response {
    let status: Int
    let fields: [String: String]
    let body: String
  }

  private let socket: Int32
  private let url: String
  private var sequence = 0
  private var session: String?
  private var bytes: [UInt8] = []
  /// What it shows when it is asked.
  var password: (user: String, secret: String)?
  /// Of the last 401.
  var challenge: (realm: String, nonce: String)?

  init(port: UInt16) throws {
    url = "rtsp://127.0.0.1:\(port)/stream"
    socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let (socket, size) = (socket, socklen_t(MemoryLayout<sockaddr_in>.size))
    let isConnected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(socket, $0, size) == 0 }
    }
    try #require(isConnected, "\(String(cString: strerror(errno)))")
  }

  /// As a process that is killed: without a word.
  deinit { close(socket) }

  /// DESCRIBE, SETUP, PLAY; the status of the first that is refused, or 200.
  func play() throws -> Int {
    let status = try setUp()
    return status == 200 ? try request("PLAY", url).status : status
  }

  /// DESCRIBE and SETUP; the status of the first that is refused, or 200.
  func setUp() throws -> Int {
    let described = try authorised("DESCRIBE", url, ["Accept": "application/sdp"])
    guard described.status == 200 else { return described.status }
    let control = described.body.split(whereSeparator: \.isNewline).last { $0.hasPrefix("a=control:") }
    let track = String(try #require(control).dropFirst("a=control:".count))
    let address = track.hasPrefix("rtsp:") ? track : url + "/" + track
    let setUp = try authorised("SETUP", address, ["Transport": "RTP/AVP/TCP;unicast;interleaved=0-1"])
    guard setUp.status == 200 else { return setUp.status }
    session = setUp.fields["session"].map { String($0.prefix { $0 != ";" }) }
    return 200
  }

  /// The same request again with the password, if it is asked for and there is one.
  func authorised(_ method: String, _ address: String? = nil, _ fields: [String: String] = [:]) throws -> Response {
    var fields = fields
    if challenge != nil { fields["Authorization"] = authorisation(method, address) }
    let answer = try request(method, address, fields)
    guard answer.status == 401, password != nil, let asked = answer.fields["www-authenticate"] else { return answer }
    let words = asked.split(separator: "\"")
    challenge = (String(words[1]), String(words[3]))
    fields["Authorization"] = authorisation(method, address)
    return try request(method, address, fields)
  }

  /// RFC 2617 §3.2.2, without qop.
  func authorisation(_ method: String, _ address: String? = nil) -> String {
    let (user, secret) = password ?? ("", "")
    let (realm, nonce) = challenge ?? ("", "")
    let address = address ?? url
    let response = md5("\(md5("\(user):\(realm):\(secret)")):\(nonce):\(md5("\(method):\(address)"))")
    let fields = [("username", user), ("realm", realm), ("nonce", nonce), ("uri", address), ("response", response)]
    return "Digest " + fields.map { "\($0)=\"\($1)\"" }.joined(separator: ", ")
  }

  /// Whether the other side closes the connection, within a minute.
  func ends() -> Bool {
    while receive() {}
    var polled = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    return poll(&polled, 1, 0) > 0
  }

  /// Sends bytes as they are. Returns whether all were taken.
  func send(raw text: String) -> Bool {
    let sent = Array(text.utf8)
    return Glibc.send(socket, sent, sent.count, Int32(MSG_NOSIGNAL)) == sent.count
  }

  /// Sends a line without an end until the other side closes the connection.
  func sendWithoutEnd() {
    let piece = String(repeating: "a", count: 1 << 16)
    while send(raw: piece) {}
  }

  func tearDown() throws { _ = try request("TEARDOWN", url) }

  func request(_ method: String, _ address: String? = nil, _ fields: [String: String] = [:]) throws -> Response {
    sequence += 1
    var text = "\(method) \(address ?? url) RTSP/1.0\r\nCSeq: \(sequence)\r\n"
    for (name, value) in fields { text += "\(name): \(value)\r\n" }
    if let session { text += "Session: \(session)\r\n" }
    text += "\r\n"
    try #require(send(raw: text))
    while true {
      if bytes.first == UInt8(ascii: "$") {
        // Of any channel: an RTCP packet may be the last before the answer.
        _ = try #require(try frame(limit: patience))
      } else if let end = String(decoding: bytes, as: Unicode.ASCII.self).range(of: "\r\n\r\n") {
        return try response(String(decoding: bytes, as: Unicode.ASCII.self), end)
      } else {
        try #require(receive(), "no answer to \(method)")
      }
    }
  }

  private func response(_ text: String, _ end: Range<String.Index>) throws -> Response {
    let lines = text[..<end.lowerBound].components(separatedBy: "\r\n")
    var fields: [String: String] = [:]
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1)
      if parts.count == 2 { fields[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces) }
    }
    let head = text.utf8.distance(from: text.utf8.startIndex, to: end.upperBound)
    let length = Int(fields["content-length"] ?? "0") ?? 0
    while bytes.count < head + length { try #require(receive()) }
    let body = String(decoding: bytes[head..<head + length], as: UTF8.self)
    bytes.removeFirst(head + length)
    return Response(
      status: Int(lines[0].split(separator: " ").dropFirst().first ?? "") ?? 0, fields: fields, body: body)
  }

  /// The next RTP packet's payload; nil: nothing has come within `limit` milliseconds.
  func packet(limit: Int32 = patience) throws -> ArraySlice<UInt8>? { try wholePacket(limit: limit)?.dropFirst(12) }

  /// The next RTP packet's time stamp, of 90 kHz.
  func stamp() throws -> UInt32? {
    try wholePacket(limit: patience)?.dropFirst(4).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
  }

  private func wholePacket(limit: Int32) throws -> ArraySlice<UInt8>? {
    while let (channel, packet) = try frame(limit: limit) {
      if channel == 0, packet.count > 12 { return packet }
    }
    return nil
  }

  /// The next frame that is interleaved with the answers, RTP (channel 0) or RTCP. The result is `nil` when nothing has come within `limit`
  /// milliseconds.
  private func frame(limit: Int32) throws -> (channel: UInt8, packet: ArraySlice<UInt8>)? {
    while true {
      if bytes.count >= 4 {
        try #require(bytes[0] == UInt8(ascii: "$"))
        let length = Int(bytes[2]) << 8 | Int(bytes[3])
        if bytes.count >= 4 + length {
          defer { bytes.removeFirst(4 + length) }
          return (bytes[1], bytes[4..<4 + length])
        }
      }
      guard receive(limit: limit) else { return nil }
    }
  }

  /// Reads until a packet of a key frame has come.
  func waitForKeyFrame() throws {
    while !Self.beginsKeyFrame(try #require(try packet(), "no packet")) {}
  }

  /// An IDR slice (RFC 6184): whole, among others in one packet, or its first fragment.
  private static func beginsKeyFrame(_ payload: ArraySlice<UInt8>) -> Bool {
    switch payload.first! & 0x1F {
    case 5: return true
    case 24:
      var rest = payload.dropFirst()
      while rest.count > 2 {
        let length = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
        rest = rest.dropFirst(2)
        if let first = rest.first, first & 0x1F == 5 { return true }
        rest = rest.dropFirst(length)
      }
      return false
    case 28: return payload.dropFirst().first.map { $0 & 0x9F == 0x85 } ?? false
    default: return false
    }
  }

  private func receive(limit: Int32 = patience) -> Bool {
    guard let more = readWhenReady(socket, limit: limit), !more.isEmpty else { return false }
    bytes += more
    return true
  }

  private func readWhenReady(_ descriptor: Int32, limit: Int32) -> [UInt8]? {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    guard poll(&waiting, 1, limit) > 0 else { return nil }
    var bytes = [UInt8](repeating: 0, count: 65_536)
    let count = read(descriptor, &bytes, bytes.count)
    return Array(bytes.prefix(max(0, count)))
  }
}
