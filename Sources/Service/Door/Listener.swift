@_spi(FromOutside) import Conversions
import Dispatch
import NIOCore
import NIOPosix

/// The listening socket and the connections accepted from it.
final class Listener: Sendable {
  /// The threads that serve connections. They last as long as the process and sleep while no connection is open: NIO
  /// forbids ending a thread while a handler may still schedule work on it, and a handler may return at any time after
  /// its connection is closed.
  static let threads = MultiThreadedEventLoopGroup(numberOfThreads: System.coreCount <= 2 ? 1 : 2)

  /// The address to which the socket is bound.
  let address: SocketAddress
  private let socket: any Channel
  private let connections = OpenConnections()

  /// Binds the port; connections wait in the kernel's queue until `open`. Blocks the calling thread, which must not be one of `threads`.
  ///
  /// - Parameter descriptors: the number of descriptors that the process may have open.
  /// - Throws: NIO's error if the port is taken or the address is not one of the host's.
  init(
    _ service: ServiceChannel, address: String, port: UInt16, threads: MultiThreadedEventLoopGroup = threads,
    descriptors: Int = .max
  ) throws {
    let connections = connections
    socket = try ServerBootstrap(group: threads)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(AcceptGate(descriptors: descriptors))
        }
      }
      .serverChannelOption(.maxMessagesPerRead, value: AcceptGate.most)
      .serverChannelOption(.backlog, value: 1024)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .serverChannelOption(.autoRead, value: false)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      // A connection keeps at most one receive buffer, of 4 KB, where NIO's default is four of 64 KB. Each connection
      // has its turn with one read, which may contain hundreds of small messages; other connections wait no longer than
      // that.
      .childChannelOption(.maxMessagesPerRead, value: 1)
      .childChannelOption(
        .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 2048, maximum: 4 * 1024)
      )
      // These are the limits of the bytes that wait for a client that does not read: here, and in the kernel, whose
      // default is megabytes. They are small, because a picture of a stream that waits in either place is seen late,
      // whereas one that still waits in its system can be dropped.
      .childChannelOption(.writeBufferWaterMark, value: .init(low: 4 * 1024, high: 8 * 1024))
      .childChannelOption(.socketOption(.so_sndbuf), value: 128 * 1024)
      .childChannelOption(ChannelOptions.socket(SocketOptionLevel(IPPROTO_TCP), TCP_NOTSENT_LOWAT), value: 8 * 1024)
      .childChannelInitializer { channel in
        connections.add(channel)
        return service.setup(channel: channel).map { outcome in
          Task(executorPreference: LoopExecutor(channel.eventLoop)) { await service.handle(outcome) }
        }
      }
      .bind(host: address, port: Int(port)).wait()
    guard let address = socket.localAddress else { preconditionFailure("a bound socket has an address") }
    self.address = address
  }

  /// Starts to accept connections.
  func open() { _ = socket.setOption(.autoRead, value: true) }

  /// Closes the port at once, then every connection; requests in progress have a quarter of a second to be answered.
  ///
  /// Blocks the calling thread, which must not be one of `threads`, for at most 750 ms, whatever the clients and handlers do. Uses no thread of the
  /// shared pool of tasks. The function is to be called only once.
  func stop() {
    // Closing fails if an error has closed the socket already.
    try? socket.close().wait()
    let ended = DispatchSemaphore(value: 0)
    connections.quiesce(ended: ended)
    let loop = socket.eventLoop
    let rudely = loop.scheduleTask(in: .milliseconds(250)) { [connections] in connections.closeAll() }
    let patience = loop.scheduleTask(in: .milliseconds(750)) { _ = ended.signal() }
    ended.wait()
    rudely.cancel()
    patience.cancel()
  }
}
