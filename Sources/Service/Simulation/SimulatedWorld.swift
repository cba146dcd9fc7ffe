import Buses
@_spi(FromOutside) import Conversions
import Tactus

/// The routes `/api/sim/…`, by which clients inspect and disturb the simulated world. Only a simulated daemon has these routes.
public struct SimulatedWorld: Sendable {
  private let buses: [SimulatedBus]
  private let lanes: [String: LaneStall]
  /// Further routes by which systems show their simulation.
  private let others: [Route]
  private let named: [NamedFaults]

  private static let transactionsUnlessAsked = 1000
  private static let mostTransactions = 4096

  /// Makes the simulated world of one daemon.
  ///
  /// - Parameters:
  ///   - lanes: the stalls of the lanes, by the lane's name.
  ///   - routes: further routes by which systems show their simulation, such as `GET /api/sim/robot`.
  ///   - named: the faults that systems have declared.
  public init(
    buses: [SimulatedBus], lanes: [String: LaneStall] = [:], routes: [Route] = [], named: [NamedFaults] = []
  ) {
    (self.buses, self.lanes, others, self.named) = (buses, lanes, routes, named)
  }

  /// The routes `/api/sim/bus`, `/api/sim/fault` and `/api/sim/link`, and the additional `routes`. POST needs the scope `admin`.
  public var routes: [Route] {
    [
      Route(.get, "/api/sim/bus") { _ in list() },
      Route(.get, "/api/sim/bus/{name}") { try transactions($0) },
      Route(.get, "/api/sim/fault") { _ in faults() },
      Route(.post, "/api/sim/fault", scope: .admin, action: "sim.fault") { try inject($0) },
      Route(.post, "/api/sim/link/{name}", scope: .admin, action: "sim.link") { try play($0) },
    ] + others
  }

  // MARK: buses

  private struct BusDocument: Encodable {
    var name, kind: String
    /// The number of transactions since the start.
    var transactions: Int64
    var faults: [SimulatedFault]
  }

  private struct BusesDocument: Encodable {
    var ok = true
    var buses: [BusDocument]
  }

  private func list() -> APIResponse {
    .json(
      BusesDocument(
        buses: buses.map {
          BusDocument(name: $0.name, kind: $0.kind, transactions: $0.transactionCount, faults: $0.activeFaults)
        }))
  }

  private struct TransactionsDocument: Encodable {
    var ok = true
    var name, kind: String
    /// The number of the first transaction that the document does not contain, with which the next request should
    /// begin.
    var next: Int64
    /// The number of transactions that were discarded between the number asked for and the oldest one kept.
    var dropped: Int64
    var transactions: [BusTransaction]
  }

  private func transactions(_ request: APIRequest) throws(APIError) -> APIResponse {
    let bus = try named(request)
    let query = try QueryReader(request.query, names: ["since", "limit"])
    let since = try query.integer("since", in: 0...Int64.max) ?? 0
    let limit = try query.integer("limit", in: 1...Int64(Self.mostTransactions))
    let found = bus.transactions(since: since)
    let shown = Array(found.prefix(limit.map { Int($0) } ?? Self.transactionsUnlessAsked))
    let end = bus.transactionCount
    let next = shown.last.map { $0.sequence + 1 } ?? min(since, end)
    return .json(
      TransactionsDocument(
        name: bus.name, kind: bus.kind, next: next, dropped: max(0, next - min(since, end) - Int64(shown.count)),
        transactions: shown))
  }

  private func named(_ request: APIRequest) throws(APIError) -> SimulatedBus {
    guard let bus = buses.first(where: { $0.name == request.parameters["name"] }) else {
      throw .notFound("no such bus; there is \(busNames)")
    }
    return bus
  }

  private var busNames: String { buses.map(\.name).joined(separator: ", ") }

  // MARK: the other end of a link

  private struct LinkDocument: Encodable {
    var ok = true
    let name: String
    /// Whether a peer is trying to be connected.
    let peer: Bool
    /// Whether a peer is connected; `false` while the link is lost.
    let connected: Bool
  }

  private func play(_ request: APIRequest) throws(APIError) -> APIResponse {
    let bus = try named(request)
    guard case .link(let link) = bus.line else { throw .notFound("\(bus.name) knows no connections") }
    let asked = try request.decode(SimulatedPeer.self)
    if let isThere = asked.isThere { link.isPeerThere = isThere }
    if let message = asked.message {
      do {
        try link.write(message)
      } catch {
        switch error {
        case .notConnected: throw .conflict("NOT_CONNECTED", "no peer is connected to \(bus.name)")
        case .notTaken: throw .conflict("NOT_TAKEN", "the loop has not taken what was written before")
        }
      }
    }
    return .json(
      LinkDocument(name: bus.name, peer: link.isPeerThere, connected: link.isUp),
      logValue: "link=\(bus.name) connected=\(link.isUp)")
  }

  // MARK: faults

  private struct FaultsDocument: Encodable {
    /// A declared fault in force, with its system.
    struct Named: Encodable {
      let system, fault: String
    }
    var ok = true
    var faults: [SimulatedFault]
    /// The declared faults in force, or `nil` if no system declares any fault.
    var named: [Named]?
  }

  private func faults(logValue: String? = nil) -> APIResponse {
    let stalls = lanes.sorted { $0.key < $1.key }.filter { $0.value.isActive }.map {
      SimulatedFault(.laneStall, lane: $0.key)
    }
    let active = named.flatMap { system in
      system.active.sorted().map { FaultsDocument.Named(system: system.system, fault: $0) }
    }
    return .json(
      FaultsDocument(
        faults: buses.flatMap(\.activeFaults) + stalls, named: named.allSatisfy(\.all.isEmpty) ? nil : active),
      logValue: logValue)
  }

  private func inject(_ request: APIRequest) throws(APIError) -> APIResponse {
    if try request.has("system"), !named.isEmpty {
      let fault = try request.decode(NamedFaultBody.self)
      try fault.find(among: named).set(fault.fault, fault.isActive)
      return faults(logValue: "fault=\(fault.fault) on=\(fault.system) active=\(fault.isActive)")
    }
    let fault = try request.decode { (body) throws(APIError) in
      try known(body)
      return try SimulatedFault(&body)
    }
    let bus = try fault.bus.map { name throws(APIError) in try self.bus(name) }
    switch fault.fault {
    case .clear:
      for bus in bus.map({ [$0] }) ?? buses { bus.clearFaults() }
      if bus == nil {
        for stall in lanes.values { stall.cancel() }
        for system in named { system.clear() }
      }
    case .laneStall: try lane(fault.lane!).ask(for: .milliseconds(Int64(fault.ms!)))
    default: try bus!.inject(fault)
    }
    return faults(logValue: "fault=\(fault.fault.rawValue) on=\(fault.bus ?? fault.lane ?? "all")")
  }

  /// Checks the name of the fault. A fault that only a system has declared needs the system's name; for an unknown
  /// fault the error lists the available ones.
  private func known(_ body: JSONReader) throws(APIError) {
    var body = body
    guard let fault = try? body.required("fault", .text(1...64)) else { return }
    let possible = buses.reduce(into: Set(["lane-stall", "clear"])) { $0.formUnion($1.possibleFaults) }
    guard !possible.contains(fault) else {
      let able = buses.filter { $0.possibleFaults.contains(fault) }.map(\.name)
      guard able.isEmpty || body.has("bus") || body.has("system") else {
        throw .validation("bus", expected: "one of \(able.joined(separator: ", "))", got: "nothing")
      }
      return
    }
    let owners = named.filter { system in system.all.contains { $0.name == fault } }.map(\.system)
    if !owners.isEmpty, !body.has("bus") {
      throw .validation(
        "system", expected: "one of \(owners.joined(separator: ", ")), which have \(fault)", got: "nothing")
    }
    guard SimulatedFault.Name(rawValue: fault) == nil else { return }
    let declared = named.filter { !$0.all.isEmpty }.map { system in
      "; of the system \(system.system) \(system.all.map(\.name).joined(separator: ", "))"
    }
    throw .validation(
      "fault", expected: "one of \(possible.sorted().joined(separator: ", "))\(declared.joined())",
      got: "\"\(fault.prefix(40))\"")
  }

  private func bus(_ name: String) throws(APIError) -> SimulatedBus {
    if let bus = buses.first(where: { $0.name == name }) { return bus }
    throw .validation("bus", expected: "one of \(busNames)", got: "\"\(name.prefix(40))\"")
  }

  private func lane(_ name: String) throws(APIError) -> LaneStall {
    if let lane = lanes[name] { return lane }
    let known = lanes.keys.sorted().joined(separator: ", ")
    throw .validation("lane", expected: "one of \(known)", got: "\"\(name.prefix(40))\"")
  }
}

/// The actions of the peer of a simulated link: the body of `POST /api/sim/link/{name}`.
struct SimulatedPeer: JSONReadable {
  /// Whether the peer connects (`true`) or disconnects (`false`), or `nil` if its connection does not change.
  let isThere: Bool?
  /// The message that the peer writes afterwards, or `nil` if it writes none.
  let message: [UInt8]?

  /// Reads the body of a request.
  ///
  /// - Throws: 422 with the field for a member that is unknown or wrong, or if both members are missing.
  init(_ body: inout JSONReader) throws(APIError) {
    isThere = try body.optional("connected", .boolean)
    let text = try body.optional("message", .text(2...2 * MessageLink.mostBytes))
    message = try text.map { text throws(APIError) in
      guard let bytes = Hexadecimal.bytes(text) else {
        throw .validation("message", expected: "bytes of two digits 0…9, a…f each", got: "\"\(text.prefix(40))\"")
      }
      return bytes
    }
    guard isThere != nil || message != nil else {
      throw .validation("connected", expected: "connected, message or both", got: "neither")
    }
  }
}
