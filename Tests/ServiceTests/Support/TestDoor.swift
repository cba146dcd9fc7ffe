import Foundation
import HTTPTypes
import Logging
import NIOCore
import NIOPosix
import Synchronization
import Tactus

@testable import Service

/// A server with the production pipeline on a port of its own. Its responder answers `slow PATH`, after `release()`; paths that begin with
/// `/stream` without a length.
final class TestDoor: Sendable {
  let port: Int
  let hub = EventHub()
  let counters = ServiceCounters()
  /// Two, so that what the connections of a server have in common is shared between threads.
  private static let threads = MultiThreadedEventLoopGroup(numberOfThreads: 2)
  private let listener: Listener
  private let gate: Gate

  /// Tokens are `read`, `control` and `admin`; none is admin too.
  static func admit(_ request: HTTPRequest, _ peer: String, _ certificate: ClientCertificate?, _ scope: Scope?)
    throws(APIError) -> Caller
  {
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
    limits: ConnectionLimits = ConnectionLimits(), outgoing: OutgoingBudget? = nil,
    seconds: @escaping @Sendable () -> Int64 = { 0 },
    admit: @escaping ServiceChannel.Admission = admit,
    responder: @escaping ServiceChannel.Responder = { _, _, _, _ in }
  ) -> ServiceChannel {
    let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    let document = PreparedDocument(version: { 1 }, make: { Array(#"{"ok":true}"#.utf8) })
    return ServiceChannel(
      responder: responder, routes: [Route("/api/status", document)], admit: admit, hub: hub, systems: systems,
      counters: counters, places: ConnectionPlaces(limits, counters: counters, logger: logger), version: "1.2.3",
      limits: limits, outgoing: outgoing, now: { TickInstant(nanoseconds: 5) },
      secondsSince1970: seconds, logAction: { _, _, _ in },
      logger: logger)
  }

  init(systems: [any ServedSystem] = [], limits: ConnectionLimits = ConnectionLimits()) throws {
    let gate = Gate()
    self.gate = gate
    let respond: ServiceChannel.Responder = { head, _, client, _ in
      await gate.pass()
      let path = head.path ?? ""
      let body = ByteBuffer(string: "slow \(path)")
      let fields: HTTPFields = path.hasPrefix("/stream") ? [:] : [.contentLength: "\(body.readableBytes)"]
      if head.headerFields[.expect] != nil { try await client.write(.head(HTTPResponse(status: .continue))) }
      try await client.write(.head(HTTPResponse(status: .ok, headerFields: fields)))
      try await client.write(.body(body))
      try await client.write(.end)
    }
    let service = Self.channel(
      systems: systems, hub: hub, counters: counters, limits: limits, responder: respond)
    listener = try Listener(
      service, address: "127.0.0.1", port: 0, threads: Self.threads)
    port = listener.address.port ?? 0
    listener.open()
  }

  /// The body blocks: for suites that are `.ownThread`.
  static func with(
    systems: [any ServedSystem] = [], limits: ConnectionLimits = ConnectionLimits(), _ body: (TestDoor) throws -> Void
  ) throws {
    let door = try TestDoor(systems: systems, limits: limits)
    defer { door.stop() }
    try body(door)
  }

  func release() { gate.open() }

  func stop() {
    release()
    listener.stop()
  }
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
