import NIOCore
import NIOWebSocket

/// The protocol state of one WebSocket (RFC 6455 §5): it assembles messages, enforces the rules, handles the close
/// handshake and detects silence. The machine only decides; `WebSocketSession` carries out the decisions.
///
///     open ──violation, server closes──▶ closing ──client closes, 1 s──▶ over
///       └──client closes───────────────────────────────────────────────▶
struct WebSocketMachine {
  enum State: Equatable {
    case open
    /// The server's close frame has been sent; only the client's close frame is awaited.
    case closing
    case over
  }

  struct CloseReason: Error, Equatable {
    let code: UInt16
    let reason: String

    init(_ code: UInt16, _ reason: String) { (self.code, self.reason) = (code, reason) }

    static func tooLarge(_ limits: WebSocketLimits) -> CloseReason {
      CloseReason(1009, "a message of more than \(limits.messageBytes) bytes")
    }
  }

  enum Action: Equatable {
    case nothing
    case text(String)
    case binary([UInt8])
    case pong([UInt8])
    /// Sends a close frame and waits for the client's close frame.
    case close(CloseReason)
    /// Answers the client's close frame with its code, if it has one, and ends the connection.
    case answerClose(UInt16?)
    /// Ends the connection, because both close frames have been exchanged.
    case end
  }

  private struct Message {
    let isText: Bool
    var bytes: [UInt8]
    var fragments = 1
  }

  private let limits: WebSocketLimits
  private(set) var state = State.open
  private var message: Message?
  private var lastHeard: NIODeadline

  init(_ limits: WebSocketLimits, at now: NIODeadline) {
    self.limits = limits
    lastHeard = now
  }

  mutating func frame(_ frame: WebSocketFrame, at now: NIODeadline) -> Action {
    guard state != .over else { return .nothing }
    lastHeard = now
    do throws(CloseReason) {
      try check(frame)
      if state == .closing {
        guard frame.opcode == .connectionClose else { return .nothing }
        state = .over
        return .end
      }
      return try receive(frame)
    } catch {
      return close(error)
    }
  }

  /// Starts the close handshake from the server's side, and returns the close frame to send, if any.
  mutating func close(_ reason: CloseReason) -> Action {
    guard state == .open else { return .nothing }
    state = .closing
    message = nil
    return .close(reason)
  }

  /// Checks the client's silence; called every ping interval. Returns `nothing` if a ping is due.
  mutating func pingDue(at now: NIODeadline) -> Action {
    guard now - lastHeard >= limits.silence else { return .nothing }
    return close(CloseReason(1008, "no pong for \(limits.silence.nanoseconds / 1_000_000_000) s"))
  }

  /// Notes that the connection has ended.
  mutating func disconnected() {
    state = .over
    message = nil
  }

  private func check(_ frame: WebSocketFrame) throws(CloseReason) {
    if frame.rsv1 || frame.rsv2 || frame.rsv3 { throw CloseReason(1002, "reserved bits are set") }
    if frame.maskKey == nil { throw CloseReason(1002, "a frame without a mask") }
  }

  private mutating func receive(_ frame: WebSocketFrame) throws(CloseReason) -> Action {
    switch frame.opcode {
    case .text, .binary:
      guard message == nil else { throw CloseReason(1002, "a new message within a fragmented one") }
      let bytes = Array(frame.unmaskedData.readableBytesView)
      message = Message(isText: frame.opcode == .text, bytes: bytes)
      return try frame.fin ? whole() : .nothing
    case .continuation:
      guard var longer = message else { throw CloseReason(1002, "a continuation of nothing") }
      message = nil
      longer.bytes += frame.unmaskedData.readableBytesView
      longer.fragments += 1
      guard longer.bytes.count <= limits.messageBytes, longer.fragments <= 1024 else { throw .tooLarge(limits) }
      message = longer
      return try frame.fin ? whole() : .nothing
    case .ping: return .pong(Array(frame.unmaskedData.readableBytesView))
    case .pong: return .nothing
    case .connectionClose: return try closeAsked(frame)
    default: throw CloseReason(1002, "an unknown opcode")
    }
  }

  private mutating func whole() throws(CloseReason) -> Action {
    guard let message else { return .nothing }
    self.message = nil
    guard message.isText else { return .binary(message.bytes) }
    guard let text = String(validating: message.bytes, as: UTF8.self) else {
      throw CloseReason(1007, "text that is not UTF-8")
    }
    return .text(text)
  }

  private mutating func closeAsked(_ frame: WebSocketFrame) throws(CloseReason) -> Action {
    var data = frame.unmaskedData
    guard data.readableBytes != 0 else {
      state = .over
      return .answerClose(nil)
    }
    guard let code = data.readInteger(as: UInt16.self), Self.mayBeSent(code) else {
      throw CloseReason(1002, "a close frame with a wrong code")
    }
    guard String(validating: data.readableBytesView, as: UTF8.self) != nil else {
      throw CloseReason(1007, "a close reason that is not UTF-8")
    }
    state = .over
    return .answerClose(code)
  }

  /// Returns whether an endpoint may put this code into a close frame (RFC 6455 §7.4 and its registry).
  private static func mayBeSent(_ code: UInt16) -> Bool {
    switch code {
    case 1000...1003, 1007...1014, 3000...4999: true
    default: false
    }
  }
}
