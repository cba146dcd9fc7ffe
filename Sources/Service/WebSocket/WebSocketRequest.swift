import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOWebSocket

/// A request for `/ws`, or a WebSocket of a system's own, that meets RFC 6455 §4.2.1.
struct WebSocketRequest: Sendable {
  /// The subprotocol of the service's events. The other one that a client may offer, `bearer.TOKEN`, is for the access
  /// control and never answered.
  static let subprotocol = "events.v1"

  let head: HTTPRequestHead
  /// The system's own WebSocket that is requested, or `nil` for `/ws`.
  let socket: SystemSocket?
  /// The subprotocol that is answered, or `nil` if the client does not offer it.
  let answeredSubprotocol: String?

  /// Checks the head of a request for `/ws`, or for a WebSocket of a system's own, `socket`.
  ///
  /// - Throws: 405 for a method other than GET; 426 without an upgrade to WebSocket version 13; 400 for a wrong key or a body.
  init(_ head: HTTPRequestHead, of socket: SystemSocket? = nil) throws(APIError) {
    let path = socket?.path ?? "/ws"
    guard head.method == .GET else {
      throw APIError(
        .methodNotAllowed, "METHOD_NOT_ALLOWED", "\(path) knows GET only, got \(head.method.rawValue)",
        headers: [.allow: "GET"])
    }
    func lists(_ field: String, _ word: String) -> Bool {
      head.headers[canonicalForm: field].contains { $0.lowercased() == word }
    }
    guard head.version == .http1_1, lists("upgrade", "websocket"), lists("connection", "upgrade"),
      head.headers["sec-websocket-version"] == ["13"]
    else {
      throw APIError(
        .upgradeRequired, "UPGRADE_REQUIRED", "\(path) speaks WebSocket version 13 over HTTP/1.1 only",
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
    self.socket = socket
    let subprotocol = socket?.subprotocol ?? Self.subprotocol
    let offered = head.headers[canonicalForm: "sec-websocket-protocol"]
    answeredSubprotocol = offered.contains { $0 == subprotocol } ? subprotocol : nil
  }
}

extension WebSocketRequest {
  /// Returns the header fields of the answer 101.
  func answer(_ channel: any Channel) -> EventLoopFuture<HTTPHeaders> {
    var fields = HTTPHeaders()
    if let answeredSubprotocol { fields.add(name: "sec-websocket-protocol", value: answeredSubprotocol) }
    let upgrader = NIOWebSocketServerUpgrader(
      shouldUpgrade: { [fields] channel, _ in channel.eventLoop.makeSucceededFuture(fields) },
      upgradePipelineHandler: { channel, _ in channel.eventLoop.makeSucceededVoidFuture() })
    return upgrader.buildUpgradeResponse(channel: channel, upgradeRequest: head, initialResponseHeaders: [:])
  }
}

extension Caller {
  /// Returns the same caller with the number of this WebSocket.
  func webSocket(number: UInt32) -> Caller {
    Caller(scope: scope, tokenID: tokenID, address: address, client: number, expires: expires)
  }
}
