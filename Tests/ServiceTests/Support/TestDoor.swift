import Foundation
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import Synchronization
import Tactus

@testable import Service

/// A server with the production pipeline on a port of its own. Its responder answers `slow PATH`, after `release()`.
final class TestDoor: Sendable {
  let port: Int
  let hub = EventHub()
  let counters = ServiceCounters()
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
  private let listener: any Channel
  private let gate: Gate
  private let children: Children

  /// Tokens are `read`, `control` and `admin`; none is admin too.
  static func admit(_ request: HTTPRequest, _ peer: String, _ scope: Scope?) throws(APIError) -> Caller {
    var token = request.headerFields[.authorization].map { String($0.dropFirst("Bearer ".count)) }
    for word in (request.headerFields[.secWebSocketProtocol] ?? "").split(separator: ", ") {
      if word.hasPrefix("bearer.") { token = String(word.dropFirst(7)) }
    }
    guard let granted = Scope(rawValue: token?.split(separator: "-").first.map(String.init) ?? "admin") else {
      throw APIError(.unauthorized, "TOKEN_INVALID", "not valid here")
    }
    return Caller(
      scope: granted, tokenID: token, address: peer, client: 7, expires: token == "read-expiring" ? 1_000 : nil)
  }

  static func channel(
    systems: [any ServedSystem] = [], hub: EventHub = EventHub(), counters: ServiceCounters = ServiceCounters(),
    limits: ConnectionLimits = ConnectionLimits(), seconds: @escaping @Sendable () -> Int64 = { 0 },
    responder: @escaping HTTPChannelHandler.Responder = { _, _, _ in }
  ) -> ServiceChannel {
    let document = PreparedDocument(version: { 1 }, make: { Array(#"{"ok":true}"#.utf8) })
    return ServiceChannel(
      responder: responder, routes: [Route("/api/status", document)], admit: admit, hub: hub, systems: systems,
      counters: counters, version: "1.2.3", limits: limits, now: { TickInstant(nanoseconds: 5) },
      secondsSince1970: seconds, logAction: { _, _, _ in },
      logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
  }

  init(systems: [any ServedSystem] = [], limits: ConnectionLimits = ConnectionLimits()) throws {
    let gate = Gate()
    self.gate = gate
    let children = Children()
    self.children = children
    let respond: HTTPChannelHandler.Responder = { request, writer, _ in
      await gate.pass()
      let path = request.head.path ?? ""
      let body = ByteBuffer(string: "slow \(path)")
      try await writer.write(
        response: HTTPResponse(status: .ok, headerFields: [.contentLength: "\(body.readableBytes)"]),
        body: ResponseBody(byteBuffer: body))
    }
    let service = Self.channel(
      systems: systems, hub: hub, counters: counters, limits: limits, responder: respond)
    listener = try ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 1024)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelInitializer { channel in
        children.channels.withLock { $0.append(channel) }
        return service.setup(channel: channel, logger: Logger(label: "test")).map { value in
          Task { await service.handle(value: value, logger: Logger(label: "test")) }
        }
      }
      .bind(host: "127.0.0.1", port: 0).wait()
    port = listener.localAddress?.port ?? 0
  }

  /// Runs a body that blocks on a thread of its own: the tasks that answer it need those of the test's.
  static func with(
    systems: [any ServedSystem] = [], limits: ConnectionLimits = ConnectionLimits(),
    _ body: @escaping @Sendable (TestDoor) throws -> Void
  ) async throws {
    let door = try TestDoor(systems: systems, limits: limits)
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
      Thread.detachNewThread {
        let result = Result { try body(door) }
        done.resume(with: Result { try door.stop() }.flatMap { result })
      }
    }
  }

  func release() { gate.open() }

  func stop() throws {
    release()
    try listener.close().wait()
    for channel in children.channels.withLock({ $0 }) { try? channel.close().wait() }
    try group.syncShutdownGracefully()
  }
}

private final class Children: Sendable {
  let channels = Mutex<[any Channel]>([])
}

/// Holds tasks until it is opened.
private final class Gate: Sendable {
  private let waiting = Mutex<(isOpen: Bool, tasks: [CheckedContinuation<Void, Never>])>((false, []))

  func pass() async {
    await withCheckedContinuation { task in
      let isOpen = waiting.withLock { waiting in
        if !waiting.isOpen { waiting.tasks.append(task) }
        return waiting.isOpen
      }
      if isOpen { task.resume() }
    }
  }

  func open() {
    let tasks = waiting.withLock { waiting in
      defer { waiting.tasks = [] }
      waiting.isOpen = true
      return waiting.tasks
    }
    for task in tasks { task.resume() }
  }
}
