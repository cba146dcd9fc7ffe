import Buses
import Glibc
import Logging
import Peers
import Service
import Store
import Tactus
import WallTime

/// The HTTP service as the configuration defines it.
struct ServiceComposition {
  let service: WebService
  let configuration: Configuration.Service
  /// The self-signed certificate of the daemon, and its SHA-256 fingerprint, or `nil` if the daemon has made none.
  let certificate: String?
  let fingerprint: String?
  /// The command that makes a token for this service, with a name that no token had at the start.
  let tokenCommand: String
  /// The command that makes a ticket and a token for a phone, and shows the ticket as a QR code; `nil` if no other
  /// machine can reach the page. It is known once the service listens.
  var ticketCommand: String? {
    guard let page = addressesElsewhere.last else { return nil }
    return MakingToken.ticket(
      file: tokenFile, environment: environment, name: ticketName, page: page, fingerprint: servedFingerprint)
  }
  /// The command of `ticketCommand` in the form for root where the daemon is a service, with the name by which the daemon
  /// is announced, if it is; `nil` if no token is needed or no way in is left for root.
  private var ticketCommandOfService: String? {
    guard configuration.auth == .tokens, localAccess != nil, environment["NOTIFY_SOCKET"] != nil,
      let page = configuration.bonjour ? addressesElsewhere.first : addressesElsewhere.last
    else { return nil }
    return MakingToken.ticketOfService(environment: environment, name: ticketName, page: page)
  }
  /// The SHA-256 of the certificate that the service shows, or `nil` without TLS, or if its file cannot be read.
  private var servedFingerprint: String? {
    guard case .files(let file, let key) = configuration.tls else { return fingerprint }
    return SelfSignedCertificate.fingerprint(of: file, key: key)
  }
  /// The command that makes a token for a terminal; see `MakingToken.variable`.
  let terminalTokenCommand: String
  private let tokens: TokenStore
  private let tokenFile: String
  /// The name of the token that a ticket hands over, which no token had at the start.
  private let ticketName: String
  private let environment: [String: String]
  /// The configured address on which the service listens.
  private let bindAddress: String
  /// The access for commands of this account, or `nil` if there is no folder for it.
  private let localAccess: LocalAccessFile?
  private let localToken: String?
  private let systems: [String]
  private let logger: Logger

  /// Reads the token file and, for TLS, the certificate. Returns `nil` if the service is switched off. The service does
  /// not listen yet.
  ///
  /// - Parameter mounts: the mounts that the token file depends on.
  /// - Throws: `AccessError`, `SelfSignedCertificateError`. Tokens of an unusable token file give no access.
  init?(
    _ whole: Configuration, systems: [any ServedSystem], additions: APIAdditions, routes: [Route],
    clients: ServiceClients, counters: ServiceCounters,
    guardHealth: GuardHealth, zone: MachineZone, mounts: MountWatch, environment: [String: String],
    localAccess: LocalAccessFile?, logger: Logger
  ) throws {
    guard let configuration = whole.service else { return nil }
    self.configuration = configuration
    self.systems = systems.map(\.name)
    self.logger = logger
    self.localAccess = localAccess
    localToken = localAccess.map { _ in LocalAccessFile.newToken() }
    let tokenFile = whole.tokenPath(environment: environment)
    // The reason why a file cannot be read is reported below.
    let known = (try? TokenFolder(path: tokenFile).read()) ?? TokenFile()
    let now = WallClock.microseconds / 1_000_000
    (self.tokenFile, self.environment, bindAddress) = (tokenFile, environment, whole.bindAddress)
    ticketName = known.unusedName(like: "my-phone", now: now)
    tokenCommand = MakingToken.command(
      file: tokenFile, environment: environment, name: known.unusedName(like: "phone", now: now))
    terminalTokenCommand = MakingToken.variable(file: tokenFile, environment: environment)
    tokens = try TokenStore(
      path: tokenFile, jwtKey: configuration.jwtKey, environmentToken: environment["TACTUS_TOKEN"],
      localToken: localToken,
      missing: { mounts.missing(for: $0).map { "\($0)" } },
      report: { logger.error("the token file cannot be used: its tokens open nothing", metadata: ["reason": "\($0)"]) })
    // Without a token file only its revocations are lost, since its tokens give no access then.
    if configuration.jwtKey != nil, tokens.failure == nil, access(tokenFile, F_OK) == 0,
      let warning = mounts.remember(tokenFile)
    {
      logger.warning("\(warning)")
    }
    let (sightings, hub) = (TokenSightings(), clients.hub)
    let tokenRoutes = TokenRoutes(
      store: tokens, sightings: sightings, revoked: { hub.checkTokens() }, now: { MonotonicClock.now })
    let accessControl = AccessControl(
      rules: try HostRules(
        allowedHosts: configuration.allowedHosts, allowedOrigins: configuration.allowedOrigins),
      tokens: tokens, isOpen: configuration.auth == .none, sightings: sightings,
      certificates: clients.certificates, tokenCommand: tokenCommand,
      now: { MonotonicClock.now })
    let tls: ServiceConfiguration.TLSMode
    switch configuration.tls {
    case .off: (tls, certificate, fingerprint) = (.off, nil, nil)
    case .files(let file, let key): (tls, certificate, fingerprint) = (.files(certificate: file, key: key), nil, nil)
    case .selfSigned:
      let names = Self.certificateNames(
        of: HostRules.machineName, at: LocalAddresses.reachable(at: whole.bindAddress))
      let own = try Self.ownCertificate(beside: tokenFile, names: names, mounts, logger)
      tls = .files(certificate: own.certificate, key: own.key)
      (certificate, fingerprint) = (own.certificate, own.fingerprintSHA256)
    }
    var limits = ConnectionLimits(connections: configuration.maxConnections)
    limits.descriptors = Self.allowDescriptors(limits.most + Self.descriptorsOfTheRest, logger)
    var serviceConfiguration = ServiceConfiguration(
      address: whole.bindAddress, port: configuration.port, tls: tls, version: TactusCommand.version,
      threads: configuration.threads, limits: limits, allowedOrigins: configuration.allowedOrigins)
    serviceConfiguration.frameAncestors = try FrameAncestors(configuration.frameAncestors)
    serviceConfiguration.additions = additions
    serviceConfiguration.zone = zone
    serviceConfiguration.clients = clients.certificates
    service = WebService(
      configuration: serviceConfiguration, accessControl: accessControl, systems: systems,
      routes: routes + tokenRoutes.routes, hub: hub,
      counters: counters, guardHealth: guardHealth,
      logger: logger)
  }

  /// The address of the service with the port in effect: `http://127.0.0.1:8000`. It contains a loopback address if the
  /// service listens on every network.
  var address: String {
    guard let endpoint = service.endpoint else { return "" }
    let host = "\(endpoint)".dropLast("\(endpoint.port)".count + 1)
    let reachable = host == "0.0.0.0" ? "127.0.0.1" : host == "[0:0:0:0:0:0:0:0]" ? "[::1]" : host
    return "\(scheme)://\(reachable):\(endpoint.port)"
  }

  /// The addresses of the page for other machines: first with the machine's `.local` name, then with its first IP
  /// address. The last one is also reachable from this machine without name resolution. Empty if the service does not
  /// listen, or only on loopback.
  var addressesElsewhere: [String] {
    guard let endpoint = service.endpoint, !Configuration.isLoopback(bindAddress) else { return [] }
    let first = LocalAddresses.reachable(at: bindAddress).first { !Configuration.isLoopback($0) }
    return [HostRules.localName(), first ?? ""].filter { !$0.isEmpty }.map { host in
      "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(endpoint.port)"
    }
  }

  private var scheme: String { configuration.tls == .off ? "http" : "https" }

  /// The trouble that prevents tokens from being checked, or `nil` if tokens can be checked.
  var trouble: ServiceTrouble? {
    tokens.failure.map { failure in
      ServiceTrouble(
        code: "TOKENS_FAILED",
        message: "\(failure); until it can be used, no token but TACTUS_TOKEN of the environment opens anything")
    }
  }

  /// Gives access to commands of this account. Called once the service listens.
  func writeLocalAccess() {
    guard let localAccess, let localToken else { return }
    do throws(FileFailure) {
      try localAccess.write(
        LocalAccessFile.Contents(address: address, token: localToken, fingerprint: servedFingerprint))
    } catch {
      logger.warning(
        "local commands need a token: their own cannot be written",
        metadata: ["file": .string(error.path), "reason": .string(error.reason)])
    }
  }

  /// Removes the access for commands of this account.
  func removeLocalAccess() { localAccess?.remove() }

  /// Announces the service on the local network, or returns `nil` if announcements are not configured or the service
  /// does not listen.
  func announce(_ whole: Configuration) -> Announcement? {
    guard configuration.bonjour, let endpoint = service.endpoint else { return nil }
    return Announcement(
      address: whole.bindAddress, port: endpoint.port, hasTLS: configuration.tls != .off, systems: systems,
      logger: logger)
  }

  func reportStart() {
    var metadata: Logger.Metadata = [
      "listen": .string(service.endpoint.map { "\($0)" } ?? ""), "auth": .string(configuration.auth.rawValue),
    ]
    let elsewhere = addressesElsewhere.map { $0 + "/" }
    if !elsewhere.isEmpty { metadata["page"] = .string(elsewhere.joined(separator: " ")) }
    if let ticketCommandOfService { metadata["let_a_phone_in"] = .string(ticketCommandOfService) }
    if let fingerprint { metadata["fingerprint_sha256"] = .string(fingerprint) }
    logger.info("serving \(scheme)", metadata: metadata)
  }

  /// The number of descriptors for buses, logs, loops and event loops, with a reserve.
  private static let descriptorsOfTheRest = 256

  /// Raises the limit of open files if possible. Returns the limit in effect.
  private static func allowDescriptors(_ count: Int, _ logger: Logger) -> Int {
    let limit = DescriptorLimit.raise(to: count)
    if limit < count {
      logger.warning(
        "fewer files may be open than service.max_connections needs: the last are kept for those who can stop",
        metadata: ["limit": .stringConvertible(limit), "wanted": .stringConvertible(count)])
    }
    return limit
  }

  private static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
  }

  /// Returns the certificate that is kept beside the token file. If none can be kept there, a certificate for this
  /// start is made, because HTTPS without a certificate would leave clients without an e-stop.
  private static func ownCertificate(
    beside tokenFile: String, names: [String], _ mounts: MountWatch, _ logger: Logger
  ) throws -> SelfSignedCertificate {
    do {
      if let missing = mounts.missing(for: tokenFile) { throw missing }
      return try SelfSignedCertificate.load(orMakeIn: folder(of: tokenFile), names: names)
    } catch {
      logger.error(
        "no certificate can be kept: this start has one of its own, which clients that know another will refuse",
        metadata: ["reason": .string("\(error)")])
      for parent in ["/tmp", "/dev/shm"] {
        var name = Array("\(parent)/tactus-XXXXXX".utf8CString)
        guard mkdtemp(&name) != nil else { continue }
        let folder = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return try SelfSignedCertificate.load(orMakeIn: folder, names: names)
      }
      throw error
    }
  }

  /// The greatest number of names in the daemon's certificate: a machine may have hundreds of addresses.
  private static let mostCertificateNames = 40

  /// Returns the names in a new certificate of the daemon: the machine's names, and the addresses at which it is reached
  /// at this moment, one of which the printed lines contain. A certificate that is kept does not get the addresses that
  /// the machine has later, because phones have pinned its fingerprint.
  ///
  /// - Parameters:
  ///   - machineName: the host name as gethostname(2) returns it; it may be empty.
  ///   - addresses: IP addresses in digits. Loopback ones, and those that would be more than 40 names, are left out.
  static func certificateNames(of machineName: String, at addresses: [String]) -> [String] {
    var names = ["localhost", "127.0.0.1", "::1"]
    names += [machineName, HostRules.localName(of: machineName)].filter { !$0.isEmpty }
    for address in addresses
    where names.count < mostCertificateNames && !names.contains(address) && !Configuration.isLoopback(address) {
      names.append(address)
    }
    return names
  }
}
