#if canImport(Network) || os(Linux)
  import Foundation

  #if canImport(Network)
    import Network
  #endif

  extension DaemonBrowser {
    /// A daemon that was found.
    public struct Found: Identifiable, Hashable, Sendable {
      /// The name under which the daemon is announced.
      public var name: String
      /// The values of the daemon's TXT record by their keys in lower case, such as `version` and `systems`.
      public var texts: [String: String]
      /// The name of the daemon's host, such as `pi.local`; `nil` on Apple's systems, which look it up only for `endpoint(of:)`.
      public var host: String?
      /// The port of the daemon's HTTP server; `nil` on Apple's systems.
      public var port: UInt16?
      /// The numeric addresses of the host, those first that reach furthest; empty on Apple's systems.
      public var addresses: [String]
      #if canImport(Network)
        var service: NWEndpoint
      #endif

      /// Whether the daemon serves HTTPS, as it announces.
      public var isSecure: Bool { texts["tls"] == "1" }

      /// The identity of the daemon, which is its name.
      public var id: String { name }
    }

    /// Returns the daemons that announce themselves within a time limit, by name. If the task is cancelled, those that were found until then.
    /// - Parameters:
    ///   - limit: the time to wait. A daemon on the same network answers within a second; a message that is lost is sent again after one and after
    ///     three seconds.
    ///   - clock: the clock, the machine's by default.
    /// - Throws: `ClientError.unreachable` if none was found and the network cannot be asked, such as without an interface that is up.
    public static func find(
      within limit: Duration, clock: any ClientClock = SystemClock()
    ) async throws(ClientError) -> [Found] {
      try await DaemonBrowser().find(within: limit, clock: clock)
    }

    func find(within limit: Duration, clock: any ClientClock) async throws(ClientError) -> [Found] {
      start()
      defer { stop() }
      try? await clock.wait(for: limit)
      if found.isEmpty, let failure { throw .unreachable(failure) }
      return found
    }
  }
#endif
