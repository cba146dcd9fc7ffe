import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix

/// Asks a daemon's door, for commands such as `tactus top`.
///
/// One connection a question. Any thread; nothing blocks but `ask` and `stop`.
public final class ServiceClient: Sendable {
  /// The whole of a response.
  public struct Answer: Sendable {
    /// HTTP status code; anything but 2xx is an answer, too, not a `Failure`.
    public let status: Int
    /// At most 4 MB; empty if the response had none.
    public let body: [UInt8]
  }

  /// Why there is no answer.
  public enum Failure: Error, Sendable, CustomStringConvertible {
    /// No connection, or it broke; why, in a few words.
    case unreachable(String)
    /// Nothing whole came in time.
    case timedOut
    /// This program was built without TLS.
    case withoutTLS
    /// The text given as a fingerprint is not 64 hexadecimal digits, colons aside.
    case badFingerprint(String)

    public var description: String {
      switch self {
      case .unreachable(let reason): reason
      case .timedOut: "no answer"
      case .withoutTLS: "this program was built without TLS (swift build --traits TLS): give an http:// address"
      case .badFingerprint(let text): "expected a SHA-256 fingerprint of 64 hexadecimal digits, got \(text)"
      }
    }
  }

  /// Where every question goes; also sent as `Host`.
  public let address: ServiceAddress
  private let token: String?
  private let security: ClientSecurity?
  private let group: MultiThreadedEventLoopGroup

  /// - Parameters:
  ///   - token: sent with every question.
  ///   - fingerprint: SHA-256 of the server's own certificate in hexadecimal, colons allowed; `nil` for a certificate that the
  ///     machine trusts. Only for https.
  /// - Throws: `.withoutTLS`, `.badFingerprint`.
  public init(_ address: ServiceAddress, token: String?, fingerprint: String? = nil) throws(Failure) {
    self.address = address
    self.token = token
    security = address.isSecure ? try ClientSecurity(host: address.host, fingerprint: fingerprint) : nil
    group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  }

  /// Ends the client's thread. No question may be open or follow.
  public func stop() { try? group.syncShutdownGracefully() }

  /// `GET path`. Calls `answered` once, on the client's thread, after at most `limit`; the answer's body is at most 4 MB.
  public func get(
    _ path: String, limit: TimeAmount = .seconds(3),
    answered: @escaping @Sendable (Result<Answer, Failure>) -> Void
  ) {
    answer(.GET, path, body: nil, limit: limit).whenComplete { [self] in answered(told($0)) }
  }

  /// A request with a body of JSON, if any. Blocks the calling thread until the answer is there, for at most `limit`; the
  /// answer's body is at most 4 MB.
  ///
  /// - Parameter path: with its query, percent-encoded.
  public func ask(
    _ method: String, _ path: String, body: [UInt8]? = nil, limit: Duration
  ) -> Result<Answer, Failure> {
    let answer = answer(HTTPMethod(rawValue: method), path, body: body, limit: TimeAmount(limit))
    return told(Result { try answer.wait() })
  }

  private func told(_ result: Result<Answer, any Error>) -> Result<Answer, Failure> {
    result.mapError { $0 as? Failure ?? .unreachable(security?.words($0) ?? Self.words($0)) }
  }

  private func answer(
    _ method: HTTPMethod, _ path: String, body: [UInt8]?, limit: TimeAmount
  ) -> EventLoopFuture<Answer> {
    let security = security
    let loop = group.next()
    let promise = loop.makePromise(of: Answer.self)
    let deadline = loop.scheduleTask(in: limit) { promise.fail(Failure.timedOut) }
    var head = HTTPRequestHead(version: .http1_1, method: method, uri: path)
    head.headers.add(name: "Host", value: address.description)
    head.headers.add(name: "Connection", value: "close")
    if let token { head.headers.add(name: "Authorization", value: "Bearer \(token)") }
    if let body {
      head.headers.add(name: "Content-Type", value: "application/json")
      head.headers.add(name: "Content-Length", value: "\(body.count)")
    } else if method != .GET {
      head.headers.add(name: "Content-Length", value: "0")
    }
    let connection = ClientBootstrap(group: loop).connectTimeout(limit).channelInitializer { [head] channel in
      channel.eventLoop.makeCompletedFuture {
        let pipeline = channel.pipeline.syncOperations
        if let security { try security.secure(pipeline) }
        try pipeline.addHTTPClientHandlers()
        try pipeline.addHandler(NIOHTTPClientResponseAggregator(maxContentLength: 4 << 20))
        try pipeline.addHandler(ClientExchange(head, body, promise))
      }
    }.connect(host: address.host, port: address.port)
    connection.cascadeFailure(to: promise)
    promise.futureResult.whenComplete { _ in
      deadline.cancel()
      connection.whenSuccess { $0.close(promise: nil) }
    }
    return promise.futureResult
  }

  /// What went wrong with a connection, without the library's own vocabulary.
  static func words(_ error: any Error) -> String {
    switch error {
    case let error as NIOConnectionError:
      if let cause = error.connectionErrors.first?.error { return words(cause) }
      return error.dnsAError == nil && error.dnsAAAAError == nil ? "no connection" : "the name is unknown"
    case let error as IOError: return String(cString: strerror(error.errnoCode))
    case ChannelError.connectTimeout: return "no answer"
    default: return "\(error)"
    }
  }
}

/// Sends one request and takes its response.
private final class ClientExchange: ChannelInboundHandler {
  typealias InboundIn = NIOHTTPClientResponseFull
  typealias OutboundOut = HTTPClientRequestPart

  private let head: HTTPRequestHead
  private let body: [UInt8]?
  private let promise: EventLoopPromise<ServiceClient.Answer>

  init(_ head: HTTPRequestHead, _ body: [UInt8]?, _ promise: EventLoopPromise<ServiceClient.Answer>) {
    (self.head, self.body, self.promise) = (head, body, promise)
  }

  func channelActive(context: ChannelHandlerContext) {
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    if let body {
      context.write(wrapOutboundOut(.body(.byteBuffer(context.channel.allocator.buffer(bytes: body)))), promise: nil)
    }
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let response = unwrapInboundIn(data)
    promise.succeed(
      ServiceClient.Answer(
        status: Int(clamping: response.head.status.code), body: response.body.map { Array($0.readableBytesView) } ?? [])
    )
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    promise.fail(error)
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    promise.fail(ServiceClient.Failure.unreachable("the connection was closed"))
    context.fireChannelInactive()
  }
}
