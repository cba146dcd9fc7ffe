import Service
import Tactus

/// Adopted by a system that speaks a protocol of its own over WebSockets of its own, beside `/ws`.
public protocol HasSockets: DeviceSystem {
  /// Returns the WebSockets that this file asks for. Called once, before the service starts.
  static func sockets(_ look: Look<Self>) -> [OwnSocket<Self>]
}

/// A WebSocket of a system's own, such as `/rosbridge`. A token of scope read opens it, or the page's `bearer.TOKEN` among the subprotocols;
/// when it closes, the loop receives `whenClientLeaves`.
public struct OwnSocket<System: DeviceSystem>: Sendable {
  let path: String
  let subprotocol: String
  let open: @Sendable (SocketDoor<System>) -> any SocketTalk

  /// Creates a socket.
  ///
  /// - Parameters:
  ///   - path: the path, which begins with a slash and is neither `/ws` nor below `/api`.
  ///   - subprotocol: the WebSocket subprotocol that a browser offers besides its token, such as `rosbridge.v2`.
  ///   - open: called for each client that connects.
  public init(
    _ path: String, subprotocol: String, open: @escaping @Sendable (SocketDoor<System>) -> any SocketTalk
  ) {
    declared(path.hasPrefix("/") && path != "/ws" && !path.hasPrefix("/api"), "not a socket's path: \(path)")
    (self.path, self.subprotocol, self.open) = (path, subprotocol, open)
  }
}

/// Access to the system for a client of a socket of its own. It may be used from any thread.
public struct SocketDoor<System: DeviceSystem>: Sendable {
  let door: HostedDoor<System>
  /// The client.
  public let caller: Caller
  /// The line on which messages are sent to the client.
  public let line: SocketLine

  /// The state that the loop has last published.
  public var newest: Published<System.State> { door.published }
  /// The present instant of the loop's clock.
  public var now: TickInstant { door.requests.now() }
  /// The present context in which the system's state is shown.
  public var look: Look<System> { door.look(now) }
  /// Whether the client's token allows commands.
  public var mayControl: Bool { caller.scope >= .control }

  /// Returns the wall time of an instant of the loop's clock, in microseconds since 1970.
  public func wallMicroseconds(of instant: TickInstant) -> Int64 {
    WallClock.microseconds - (now - instant).count / 1_000
  }

  /// Sends an order to the loop.
  ///
  /// - Parameters:
  ///   - makesSafe: whether the order can only make the system safer. Such an order never expires.
  ///   - then: called once on any thread with the error if the loop refused the order or did not answer, else with `nil`.
  public func send(
    _ order: System.Order, makesSafe: Bool, then: @escaping @Sendable (APIError?) -> Void
  ) {
    door.requests.send(order, makesSafe: makesSafe, client: caller.client, asked: caller.with(arrival: now).asks()) {
      [door] result in
      switch result {
      case .failure(let error): then(error)
      case .success(let answer):
        guard case .refused(let refusal) = answer.verdict else { return then(nil) }
        then(.conflict(refusal.code, System.sentence(of: refusal, door.newest)))
      }
    }
  }
}

extension HasSockets {
  /// Returns the sockets as the service has them, behind a door that is passed without its type.
  static func hosted(on door: Any, _ look: Any) -> [SystemSocket] {
    // The values are this system's, passed without their types.
    let door = door as! HostedDoor<Self>
    return sockets(look as! Look<Self>).map { socket in
      SystemSocket(socket.path, subprotocol: socket.subprotocol) { caller, line in
        socket.open(SocketDoor(door: door, caller: caller, line: line))
      }
    }
  }
}
