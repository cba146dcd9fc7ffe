#if canImport(Network)
  import Foundation
  import Network
  import Observation

  /// Finds the daemons that announce themselves on the local network (Bonjour, `_tactus._tcp`): those that listen beyond loopback.
  ///
  /// An app must list `_tactus._tcp` under `NSBonjourServices` in its Info.plist and have `NSLocalNetworkUsageDescription`. On
  /// Linux the same class asks by multicast DNS itself.
  @MainActor
  @Observable
  public final class DaemonBrowser {
    /// The daemons that are announced at present, by name.
    public private(set) var found: [Found] = []
    /// The reason why no daemon can be found, or `nil` if browsing works.
    public private(set) var failure: String?
    @ObservationIgnored private var browser: NWBrowser?

    /// Creates a browser that is not browsing yet.
    public init() {}

    /// Starts browsing for daemons.
    public func start() {
      guard browser == nil else { return }
      let browser = NWBrowser(for: .bonjourWithTXTRecord(type: "_tactus._tcp", domain: nil), using: .tcp)
      browser.browseResultsChangedHandler = { [weak self] results, _ in
        let found = results.compactMap { result -> Found? in
          guard case .service(let name, _, _, _) = result.endpoint else { return nil }
          var texts: [String: String] = [:]
          if case .bonjour(let record) = result.metadata {
            for (key, value) in record.dictionary { texts[key.lowercased()] = value }
          }
          return Found(name: name, texts: texts, host: nil, port: nil, addresses: [], service: result.endpoint)
        }
        Task { @MainActor [weak self] in self?.found = found.sorted { $0.name < $1.name } }
      }
      browser.stateUpdateHandler = { [weak self] state in
        let failure: String? =
          switch state {
          case .failed(let error), .waiting(let error): error.localizedDescription
          default: nil
          }
        Task { @MainActor [weak self] in self?.failure = failure }
      }
      browser.start(queue: .main)
      self.browser = browser
    }

    /// Stops browsing for daemons.
    public func stop() {
      browser?.cancel()
      browser = nil
    }

    /// Returns the endpoint of a daemon that was found, which a short connection to it reveals. Its token and its last state are kept by its name.
    ///
    /// Where the connection is made over link-local IPv6, whose addresses no URL carries, it is made again over IPv4.
    public nonisolated func endpoint(of found: Found) async throws(ClientError) -> Endpoint {
      for version in [NWProtocolIP.Options.Version.any, .v4] {
        let (address, port) = try await Self.address(of: found, version)
        if let endpoint = Endpoint(found: found.name, address: address, port: port, isSecure: found.isSecure) {
          return endpoint
        }
      }
      throw .unreachable("\(found.name): it has a link-local address only; give its name, such as pi.local:8000")
    }

    private nonisolated static func address(
      of found: Found, _ version: NWProtocolIP.Options.Version
    ) async throws(ClientError) -> (address: String, port: UInt16) {
      let parameters = NWParameters.tcp
      (parameters.defaultProtocolStack.internetProtocol as? NWProtocolIP.Options)?.version = version
      let connection = NWConnection(to: found.service, using: parameters)
      defer { connection.cancel() }
      for await state in Self.states(of: connection) {
        switch state {
        case .ready:
          guard case .hostPort(let host, let port) = connection.currentPath?.remoteEndpoint else {
            throw .unreachable("\(found.name): no address")
          }
          return ("\(host)", port.rawValue)
        case .failed(let error), .waiting(let error): throw .unreachable("\(found.name): \(error.localizedDescription)")
        default: break
        }
      }
      throw .unreachable("\(found.name): it has not answered")
    }

    private nonisolated static func states(of connection: NWConnection) -> AsyncStream<NWConnection.State> {
      AsyncStream { continuation in
        connection.stateUpdateHandler = { continuation.yield($0) }
        connection.start(queue: .main)
      }
    }
  }
#endif
