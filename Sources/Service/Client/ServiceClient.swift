import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix

/// Asks a daemon's door, for commands such as `tactus top`.
///
/// One connection a question. Any thread; nothing blocks but `stop`.
public final class ServiceClient: Sendable {
  /// The whole of a response.
  public struct Answer: Sendable {
    public let status: Int
    public let body: [UInt8]
  }

  public enum Failure: Error, Sendable, CustomStringConvertible {
    /// No connection, or it broke; why, in a few words.
    case unreachable(String)
    /// Nothing whole came in time.
    case timedOut
    /// This program was built without TLS.
    case withoutTLS
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

  public let address: ServiceAddress
  private let token: String?
  private let security: ClientSecurity?
  private let group: MultiThreadedEventLoopGroup

  /// - Parameters:
  ///   - token: sent with every question.
  ///   - fingerprint: SHA-256 of the server's own certificate in hexadecimal, colons allowed; nil: a certificate that the
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
    let security = security
    let loop = group.next()
    let promise = loop.makePromise(of: Answer.self)
    promise.futureResult.whenComplete { result in
      answered(result.mapError { $0 as? Failure ?? .unreachable(security?.words($0) ?? Self.words($0)) })
    }
    let deadline = loop.scheduleTask(in: limit) { promise.fail(Failure.timedOut) }
    var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: path)
    head.headers.add(name: "Host", value: address.description)
    head.headers.add(name: "Connection", value: "close")
    if let token { head.headers.add(name: "Authorization", value: "Bearer \(token)") }
    let connection = ClientBootstrap(group: loop).connectTimeout(limit).channelInitializer { [head] channel in
      channel.eventLoop.makeCompletedFuture {
        let pipeline = channel.pipeline.syncOperations
        if let security { try security.secure(pipeline) }
        try pipeline.addHTTPClientHandlers()
        try pipeline.addHandler(NIOHTTPClientResponseAggregator(maxContentLength: 4 << 20))
        try pipeline.addHandler(ClientExchange(head, promise))
      }
    }.connect(host: address.host, port: address.port)
    connection.cascadeFailure(to: promise)
    promise.futureResult.whenComplete { _ in
      deadline.cancel()
      connection.whenSuccess { $0.close(promise: nil) }
    }
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
  private let promise: EventLoopPromise<ServiceClient.Answer>

  init(_ head: HTTPRequestHead, _ promise: EventLoopPromise<ServiceClient.Answer>) {
    (self.head, self.promise) = (head, promise)
  }

  func channelActive(context: ChannelHandlerContext) {
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    context.fireChannelActive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let response = unwrapInboundIn(data)
    promise.succeed(
      ServiceClient.Answer(
        status: Int(response.head.status.code), body: response.body.map { Array($0.readableBytesView) } ?? []))
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
