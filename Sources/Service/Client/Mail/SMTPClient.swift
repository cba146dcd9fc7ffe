import Glibc
import NIOCore
import NIOPosix

/// Sends one mail by SMTP (RFC 5321), with STARTTLS or TLS in builds with the trait TLS.
public struct SMTPClient: Sendable {
  /// The protection of the connection to the server.
  public enum Protection: Sendable {
    /// The connection is not encrypted.
    case none
    /// TLS after STARTTLS. A server that does not offer it gets neither a password nor a mail.
    case startTLS
    /// The connection uses TLS from the first byte.
    case tls
  }

  /// The reason why a mail was not sent, in words without a secret.
  public struct Failure: Error, Sendable, CustomStringConvertible {
    /// Whether the server has refused the mail permanently, so that a later attempt would also fail.
    public let isFinal: Bool
    /// The reason in words.
    public let description: String
  }

  /// The name or address of the server.
  public let host: String
  /// The TCP port of the server, 1 to 65535.
  public let port: Int
  /// The protection of the connection.
  public let protection: Protection
  private let login: (user: String, password: String)?

  /// Makes a client. It connects only when it sends.
  ///
  /// - Parameter login: user and password, or `nil` for a server that asks for none.
  public init(host: String, port: Int, protection: Protection, login: (user: String, password: String)?) {
    (self.host, self.port, self.protection, self.login) = (host, port, protection, login)
  }

  /// Sends a mail. Blocks for at most `limit`.
  ///
  /// - Parameter isProbe: whether to end before the mail is sent, which checks the server and the account.
  /// - Returns: the server's answer in its words.
  public func send(_ mail: MailMessage, isProbe: Bool = false, limit: Duration) throws(Failure) -> String {
    let security: ClientSecurity?
    do throws(ServiceClient.Failure) {
      security = protection == .none ? nil : try ClientSecurity(host: host, fingerprint: nil)
    } catch {
      throw Failure(isFinal: false, description: "\(error)")
    }
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    defer { try? group.syncShutdownGracefully() }
    let loop = group.next()
    let promise = loop.makePromise(of: String.self)
    let deadline = loop.scheduleTask(in: TimeAmount(limit)) { promise.fail(ServiceClient.Failure.timedOut) }
    let session = SMTPSession(
      mail, protection: protection == .startTLS ? .startTLS : .asItIs, login: login, isProbe: isProbe,
      name: HostRules.machineName)
    let isSecure = protection == .tls
    let connection = ClientBootstrap(group: loop).connectTimeout(TimeAmount(limit)).channelInitializer { channel in
      channel.eventLoop.makeCompletedFuture {
        let pipeline = channel.pipeline.syncOperations
        if isSecure, let security { try security.secure(pipeline) }
        try pipeline.addHandler(SMTPHandler(session, security, promise))
      }
    }.connect(host: host, port: port)
    connection.cascadeFailure(to: promise)
    promise.futureResult.whenComplete { _ in deadline.cancel() }
    let result = Result { try promise.futureResult.wait() }
    switch result {
    case .success(let text): return text
    case .failure(let error): throw Self.told(error, security)
    }
  }

  private static func told(_ error: any Error, _ security: ClientSecurity?) -> Failure {
    switch error {
    case SMTPSession.Failure.refused(let step, let code, let text):
      // An error of the account or the greeting can be corrected; an error of the mail cannot.
      let isOfMail = step == "a recipient" || step == "the mail" || step == "the sender"
      return Failure(
        isFinal: code >= 500 && isOfMail,
        description: "the mail server refused \(step): \(code) \(String(text.prefix(200)))")
    case SMTPSession.Failure.lacks(let what): return Failure(isFinal: false, description: what)
    case let flaw as SMTPReplyReader.Failure:
      return Failure(isFinal: false, description: "what answers is no mail server (\(flaw))")
    case let failure as ServiceClient.Failure: return Failure(isFinal: false, description: "\(failure)")
    default:
      return Failure(isFinal: false, description: security?.sentence(of: error) ?? ServiceClient.sentence(of: error))
    }
  }
}

/// Carries a session's lines over one connection.
private final class SMTPHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer
  private var session: SMTPSession
  private var reader = SMTPReplyReader()
  private let security: ClientSecurity?
  private let promise: EventLoopPromise<String>

  init(_ session: SMTPSession, _ security: ClientSecurity?, _ promise: EventLoopPromise<String>) {
    (self.session, self.security, self.promise) = (session, security, promise)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    do {
      for byte in unwrapInboundIn(data).readableBytesView { try reader.append(byte) }
      while let reply = reader.next() { try act(session.receive(reply), context) }
    } catch {
      errorCaught(context: context, error: error)
    }
  }

  private func act(_ action: SMTPSession.Action, _ context: ChannelHandlerContext) throws {
    switch action {
    case .send(let bytes): send(bytes, context)
    case .beginTLS:
      // Unencrypted bytes behind the answer to STARTTLS may not be the server's.
      guard reader.isEmpty else { throw SMTPSession.Failure.lacks("the server speaks before TLS begins") }
      try security?.secure(context.pipeline.syncOperations, first: true)
      try act(session.secured(), context)
    case .finish(let text, let bytes):
      send(bytes, context)
      promise.succeed(text)
      context.close(promise: nil)
    }
  }

  private func send(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
    context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(bytes: bytes)), promise: nil)
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
