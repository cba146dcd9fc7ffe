import Service
import Tactus

/// Adopted by a system that sends binary frames, such as telemetry, to WebSocket clients on its own initiative.
public protocol SendsFrames: TakesFrames {
  /// Returns the frames to send now. Called ten times a second.
  static func frames(_ published: Published<State>, _ look: Look<Self>) -> [ClientFrame]
  /// Removes a client that has disconnected. Called before the loop receives `whenClientLeaves`.
  static func forget(_ client: UInt32, _ look: Look<Self>)
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

extension SendsFrames {
  static func sent(_ published: Any, _ look: Any) -> [ClientFrame] {
    // The values are this system's, passed without their types.
    frames(published as! Published<State>, look as! Look<Self>)
  }

  static func forgotten(_ client: UInt32, _ look: Any) { forget(client, look as! Look<Self>) }
}
