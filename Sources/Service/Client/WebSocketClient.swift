import Buses
@_spi(FromOutside) import Conversions
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import Synchronization
import Tactus

/// A client of a daemon's WebSocket, which passes binary messages from and to a `MessageBridge`.
///
/// The client connects again when the connection ends, after 0.5, 1, 2 and 4 s, then every 5 s. Messages that the loop sends meanwhile are dropped,
/// because an old command is worse than none. It may be used from any thread; only `stop` blocks.
public final class WebSocketClient: Sendable {
  /// The bridge that carries messages, without the prefix, between a loop and the connection.
  public let bridge: MessageBridge
  private let connector: WebSocketConnector
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  /// Makes a client, which connects after `start`.
  ///
  /// - Parameters:
  ///   - address: the address of the daemon, whose WebSocket has the path `/ws`.
  ///   - prefix: the bytes put before each message sent. Of the messages received only those with this prefix are delivered.
  ///   - token, fingerprint: as in `ServiceClient`.
  /// - Throws: `ServiceClient.Failure.withoutTLS` or `.badFingerprint`; `RuntimeError` if no descriptor is left.
  public init(_ address: ServiceAddress, prefix: [UInt8] = [], token: String?, fingerprint: String? = nil) throws {
    let security = address.isSecure ? try ClientSecurity(host: address.host, fingerprint: fingerprint) : nil
    bridge = try MessageBridge()
    connector = WebSocketConnector(address, MessagePrefix(prefix), token, security, bridge, group.next())
  }

  /// Starts to connect.
  public func start() { connector.start() }

  /// The reason why there is no connection, in a few words, or `nil` if the client is connected.
  public var trouble: String? { connector.trouble.withLock { $0 } }

  /// Sends the messages that are waiting, closes the WebSocket, waits for at most a second until the daemon has closed the connection, and ends the
  /// thread. The function is to be called once; no other call may follow.
  public func stop() {
    connector.stop()
    try? group.syncShutdownGracefully()
  }
}

/// The bytes before each binary message of one conversation in both directions, by which several conversations share a WebSocket.
struct MessagePrefix: Sendable, Equatable {
  let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Returns `message` without the prefix, or `nil` if it belongs to another conversation.
  func content(of message: [UInt8]) -> [UInt8]? {
    guard message.starts(with: bytes) else { return nil }
    return Array(message[bytes.count...])
  }
}

/// Keeps one connection at a time, on one event loop, and replaces it when it ends.
private final class WebSocketConnector: @unchecked Sendable {  // safe: all but the constants is used on the event loop
  let trouble = Mutex<String?>("connecting")
  private let address: ServiceAddress
  private let prefix: MessagePrefix
  private let head: HTTPRequestHead
  private let security: ClientSecurity?
  private let bridge: MessageBridge
  private let loop: any EventLoop
  private var channel: (any Channel)?
  private var departures: (any Channel)?
  private var attempts = 0
  private var isStopping = false

  init(
    _ address: ServiceAddress, _ prefix: MessagePrefix, _ token: String?, _ security: ClientSecurity?,
    _ bridge: MessageBridge, _ loop: any EventLoop
  ) {
    (self.address, self.prefix, self.security, self.bridge, self.loop) = (address, prefix, security, bridge, loop)
    var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/ws")
    head.headers.add(name: "Host", value: address.description)
    if let token { head.headers.add(name: "Authorization", value: "Bearer \(token)") }
    self.head = head
  }

  func start() {
    // The loop rings an eventfd; a pipe channel is how this library waits for one. It closes what it is given.
    let bell = dup(bridge.departure.descriptor)
    NIOPipeBootstrap(group: loop)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(DepartureHandler { [weak self] in self?.forward() })
        }
      }
      .takingOwnershipOfDescriptor(input: bell)
      .whenComplete { result in
        switch result {
        case .success(let channel):
          self.departures = channel
          self.connect()
        case .failure(let error):
          close(bell)
          self.trouble.withLock { $0 = ServiceClient.sentence(of: error) }
        }
      }
  }

  func stop() {
    let stopped = loop.flatSubmit { () -> EventLoopFuture<Void> in
      self.isStopping = true
      self.forward()
      self.departures?.close(promise: nil)
      return self.channel.map { self.leave($0) } ?? self.loop.makeSucceededVoidFuture()
    }
    try? stopped.wait()
  }

  /// Ends a connection in such a way that the daemon still reads the last messages, and returns the future of its end.
  /// Closing a socket that holds unread telemetry would reset the connection, and the daemon would lose the messages
  /// that it has not read yet.
  private func leave(_ channel: any Channel) -> EventLoopFuture<Void> {
    let goodbye = WebSocketFrame(
      fin: true, opcode: .connectionClose, maskKey: .random(), data: channel.allocator.buffer(capacity: 0))
    channel.writeAndFlush(goodbye, promise: nil)
    let limit = loop.scheduleTask(in: .seconds(1)) { channel.close(promise: nil) }
    return channel.closeFuture.always { _ in limit.cancel() }
  }

  private func connect() {
    guard !isStopping else { return }
    let (prefix, head, security, bridge) = (prefix, head, security, bridge)
    let refusal = Refusal()
    let opened = loop.makePromise(of: (any Channel)?.self)
    let deadline = loop.scheduleTask(in: .seconds(5)) { opened.fail(ServiceClient.Failure.timedOut) }
    let connection = ClientBootstrap(group: loop).connectTimeout(.seconds(3))
      .channelOption(.tcpOption(.tcp_nodelay), value: 1)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let pipeline = channel.pipeline.syncOperations
          if let security { try security.secure(pipeline) }
          try pipeline.configureUpgradableHTTPClientPipeline(
            configuration: .init(upgradeConfiguration: Self.upgrade(head, prefix, bridge, refusal))
          ).cascade(to: opened)
        }
      }
      .connect(host: address.host, port: address.port)
    connection.cascadeFailure(to: opened)
    opened.futureResult.whenComplete { result in
      deadline.cancel()
      switch result {
      case .success(let channel?): self.opened(channel)
      case .success(nil): refusal.whenKnown = { [weak self] in self?.again($0) }
      case .failure(let error):
        connection.whenSuccess { $0.close(promise: nil) }
        self.again(
          (error as? ServiceClient.Failure)?.description ?? security?.sentence(of: error)
            ?? ServiceClient.sentence(of: error))
      }
    }
  }

  private static func upgrade(
    _ head: HTTPRequestHead, _ prefix: MessagePrefix, _ bridge: MessageBridge, _ refusal: Refusal
  ) -> NIOTypedHTTPClientUpgradeConfiguration<(any Channel)?> {
    let upgrader = NIOTypedWebSocketClientUpgrader<(any Channel)?>(maxFrameSize: 1 << 20) { channel, _ in
      channel.eventLoop.makeCompletedFuture {
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(
          NIOWebSocketFrameAggregator(
            minNonFinalFragmentSize: 1, maxAccumulatedFrameCount: 64, maxAccumulatedFrameSize: 1 << 20))
        try pipeline.addHandler(WebSocketClientSession(prefix, bridge))
        return channel
      }
    }
    return NIOTypedHTTPClientUpgradeConfiguration(upgradeRequestHead: head, upgraders: [upgrader]) { channel in
      channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHandler(RefusalHandler(refusal))
        return nil
      }
    }
  }

  private func opened(_ channel: any Channel) {
    self.channel = channel
    attempts = 0
    trouble.withLock { $0 = nil }
    if isStopping { channel.close(promise: nil) }
    channel.closeFuture.whenComplete { _ in self.again("the connection was closed") }
  }

  private func again(_ reason: String) {
    channel = nil
    guard !isStopping else { return }
    trouble.withLock { $0 = reason }
    let milliseconds: Int64 = attempts >= 4 ? 5_000 : 500 << Int64(attempts)
    attempts += 1
    loop.scheduleTask(in: .milliseconds(milliseconds)) { self.connect() }
  }

  /// Sends the waiting messages, or drops them if there is no connection.
  private func forward() {
    while let message = bridge.take() {
      guard let channel else { continue }
      let frame = WebSocketFrame(
        fin: true, opcode: .binary, maskKey: .random(), data: channel.allocator.buffer(bytes: prefix.bytes + message))
      channel.write(frame, promise: nil)
    }
    channel?.flush()
  }
}

/// The reason why a daemon refused the upgrade to a WebSocket.
private final class Refusal: @unchecked Sendable {  // safe: used on one event loop
  private var reason: String?
  var whenKnown: ((String) -> Void)? { didSet { report() } }

  func become(_ reason: String) {
    if self.reason == nil { self.reason = reason }
    report()
  }

  private func report() {
    guard let reason, let whenKnown else { return }
    self.whenKnown = nil
    whenKnown(reason)
  }
}

private final class RefusalHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPClientResponsePart
  private let refusal: Refusal

  init(_ refusal: Refusal) { self.refusal = refusal }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(let head) = unwrapInboundIn(data) else { return }
    switch head.status.code {
    case 401: refusal.become("the daemon wants a valid token: give --token-file or set TACTUS_TOKEN")
    case 403: refusal.become("the token does not allow this")
    default: refusal.become("no WebSocket there: status \(head.status.code)")
    }
    context.close(promise: nil)
  }

  func channelInactive(context: ChannelHandlerContext) {
    refusal.become("the connection was closed")
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// Calls a closure each time the bridge signals a waiting message.
private final class DepartureHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  private let rang: () -> Void

  init(_ rang: @escaping () -> Void) { self.rang = rang }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) { rang() }
}

/// Handles the daemon's frames: binary messages with the prefix go to the loop, pings are answered, text messages are ignored.
private final class WebSocketClientSession: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundOut = WebSocketFrame
  private let prefix: MessagePrefix
  private let bridge: MessageBridge

  init(_ prefix: MessagePrefix, _ bridge: MessageBridge) {
    self.prefix = prefix
    self.bridge = bridge
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    switch frame.opcode {
    case .binary:
      if let message = prefix.content(of: Array(frame.unmaskedData.readableBytesView)) { bridge.deliver(message) }
    case .ping:
      let pong = WebSocketFrame(fin: true, opcode: .pong, maskKey: .random(), data: frame.unmaskedData)
      context.writeAndFlush(wrapOutboundOut(pong), promise: nil)
    case .connectionClose: context.close(promise: nil)
    default: break
    }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
