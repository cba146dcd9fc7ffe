@_spi(FromOutside) import Conversions
import Tactus

/// The host of the Plant-Tracker app: all operations of the requirement, as a value. It neither publishes messages nor reads a clock.
///
/// Total: every byte string leads to a reply or to a named outcome. A reply's payload is never empty, because the app takes an empty one for an
/// error. Allocates memory, so it must not be used in ticks.
public struct PlantHost: Sendable {
  public var settings: PlantHostSettings
  public private(set) var book: PlantBook
  /// The number of messages by outcome.
  public private(set) var outcomes: [String: Int64] = [:]
  public private(set) var repliesMade: Int64 = 0
  private var spam = PlantSpamWindows()
  private var bounces = PlantBounces()
  /// The reason why the book is not available, or `nil` if it is. Meanwhile every request is refused with this reason, because an app that receives
  /// an empty list forgets its plants.
  public var unavailable: String?

  public init(_ settings: PlantHostSettings = PlantHostSettings(), book: PlantBook) {
    precondition(!settings.hostName.isEmpty, "a host has a name")
    self.settings = settings
    self.book = book
  }

  /// Changes the book independently of a message, for the API and for sensor readings.
  public mutating func withBook<Result>(_ body: (inout PlantBook) throws(PlantRefusal) -> Result) throws(PlantRefusal)
    -> Result
  {
    try body(&book)
  }

  /// Processes one message from the clients' topic. `readings` are those of all sensors.
  public mutating func step(
    _ bytes: UnsafeRawBufferPointer, at now: TickInstant, readings: [PlantSensorID: PlantReading]
  ) -> PlantHostAction {
    let action = decide(bytes, at: now, readings: readings)
    outcomes[action.outcome.name, default: 0] += 1
    repliesMade += Int64(action.replies.count)
    return action
  }

  /// Returns the action to take instead of `action` after the store has rejected its changes: the book is restored to its state `before` the step,
  /// and the client receives an error.
  ///
  /// - Parameter bytes: the message of that step.
  public mutating func undo(
    _ action: PlantHostAction, of bytes: UnsafeRawBufferPointer, before: PlantBook, reason: String
  ) -> PlantHostAction {
    precondition(!action.changes.isEmpty, "a step that changed nothing needs no store")
    // The same bytes were parsed a moment ago, so parsing cannot fail.
    guard let message = try? PlantMessage.parse(bytes) else { preconditionFailure("a broken message changes nothing") }
    book = before
    outcomes[action.outcome.name, default: 0] -= 1
    repliesMade -= Int64(action.replies.count)
    let refusal = refuse(PlantRefusal(.notKept, reason), id: message.id, sender: message.sender, bytes)
    outcomes[refusal.outcome.name, default: 0] += 1
    repliesMade += Int64(refusal.replies.count)
    return refusal
  }

  /// Replaces the book with the one read from a store.
  public mutating func replaceBook(_ book: PlantBook) { self.book = book }

  public mutating func step(
    _ text: String, at now: TickInstant, readings: [PlantSensorID: PlantReading] = [:]
  ) -> PlantHostAction {
    var text = text
    return text.withUTF8 { step(UnsafeRawBufferPointer($0), at: now, readings: readings) }
  }

  private mutating func decide(
    _ bytes: UnsafeRawBufferPointer, at now: TickInstant, readings: [PlantSensorID: PlantReading]
  ) -> PlantHostAction {
    let message: PlantMessage
    do throws(PlantMessageError) {
      message = try PlantMessage.parse(bytes)
    } catch {
      return refuse(bytes, error, at: now)
    }
    if message.sender == settings.hostName { return PlantHostAction(.own) }
    guard isForUs(message.receiver) else { return PlantHostAction(.notForUs) }
    // Without a sender there is no client to answer.
    guard !message.sender.isEmpty else { return PlantHostAction(.unanswerable(.missingValue(at: 0))) }
    let user = PlantUser(sender: message.sender)
    // An error report follows from the host's own words, so it does not count toward the client's limit.
    if message.operation.hasPrefix("ERR_") {
      noteBounce(message, of: user)
      return PlantHostAction(.peerError(operation: message.operation, payload: message.payload))
    }
    let asked = PlantRequestTag(operation: message.operation)
    if let action = limit(user, asked, id: message.id, sender: message.sender, at: now) { return action }
    guard let request = asked else {
      return refuse(
        PlantRefusal(.invalidOpTag, field: "operation", "no such operation"), id: message.id, sender: message.sender,
        bytes)
    }
    do throws(PlantRefusal) {
      if let unavailable { throw PlantRefusal(.notKept, unavailable) }
      var changes: [PlantChange] = []
      let payloads = try serve(request, message.payload, of: user, at: now, readings: readings, changes: &changes)
      var action = PlantHostAction(.answered(request))
      action.changes = changes
      action.replies = payloads.map { payload in
        reply(id: message.id, to: message.sender, payload: payload, operation: request.response)
      }
      return action
    } catch {
      return refuse(error, id: message.id, sender: message.sender, bytes)
    }
  }

  private func isForUs(_ receiver: String) -> Bool {
    receiver == settings.hostName || receiver == PlantHostSettings.everybody
  }

  // MARK: refusals

  /// Notes an acknowledgement that the app did not know and returned: the app sends the whole message back as `ERR_invalidOpTag`.
  private mutating func noteBounce(_ message: PlantMessage, of user: PlantUser) {
    guard message.operation == PlantErrorTag.invalidOpTag.operation else { return }
    var payload = message.payload
    let ours = payload.withUTF8 { PlantMessageRemains(of: UnsafeRawBufferPointer($0)) }
    guard ours.sender == settings.hostName, ours.receiver == message.sender,
      let request = ours.operation.flatMap(PlantRequestTag.init(response:)), request.isChange
    else { return }
    bounces.note(request, of: user)
  }

  /// Counts a message. Returns the action for a message beyond the limit, or `nil` if the message is within the limit.
  ///
  /// - Parameter asked: the request in the message, or `nil` if it contains no known request.
  private mutating func limit(
    _ user: PlantUser, _ asked: PlantRequestTag?, id: String, sender: String, at now: TickInstant
  ) -> PlantHostAction? {
    guard let limit = settings.spamLimit else { return nil }
    if case .plantInfoOnStartup = asked, spam.takeExpected(of: user) { return nil }
    switch spam.count(user, limit: limit, window: settings.spamWindow, at: now) {
    case .allowed: return nil
    case .beyond: return PlantHostAction(.spam)
    case .limit:
      let message = "expected at most \(limit) messages in \(settings.spamWindow)"
      var action = PlantHostAction(.refused(.kickedForSpam, message))
      action.replies = [
        reply(id: id, to: sender, payload: "none", operation: PlantErrorTag.kickedForSpam.operation)
      ]
      return action
    }
  }

  /// Handles bytes that are not a valid message, with the same checks as far as the remaining parts allow.
  private mutating func refuse(
    _ bytes: UnsafeRawBufferPointer, _ error: PlantMessageError, at now: TickInstant
  ) -> PlantHostAction {
    let remains = PlantMessageRemains(of: bytes)
    if remains.sender == settings.hostName { return PlantHostAction(.own) }
    if let receiver = remains.receiver, !isForUs(receiver) { return PlantHostAction(.notForUs) }
    guard let sender = remains.sender, !sender.isEmpty else { return PlantHostAction(.unanswerable(error)) }
    let id = remains.id ?? "0"
    if let operation = remains.operation, operation.hasPrefix("ERR_") {
      return PlantHostAction(.peerError(operation: operation, payload: ""))
    }
    if let action = limit(PlantUser(sender: sender), nil, id: id, sender: sender, at: now) { return action }
    guard let tag = error.tag else { return PlantHostAction(.unanswerable(error)) }
    return refuse(PlantRefusal(tag, error.description), id: id, sender: sender, bytes)
  }

  /// Returns the action that answers with an error, whose payload is the message that caused it.
  private func refuse(
    _ refusal: PlantRefusal, id: String, sender: String, _ bytes: UnsafeRawBufferPointer
  ) -> PlantHostAction {
    var action = PlantHostAction(.refused(refusal.tag, refusal.message))
    action.replies = [
      reply(
        id: id, to: sender, payload: String(decoding: bytes, as: UTF8.self), operation: refusal.tag.knownOperation)
    ]
    return action
  }

  private func reply(id: String, to receiver: String, payload: String, operation: String) -> PlantMessage {
    precondition(!payload.isEmpty, "the app takes an empty payload for an error")
    return PlantMessage(
      id: id, sender: settings.hostName, receiver: receiver, payload: payload, operation: operation)
  }

  // MARK: operations

  /// Carries out a request. Returns the payloads of the replies.
  private mutating func serve(
    _ request: PlantRequestTag, _ payload: String, of user: PlantUser, at now: TickInstant,
    readings: [PlantSensorID: PlantReading], changes: inout [PlantChange]
  ) throws(PlantRefusal) -> [String] {
    switch request {
    case .numPlants:
      let count = book.plants(of: user).count
      spam.expect(count, of: user)
      return ["\(count)"]
    case .plantInfoOnStartup: return [try info(payload, of: user)]
    case .plantSensorData: return try sensorData(payload, of: user, at: now, readings: readings)
    case .addNewPlant:
      let entry = try PlantPayloadReading.newPlant(payload)
      changes = try book.apply(.add(name: entry.name, sensors: entry.sensors), for: user)
      return acknowledgement(request, entry.name, of: user)
    case .deletePlant:
      changes = try book.apply(.delete(name: payload), for: user)
      return acknowledgement(request, payload, of: user)
    case .editPlant:
      let (name, edit) = try PlantPayloadReading.edit(payload) { book.plant(named: $0, of: user) != nil }
      changes = try book.apply(.edit(name: name, edit), for: user)
      return acknowledgement(request, edit.name ?? name, of: user)
    }
  }

  /// Returns the acknowledgement, which is the plant's name as it is stored. The name is not empty, because the book has accepted it. Returns none if
  /// the client has returned such an acknowledgement as unknown.
  private func acknowledgement(_ request: PlantRequestTag, _ name: String, of user: PlantUser) -> [String] {
    settings.legacyQuiet || bounces.has(request, of: user) ? [] : [PlantName.carried(name)]
  }

  /// Returns the description of a plant. `payload` is the plant's index among the user's plants, from 0.
  private func info(_ payload: String, of user: PlantUser) throws(PlantRefusal) -> String {
    let plants = book.plants(of: user)
    guard let index = Int(payload.trimmed), plants.indices.contains(index) else {
      throw PlantRefusal(
        .noPlantDataToRequest, field: "payload", "expected the index of one of \(plants.count) plants, from 0")
    }
    let plant = plants[index]
    return PlantUserFile.Entry(name: plant.name.text, sensors: plant.sensors.map(\.text)).json
  }

  /// Returns one reply for each sensor with a reading that is not stale.
  private func sensorData(
    _ payload: String, of user: PlantUser, at now: TickInstant, readings: [PlantSensorID: PlantReading]
  ) throws(PlantRefusal) -> [String] {
    let plants: [Plant]
    if payload.trimmed == "all" {
      plants = book.plants(of: user)
    } else {
      plants = book.plant(named: payload, of: user).map { [$0] } ?? []
    }
    var payloads: [String] = []
    for plant in plants {
      for sensor in plant.sensors {
        guard let reading = readings[sensor], !(settings.staleAfter < now - reading.at) else { continue }
        payloads.append(PlantPayloadReading.sensorData(reading, plant: plant.name, sensor: sensor))
      }
    }
    guard !payloads.isEmpty else {
      let message = plants.isEmpty ? "no such plant" : "none of its sensors has answered within \(settings.staleAfter)"
      throw PlantRefusal(.noPlantDataToRequest, field: "payload", message)
    }
    return payloads
  }
}

/// The settings of the host's behaviour toward Plant-Tracker clients.
public struct PlantHostSettings: Sendable, Hashable {
  /// The host's name as sender and receiver of messages.
  public var hostName = "Host-RPI3B+"
  /// The receiver of a message that is for every host.
  public static let everybody = "all"
  /// Whether add, delete and edit are not acknowledged, as by the original host.
  public var legacyQuiet = false
  /// The largest number of messages of one client within `spamWindow`, or `nil` for no limit.
  public var spamLimit: Int? = 15
  public var spamWindow = Nanoseconds.seconds(15)
  /// The age above which a reading counts as missing.
  public var staleAfter = Nanoseconds.seconds(120)

  public init() {}
}

/// The acknowledgements that clients have returned as unknown. At most `capacity` clients are kept: beyond that, the client whose first bounce is
/// oldest is forgotten and receives acknowledgements until the next bounce.
struct PlantBounces: Sendable, Hashable {
  static let capacity = 1024
  private var requests: [PlantUser: Set<PlantRequestTag>] = [:]
  /// The clients in the order of their first bounce.
  private var users: [PlantUser] = []

  mutating func note(_ request: PlantRequestTag, of user: PlantUser) {
    if requests[user] == nil {
      if users.count >= Self.capacity { requests[users.removeFirst()] = nil }
      users.append(user)
    }
    requests[user, default: []].insert(request)
  }

  func has(_ request: PlantRequestTag, of user: PlantUser) -> Bool { requests[user]?.contains(request) ?? false }
}
