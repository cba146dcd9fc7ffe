@_spi(FromOutside) import Conversions

/// The outcome of an announcement, for the log.
public enum AnnouncementReport: Sendable, Hashable, CustomStringConvertible {
  /// Avahi announces the service under `name`, which differs from the wanted name if that was taken.
  case announced(name: String, type: String)
  /// There is no bus, or no Avahi on it. The event is reported once until that changes.
  case absent(reason: String)
  /// Avahi refused the announcement, or every name that was tried is taken. The announcement is tried again when Avahi restarts.
  case failed(reason: String)

  public var description: String {
    switch self {
    case .announced(let name, let type): "announced as \"\(name)\" (\(type))"
    case .absent(let reason): "not announced: \(reason)"
    case .failed(let reason): "the announcement failed: \(reason)"
    }
  }
}

#if Bonjour
  import Dispatch
  import SystemBus

  /// Announces services on the local network through Avahi's D-Bus interface, as long as this object exists.
  ///
  /// Without a bus or Avahi nothing is announced, and no error is raised. Services are announced again when Avahi is back, and
  /// under another name if the wanted one is taken. All work is done on a separate queue, for which only `stop` waits.
  ///
  /// Source: Avahi's introspection files org.freedesktop.Avahi.Server and .EntryGroup.
  public final class AvahiAnnouncer: @unchecked Sendable {
    // Safe: every stored variable is touched on `queue` only.
    private static let avahi = "org.freedesktop.Avahi"
    private static let server = "org.freedesktop.Avahi.Server"
    private static let entryGroup = "org.freedesktop.Avahi.EntryGroup"
    /// The value of AVAHI_SERVER_RUNNING.
    private static let serverRuns: Int32 = 2
    /// The greatest number of names that are tried.
    private static let mostNames = 100

    private let queue = DispatchQueue(label: "tactus.avahi")
    private let report: @Sendable (AnnouncementReport) -> Void
    private var services: [AnnouncedService]
    private var bus: SystemBus?
    private var arrivals: (any DispatchSourceRead)?
    /// The object path of Avahi's entry group for these services, or `nil` if Avahi has made no group.
    private var group: String?
    private var renamings = 0
    private var lastReport: AnnouncementReport?

    /// Creates an announcer of these services, which `start` makes announce them.
    ///
    /// - Parameter report: called on the announcer's queue when something has changed.
    public init(_ services: [AnnouncedService], report: @escaping @Sendable (AnnouncementReport) -> Void) {
      self.services = services
      self.report = report
    }

    /// Starts the announcements, without waiting for them.
    public func start() {
      queue.async { self.connect() }
    }

    /// Withdraws the announcements. Blocks for some milliseconds, or for some seconds if Avahi does not answer.
    public func stop() {
      queue.sync {
        self.withdraw()
        self.disconnect()
      }
    }

    // MARK: on the queue

    private func connect() {
      guard bus == nil else { return }
      do throws(SystemBus.Failure) {
        let bus = try SystemBus()
        // The handlers live as long as the bus, and the bus as long as the announcer, so `unowned` is safe.
        try bus.match(
          "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='\(Self.avahi)'"
        ) { [unowned self] message in
          guard message.text() != nil, message.text() != nil, let owner = message.text() else { return }
          avahiChanged(isThere: !owner.isEmpty)
        }
        try bus.match(
          "type='signal',sender='\(Self.avahi)',interface='\(Self.server)',member='StateChanged'"
        ) { [unowned self] message in
          if let state = message.integer() { serverChanged(to: state) }
        }
        try bus.match(
          "type='signal',sender='\(Self.avahi)',interface='\(Self.entryGroup)',member='StateChanged'"
        ) { [unowned self] message in
          guard let path = message.path, let state = message.integer() else { return }
          groupChanged(path, to: state, error: message.text() ?? "")
        }
        self.bus = bus
        let arrivals = DispatchSource.makeReadSource(fileDescriptor: bus.descriptor, queue: queue)
        // Keeps the announcer, which the handlers point to, until the source is cancelled.
        arrivals.setEventHandler { self.process() }
        // Dispatch watches the descriptor until then: it must not be closed before.
        arrivals.setCancelHandler { withExtendedLifetime(bus) {} }
        arrivals.activate()
        self.arrivals = arrivals
        publish()
        process()
      } catch {
        reportIfNew(.absent(reason: "no system bus: \(error.message)"))
      }
    }

    private func disconnect() {
      arrivals?.cancel()
      arrivals = nil
      bus = nil
      group = nil
    }

    private func process() {
      guard let bus, !bus.process() else { return }
      disconnect()
      reportIfNew(.absent(reason: "the system bus has gone"))
    }

    /// Handles that Avahi has appeared on the bus or disappeared from it.
    private func avahiChanged(isThere: Bool) {
      group = nil
      if isThere { publish() } else { reportIfNew(.absent(reason: "Avahi has gone")) }
    }

    private func serverChanged(to state: Int32) {
      if state == Self.serverRuns { publish() } else { withdraw() }
    }

    private func groupChanged(_ path: String, to state: Int32, error: String) {
      guard path == group else { return }
      switch state {
      case 2:
        renamings = 0
        for service in services { reportIfNew(.announced(name: service.name, type: service.type)) }
      case 3: renameAndPublish()
      case 4: reportIfNew(.failed(reason: error))
      default: break
      }
    }

    private func publish() {
      guard let bus else { return }
      withdraw()
      do throws(SystemBus.Failure) {
        let state = try bus.call(Self.avahi, "/", Self.server, "GetState").integer()
        guard state == Self.serverRuns else { return }
        let path = try bus.call(Self.avahi, "/", Self.server, "EntryGroupNew").text("o")
        guard let path else { return reportIfNew(.failed(reason: "Avahi gave no entry group")) }
        group = path
        for service in services { try add(service, to: path, on: bus) }
        _ = try bus.call(Self.avahi, path, Self.entryGroup, "Commit")
      } catch {
        switch error.name {
        case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner":
          reportIfNew(.absent(reason: "Avahi is not running"))
        case "org.freedesktop.Avahi.CollisionError": renameAndPublish()
        default: reportIfNew(.failed(reason: error.message))
        }
      }
    }

    private func add(_ service: AnnouncedService, to path: String, on bus: SystemBus) throws(SystemBus.Failure) {
      _ = try bus.call(Self.avahi, path, Self.entryGroup, "AddService") { (message) throws(SystemBus.Failure) in
        try message.append(Int32(-1))  // any interface
        try message.append(Int32(-1))  // IPv4 and IPv6
        try message.append(UInt32(0))
        try message.append(service.name)
        try message.append(service.type)
        try message.append("")  // the default domain
        try message.append("")  // this host
        try message.append(service.port)
        try message.append(byteStrings: service.text.map { Array($0.utf8) })
      }
    }

    private func withdraw() {
      guard let bus, let path = group else { return }
      group = nil
      _ = try? bus.call(Self.avahi, path, Self.entryGroup, "Free")
    }

    private func renameAndPublish() {
      renamings += 1
      guard renamings <= Self.mostNames else { return reportIfNew(.failed(reason: "every name is taken")) }
      services = services.map { $0.renamed() }
      publish()
    }

    private func reportIfNew(_ news: AnnouncementReport) {
      // Several services in one group are announced together; only a repetition of the last report is left out.
      guard news != lastReport else { return }
      lastReport = news
      report(news)
    }
  }
#endif
