import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix

/// An HTTP client of a daemon's service, for commands such as `tactus top`.
///
/// Each request has its own connection. It may be used from any thread; only `ask` and `stop` block.
public final class ServiceClient: Sendable {
  /// A complete response to a request.
  public struct Answer: Sendable {
    /// The HTTP status code. An answer with a status other than 2xx is also an `Answer`, not a `Failure`.
    public let status: Int
    /// The body, at most 4 MB unless more was allowed; empty if the response had none.
    public let body: [UInt8]
  }

  /// The reason why a request has no answer.
  public enum Failure: Error, Sendable, CustomStringConvertible {
    /// The connection failed or broke, for the given reason in a few words.
    case unreachable(String)
    /// The host's name cannot be resolved to an address.
    case unknownName
    /// No complete response arrived within the limit.
    case timedOut
    /// This program was built without TLS.
    case withoutTLS
    /// The text given as a fingerprint is not 64 hexadecimal digits with optional colons.
    case badFingerprint(String)
    /// The client's certificate or its key cannot be used, for the given reason.
    case badIdentity(String)

    public var description: String {
      switch self {
      case .unreachable(let reason): reason
      case .unknownName: "the name is unknown"
      case .timedOut: "no answer"
      case .withoutTLS: "this program was built without TLS (swift build --traits TLS): give an http:// address"
      case .badFingerprint(let text): "expected a SHA-256 fingerprint of 64 hexadecimal digits, got \(text)"
      case .badIdentity(let reason): reason
      }
    }
  }

  /// The address to which every request goes, which is also sent as `Host`.
  public let address: ServiceAddress
  private let token: String?
  private let security: ClientSecurity?
  private let group: MultiThreadedEventLoopGroup

  /// Makes a client and starts its thread.
  ///
  /// - Parameters:
  ///   - token: the token sent with every request, or `nil` for none.
  ///   - fingerprint: SHA-256 of the server's self-signed certificate in hexadecimal, colons allowed, or `nil` if the
  ///     host trusts the certificate. Only for https.
  ///   - identity: the client's own certificate, or `nil` for none. Only for https.
  /// - Throws: `.withoutTLS`, `.badFingerprint`, `.badIdentity`.
  public init(
    _ address: ServiceAddress, token: String?, fingerprint: String? = nil, identity: ClientIdentity? = nil
  ) throws(Failure) {
    self.address = address
    self.token = token
    security =
      address.isSecure
      ? try ClientSecurity(host: address.host, fingerprint: fingerprint, identity: identity) : nil
    group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
  }

  /// Ends the client's thread. No request may be open, and none may follow.
  public func stop() { try? group.syncShutdownGracefully() }

  /// Sends `GET path`. Calls `answered` once, on the client's thread, after at most `limit`; the answer's body is at most 4 MB.
  public func get(
    _ path: String, limit: TimeAmount = .seconds(3),
    answered: @escaping @Sendable (Result<Answer, Failure>) -> Void
  ) {
    answer(.GET, path, body: nil, most: Self.longest, limit: limit).whenComplete { [self] in answered(told($0)) }
  }

  /// Sends a request, with a body if one is given, and returns the answer. Blocks the calling thread until the answer has arrived, for at
  /// most `limit`.
  ///
  /// - Parameters:
  ///   - path: the percent-encoded path with its query.
  ///   - bodyType: the content type of the body.
  ///   - most: the greatest length of the answer's body, in bytes.
  public func ask(
    _ method: String, _ path: String, body: [UInt8]? = nil, bodyType: String = "application/json", most: Int = longest,
    limit: Duration
  ) -> Result<Answer, Failure> {
    let body = body.map { Body(bytes: $0, type: bodyType) }
    let answer = answer(HTTPMethod(rawValue: method), path, body: body, most: most, limit: TimeAmount(limit))
    return told(Result { try answer.wait() })
  }

  /// The greatest length of an answer's body unless more is allowed, 4 MB.
  public static let longest = 4 << 20

  private struct Body {
    let bytes: [UInt8]
    let type: String
  }

  private func told(_ result: Result<Answer, any Error>) -> Result<Answer, Failure> {
    result.mapError { error in
      if let failure = error as? Failure { return failure }
      if (error as? NIOConnectionError)?.isOfName == true { return .unknownName }
      return .unreachable(security?.sentence(of: error) ?? Self.sentence(of: error))
    }
  }

  private func answer(
    _ method: HTTPMethod, _ path: String, body: Body?, most: Int, limit: TimeAmount
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
      head.headers.add(name: "Content-Type", value: body.type)
      head.headers.add(name: "Content-Length", value: "\(body.bytes.count)")
    } else if method != .GET {
      head.headers.add(name: "Content-Length", value: "0")
    }
    let connection = ClientBootstrap(group: loop).connectTimeout(limit).channelInitializer { [head] channel in
      channel.eventLoop.makeCompletedFuture {
        let pipeline = channel.pipeline.syncOperations
        if let security { try security.secure(pipeline) }
        try pipeline.addHTTPClientHandlers()
        try pipeline.addHandler(NIOHTTPClientResponseAggregator(maxContentLength: most))
        try pipeline.addHandler(ClientExchange(head, body?.bytes, most: most, promise))
      }
    }.connect(host: address.host, port: address.port)
    connection.cascadeFailure(to: promise)
    promise.futureResult.whenComplete { _ in
      deadline.cancel()
      connection.whenSuccess { $0.close(promise: nil) }
    }
    return promise.futureResult
  }

  /// Returns a connection's failure in words, without the vocabulary of the network library.
  static func sentence(of error: any Error) -> String {
    switch error {
    case let error as NIOConnectionError:
      if let cause = error.connectionErrors.first?.error { return sentence(of: cause) }
      return error.isOfName ? Failure.unknownName.description : "no connection"
    case let error as IOError: return String(cString: strerror(error.errnoCode))
    case ChannelError.connectTimeout: return "no answer"
    default: return "\(error)"
    }
  }
}

extension NIOConnectionError {
  /// Whether the host's name has no address.
  fileprivate var isOfName: Bool { connectionErrors.isEmpty && (dnsAError != nil || dnsAAAAError != nil) }
}

/// Sends one request and receives its response.
private final class ClientExchange: ChannelInboundHandler {
  typealias InboundIn = NIOHTTPClientResponseFull
  typealias OutboundOut = HTTPClientRequestPart

  private let head: HTTPRequestHead
  private let body: [UInt8]?
  private let most: Int
  private let promise: EventLoopPromise<ServiceClient.Answer>

  init(_ head: HTTPRequestHead, _ body: [UInt8]?, most: Int, _ promise: EventLoopPromise<ServiceClient.Answer>) {
    (self.head, self.body, self.most, self.promise) = (head, body, most, promise)
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
    promise.fail(inWords(error))
    context.close(promise: nil)
  }

  /// Returns an error of an answer described in words, and any other error unchanged.
  private func inWords(_ error: any Error) -> any Error {
    if error is HTTPParserError { return ServiceClient.Failure.unreachable("its answer is no whole HTTP answer") }
    guard let error = error as? NIOHTTPObjectAggregatorError else { return error }
    if error == .frameTooLong { return ServiceClient.Failure.unreachable("its answer has more than \(most) bytes") }
    return ServiceClient.Failure.unreachable(
      error == .connectionClosed ? "the connection was closed within its answer" : "its answer is no HTTP answer")
  }

  func channelInactive(context: ChannelHandlerContext) {
    promise.fail(ServiceClient.Failure.unreachable("the connection was closed"))
    context.fireChannelInactive()
  }
}
