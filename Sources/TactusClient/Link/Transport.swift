import Foundation

/// One request to the daemon.
public struct ClientRequest: Sendable, Equatable {
  /// What it means to send such a request twice.
  public enum Kind: Sendable {
    /// It only looks.
    case look
    /// It can only make a machine safer (stop, off, e-stop): it is tried again unasked.
    case makesSafe
    /// One of a stream, of which the next follows anyway (drive, ping).
    case stream
    /// It starts or changes something: it is sent once, whatever happens.
    case act
  }

  /// `GET`, `POST`, `PUT` or `DELETE`.
  public var method: String
  /// The path with its query: `/api/zone/1/on`.
  public var path: String
  /// The body, JSON; `nil` if there is none.
  public var body: Data?
  /// What it means to send it twice.
  public var kind: Kind

  /// Creates a request.
  public init(_ method: String, _ path: String, body: Data? = nil, kind: Kind) {
    self.method = method
    self.path = path
    self.body = body
    self.kind = kind
  }
}

/// The daemon's answer to a request, whatever its status.
public struct ClientAnswer: Sendable, Equatable {
  /// The status of HTTP.
  public var status: Int
  /// The body.
  public var body: Data

  /// Creates an answer.
  public init(status: Int, body: Data) {
    self.status = status
    self.body = body
  }
}

/// How requests and events travel: `URLSessionTransport`, or a test's or a preview's own.
public protocol Transport: Sendable {
  /// Sends a request once and returns the answer.
  /// - Throws: `ClientError.unreachable` if there was none.
  func answer(to request: ClientRequest, token: String?) async throws(ClientError) -> ClientAnswer

  /// Opens the daemon's WebSocket.
  /// - Throws: `ClientError.unreachable` if it cannot be had here, where HTTP may do.
  func openSocket(token: String?) async throws(ClientError) -> any EventSocket
}

/// An open WebSocket.
public protocol EventSocket: Sendable {
  /// What comes in, in its order. It ends, with or without an error, when the socket does. It is read once.
  var messages: AsyncThrowingStream<SocketMessage, any Error> { get }

  /// Sends a message.
  /// - Throws: `ClientError.unreachable` if the socket is closed.
  func send(_ message: SocketMessage) async throws(ClientError)

  /// Closes the socket; `messages` ends.
  func close()
}

/// A message of a WebSocket.
public enum SocketMessage: Sendable, Equatable {
  /// A text message: one JSON object.
  case text(Data)
  /// A binary message.
  case binary(Data)
}
