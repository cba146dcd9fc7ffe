@_spi(FromOutside) import Conversions
import Logging
import NIOCore
import Peers
import Synchronization

/// The places of one server's connections. It admits connections, closes those without a token to make room, and moves those that show a token.
///
/// It may be used from any thread, unless a member says otherwise.
final class ConnectionPlaces: Sendable {
  private struct State {
    var table: PlaceTable<ObjectIdentifier>
    var channels: [ObjectIdentifier: any Channel] = [:]
    var certificates: [ObjectIdentifier: ClientCertificate] = [:]
    var isScarce = false
  }

  private let limits: ConnectionLimits
  private let counters: ServiceCounters
  private let logger: Logger
  private let state: Mutex<State>

  init(_ limits: ConnectionLimits, counters: ServiceCounters, logger: Logger) {
    (self.limits, self.counters, self.logger) = (limits, counters, logger)
    state = Mutex(State(table: PlaceTable(limits)))
  }

  /// Whether so few descriptors were left at the last new connection that only callers that may stop are admitted.
  var isScarce: Bool { state.withLock { $0.isScarce } }

  /// Admits a new connection, before any byte is read from it. The function is to be called on the channel's event loop. The place is released when
  /// the channel closes.
  ///
  /// - Returns: whether the connection has a place; if not, it must be closed.
  func enter(_ channel: any Channel, from address: String) -> Bool {
    let (id, now, scarcity) = (ObjectIdentifier(channel), channel.eventLoop.now, scarcity(channel))
    var closing: [any Channel] = []
    let (isWelcome, changed) = state.withLock { state in
      let changed = state.isScarce != scarcity
      state.isScarce = scarcity
      let entry = state.table.enter(id, from: PeerNetwork(address), isScarce: scarcity, at: now)
      guard case .welcome(let others) = entry else { return (false, changed) }
      state.channels[id] = channel
      closing = others.compactMap { state.channels[$0] }
      return (true, changed)
    }
    if changed { report(scarcity) }
    if isWelcome {
      counters.connections.add(1)
      counters.connectionsOpen.add(1)
      channel.closeFuture.whenComplete { _ in self.leave(id) }
    } else {
      counters.connectionsRefused.add(1)
    }
    for other in closing { close(other) }
    return isWelcome
  }

  private func leave(_ id: ObjectIdentifier) {
    counters.connectionsOpen.subtract(1)
    state.withLock { state in
      state.table.leave(id)
      state.channels[id] = nil
      state.certificates[id] = nil
    }
  }

  /// Closes a connection to make room, unless its first request head is read before this call has its turn on the event
  /// loop. TLS is closed without waiting for the peer's closing message.
  private func close(_ channel: any Channel) {
    channel.eventLoop.execute { [self] in
      guard state.withLock({ $0.table.isLeaving(ObjectIdentifier(channel)) }) else { return }
      counters.connectionsEvicted.add(1)
      end(channel)
    }
  }

  /// Closes a connection; TLS without waiting for the peer's closing message. The function is to be called on its event loop.
  private func end(_ channel: any Channel) {
    if let tls = try? channel.pipeline.syncOperations.context(name: ServiceChannel.tlsName) {
      tls.close(promise: nil)
    } else {
      channel.close(promise: nil)
    }
  }

  // MARK: Requests

  /// Notes the certificate that a client has shown on a connection, unless the connection is over.
  func show(_ certificate: ClientCertificate, on channel: ObjectIdentifier) {
    state.withLock { state in
      if state.channels[channel] != nil { state.certificates[channel] = certificate }
    }
  }

  /// Returns the certificate that was shown on a connection, or `nil` if none was.
  func certificate(of channel: any Channel) -> ClientCertificate? {
    state.withLock { $0.certificates[ObjectIdentifier(channel)] }
  }

  /// Notes that a request's head has arrived. Returns whether the connection must end with the answer, because it has one of the last descriptors.
  func headArrived(_ channel: any Channel) -> Bool {
    let id = ObjectIdentifier(channel)
    return state.withLock { state in
      state.table.headArrived(id, at: channel.eventLoop.now)
      return state.table.isScarce(id)
    }
  }

  func answered(_ channel: any Channel) {
    state.withLock { $0.table.answered(ObjectIdentifier(channel), at: channel.eventLoop.now) }
  }

  /// Returns whether the connection's last request identified its caller.
  func isKnown(_ channel: any Channel) -> Bool { state.withLock { $0.table.isKnown(ObjectIdentifier(channel)) } }

  /// Asks the access control about a request and the connection's certificate, gives the connection a place that fits
  /// its caller, and returns the caller.
  ///
  /// - Parameter stops: whether the request can only make a system safer, for which another connection is closed if there is no place.
  /// - Throws: the errors of the access control; 503 `TOO_MANY_CONNECTIONS`.
  func admit(
    _ channel: any Channel, stops: Bool = false, by accessControl: (ClientCertificate?) throws(APIError) -> Caller
  ) throws(APIError) -> Caller {
    let id = ObjectIdentifier(channel)
    let caller: Caller
    do throws(APIError) {
      caller = try accessControl(certificate(of: channel))
    } catch {
      if error.status == .unauthorized {
        state.withLock { $0.table.forget(id, at: channel.eventLoop.now) }
      }
      throw error
    }
    guard caller.isKnown else { return caller }
    let owner = caller.tokenID ?? caller.address
    let (recognition, displaced) = state.withLock { state in
      let recognition = state.table.recognise(
        id, of: owner, mayStop: caller.scope >= .control, stops: stops, at: channel.eventLoop.now)
      guard case .welcome(let closing?) = recognition else { return (recognition, nil as (any Channel)?) }
      return (recognition, state.channels[closing])
    }
    guard case .welcome = recognition else { throw tooMany }
    if let displaced {
      counters.connectionsEvicted.add(1)
      displaced.eventLoop.execute { self.end(displaced) }
    }
    return caller
  }

  /// Checks that a connection may stay open.
  ///
  /// - Throws: 503 `TOO_MANY_CONNECTIONS` if the connection has one of the last descriptors.
  func requireLasting(_ channel: any Channel) throws(APIError) {
    if state.withLock({ $0.table.isScarce(ObjectIdentifier(channel)) }) { throw tooMany }
  }

  private var tooMany: APIError {
    counters.connectionsRefused.add(1)
    return APIError(
      .serviceUnavailable, "TOO_MANY_CONNECTIONS", "every connection is taken: close those that are not used",
      headers: [.retryAfter: "1"])
  }

  // MARK: Descriptors

  /// Returns whether descriptors are running out. A new connection has the lowest free number, which shows how many
  /// descriptors the process has open.
  private func scarcity(_ channel: any Channel) -> Bool {
    let number = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
      $0
    }
    return number.map { Int($0) >= limits.descriptors - limits.descriptorsKept } ?? false
  }

  private func report(_ isScarce: Bool) {
    let limit: Logger.Metadata = ["limit": .stringConvertible(limits.descriptors)]
    if isScarce {
      logger.warning("\(ServiceTrouble.fewDescriptors.message)", metadata: limit)
    } else {
      logger.info("there are file descriptors again", metadata: limit)
    }
  }
}
