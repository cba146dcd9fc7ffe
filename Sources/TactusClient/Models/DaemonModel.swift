import Foundation
import Observation

/// One daemon with all its systems: the first object that an app creates and passes to its views.
///
/// `start` connects and stays connected, by WebSocket or else by polling. A system's model exists as soon as the daemon
/// has reported such a system. While the daemon cannot be reached everything shows the last reported state, and `age` says how
/// old that is; commands fail with `ClientError.unreachable`.
@MainActor
@Observable
public final class DaemonModel {
  /// The address of the daemon.
  public let endpoint: Endpoint
  /// The state of the connection to the daemon.
  public private(set) var state = LinkState.idle
  /// The robot; `nil` if the daemon has none.
  public private(set) var robot: RobotModel?
  /// The servo legs; `nil` if the daemon has none.
  public private(set) var legs: LegsModel?
  /// The sprinkler; `nil` if the daemon has none.
  public private(set) var sprinkler: SprinklerModel?
  /// The cooling pump; `nil` if the daemon has none.
  public private(set) var pump: PumpModel?
  /// The plants; `nil` if the daemon has none.
  public private(set) var plants: PlantsModel?
  /// The camera; `nil` if the daemon has none.
  public private(set) var video: VideoModel?
  /// The systems for which this client has no model of its own, by name.
  public private(set) var declared: [DeclaredModel] = []
  /// The permission of the token: `read`, `control` or `admin`, or `nil` before the first connection by WebSocket.
  public private(set) var scope: String?
  /// The daemon's version, or `nil` before the first connection.
  public private(set) var version: String?
  /// The last document or event that this client could not decode, or `nil` if there was none.
  public private(set) var problem: ClientError?

  @ObservationIgnored let link: DaemonLink
  @ObservationIgnored private let cache: (any StateCache)?
  @ObservationIgnored private var documents = StateDocuments()
  @ObservationIgnored private var lastNews: Duration?
  @ObservationIgnored private var lastSaved: Duration?
  /// The wall clock's seconds at which the cached state was saved, or `nil` once the daemon has reported a state.
  @ObservationIgnored private var savedAtSeconds: Double?
  @ObservationIgnored private var descriptions: [String: DeclaredSystem] = [:]
  @ObservationIgnored private var wasInFront = false

  /// Creates the model of a daemon.
  /// - Parameters:
  ///   - endpoint: the address of the daemon.
  ///   - token: the token printed by `tactus token create`, or `nil` if the daemon requires none.
  ///   - cache: the storage of the last state for a start without a connection, or `nil` if there is none.
  ///   - transport: the transport of requests, URLSession by default.
  ///   - clock: the clock, the machine's by default.
  ///   - random: the source of random numbers, the operating system's by default.
  public init(
    _ endpoint: Endpoint, token: String? = nil, cache: (any StateCache)? = nil, transport: (any Transport)? = nil,
    clock: any ClientClock = SystemClock(), random: any RandomSource = SystemRandom()
  ) {
    self.endpoint = endpoint
    self.cache = cache
    link = DaemonLink(
      Caller(transport: transport ?? URLSessionTransport(endpoint), token: token, clock: clock, random: random))
    ends = LinkEnd(link)
    link.tell = { [weak self] news in self?.receive(news) }
  }

  /// Disconnects when the model is released.
  @ObservationIgnored private let ends: LinkEnd

  /// Shows the cached state, connects, and stays connected.
  public func start() {
    if documents.shown.isEmpty { loadCache() }
    link.start()
  }

  /// Disconnects. The stick is released, and legs that were armed here are disarmed.
  public func stop() {
    robot?.letGo()
    legs?.release()
    save()
    link.stop()
  }

  /// Connects again, with another token.
  public func use(token: String?) { link.use(token: token) }

  /// Must be called when the app enters or leaves the foreground, as `scenePhase` reports it. In the background the stick is released, legs that
  /// were armed here are disarmed, and the connection ends. In the foreground it is made again if it existed before.
  public func sceneBecame(active isActive: Bool) {
    if isActive {
      if wasInFront { start() }
      wasInFront = false
    } else {
      wasInFront = state != .idle || wasInFront
      stop()
    }
  }

  /// Stops every system until a reset. Repeats the request until the daemon answers, at most four times.
  public func emergencyStop() async throws(ClientError) {
    robot?.letGo()
    try await link.caller.call(ClientRequest("POST", "/api/e-stop", kind: .makesSafe))
  }

  /// Resets every system after emergency stops and faults.
  public func reset() async throws(ClientError) {
    try await link.caller.call(ClientRequest("POST", "/api/reset", kind: .act))
  }

  /// Returns whether the daemon works, and what does not.
  /// - Throws: `ClientError.refused` with the daemon's code and message if it must be restarted or is stopping.
  public func health() async throws(ClientError) -> DaemonHealth {
    try await link.caller.call(ClientRequest("GET", "/api/health", kind: .look), as: DaemonHealth.self)
  }

  /// The age of the newest state that is shown, or `nil` if there is none, or if the age is unknown since the wall clock was set.
  public var age: Duration? {
    if let lastNews { return link.clock.now - lastNews }
    guard let savedAtSeconds else { return nil }
    let seconds = link.clock.wallSeconds - savedAtSeconds
    return (0..<1e9).contains(seconds) ? .seconds(seconds) : nil
  }

  // MARK: news

  private func receive(_ news: DaemonLink.News) {
    switch news {
    case .state(let next):
      let wasLive = state.isLive
      state = next
      if !next.isLive { robot?.ownName = nil }
      if next.isLive, !wasLive { Task { [weak self] in await self?.readDescriptions() } }
    case .status(let data): hear { () throws(ClientError) in try receiveStatus(data) }
    case .event(let data): hear { () throws(ClientError) in try receiveEvent(data) }
    case .frame(let data):
      // A message that begins otherwise is a leg's telemetry.
      if data.first == UInt8(ascii: "{"), let reply = try? Caller.decode(data, as: DriveReply.self) {
        robot?.receive(reply: reply)
      }
    }
  }

  private func hear(_ body: () throws(ClientError) -> Void) {
    do throws(ClientError) { try body() } catch { problem = error }
    lastNews = link.clock.now
    if let lastSaved, link.clock.now - lastSaved < .seconds(10) { return }
    save()
  }

  private struct Header: Decodable {
    var type: String
    var system: String
    var client: UInt32?
    var scope: String?
    var version: String?
    var message: String?
  }

  private func receiveEvent(_ data: Data) throws(ClientError) {
    let header = try Caller.decode(data, as: Header.self)
    switch (header.system, header.type) {
    case ("daemon", "hello"):
      version = header.version
      scope = header.scope
      ownName = header.client.map { "local client \($0)" }
    // The reason why a frame was invalid. Only the stick's frames have no other acknowledgement.
    case (_, "error"): robot?.refuse(header.message ?? "the daemon has refused a frame")
    case ("daemon", _): break
    case (let system, let type):
      let message = try Caller.decode(data, as: JSONValue.self)
      let isDeclared = descriptions[system] != nil
      if let document = documents.receive(message, type, of: system, isDeclared: isDeclared) {
        try show(document, of: system)
      }
    }
  }

  @ObservationIgnored private var ownName: String? { didSet { robot?.ownName = ownName } }

  private func receiveStatus(_ data: Data) throws(ClientError) {
    struct Status: Decodable {
      var version: String?
      var systems: [String: JSONValue]
    }
    let status = try Caller.decode(data, as: Status.self)
    version = status.version ?? version
    for (system, value) in status.systems.sorted(by: { $0.key < $1.key }) {
      try show(documents.receive(value, of: system), of: system)
    }
  }

  /// Passes a system's document to its model, or to one made from its description. A document that is not understood changes nothing.
  private func show(_ document: JSONValue, of system: String) throws(ClientError) {
    if descriptions[system] != nil {
      try showDeclared(document, of: system)
    } else {
      try showKnown(try Caller.body(document), of: system)
    }
    documents.show(document, of: system)
  }

  private func showKnown(_ data: Data, of system: String) throws(ClientError) {
    switch system {
    case "robot":
      let state = try Caller.decode(data, as: RobotState.self)
      if let robot { robot.receive(state) } else { robot = RobotModel(state, link: link) }
      robot?.ownName = ownName
    case "leg":
      let state = try Caller.decode(data, as: LegsState.self)
      if let legs { legs.receive(state) } else { legs = LegsModel(state, link: link) }
    case "sprinkler":
      let state = try Caller.decode(data, as: SprinklerState.self)
      if let sprinkler { return sprinkler.receive(state) }
      let sprinkler = SprinklerModel(state, link: link)
      self.sprinkler = sprinkler
      if link.state.isLive { Task { try? await sprinkler.refreshSchedules() } }
    case "pump":
      let state = try Caller.decode(data, as: PumpState.self)
      if let pump { pump.receive(state) } else { pump = PumpModel(state, link: link) }
    case "plants":
      let state = try Caller.decode(data, as: PlantsState.self)
      if let plants { plants.receive(state) } else { plants = PlantsModel(state, link: link) }
    case "video":
      let state = try Caller.decode(data, as: VideoState.self)
      if let video { video.receive(state) } else { video = VideoModel(state, link: link, endpoint: endpoint) }
    default: break
    }
  }

  private func showDeclared(_ document: JSONValue, of system: String) throws(ClientError) {
    guard let description = descriptions[system] else { return }
    guard case .object(let values) = document else {
      throw .unintelligible("\(system): expected an object, got \(document.text)")
    }
    if let model = declared.first(where: { $0.id == system }) { return model.receive(values) }
    declared.append(DeclaredModel(description, values: values, link: link))
    declared.sort { $0.id < $1.id }
  }

  /// Reads the systems that the daemon describes, at each connection. Their models are made from the descriptions.
  private func readDescriptions() async {
    struct Systems: Decodable { var systems: [DeclaredSystem] }
    do throws(ClientError) {
      let request = ClientRequest("GET", "/api/systems", kind: .look)
      let systems = try await link.caller.call(request, as: Systems.self).systems
      descriptions = Dictionary(systems.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
      for system in systems {
        declared.first { $0.id == system.name }?.receive(system)
        forget(system.name)
        if let document = documents.newest(of: system.name) { try show(document, of: system.name) }
      }
      declared.removeAll { descriptions[$0.id] == nil }
    } catch {
      // A daemon without this route describes no system.
      if error.code != "NOT_FOUND" { problem = error }
    }
    try? await sprinkler?.refreshSchedules()
  }

  /// Removes the built-in model of a system if a declared system has its name.
  private func forget(_ system: String) {
    switch system {
    case "robot": robot = nil
    case "leg": legs = nil
    case "sprinkler": sprinkler = nil
    case "pump": pump = nil
    case "plants": plants = nil
    case "video": video = nil
    default: break
    }
  }

  /// Sets the state for previews.
  func show(
    _ state: LinkState, robot: RobotState?, legs: LegsState?, sprinkler: SprinklerState?, schedules: [Schedule],
    pump: PumpState?, plants: PlantsState?, video: VideoState?
  ) {
    self.state = state
    lastNews = link.clock.now
    self.robot = robot.map { RobotModel($0, link: link) }
    self.legs = legs.map { LegsModel($0, link: link) }
    self.sprinkler = sprinkler.map { SprinklerModel($0, link: link) }
    self.sprinkler?.show(schedules: schedules)
    self.pump = pump.map { PumpModel($0, link: link) }
    self.plants = plants.map { PlantsModel($0, link: link) }
    self.video = video.map { VideoModel($0, link: link, endpoint: endpoint) }
  }

  // MARK: cache

  private func loadCache() {
    guard let data = cache?.load(endpoint), let kept = try? JSONDecoder().decode(KeptStates.self, from: data) else {
      return
    }
    savedAtSeconds = kept.savedAtSeconds
    descriptions = Dictionary(kept.descriptions.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    for (system, value) in kept.systems.sorted(by: { $0.key < $1.key }) {
      // A state that an older version of the app has cached may no longer be decodable.
      try? show(value, of: system)
    }
    sprinkler?.show(schedules: kept.schedules)
  }

  private func save() {
    guard let cache, lastNews != nil, !documents.shown.isEmpty else { return }
    lastSaved = link.clock.now
    let kept = KeptStates(
      savedAtSeconds: link.clock.wallSeconds, systems: documents.shown, descriptions: declared.map(\.description),
      schedules: sprinkler?.schedules ?? [])
    if let data = try? Caller.body(kept) { cache.save(data, endpoint) }
  }
}

/// The cached content of a daemon.
private struct KeptStates: Codable {
  var savedAtSeconds: Double
  var systems: [String: JSONValue]
  var descriptions: [DeclaredSystem]
  var schedules: [Schedule]
}

/// Ends a connection whose model has been released.
private final class LinkEnd: Sendable {
  private let link: DaemonLink

  init(_ link: DaemonLink) { self.link = link }

  deinit { Task { @MainActor [link] in link.stop() } }
}
