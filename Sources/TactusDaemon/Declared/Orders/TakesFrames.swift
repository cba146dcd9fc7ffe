import Service
import Tactus

/// A protocol for a system that receives binary frames from WebSocket clients, or speaks a protocol of its own on
/// WebSockets of its own.
public protocol TakesFrames: DeviceSystem {
  /// Handles a frame. Called in the order of arrival on the client's event loop, and must not block.
  ///
  /// - Returns: whether the frame is for this system.
  static func receive(_ frame: [UInt8], from caller: Caller, _ door: FrameDoor<Self>) -> Bool
  /// Returns the frames to send now without having been asked, such as telemetry; none by default. Called ten times a second.
  static func frames(_ published: Published<State>, _ look: Look<Self>) -> [ClientFrame]
  /// Removes a client that has disconnected; does nothing by default. Called before the loop receives `whenClientLeaves`.
  static func forget(_ client: UInt32, _ look: Look<Self>)
  /// Returns the WebSockets that this file asks for, beside `/ws`; by default none. Called once, before the service starts.
  static func sockets(_ look: Look<Self>) -> [OwnSocket<Self>]
}

/// A WebSocket of a system's own, such as `/rosbridge`. A token of scope read opens it, or the page's `bearer.TOKEN` among the subprotocols;
/// when it closes, the loop receives `whenClientLeaves`.
public struct OwnSocket<System: DeviceSystem>: Sendable {
  let path: String
  let subprotocol: String
  let open: @Sendable (SocketDoor<System>, SocketLine) -> any SocketTalk

  /// Creates a socket.
  ///
  /// - Parameters:
  ///   - path: the path, which begins with a slash and is neither `/ws` nor below `/api`.
  ///   - subprotocol: the WebSocket subprotocol that a browser offers besides its token, such as `rosbridge.v2`.
  ///   - open: called for each client that connects, with its access to the system and the line on which messages are sent to it.
  public init(
    _ path: String, subprotocol: String,
    open: @escaping @Sendable (_ door: SocketDoor<System>, _ line: SocketLine) -> any SocketTalk
  ) {
    declared(path.hasPrefix("/") && path != "/ws" && !path.hasPrefix("/api"), "not a socket's path: \(path)")
    (self.path, self.subprotocol, self.open) = (path, subprotocol, open)
  }
}

/// Access to the system for a client of a socket of its own: its state and its loop. The client is answered on its `SocketLine`. It may be used from any
/// thread.
public struct SocketDoor<System: DeviceSystem>: Sendable {
  let door: HostedDoor<System>
  /// The client that has sent the frame or opened the socket.
  public let caller: Caller

  /// The state that the loop has last published.
  public var newest: Published<System.State> { door.published }
  /// The present instant of the loop's clock.
  public var now: TickInstant { door.requests.now() }
  /// The context in which the system's state is shown at present.
  public var look: Look<System> { door.look(now) }

  /// Sends an order to the loop, as `FrameDoor.send` does. The client's message counts as having arrived now.
  public func send(
    _ order: System.Order, of part: SystemPart = .whole, makesSafe: Bool,
    then: @escaping @Sendable (Result<(Answer<System.Refusal>, Published<System.State>), APIError>) -> Void
  ) {
    let asked = caller.with(arrival: now).asks(part)
    door.requests.send(order, makesSafe: makesSafe, client: caller.client, asked: asked) { [door] result in
      then(result.map { ($0, door.published) })
    }
  }
}

/// Access to the system for the handler of a frame: its state, its loop, and the reply to the client. It may be used from any thread.
public struct FrameDoor<System: DeviceSystem>: Sendable {
  let door: HostedDoor<System>
  let caller: Caller
  let answer: @Sendable (FrameOutcome) -> Void

  /// The state that the loop has last published.
  public var newest: Published<System.State> { door.published }
  /// The context in which the system's state is shown, at its tick.
  public var look: Look<System> { door.look(door.published.at) }

  /// Sends an order to the loop.
  ///
  /// - Parameters:
  ///   - part: the part of the system that the order is for.
  ///   - makesSafe: whether the order can only make the system safer. Such an order never expires, and makes void what arrived before it for the
  ///     same part.
  ///   - then: called once on any thread with the loop's answer and a state published in the same tick or later, or
  ///     with the error if there is no answer.
  public func send(
    _ order: System.Order, of part: SystemPart = .whole, makesSafe: Bool,
    then: @escaping @Sendable (Result<(Answer<System.Refusal>, Published<System.State>), APIError>) -> Void
  ) {
    door.requests.send(order, makesSafe: makesSafe, client: caller.client, asked: caller.asks(part)) { [door] result in
      then(result.map { ($0, door.published) })
    }
  }

  /// Answers with a binary frame. A frame may be answered once.
  public func reply(_ bytes: [UInt8]) { answer(.reply(bytes)) }
  /// Answers with an `error` event. A frame may be answered once.
  public func refuse(_ error: APIError) { answer(.refused(error)) }
  /// Answers with an `error` event for a refusal by the loop. A frame may be answered once.
  public func refuse(_ refusal: System.Refusal, in state: System.State) {
    answer(.refused(.conflict(refusal.code, System.sentence(of: refusal, state))))
  }
}

extension TakesFrames {
  /// Returns no frames: the system answers only.
  public static func frames(_ published: Published<State>, _ look: Look<Self>) -> [ClientFrame] { [] }
  /// Does nothing: the system keeps no client.
  public static func forget(_ client: UInt32, _ look: Look<Self>) {}
  /// Returns no WebSockets: clients of the system use `/ws`.
  public static func sockets(_ look: Look<Self>) -> [OwnSocket<Self>] { [] }

  /// Returns the sockets as the service has them, behind a door that is passed without its type.
  static func hosted(on door: Any, _ look: Any) -> [SystemSocket] {
    // The values are this system's, passed without their types.
    let door = door as! HostedDoor<Self>
    return sockets(look as! Look<Self>).map { socket in
      SystemSocket(socket.path, subprotocol: socket.subprotocol) { caller, line in
        socket.open(SocketDoor(door: door, caller: caller), line)
      }
    }
  }

  static func sent(_ published: Any, _ look: Any) -> [ClientFrame] {
    // The values are this system's, passed without their types.
    frames(published as! Published<State>, look as! Look<Self>)
  }

  static func forgotten(_ client: UInt32, _ look: Any) { forget(client, look as! Look<Self>) }

  /// Handles a frame for this system with a door that is passed without its type. Returns whether the frame is for this
  /// system.
  static func takes(_ frame: [UInt8], from caller: Caller, _ door: Any) -> Bool {
    receive(frame, from: caller, door as! FrameDoor<Self>)
  }
}

/// A binary frame for one client.
public struct ClientFrame: Sendable {
  let client: UInt32
  let type: String
  let bytes: [UInt8]

  /// Creates a frame.
  ///
  /// - Parameters:
  ///   - client: the number of the WebSocket client, as in `Caller`.
  ///   - type: the type of the content, for subscriptions: `leg.0`.
  ///   - bytes: the bytes of the frame.
  public init(to client: UInt32, type: String, _ bytes: [UInt8]) {
    (self.client, self.type, self.bytes) = (client, type, bytes)
  }
}
