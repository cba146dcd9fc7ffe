#if canImport(Network)
  import Foundation
  import Network
  import Observation

  /// The daemons that announce themselves on the local network (Bonjour, `_tactus._tcp`): those that listen beyond loopback.
  ///
  /// An app names `_tactus._tcp` under `NSBonjourServices` in its Info.plist, beside `NSLocalNetworkUsageDescription`. Where
  /// there is no Network framework, as on Linux, a daemon is given by its address: `Endpoint("pi.local")`.
  @MainActor
  @Observable
  public final class DaemonBrowser {
    /// A daemon that was found.
    public struct Found: Identifiable, Hashable, Sendable {
      /// The name that it announces.
      public var name: String
      fileprivate var service: NWEndpoint

      /// Its name.
      public var id: String { name }
    }

    /// What is announced now, by name.
    public private(set) var found: [Found] = []
    /// Why nothing can be found; `nil` if it can.
    public private(set) var failure: String?
    @ObservationIgnored private var browser: NWBrowser?

    /// Creates a browser that does not look yet.
    public init() {}

    /// Begins to look.
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

    /// Looks no longer.
    public func stop() {
      browser?.cancel()
      browser = nil
    }

    /// The address and port of a daemon that was found: a short connection to it tells them.
    public nonisolated func endpoint(of found: Found) async throws(ClientError) -> Endpoint {
      let connection = NWConnection(to: found.service, using: .tcp)
      defer { connection.cancel() }
      for await state in Self.states(of: connection) {
        switch state {
        case .ready:
          guard case .hostPort(let host, let port) = connection.currentPath?.remoteEndpoint else {
            throw .unreachable("\(found.name): no address")
          }
          // A link-local address names its interface behind a percent sign, which an address of HTTP has no place for.
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
