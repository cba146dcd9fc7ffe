@_spi(FromOutside) import Conversions

#if Bonjour
  import SystemBus
  import Tactus

  /// Browses the local network for announced services through Avahi's D-Bus interface.
  ///
  /// Source: Avahi's introspection files org.freedesktop.Avahi.Server and .ServiceBrowser.
  public enum AvahiBrowser {
    /// A service at one address.
    public struct Service: Hashable, Sendable {
      /// The name that its announcer has chosen.
      public var name: String
      /// The type, such as `_mqtt._tcp`.
      public var type: String
      /// The name of the host, such as `pi.local`.
      public var host: String
      /// The numeric address of the host, IPv4 or IPv6.
      public var address: String
      /// The port on which the service listens.
      public var port: UInt16
      /// The texts of the TXT record, such as `tls=0`.
      public var records: [String]
    }

    /// The reason why browsing failed, in words.
    public struct Failure: Error, Equatable, Sendable {
      /// The reason in words, with a remedy if there is one.
      public var reason: String
    }

    private static let avahi = "org.freedesktop.Avahi"
    private static let server = "org.freedesktop.Avahi.Server"
    private static let browser = "org.freedesktop.Avahi.ServiceBrowser"
    private static let anyInterface: Int32 = -1
    private static let anyProtocol: Int32 = -1
    /// The greatest number of services that are resolved. The number is limited because any machine on the network can announce services.
    private static let most = 200

    /// Blocks for at most `patience` and a second more, and returns the services by name and address. It ends earlier when Avahi
    /// says that all have been found.
    ///
    /// - Parameter address: the address of the D-Bus, or `nil` for the system bus.
    public static func services(
      _ types: [String], on address: String? = nil, patience: Nanoseconds
    ) throws(Failure) -> [Service] {
      do throws(SystemBus.Failure) {
        let search = try Search(SystemBus(address: address))
        for type in types { try search.browse(type) }
        search.run(for: patience)
        return search.found.sorted { ($0.type, $0.name, $0.address) < ($1.type, $1.name, $1.address) }
      } catch {
        switch error.name {
        case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner":
          throw Failure(reason: "Avahi is not running (sudo apt install avahi-daemon)")
        default: throw Failure(reason: "no network browsing: \(error.message)")
        }
      }
    }

    /// The state of one call of `services`.
    private final class Search {
      let bus: SystemBus
      var found: Set<Service> = []
      /// The number of Avahi's browsers that have not yet reported that they have found everything.
      private var browsing = 0
      private var resolving = 0
      private var seen = 0

      init(_ bus: SystemBus) throws(SystemBus.Failure) {
        self.bus = bus
        // The signals are subscribed before the browsers are created, since the first ones come at once.
        let rule = "type='signal',sender='\(avahi)',interface='\(browser)'"
        try bus.match("\(rule),member='ItemNew'") { [unowned self] in resolve($0) }
        try bus.match("\(rule),member='AllForNow'") { [unowned self] _ in browsing -= 1 }
        try bus.match("\(rule),member='Failure'") { [unowned self] _ in browsing -= 1 }
      }

      func browse(_ type: String) throws(SystemBus.Failure) {
        browsing += 1
        _ = try bus.call(avahi, "/", server, "ServiceBrowserNew") { (message) throws(SystemBus.Failure) in
          try message.append(anyInterface)
          try message.append(anyProtocol)
          try message.append(type)
          try message.append("local")
          try message.append(UInt32(0))
        }
      }

      func run(for patience: Nanoseconds) {
        let end = MonotonicClock.now + patience
        while bus.process(), browsing > 0 || resolving > 0, MonotonicClock.now < end {
          let left = max(0, (end - MonotonicClock.now).count) / 1000 + 1
          bus.wait(microseconds: UInt64(clamping: left))
        }
      }

      private func resolve(_ item: borrowing BusMessage) {
        guard seen < most, let interface = item.integer(), let version = item.integer(), let name = item.text(),
          let type = item.text(), let domain = item.text()
        else { return }
        seen += 1
        resolving += 1
        do throws(SystemBus.Failure) {
          try bus.request(
            avahi, "/", server, "ResolveService", patienceMicroseconds: 6_000_000,
            arguments: { (message) throws(SystemBus.Failure) in
              try message.append(interface)
              try message.append(version)
              try message.append(name)
              try message.append(type)
              try message.append(domain)
              try message.append(anyProtocol)
              try message.append(UInt32(0))
            },
            answer: { [unowned self] reply, failure in
              resolving -= 1
              if failure == nil, let service = Self.service(reply) { found.insert(service) }
            })
        } catch {
          resolving -= 1
        }
      }

      /// Reads a reply of ResolveService: iissssisqaayu.
      private static func service(_ reply: borrowing BusMessage) -> Service? {
        guard reply.integer() != nil, reply.integer() != nil, let name = reply.text(), let type = reply.text(),
          reply.text() != nil, let host = reply.text(), reply.integer() != nil, let address = reply.text(),
          let port = reply.value()?.integer.flatMap({ UInt16(exactly: $0) })
        else { return nil }
        var records: [String] = []
        if case .list(let texts)? = reply.value() {
          records = texts.prefix(16).compactMap { $0.bytes.map { String(decoding: $0, as: UTF8.self) } }
        }
        return Service(name: name, type: type, host: host, address: address, port: port, records: records)
      }
    }
  }
#endif
