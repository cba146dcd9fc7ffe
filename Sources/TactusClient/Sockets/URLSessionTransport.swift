import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The transport by URLSession. Events use its WebSocket or, on Linux, where it has none, one over a TCP socket.
///
/// On Linux there is no WebSocket over TLS, so with `https://` the client polls.
public struct URLSessionTransport: Transport {
  /// The limit for an answer. The daemon answers or refuses a command within a second.
  public static let patienceSeconds = 5.0

  /// The address of the daemon.
  public let endpoint: Endpoint
  private let sessions = Sessions()

  /// Creates the transport for an endpoint.
  public init(_ endpoint: Endpoint) { self.endpoint = endpoint }

  /// Sends a request once and returns the answer.
  public func answer(to request: ClientRequest, token: String?) async throws(ClientError) -> ClientAnswer {
    guard let url = endpoint.url(request.path) else {
      throw .invalid(field: "address", message: "expected a host, got \(endpoint.host.debugDescription)")
    }
    var sent = URLRequest(url: url)
    sent.httpMethod = request.method
    sent.httpBody = request.body
    sent.timeoutInterval = Self.patienceSeconds
    if request.body != nil { sent.setValue("application/json", forHTTPHeaderField: "Content-Type") }
    if let token { sent.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
    let isOnce = request.kind == .act
    if isOnce { sent.setValue("close", forHTTPHeaderField: "Connection") }
    do {
      let (body, response) = try await (isOnce ? sessions.forOnce : sessions.pooled).data(for: sent)
      guard let response = response as? HTTPURLResponse else { throw ClientError.unintelligible("no answer of HTTP") }
      return ClientAnswer(status: response.statusCode, body: body)
    } catch let error as ClientError {
      throw error
    } catch {
      throw .unreachable("\(endpoint): \((error as NSError).localizedDescription)")
    }
  }

  /// Opens the daemon's WebSocket.
  public func openSocket(token: String?) async throws(ClientError) -> any EventSocket {
    #if os(Linux)
      guard !endpoint.isSecure else { throw .unreachable("there is no WebSocket over TLS on Linux") }
      let (endpoint, opened) = (endpoint, OpenedOnThread())
      return try await opened.open { () throws(ClientError) in try StreamSocket.open(endpoint, token: token) }
    #else
      guard let url = endpoint.socketURL else {
        throw .invalid(field: "address", message: "expected a host, got \(endpoint.host.debugDescription)")
      }
      var request = URLRequest(url: url)
      if let token { request.setValue("Bearer \(token)", forHTTPHeaderField: "Authorization") }
      return SessionSocket(sessions.forSockets.webSocketTask(with: request))
    #endif
  }
}

/// The sessions of a transport, which end with it; requests in flight are completed.
private final class Sessions: Sendable {
  let pooled = URLSession(configuration: Sessions.configuration())
  /// The session for requests that must not be sent twice, each on a new connection. A kept connection may have been closed by
  /// the daemon, and the network library would then repeat the request by itself.
  let forOnce = URLSession(configuration: Sessions.configuration())
  #if !os(Linux)
    /// The session for WebSockets, without the time limit of an answer.
    let forSockets = URLSession(configuration: .ephemeral)
  #endif

  private static func configuration() -> URLSessionConfiguration {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = URLSessionTransport.patienceSeconds
    configuration.timeoutIntervalForResource = URLSessionTransport.patienceSeconds
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    configuration.httpShouldSetCookies = false
    return configuration
  }

  deinit {
    pooled.finishTasksAndInvalidate()
    forOnce.finishTasksAndInvalidate()
    #if !os(Linux)
      forSockets.invalidateAndCancel()
    #endif
  }
}

#if os(Linux)
  /// Opens a socket on a thread that may block.
  private struct OpenedOnThread: Sendable {
    func open(_ body: @escaping @Sendable () throws(ClientError) -> StreamSocket) async throws(ClientError)
      -> StreamSocket
    {
      let result: Result<StreamSocket, ClientError> = await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          do throws(ClientError) {
            continuation.resume(returning: .success(try body()))
          } catch {
            continuation.resume(returning: .failure(error))
          }
        }
      }
      return try result.get()
    }
  }
#else
  /// The WebSocket of URLSession.
  private final class SessionSocket: EventSocket {
    let messages: AsyncThrowingStream<SocketMessage, any Error>
    private let task: URLSessionWebSocketTask

    init(_ task: URLSessionWebSocketTask) {
      self.task = task
      task.maximumMessageSize = WebSocketFrames.longestMessage
      let (stream, continuation) = AsyncThrowingStream<SocketMessage, any Error>.makeStream(
        bufferingPolicy: .bufferingNewest(1024))
      messages = stream
      task.resume()
      Task {
        do {
          while true {
            switch try await task.receive() {
            case .string(let text): continuation.yield(.text(Data(text.utf8)))
            case .data(let data): continuation.yield(.binary(data))
            @unknown default: break
            }
          }
        } catch {
          continuation.finish(throwing: ClientError.unreachable((error as NSError).localizedDescription))
        }
      }
    }

    func send(_ message: SocketMessage) async throws(ClientError) {
      do {
        switch message {
        case .text(let data): try await task.send(.string(String(decoding: data, as: UTF8.self)))
        case .binary(let data): try await task.send(.data(data))
        }
      } catch {
        throw .unreachable((error as NSError).localizedDescription)
      }
    }

    func close() { task.cancel(with: .normalClosure, reason: nil) }
  }
#endif
