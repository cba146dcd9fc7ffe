import MQTTMosquitto
import Plants
import Tactus
import TactusSwarm
import Wire

/// Checks the plants: acknowledged changes, stored data, readings and requests for water. It uses the clients' requests and answers, the soils and
/// probes as the history has left them, and the store, but never the desk's state.
struct PlantOracle {
  /// A change that a client requests.
  enum Change: Hashable {
    case add(user: String, name: String, sensors: [String])
    case delete(user: String, name: String)
    case rename(user: String, name: String, new: String)
  }

  static let names =
    [
      "a plant is in the store if it was acknowledged, and only then",
      "a plant's number is given once, and no user has more plants than allowed",
      "each request is answered once, and what a broker kept is none",
      "every reading is in the history once",
      "no reading is invented, or ascribed to another sensor or plant",
      "a stale reading is none, and a fresh one is one",
      "a plant asks for water only while dry by a fresh reading, not in rain, after its gap, and noted on the disk",
      "a while after a connection the broker keeps the plants of now, and no others",
      "the broker says online of a daemon that is connected, and offline of a dead one",
      "released = ran + skipped + pending",
      "what was read is in the history after an orderly stop, unless the disk refuses it",
      "a daemon that stops in order says offline itself, before its connection ends, and the plants of its end before that",
    ] + PlantButtons.names
  /// The index of the first rule about the buttons.
  private static let buttons = names.count - PlantButtons.names.count

  /// The sensors by user and name.
  typealias Plants = [String: [String: [String]]]

  private(set) var checks = SwarmChecks(names)
  var soils = PlantSoils()
  var answers = PlantAnswers()
  private var acknowledged: Plants = [:]
  /// The other possible contents of the store after the process died before it could answer.
  private var alternatives: [Plants] = []
  private var seen: Set<UInt64> = []
  private var present: Set<UInt64> = []
  private(set) var changedAt = TickInstant.zero
  private var requested: [PlantID: (at: TickInstant, starts: Int)] = [:]
  private var starts = 0
  /// The instant at which the wall clock last jumped.
  private var jumpedAt = TickInstant.zero
  /// The instant since which all threads of the daemon have been running without a break.
  private var awakeSince = TickInstant.zero
  private var epoch = TickInstant.zero
  private var killedAt: TickInstant?
  private var historyBefore: [PlantSensorID: Int] = [:]
  private var taken: [PlantSensorID: Int] = [:]
  private var farewell = SwarmFarewell()
  /// The names of the plants at the last orderly stop, by their topics.
  private var last: [String: String] = [:]

  private mutating func check(_ index: Int, _ holds: Bool, at now: TickInstant, _ what: @autoclosure () -> String) {
    checks.check(index, holds, at: now, what())
  }

  // MARK: The daemon's life

  mutating func started(_ store: SimulatedPlantStore, at now: TickInstant) {
    starts += 1
    (epoch, awakeSince, killedAt, taken) = (now, now, nil, [:])
    answers.forget()
    let kept = Self.plants(store.kept)
    // The store shows now whether it had accepted the change before the process died.
    if alternatives.contains(kept) { acknowledged = kept }
    alternatives = []
    self.kept(store.kept, at: now)
    historyBefore = [:]
    for row in store.rows(spanSeconds: 60) { historyBefore[row.sensor, default: 0] += row.count }
  }

  /// Notes that the daemon was killed.
  ///
  /// - Parameter diedInWrite: whether the daemon died during a write, so that the store may contain changes that were not answered.
  mutating func killed(at now: TickInstant, diedInWrite: Bool) {
    killedAt = now
    let before = acknowledged
    if diedInWrite { alternatives += answers.open.map { Self.make($0, before) } }
  }

  /// Notes that the process died during the write of this change.
  mutating func died(in change: Change) {
    let plants = Self.make(change, acknowledged)
    alternatives.append(plants)
  }

  mutating func stoodStill(from now: TickInstant, until end: TickInstant) {
    awakeSince = max(awakeSince, end)
    soils.stoodStill(from: now, until: end)
  }
  mutating func clockJumped(at now: TickInstant) { jumpedAt = now }

  // MARK: An orderly stop

  /// Notes that the daemon begins an orderly stop, which it announces to the broker next.
  mutating func stops(_ broker: SwarmBroker, _ records: PlantRecords, at now: TickInstant) {
    farewell.stopped(broker, at: now)
    let topics = records.plants.map { broker.topics.state("plants", "\($0.id)") }
    last = Dictionary(uniqueKeysWithValues: zip(topics, records.plants.map(\.name.text)))
  }

  /// Notes that the daemon has stopped and stored its open rows.
  mutating func stopped(_ store: SimulatedPlantStore, at now: TickInstant) {
    // A full disk refuses the rows, so they cannot be expected in the store.
    guard !store.isFull else { return }
    var stored: [PlantSensorID: Int] = [:]
    for row in store.rows(spanSeconds: 60) { stored[row.sensor, default: 0] += row.count }
    for sensor in Set(historyBefore.keys).union(taken.keys).sorted(by: { $0.text < $1.text }) {
      let (kept, expected) = (stored[sensor] ?? 0, historyBefore[sensor, default: 0] + taken[sensor, default: 0])
      check(10, kept == expected, at: now, "\(kept) readings of \(sensor) are stored, \(expected) were made")
    }
  }

  private mutating func checkFarewell(_ broker: SwarmBroker, at now: TickInstant) {
    guard let isSaid = farewell.check(broker, at: now) else { return }
    let words = farewell.observation(broker)
    check(11, isSaid, at: now, words)
    guard isSaid, let retained = broker.goodbye?.retained else { return }
    for (topic, name) in last.sorted(by: { $0.key < $1.key }) {
      let document = retained[topic].map { String(decoding: $0, as: UTF8.self) } ?? "nothing"
      check(11, document.contains("\"name\":\"\(name)\""), at: now, "\(topic) is \(document), and \(name) was there")
    }
  }

  // MARK: Changes

  /// Notes that a client's change was acknowledged.
  mutating func acknowledged(_ change: Change, at now: TickInstant) {
    if case .add(let user, let name, _) = change {
      let isNew = acknowledged[user]?[name] == nil
      check(1, isNew, at: now, "\(user) has two plants \(name)")
    }
    acknowledged = Self.make(change, acknowledged)
    changedAt = now
  }

  private static func make(_ change: Change, _ plants: Plants) -> Plants {
    var plants = plants
    switch change {
    case .add(let user, let name, let sensors): plants[user, default: [:]][name] = sensors
    case .delete(let user, let name): plants[user]?[name] = nil
    case .rename(let user, let name, let new):
      if let sensors = plants[user]?.removeValue(forKey: name) { plants[user]?[new] = sensors }
    }
    plants = plants.filter { !$0.value.isEmpty }
    return plants
  }

  private static func plants(_ records: PlantRecords) -> Plants {
    records.plants.reduce(into: [:]) { $0[$1.user.key, default: [:]][$1.name.text] = $1.sensors.map(\.text) }
  }

  /// Checks that the store has exactly the plants whose changes were acknowledged, that no number is given again, and
  /// that no user has too many plants. The function is to be called whenever the store may have changed.
  mutating func kept(_ records: PlantRecords, at now: TickInstant) {
    let plants = Self.plants(records)
    let expected = acknowledged
    check(0, plants == expected, at: now, "\(plants) is in the store, acknowledged is \(expected)")
    let numbers = Set(records.plants.map(\.id.number))
    let again = numbers.subtracting(present).intersection(seen).sorted()
    check(1, again.isEmpty, at: now, "numbers \(again) are given again")
    let most = plants.values.map(\.count).max() ?? 0
    check(1, most <= PlantSwarm.plantsPerUser, at: now, "a user has \(most) plants")
    (present, seen) = (numbers, seen.union(numbers))
  }

  // MARK: Requests over the broker

  /// Checks the commands for single plants that the daemon received and its answers.
  mutating func commanded(
    _ commands: [MQTTMessage], _ replies: [MQTTMessage], _ effect: PlantButtons.Effect, _ topics: DeviceTopics,
    at now: TickInstant
  ) {
    PlantButtons.check(commands, replies, effect, topics, at: now, &checks, Self.buttons)
  }

  mutating func said(_ answer: PlantAnswers.Answer, at now: TickInstant) {
    let outcome = answers.receive(answer, at: now)
    check(2, outcome != .unasked, at: now, "\(answer) answers nothing")
    if case .made(let change) = outcome { acknowledged(change, at: now) }
    guard let data = answer.data else { return }
    let sensors = acknowledged[answer.receiver]?[data.plant] ?? []
    check(4, sensors.contains(data.sensor), at: now, "\(answer.receiver) is told of \(data.sensor) as \(data.plant)'s")
    let isFresh = soils.canBeFresh(data.sensor, at: now, awakeSince)
    check(5, isFresh, at: now, "\(answer.receiver) is told of \(data.sensor), which has not been readable")
  }

  /// Checks after all waiting has ended that every message was answered.
  mutating func quiet(at now: TickInstant) {
    let open = answers.unanswered
    check(2, open.isEmpty, at: now, "\(open) was not answered")
  }

  // MARK: Readings

  mutating func took(_ sensor: PlantSensorID) { taken[sensor, default: 0] += 1 }

  /// Checks the number of a sensor's samples in the history.
  ///
  /// - Parameter count: the number of the sensor's samples in the history, in stored and open rows.
  mutating func history(of sensor: PlantSensorID, count: Int, at now: TickInstant) {
    let expected = historyBefore[sensor, default: 0] + taken[sensor, default: 0]
    check(3, count == expected, at: now, "\(count) readings of \(sensor) are in the history, \(expected) were made")
  }

  mutating func looked(_ readings: [PlantSensorID: PlantReading], at now: TickInstant) {
    for (sensor, reading) in readings {
      let isTrue = soils.isTrue(reading, of: sensor.text)
      check(4, isTrue, at: now, "\(sensor) says \(reading.moisturePercent) %, \(reading.celsius ?? -1) °C")
    }
  }

  /// Checks the plants that were reported to have a silent sensor.
  ///
  /// - Parameter silent: the plants reported to have a sensor that is not read.
  mutating func looked(_ records: PlantRecords, silent: Set<PlantID>, at now: TickInstant) {
    for plant in records.plants where now - changedAt > .seconds(2) {
      let sensors = plant.sensors.map(\.text)
      if silent.contains(plant.id) {
        let isPossible = sensors.contains { soils.canBeSilent($0, at: now, awakeSince) }
        check(5, isPossible, at: now, "plant \(plant.id) is silent, and all its sensors are read")
      } else {
        let isPossible = sensors.allSatisfy { soils.canBeFresh($0, at: now, awakeSince) }
        check(5, isPossible, at: now, "plant \(plant.id) is not silent, and one of \(sensors) has not been readable")
      }
    }
  }

  // MARK: Water

  mutating func asked(
    _ request: PlantWateringRequest, _ records: PlantRecords, wall: PlantInstant, isDenied: Bool, at now: TickInstant
  ) {
    let sensors = records.plants.first { $0.id == request.plant }?.sensors.map(\.text) ?? []
    let driest = soils.driest(sensors, at: now)
    check(6, driest < 25.1, at: now, "plant \(request.plant) asks at \(driest) %")
    check(6, !isDenied, at: now, "plant \(request.plant) asks in a rain delay, or while water is stopped")
    let isReadable = sensors.allSatisfy { soils.canBeFresh($0, at: now, awakeSince) }
    check(6, isReadable, at: now, "plant \(request.plant) asks by a reading that is stale")
    check(6, records.waterings[request.plant]?.last == wall, at: now, "plant \(request.plant)'s request is not kept")
    if let last = requested[request.plant], last.starts == starts || last.at > jumpedAt {
      // Across a start the gap is measured in whole seconds.
      let gap = PlantSwarm.gap - (last.starts == starts ? .zero : .seconds(1))
      check(6, now - last.at >= gap, at: now, "plant \(request.plant) has asked at \(SwarmAction.text(last.at)) s")
    }
    requested[request.plant] = (now, starts)
  }

  // MARK: The broker

  mutating func published(_ broker: SwarmBroker, _ records: PlantRecords, at now: TickInstant) {
    checkFarewell(broker, at: now)
    let status = broker.retained[broker.topics.availability].map { String(decoding: $0, as: UTF8.self) }
    if let killedAt {
      // A broker that was away at that time has not noticed the death.
      guard let up = broker.upSince, up <= killedAt, now - killedAt > PlantSwarm.broadcast else { return }
      return check(8, status != "online", at: now, "a dead daemon is \(status ?? "unknown")")
    }
    guard let since = broker.connectedSince else { return }
    let settled = max(since, awakeSince)
    if now - settled > PlantSwarm.broadcast {
      check(8, status == "online", at: now, "a daemon that is connected is \(status ?? "unknown")")
    }
    guard now - max(settled, changedAt) > SwarmBroker.stateInterval + .seconds(8) else { return }
    let start = "\(broker.topics.base)/plants/"
    // A command that its publisher had retained is among these topics, too.
    let told = broker.retained.filter {
      $0.key.hasPrefix(start) && $0.key.hasSuffix("/state") && $0.key.split(separator: "/").count == 5
    }
    let expected = Set(records.plants.map { "\(start)\($0.id)/state" })
    check(7, Set(told.keys) == expected, at: now, "\(told.keys.sorted()) are kept, there are \(expected.sorted())")
    for plant in records.plants {
      let document = String(decoding: told["\(start)\(plant.id)/state"] ?? [], as: UTF8.self)
      check(7, document.contains("\"name\":\"\(plant.name)\""), at: now, "\(document) is not of \(plant.name)")
    }
  }

  // MARK: The account

  mutating func account(_ loop: LoopStatistics, at now: TickInstant) {
    let counters = loop.counters
    check(
      9, counters.released == counters.ran + counters.skipped + counters.pending, at: now,
      "\(counters.released) released: \(counters.ran) ran, \(counters.skipped) skipped, \(counters.pending) pending")
  }
}
