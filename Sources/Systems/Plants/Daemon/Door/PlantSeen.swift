import Plants
import Tactus
import TactusDaemon

/// All plants and probes as documents and metrics show them at one moment.
public struct PlantSeen: Sendable {
  /// The largest number of plants in a state document and in `/metrics`. It is bounded because clients can add plants.
  static let (shown, measured) = (100, 200)

  private let view: PlantView
  private let plants: [SeenPlant]
  private let mostShown: Int
  private let probes: [SeenProbe]
  private let loop: PlantSensorSnapshot
  private let app: App?

  private struct App: Sendable {
    let hostName: String
    let messages: [String: Int64]
    let replies: Int64
  }

  /// Collects the data of the desk and of the loop at one moment.
  ///
  /// - Parameters:
  ///   - desk: the desk, or `nil` before there is one.
  ///   - hostName: the host's name for the app, or `nil` if the app is not served.
  ///   - user: the user whose plants are included, or `nil` for the plants of all users.
  ///   - most: the largest number of plants shown.
  init(_ desk: PlantDesk?, _ loop: PlantSensorSnapshot, hostName: String?, of user: PlantUser? = nil, most: Int = shown)
  {
    let view = desk?.view ?? PlantView(records: PlantRecords(), isLoaded: false)
    (self.view, self.loop, mostShown) = (view, loop, most)
    let links = desk?.linkSettings ?? [:]
    plants = view.records.plants.filter { user == nil || $0.user == user }.map { SeenPlant($0, view, links[$0.id]) }
    probes = desk?.probes(view, loop) ?? []
    app = hostName.map { App(hostName: $0, messages: desk?.messages(view) ?? [:], replies: view.replies) }
  }

  private var word: String { alertCount == 0 ? "ok" : "problem" }
  private var shownPlants: ArraySlice<SeenPlant> { plants.prefix(mostShown) }
  private var measuredPlants: ArraySlice<SeenPlant> { plants.prefix(Self.measured) }
  private var alertCount: Int { plants.count { !$0.isWell } }
  private var userCount: Int { Set(view.records.plants.map(\.user)).count }
  private var isWritable: Bool { view.storeFailure == nil }

  /// The fields of `GET /api/plants`, of events and of `/metrics`.
  @DeclarationBuilder<Field<PlantSeen>> public static var fields: [Field<PlantSeen>] {
    Field("state", \.word, when: .state, "ok, or problem of some plant.")
    Items("plants", \.shownPlants, each: "plants", numbered: "id", labels: [:], when: .state, "The first hundred.") {
      SeenPlant.fields.withoutMetrics()
    }
    Field("plantCount", \.plants.count, when: .state, metric: "", "Plants, of all users.")
    Items(
      "measured", \.measuredPlants, numbered: "plant", labels: ["plant": "plant", "name": "name"], when: .metrics
    ) { SeenPlant.metrics }
    Field("userCount", \.userCount, when: .state, metric: .none, "Users with plants.")
    Field("alertCount", \.alertCount, when: .state, metric: .none, "Plants that are not well.")
    Items("sensors", \.probes, numbered: "id", labels: ["sensor": "id"], when: .state, "The probes.") {
      SeenProbe.fields
    }
    Field(
      "droppedReadings", \.loop.readingsDropped, kind: .counter, when: .metrics, "Readings that found their ring full.")
    Field(
      "busRetries", \.loop.busRetries, kind: .counter, when: .metrics,
      "Transfers on I2C that succeeded only after a retry.")
    Group("store", \.self, when: .state, "What is kept.") {
      Field(
        "open", \.view.isLoaded, metric: .none,
        "False: the store could not be read, and plants are empty because they are unknown.")
      Field("writable", \.isWritable, "Whether the store took the last change.")
      Field("failure", \.view.storeFailure, "Why it did not; null if it did.")
    }
    Field(
      "lostRecords", \.view.lost, kind: .counter, when: .metrics,
      "Readings and events that a store which refuses did not get.")
    Group("app", \.app, when: .state, "The host of the Plant-Tracker app; absent if it is not served.") {
      Field("hostName", \.hostName, "The name that clients send to.")
      Field(
        "messages", counts: \.messages, label: "outcome", metric: "messages",
        "Messages of the Plant-Tracker app, by what became of them.")
      Field("replies", \.replies, metric: .none, "Replies to the app.")
    }.leftOutIfNil
    Field("replies", \.view.replies, kind: .counter, when: .metrics, "Replies to the app.")
  }
}

extension PlantDesk {
  /// Returns every probe in the form of the documents.
  func probes(_ view: PlantView, _ loop: PlantSensorSnapshot) -> [SeenProbe] {
    let now = now()
    return sensors.enumerated().map { index, sensor in
      SeenProbe(sensor, loop[index], view, staleAfter: staleAfter, at: now)
    }
  }

  /// Returns the number of messages by outcome.
  func messages(_ view: PlantView) -> [String: Int64] {
    var messages = view.outcomes.filter { $0.value > 0 }
    if busyCount > 0 { messages["busy"] = busyCount }
    if oldCount > 0 { messages["old"] = oldCount }
    return messages
  }
}

extension Plants {
  public static func seen(_ published: Published<State>, _ look: Look<Plants>) -> PlantSeen {
    PlantSeen(look.shared(PlantDesk.self), published.state, hostName: look.wiring.app)
  }
  public static var seenFields: [Field<PlantSeen>] { PlantSeen.fields }
  public static func version(_ look: Look<Plants>) -> UInt64 { look.shared(PlantDesk.self)?.view.version ?? 0 }
}
