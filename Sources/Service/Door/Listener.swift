import Dispatch
import Logging
import NIOCore
import NIOPosix

/// The listening socket, and the connections it has let in.
final class Listener: Sendable {
  /// They last as long as the process, and sleep while nothing is served: NIO forbids ending threads on which a handler may
  /// still want to run something, and a handler may return at any time after its connection is closed.
  static let threads = MultiThreadedEventLoopGroup(numberOfThreads: System.coreCount <= 2 ? 1 : 2)

  /// In effect.
  let address: SocketAddress
  private let socket: any Channel
  private let connections = OpenConnections()

  /// Takes the port; connections wait until `open`. Blocks the calling thread, which is none of `threads`.
  ///
  /// - Parameter descriptors: how many the process may have open.
  /// - Throws: NIO's error: the port is taken, or the address is not one of the host's.
  init(
    _ service: ServiceChannel, address: String, port: UInt16, threads: MultiThreadedEventLoopGroup = threads,
    descriptors: Int = .max, logger: Logger
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
      // Buffers that a connection keeps: one of 4 KB at most, where NIO's choice is four of 64 KB. Each connection has its turn with one
      // read, which may be hundreds of small messages: others wait for no more than that.
      .childChannelOption(.maxMessagesPerRead, value: 1)
      .childChannelOption(
        .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 2048, maximum: 4 * 1024)
      )
      // What waits here for a client that does not read, besides one answer's last piece; and in the kernel, whose own choice is megabytes.
      .childChannelOption(.writeBufferWaterMark, value: .init(low: 16 * 1024, high: APIAnswer.pieceBytes))
      .childChannelOption(.socketOption(.so_sndbuf), value: 128 * 1024)
      .childChannelInitializer { channel in
        connections.add(channel)
        return service.setup(channel: channel, logger: logger).map { value in
          Task { await service.handle(value: value, logger: logger) }
        }
      }
      .bind(host: address, port: Int(port)).wait()
    guard let address = socket.localAddress else { preconditionFailure("a bound socket has an address") }
    self.address = address
  }

  /// Lets connections in.
  func open() { _ = socket.setOption(.autoRead, value: true) }

  /// Closes the port at once, then every connection; requests under way have a quarter of a second to be answered.
  ///
  /// Blocks the calling thread, which is none of `threads`, for at most 750 ms, whatever the clients and handlers do. Needs no
  /// thread of the pool that tasks share. Once only.
  func stop() {
    // It fails when an error has closed the socket already.
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
