@_spi(FromOutside) import Conversions

/// All users' plants, and the rules for changing them. A change is made completely or refused; the changes made are returned for the store.
public struct PlantBook: Sendable, Hashable {
  public static let sensorsPerPlant = 1...4

  /// The sensors that are configured.
  public let sensors: Set<PlantSensorID>
  public let rules: PlantBookRules
  public private(set) var records: PlantRecords
  /// Each user's plants, in the order in which they were added.
  private var plantsByUser: [PlantUser: [Plant]] = [:]
  /// The index of each plant in `records.plants`.
  private var places: [PlantID: Int] = [:]

  /// Creates a book of `records`. They are kept as they are, including sensors that are not configured, because a
  /// sensor may be configured again.
  public init(
    sensors: Set<PlantSensorID>, records: PlantRecords = PlantRecords(), rules: PlantBookRules = PlantBookRules()
  ) {
    self.sensors = sensors
    self.rules = rules
    self.records = records
    self.records.nextPlant = max(records.nextPlant, (records.plants.map(\.id.number).max() ?? 0) + 1)
    index()
  }

  /// Returns a user's plants in the order in which they were added.
  public func plants(of user: PlantUser) -> [Plant] { plantsByUser[user] ?? [] }

  public func plant(named name: String, of user: PlantUser) -> Plant? {
    let name = PlantName.carried(name)
    return plants(of: user).first { $0.name.text == name }
  }

  public subscript(id: PlantID) -> Plant? { places[id].map { records.plants[$0] } }

  /// Returns the plants that have the sensor.
  public func plants(with sensor: PlantSensorID) -> [Plant] { records.plants.filter { $0.sensors.contains(sensor) } }

  /// Carries out one command, or throws and changes nothing.
  public mutating func apply(_ command: PlantCommand, for user: PlantUser) throws(PlantRefusal) -> [PlantChange] {
    switch command {
    case .add(let name, let sensors, let limits, let area): return try add(name, sensors, limits, area, for: user)
    case .delete(let name):
      let plant = try existing(name, of: user)
      remove(plant)
      return [.plantRemoved(plant.id)]
    case .edit(let name, let edit):
      var plant = try existing(name, of: user)
      if let new = edit.name {
        if PlantName.carried(new) != plant.name.text {
          try checkFree(new, for: user)
          plant.name = try PlantName(given: new)
        }
      }
      if let sensors = edit.sensors { plant.sensors = try checked(sensors) }
      let old = plant.limits
      edit.apply(to: &plant.limits)
      try plant.limits.check(replacing: old)
      if let area = edit.pictureArea { plant.pictureArea = area }
      return keep(plant)
    case .watered(let name, let at):
      var plant = try existing(name, of: user)
      plant.lastWatered = at
      return keep(plant)
    }
  }

  /// Notes a watering found by a rise of the moisture.
  public mutating func noteWatered(_ id: PlantID, at: PlantInstant) -> [PlantChange] {
    guard var plant = self[id] else { return [] }
    plant.lastWatered = at
    return keep(plant)
  }

  /// Sets a sensor's calibration; `nil` restores the sensor's default calibration.
  public mutating func calibrate(
    _ sensor: PlantSensorID, _ calibration: PlantCalibration?
  ) throws(PlantRefusal) -> [PlantChange] {
    guard sensors.contains(sensor) else { throw unknown(sensor.text) }
    guard records.calibrations[sensor] != calibration else { return [] }
    records.calibrations[sensor] = calibration
    return [.calibration(sensor, calibration)]
  }

  /// Notes the calibrations by which a plant was seen not dry, or by which a person has confirmed that it may be watered.
  public mutating func prove(_ id: PlantID, by calibrations: [PlantSensorID: PlantCalibration]) -> [PlantChange] {
    guard var plant = self[id] else { return [] }
    plant.proof = calibrations
    return keep(plant)
  }

  public mutating func keep(_ watering: PlantWateringRecord, of id: PlantID) -> [PlantChange] {
    guard records.waterings[id] != watering, self[id] != nil else { return [] }
    records.waterings[id] = watering
    return [.watering(id, watering)]
  }

  /// Adds the plants of an original host's user file: all of them or none.
  public mutating func add(_ file: PlantUserFile, for user: PlantUser) throws(PlantRefusal) -> [PlantChange] {
    var copy = self
    var changes: [PlantChange] = []
    for entry in file.entries {
      changes += try copy.add(entry.name, entry.sensors, nil, nil, for: user)
    }
    self = copy
    return changes
  }

  // MARK: parts

  private mutating func add(
    _ name: String, _ sensors: [String], _ limits: PlantLimits?, _ area: PlantPictureArea?, for user: PlantUser
  ) throws(PlantRefusal) -> [PlantChange] {
    let count = plants(of: user).count
    guard count < rules.plantsPerUser else {
      throw PlantRefusal(.tooManyPlants, "expected at most \(rules.plantsPerUser) plants of one user")
    }
    guard count > 0 || plantsByUser.count < rules.users else {
      throw PlantRefusal(.tooManyPlants, "expected at most \(rules.users) users with plants")
    }
    try checkFree(name, for: user)
    let name = try PlantName(given: name)
    let sensors = try checked(sensors)
    let limits = limits ?? rules.limits
    try limits.check(replacing: rules.limits)
    var plant = Plant(id: PlantID(records.nextPlant), user: user, name: name, sensors: sensors, limits: limits)
    plant.pictureArea = area
    records.nextPlant += 1
    return keep(plant) + [.nextPlant(records.nextPlant)]
  }

  private func existing(_ name: String, of user: PlantUser) throws(PlantRefusal) -> Plant {
    guard let plant = plant(named: name, of: user) else {
      throw PlantRefusal(.cannotDeletePlant, field: "name", "no such plant")
    }
    return plant
  }

  private func checkFree(_ name: String, for user: PlantUser) throws(PlantRefusal) {
    guard plant(named: name, of: user) == nil else {
      throw PlantRefusal(.plantNameTaken, field: "name", "the name is taken")
    }
  }

  private func checked(_ texts: [String]) throws(PlantRefusal) -> [PlantSensorID] {
    guard Self.sensorsPerPlant.contains(texts.count) else {
      throw PlantRefusal(.addPlantSensorNumIssue, field: "sensors", "expected 1…4 sensors, got \(texts.count)")
    }
    var ids: [PlantSensorID] = []
    for text in texts {
      guard let id = sensor(text) else { throw unknown(text) }
      guard !ids.contains(id) else {
        throw PlantRefusal(.invalidPlantSensorID, field: "sensors", "expected each sensor once, got \(id) twice")
      }
      ids.append(id)
    }
    return ids
  }

  /// Returns the sensor of a name, or of an address in hexadecimal digits as the original host accepted it (`36` as well as `0x36`); `nil` if there
  /// is no such sensor.
  private func sensor(_ text: String) -> PlantSensorID? {
    if let id = PlantSensorID(text), sensors.contains(id) { return id }
    let digits = text.trimmed.lowercased()
    guard let address = UInt8(digits.hasPrefix("0x") ? String(digits.dropFirst(2)) : digits, radix: 16) else {
      return nil
    }
    let id = PlantSensorID("0x" + (address < 16 ? "0" : "") + String(address, radix: 16))
    return id.flatMap { sensors.contains($0) ? $0 : nil }
  }

  private func unknown(_ text: String) -> PlantRefusal {
    let known = sensors.sorted().map(\.text).joined(separator: ", ")
    return PlantRefusal(
      .invalidPlantSensorID, field: "sensors",
      "expected one of \(known.isEmpty ? "none" : known), got \(text.prefix(32))")
  }

  private mutating func keep(_ plant: Plant) -> [PlantChange] {
    if let index = places[plant.id] {
      guard records.plants[index] != plant else { return [] }
      records.plants[index] = plant
    } else {
      places[plant.id] = records.plants.count
      records.plants.append(plant)
    }
    var plants = self.plants(of: plant.user)
    if let index = plants.firstIndex(where: { $0.id == plant.id }) {
      plants[index] = plant
    } else {
      plants.append(plant)
    }
    plantsByUser[plant.user] = plants
    return [.plant(plant)]
  }

  private mutating func remove(_ plant: Plant) {
    records.plants.removeAll { $0.id == plant.id }
    notePlaces()
    records.waterings[plant.id] = nil
    let left = plants(of: plant.user).filter { $0.id != plant.id }
    plantsByUser[plant.user] = left.isEmpty ? nil : left
  }

  private mutating func index() {
    for plant in records.plants { plantsByUser[plant.user, default: []].append(plant) }
    notePlaces()
  }

  private mutating func notePlaces() {
    // A damaged backup may hold two plants with one number; the first of them counts.
    places = Dictionary(records.plants.enumerated().map { ($1.id, $0) }) { first, _ in first }
  }
}

/// The limits of a book of plants, and the defaults of a new plant.
public struct PlantBookRules: Sendable, Hashable {
  /// The largest number of plants of one user.
  public var plantsPerUser: Int
  /// The largest number of users with plants. It is bounded because client names are not authenticated and memory is finite.
  public var users: Int
  /// The limits of a plant that has been added without limits.
  public var limits: PlantLimits

  /// Creates rules. By default a user can have seven plants, as in the app.
  public init(plantsPerUser: Int = 7, users: Int = 256, limits: PlantLimits = PlantLimits()) {
    precondition(plantsPerUser > 0 && users > 0, "at least one user may have at least one plant")
    self.plantsPerUser = plantsPerUser
    self.users = users
    self.limits = limits
  }
}
