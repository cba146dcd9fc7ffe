import NIOCore
import NIOEmbedded
import NIOWebSocket
import Tactus
import Testing

@testable import Service

/// What libFuzzer does not reach, since it needs the packages of the daemon: valid inputs, some of their bytes lost, doubled, replaced by others or
/// by bytes that mean something. Each seed is a run of its own; a seed that fails is in the message.
@Suite("What strangers send: read or refused, never the end of the program")
struct RandomInputTests {
  /// `count` mutations of some of `inputs`.
  private func mutations(
    of inputs: [String], count: Int = 20_000, signs: String = "/%.:[]{}\",\\-_&=?eE+0",
    _ check: ([UInt8], UInt64) -> Void
  ) {
    let signs = Array(signs.utf8)
    for seed in 0..<UInt64(count) {
      var random = SplitMix64(seed: seed)
      var bytes = Array(inputs[Int.random(in: 0..<inputs.count, using: &random)].utf8)
      for _ in 0..<Int.random(in: 0...5, using: &random) where !bytes.isEmpty {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: bytes[place] = .random(in: 0...255, using: &random)
        case 1: bytes[place] = signs.randomElement(using: &random)!
        case 2: bytes.remove(at: place)
        case 3: bytes.insert(signs.randomElement(using: &random)!, at: place)
        case 4: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 8)], at: place)
        default: bytes.removeSubrange(place..<min(bytes.count, place + 8))
        }
      }
      check(bytes, seed)
    }
  }

  @Test("targets of requests: no segment that leads elsewhere, no token")
  func targets() {
    var read = 0
    mutations(of: ["/api/sim/bus/i2c%201?since=4&x=a%26b&x=c+d", "/api/%E2%82%AC/%2e%2e/x", "/x?%74oken=1"]) {
      bytes, seed in
      guard let target = try? RequestTarget(String(decoding: bytes, as: UTF8.self)) else { return }
      read += 1
      for segment in target.segments {
        let scalars = segment.unicodeScalars
        #expect(
          ![".", ".."].contains(segment) && !scalars.contains { "/\\\0".unicodeScalars.contains($0) }, "seed \(seed)")
      }
      #expect(target.query["token"] == nil && target.query["access_token"] == nil, "seed \(seed)")
    }
    #expect((1_000..<20_000).contains(read))
  }

  @Test("host and port: what is read is written as it came, and is read again as the same")
  func authorities() {
    var read = 0
    mutations(of: ["pi.local:8000", "192.168.1.7:65535", "[fe80::1]:8000", "[::ffff:10.0.0.1]"]) { bytes, seed in
      guard let authority = Authority(String(decoding: bytes, as: UTF8.self)) else { return }
      read += 1
      let text = authority.host + (authority.port.map { ":\($0)" } ?? "")
      #expect(Authority(text) == authority, "seed \(seed)")
    }
    #expect((1_000..<20_000).contains(read))
  }

  @Test("tokens: only what has their form, and that whole")
  func tokens() {
    let token = OpaqueToken(identifier: "abcdefgh") { Array(repeating: 0xA7, count: $0) }.text
    var read = 0
    mutations(of: [token]) { bytes, seed in
      let text = String(decoding: bytes, as: UTF8.self)
      guard let found = OpaqueToken(text) else { return }
      read += 1
      #expect(found.text == text && text.utf8.count == token.utf8.count, "seed \(seed)")
    }
    #expect((1_000..<20_000).contains(read))
  }

  @Test("JSON web tokens, rightly signed, of any claims: what is granted is in the claims' limits")
  func webTokens() {
    let key = "a key of at least thirty-two bytes"
    let now: Int64 = 1_800_000_000
    let claims = [
      #"{"exp":1800000060,"scope":"control","sub":"phone","jti":"7"}"#,
      #"{"exp":1.80000006e9,"nbf":1799999999,"iat":1799999999.5,"scope":"read admin"}"#,
    ]
    var granted = 0
    mutations(of: claims, count: 4_000, signs: "{}[]\":,eE+-.0129") { bytes, seed in
      let text = jsonWebToken(String(decoding: bytes, as: UTF8.self), key: key)
      guard case .success(let token) = JSONWebToken.verify(text, key: Array(key.utf8), now: now) else { return }
      granted += 1
      #expect(token.expires > now && token.expires <= now + 366 * 86_400, "seed \(seed)")
    }
    #expect((200..<4_000).contains(granted))
    // Not signed by this key: nothing is granted, whatever it says.
    let token = jsonWebToken(claims[0], key: "another key of at least 32 bytes!!")
    mutations(of: [token], count: 4_000, signs: ".-_=") { bytes, seed in
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(JSONWebToken.verify(text, key: Array(key.utf8), now: now) == .failure(.invalid), "seed \(seed)")
    }
  }

  @Test("the file of tokens: read, or damaged with its place; an identifier stands in it once")
  func tokenFiles() {
    let hash = String(repeating: "a7", count: 32)
    let text =
      #"{"tokens":[{"id":"abcdefgh","name":"phone","scope":"control","created":1700000000,"hash":"\#(hash)"},"#
      + #"{"id":"abcdefg2","name":"é","scope":"read","created":1,"expires":2,"hash":"\#(hash)"}],"revokedJWT":["7"]}"#
    var read = 0
    let twice = text.replacing("abcdefg2", with: "abcdefgh")
    mutations(of: [text, twice], count: 4_000, signs: "{}[]\":,eE+-.0129") { bytes, seed in
      do throws(TokenFileError) {
        let file = try TokenFile.decode(bytes, path: "tokens.json")
        read += 1
        #expect(Set(file.tokens.map(\.id)).count == file.tokens.count, "seed \(seed)")
      } catch {
        guard case .damaged(path: "tokens.json", let detail) = error, !detail.isEmpty else {
          Issue.record("seed \(seed): \(error)")
          return
        }
      }
    }
    #expect((200..<4_000).contains(read))
  }

  @Test("messages of WebSocket clients: read, or refused with a code")
  func messages() {
    var read = 0
    mutations(
      of: [
        #"{"type":"subscribe","id":7,"systems":["robot","leg"],"rateHz":2.5}"#, #"{"type":"e-stop","id":"é"}"#,
      ], count: 4_000
    ) { bytes, seed in
      do throws(APIError) {
        let message = try ClientMessage(text: String(decoding: bytes, as: UTF8.self))
        read += 1
        #expect(message.type.utf8.count <= bytes.count * 3, "seed \(seed)")
      } catch {
        #expect(["BAD_JSON", "VALIDATION"].contains(error.code), "seed \(seed)")
      }
    }
    #expect((200..<4_000).contains(read))
  }

  @Test("frames of WebSocket clients: cut anywhere they are the same frames, or the same reason to close")
  func frames() {
    var limits = WebSocketLimits()
    limits.messageBytes = 300
    var whole = 0
    for seed in 0..<UInt64(2_000) {
      var random = SplitMix64(seed: seed)
      let bytes = Self.frames(&random)
      let expected = Self.decode([bytes], limits)
      var pieces: [[UInt8]] = []
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = min(rest.count, Int.random(in: 1...9, using: &random))
        pieces.append(Array(rest.prefix(count)))
        rest = rest.dropFirst(count)
      }
      #expect(Self.decode(pieces, limits) == expected, "seed \(seed)")
      whole += expected.filter { $0.hasPrefix("frame") }.count
    }
    #expect(whole > 2_000)
  }

  /// A few frames, some of them with bytes that are not right.
  private static func frames(_ random: inout SplitMix64) -> [UInt8] {
    var bytes: [UInt8] = []
    for _ in 0..<Int.random(in: 1...5, using: &random) {
      let opcode: UInt8 = [0, 1, 2, 8, 9, 10].randomElement(using: &random)!
      let length = [0, 5, 125, 126, 200, 300, 301].randomElement(using: &random)!
      bytes.append(0x80 | opcode)
      bytes += length < 126 ? [0x80 | UInt8(length)] : [0xFE, UInt8(length >> 8), UInt8(length & 255)]
      bytes += (0..<4 + length).map { _ in UInt8.random(in: 0...255, using: &random) }
      guard Int.random(in: 0..<4, using: &random) == 0 else { continue }
      bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
    }
    return bytes
  }

  /// What comes out of the decoder, a line each; the reason to close is the last.
  private static func decode(_ pieces: [[UInt8]], _ limits: WebSocketLimits) -> [String] {
    let channel = EmbeddedChannel(handler: ByteToMessageHandler(WebSocketDecoder(limits)))
    defer { _ = try? channel.finish(acceptAlreadyClosed: true) }
    var found: [String] = []
    func drain() {
      while let frame = try? channel.readInbound(as: WebSocketFrame.self) {
        found.append("frame \(frame.fin) \(frame.opcode) \(Array(frame.unmaskedData.readableBytesView))")
      }
    }
    for piece in pieces {
      do {
        try channel.writeInbound(ByteBuffer(bytes: piece))
        drain()
      } catch {
        drain()
        return found + ["close: \(error)"]
      }
    }
    return found
  }
}
