import Plants
import Tactus
import Wire

/// The requests of the app's clients and their answers, by the numbers in the messages.
struct PlantAnswers {
  /// One message from the host.
  struct Answer: Hashable {
    let id: String
    let receiver: String
    let operation: String
    /// The content of a sensor's reply.
    let data: Data?

    struct Data: Hashable {
      let plant: String
      let sensor: String
    }

    /// Decodes a message; `nil` if the bytes are not a valid message.
    init?(_ payload: [UInt8]) {
      guard let message = payload.withUnsafeBytes({ try? PlantMessage.parse($0) }) else { return nil }
      (id, receiver, operation) = (message.id, message.receiver, message.operation)
      func value(_ key: String) -> String? {
        guard let range = message.payload.range(of: "'\(key)': '") else { return nil }
        return String(message.payload[range.upperBound...].prefix { $0 != "'" })
      }
      let isData = operation == PlantRequestTag.plantSensorData.response
      data = isData ? Data(plant: value("plant") ?? "", sensor: value("sensor") ?? "") : nil
    }
  }

  /// The meaning of an answer.
  enum Outcome: Hashable {
    case unasked
    case refused
    case told
    case made(PlantOracle.Change)
  }

  private struct Request {
    let user: String
    let request: PlantRequestTag
    let change: PlantOracle.Change?
    /// The number of times that the message was delivered to the daemon since its start.
    var deliveries = 0
    /// The instant at which the first delivery without an answer was made.
    var deliveredAt = TickInstant.zero
    var answers = 0
    /// Whether the user may have been beyond the limit of messages.
    var isInCrowd = false
  }

  /// The number of messages that contain no request.
  static let noise = "0"
  private static let window = Nanoseconds.seconds(15)
  private var requests: [String: Request] = [:]
  private var waiting: Set<String> = []
  private var recent: [String: [TickInstant]] = [:]
  /// The longest time that a message has waited for the disk; the message limit counts a message only when the
  /// message's turn has come.
  private var slowest = Nanoseconds.zero

  mutating func ask(_ request: PlantRequestTag, of user: String, _ change: PlantOracle.Change?, id: String) {
    requests[id] = Request(user: user, request: request, change: change)
  }

  /// Notes that the daemon received a message from this sender with this number.
  mutating func delivered(_ id: String, of user: String, at now: TickInstant) {
    recent[user, default: []].append(now)
    guard requests[id] != nil else { return }
    if !waiting.contains(id) { requests[id]!.deliveredAt = now }
    requests[id]!.deliveries += 1
    let most = Self.window + slowest
    if recent[user]!.count(where: { now - $0 <= most }) > 15 { requests[id]!.isInCrowd = true }
    waiting.insert(id)
  }

  /// Notes that the daemon has died and will not answer the open messages.
  mutating func forget() {
    for id in waiting { (requests[id]!.deliveries, requests[id]!.answers) = (0, 0) }
    (waiting, recent) = ([], [:])
  }

  mutating func receive(_ answer: Answer, at now: TickInstant) -> Outcome {
    if answer.id == PlantAnswers.noise, answer.operation.hasPrefix("ERR_") { return .refused }
    guard let request = requests[answer.id], request.user == answer.receiver else { return .unasked }
    requests[answer.id]!.answers += 1
    slowest = max(slowest, now - request.deliveredAt)
    // A request for sensor data has one reply for each sensor.
    let isTooMany = request.request != .plantSensorData && request.answers >= request.deliveries
    if isTooMany || request.deliveries == 0 { return .unasked }
    if request.answers + 1 >= request.deliveries { waiting.remove(answer.id) }
    if answer.operation.hasPrefix("ERR_") { return .refused }
    guard answer.operation == request.request.response else { return .unasked }
    return request.change.map { .made($0) } ?? .told
  }

  /// The changes that were requested and not answered.
  var open: [PlantOracle.Change] { waiting.sorted().compactMap { requests[$0]?.change } }

  /// The messages that were delivered and not answered.
  var unanswered: [String] { waiting.filter { !requests[$0]!.isInCrowd }.sorted() }
}
