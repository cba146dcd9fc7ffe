#if os(Linux)
  import Foundation
  import Glibc
  import Observation

  /// Finds the daemons that announce themselves on the local network (Bonjour, `_tactus._tcp`): those that listen beyond loopback.
  ///
  /// On Linux it asks by multicast DNS over IPv4 (224.0.0.251, port 5353) from a port of its own, on every interface that is up, after 1, 2, 4 and 8 s and
  /// then every 10 s; it needs no Avahi on this machine. A firewall must let the answers in, which come from port 5353 of the daemons' hosts.
  @MainActor
  @Observable
  public final class DaemonBrowser {
    /// The daemons that are announced at present, by name. One that has not answered three queries in a row is no longer among them.
    public private(set) var found: [Found] = []
    /// The reason why no daemon can be found, or `nil` if browsing works.
    public private(set) var failure: String?

    /// The waits after the first queries. The last one also follows every later query.
    static let waits: [Duration] = [.seconds(1), .seconds(2), .seconds(4), .seconds(8), .seconds(10)]
    /// The number of queries in a row after which a daemon that has not answered is gone.
    static let patienceQueries = 3

    @ObservationIgnored private let clock: any ClientClock
    @ObservationIgnored private let group: QueryGroup
    @ObservationIgnored private var answers = ServiceAnswers(DNSName(["_tactus", "_tcp", "local"]))
    /// The identifier of this browser's queries, which the answers to them repeat.
    @ObservationIgnored private var id: UInt16 = 0
    @ObservationIgnored private var round = 0
    @ObservationIgnored private var socket: QuerySocket?
    @ObservationIgnored private var asking: Task<Void, Never>?

    /// Creates a browser that is not browsing yet.
    public convenience init() { self.init(clock: SystemClock(), group: .multicastDNS) }

    init(clock: any ClientClock, group: QueryGroup) {
      self.clock = clock
      self.group = group
    }

    /// Starts browsing for daemons.
    public func start() {
      guard socket == nil else { return }
      failure = nil
      do throws(QuerySocket.Failure) {
        let socket = try QuerySocket(to: group)
        self.socket = socket
        id = UInt16.random(in: 1 ... .max)
        hear(socket)
        ask(socket)
      } catch {
        failure = error.reason
      }
    }

    /// Stops browsing. The daemons that were found stay in `found`.
    public func stop() {
      asking?.cancel()
      asking = nil
      socket?.close()
      socket = nil
    }

    /// Returns the endpoint of a daemon that was found, by its address that reaches furthest. Its token and its last state are kept by its name.
    public nonisolated func endpoint(of found: Found) async throws(ClientError) -> Endpoint {
      guard let port = found.port else { throw .unreachable("\(found.name): no port") }
      for address in found.addresses {
        if let endpoint = Endpoint(found: found.name, address: address, port: port, isSecure: found.isSecure) {
          return endpoint
        }
      }
      throw .unreachable("\(found.name): it has a link-local address only; give its name, such as pi.local:8000")
    }

    /// Handles the received datagrams until the socket is closed.
    private func hear(_ socket: QuerySocket) {
      Task { [weak self] in
        for await bytes in socket.datagrams { self?.hear(datagram: bytes) }
      }
    }

    /// Sends queries at intervals until browsing ends or the browser is released.
    private func ask(_ socket: QuerySocket) {
      asking = Task { [weak self, clock] in
        defer { socket.close() }
        while !Task.isCancelled, let wait = self?.ask(by: socket) {
          do { try await clock.wait(for: wait) } catch { return }
        }
      }
    }

    /// Sends a query. Returns the time until the next one.
    private func ask(by socket: QuerySocket) -> Duration {
      round += 1
      answers.forget(before: round - Self.patienceQueries)
      show()
      do throws(QuerySocket.Failure) {
        try socket.send(DNSMessage.query(id, answers.questions))
        failure = nil
      } catch {
        failure = error.reason
      }
      return Self.waits[min(round, Self.waits.count) - 1]
    }

    private func hear(datagram bytes: [UInt8]) {
      guard let message = try? DNSMessage.decode(bytes), message.id == id else { return }
      answers.hear(message, in: round)
      show()
    }

    private func show() {
      let services = answers.services.map { service in
        Found(
          name: service.name, texts: service.texts, host: service.host, port: service.port,
          addresses: service.addresses.sorted { (Self.rank($0), $0.count) < (Self.rank($1), $1.count) }.map(Self.text))
      }
      if services != found { found = services }
    }

    /// Returns the rank of an address, lower for one that reaches further, and for IPv4 before IPv6.
    private nonisolated static func rank(_ address: [UInt8]) -> Int {
      switch (address.count, address[0], address[1]) {
      case (4, 127, _): 3
      case (4, 169, 254): 2
      case (4, _, _): 0
      case (_, 0xFE, 0x80...0xBF): 5
      case (_, 0, _): 4
      default: 1
      }
    }

    /// Returns an address in digits.
    private nonisolated static func text(_ address: [UInt8]) -> String {
      var name = [CChar](repeating: 0, count: 64)
      guard inet_ntop(address.count == 4 ? AF_INET : AF_INET6, address, &name, socklen_t(name.count)) != nil else {
        return ""
      }
      return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
  }
#endif
