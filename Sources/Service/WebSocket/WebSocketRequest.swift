import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOWebSocket

/// A request for `/ws` that is what RFC 6455 §4.2.1 asks for.
struct WebSocketRequest: Sendable {
  /// The subprotocol of our events; the other one a client may offer, `bearer.TOKEN`, is for the doorman and never answered.
  static let subprotocol = "events.v1"

  let head: HTTPRequestHead
  let answersSubprotocol: Bool

  /// - Throws: 405 for another method than GET; 426 without an upgrade to WebSocket version 13; 400 for a wrong key.
  init(_ head: HTTPRequestHead) throws(APIError) {
    guard head.method == .GET else {
      throw APIError(
        .methodNotAllowed, "METHOD_NOT_ALLOWED", "/ws knows GET only, got \(head.method.rawValue)",
        headers: [.allow: "GET"])
    }
    func lists(_ field: String, _ word: String) -> Bool {
      head.headers[canonicalForm: field].contains { $0.lowercased() == word }
    }
    guard head.version == .http1_1, lists("upgrade", "websocket"), lists("connection", "upgrade"),
      head.headers["sec-websocket-version"] == ["13"]
    else {
      throw APIError(
        .upgradeRequired, "UPGRADE_REQUIRED", "/ws speaks WebSocket version 13 over HTTP/1.1 only",
        headers: [.upgrade: "websocket", .connection: "upgrade", .secWebSocketVersion: "13"])
    }
    let keys = head.headers["sec-websocket-key"]
    guard keys.count == 1, Data(base64Encoded: keys[0])?.count == 16 else {
      throw APIError(
        .badRequest, "BAD_REQUEST", "Sec-WebSocket-Key: expected 16 bytes in base64", field: "Sec-WebSocket-Key")
    }
    guard !head.headers.contains(name: "content-length"), !head.headers.contains(name: "transfer-encoding") else {
      throw APIError(.badRequest, "BAD_REQUEST", "a request for a WebSocket has no body")
    }
    self.head = head
    answersSubprotocol = head.headers[canonicalForm: "sec-websocket-protocol"].contains { $0 == Self.subprotocol }
  }
}

extension WebSocketRequest {
  /// The fields of the answer 101.
  func answer(_ channel: any Channel) -> EventLoopFuture<HTTPHeaders> {
    var fields = HTTPHeaders()
    if answersSubprotocol { fields.add(name: "sec-websocket-protocol", value: Self.subprotocol) }
    let upgrader = NIOWebSocketServerUpgrader(
      shouldUpgrade: { [fields] channel, _ in channel.eventLoop.makeSucceededFuture(fields) },
      upgradePipelineHandler: { channel, _ in channel.eventLoop.makeSucceededVoidFuture() })
    return upgrader.buildUpgradeResponse(channel: channel, upgradeRequest: head, initialResponseHeaders: [:])
  }
}

extension Caller {
  /// The same caller with a number of this WebSocket's own.
  func webSocket(number: UInt32) -> Caller {
    Caller(scope: scope, tokenID: tokenID, address: address, client: number, expires: expires)
  }
}
