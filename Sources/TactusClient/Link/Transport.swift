import Foundation

/// One request to the daemon.
public struct ClientRequest: Sendable, Equatable {
  /// The consequence of sending a request twice.
  public enum Kind: Sendable {
    /// The request only reads.
    case look
    /// The request can only make the system safer (stop, off, e-stop). It is repeated automatically.
    case makesSafe
    /// The request is one of a stream, whose next one follows anyway (drive, ping).
    case stream
    /// The request starts or changes something. It is sent once, whatever happens.
    case act
  }

  /// The method: `GET`, `POST`, `PUT` or `DELETE`.
  public var method: String
  /// The path with its query, such as `/api/zone/1/on`.
  public var path: String
  /// The JSON body, or `nil` if there is none.
  public var body: Data?
  /// The consequence of sending the request twice.
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
  /// The HTTP status of the answer.
  public var status: Int
  /// The body of the answer.
  public var body: Data

  /// Creates an answer from its status and its body.
  public init(status: Int, body: Data) {
    self.status = status
    self.body = body
  }
}

/// The transport of requests and events: `URLSessionTransport`, or another one of a test or a preview.
public protocol Transport: Sendable {
  /// Sends a request once and returns the answer.
  /// - Throws: `ClientError.unreachable` if there is no answer.
  func answer(to request: ClientRequest, token: String?) async throws(ClientError) -> ClientAnswer

  /// Opens the daemon's WebSocket.
  /// - Throws: `ClientError.unreachable` if no WebSocket is available here. HTTP may still work.
  func openSocket(token: String?) async throws(ClientError) -> any EventSocket
}

/// An open WebSocket.
public protocol EventSocket: Sendable {
  /// The messages in the order of arrival. The stream ends when the socket does, with or without an error. It may be iterated once.
  var messages: AsyncThrowingStream<SocketMessage, any Error> { get }

  /// Sends one message.
  /// - Throws: `ClientError.unreachable` if the socket is closed.
  func send(_ message: SocketMessage) async throws(ClientError)

  /// Closes the socket, which ends `messages`.
  func close()
}

/// A message of a WebSocket.
public enum SocketMessage: Sendable, Equatable {
  /// A text message: one JSON object.
  case text(Data)
  /// A binary message.
  case binary(Data)
}
