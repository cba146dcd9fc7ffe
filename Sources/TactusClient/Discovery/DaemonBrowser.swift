#if canImport(Network)
  import Foundation
  import Network
  import Observation

  /// Finds the daemons that announce themselves on the local network (Bonjour, `_tactus._tcp`): those that listen beyond loopback.
  ///
  /// An app must list `_tactus._tcp` under `NSBonjourServices` in its Info.plist and have `NSLocalNetworkUsageDescription`. Without
  /// the Network framework, as on Linux, a daemon is given by its address: `Endpoint("pi.local")`.
  @MainActor
  @Observable
  public final class DaemonBrowser {
    /// A daemon that was found.
    public struct Found: Identifiable, Hashable, Sendable {
      /// The announced name.
      public var name: String
      fileprivate var service: NWEndpoint

      /// The identity of the daemon, which is its name.
      public var id: String { name }
    }

    /// The daemons that are announced at present, by name.
    public private(set) var found: [Found] = []
    /// The reason why no daemon can be found, or `nil` if browsing works.
    public private(set) var failure: String?
    @ObservationIgnored private var browser: NWBrowser?

    /// Creates a browser that is not browsing yet.
    public init() {}

    /// Starts browsing.
    public func start() {
      guard browser == nil else { return }
      let browser = NWBrowser(for: .bonjour(type: "_tactus._tcp", domain: nil), using: .tcp)
      browser.browseResultsChangedHandler = { [weak self] results, _ in
        let found = results.compactMap { result -> Found? in
          guard case .service(let name, _, _, _) = result.endpoint else { return nil }
          return Found(name: name, service: result.endpoint)
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

    /// Stops browsing.
    public func stop() {
      browser?.cancel()
      browser = nil
    }

    /// Returns the address and port of a daemon that was found, which a short connection to it reveals.
    public nonisolated func endpoint(of found: Found) async throws(ClientError) -> Endpoint {
      let connection = NWConnection(to: found.service, using: .tcp)
      defer { connection.cancel() }
      for await state in Self.states(of: connection) {
        switch state {
        case .ready:
          guard case .hostPort(let host, let port) = connection.currentPath?.remoteEndpoint else {
            throw .unreachable("\(found.name): no address")
          }
          // A link-local address contains its interface after a percent sign, which a URL cannot contain.
          let address = "\(host)".split(separator: "%").first.map(String.init) ?? ""
          return Endpoint(host: address, port: port.rawValue)
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
