@_spi(FromOutside) import Conversions
import Plants
import Store
import Tactus

// The history of the readings and the log: storing, deleting and reading them.
extension PlantDesk {
  func save(_ state: inout State, at now: TickInstant) {
    if now >= state.nextFlush {
      state.nextFlush = now + Self.flushPeriod
      state.rows += state.history.takeOpenRows()
    }
    // Lines of the log are stored at once. Rows of readings wait for others, since every write wears out a memory card.
    guard now >= state.nextSave || !state.lines.isEmpty && state.storeFailure == nil else { return }
    state.nextSave = now + Self.savePeriod
    store(&state)
    guard now >= state.nextPrune, state.storeFailure == nil else { return }
    let reading = clock.now
    let wall = PlantInstant(secondsSince1970: reading.secondsSince1970)
    // Old entries are deleted by age only while the wall clock is trusted; otherwise the next attempt follows soon.
    // Entries beyond the limit of their number are deleted in any case.
    state.nextPrune = now + (reading.mayDelete ? Self.prunePeriod : .seconds(60))
    do throws(StoreError) {
      if reading.mayDelete {
        try store.pruneReadings(state.history.expiries(at: wall))
        try store.pruneEvents(before: wall - (state.history.tiers.map(\.keptSeconds).max() ?? 0))
      }
      try store.pruneBeyond(
        readings: state.history.tiers.map { tier in
          (tier.spanSeconds, Int(tier.keptSeconds / tier.spanSeconds) * sensors.count * 2)
        },
        events: Self.mostEvents)
    } catch {
      failed(error, &state)
    }
  }

  /// The largest number of lines in the plants' log, independent of the clock.
  private static let mostEvents = 200_000

  /// Returns the wall-clock time.
  public func wall() -> PlantInstant { PlantInstant(secondsSince1970: clock.now.secondsSince1970) }

  func store(_ state: inout State) {
    do throws(StoreError) {
      try store.add(state.lines)
      state.lines = []
      try store.add(state.rows)
      state.rows = []
      wentWell(&state)
    } catch {
      failed(error, &state)
      for excess in [state.lines.count - Self.longestWait, state.rows.count - Self.longestWait] where excess > 0 {
        state.lost += Int64(excess)
      }
      state.lines = state.lines.suffix(Self.longestWait)
      state.rows = state.rows.suffix(Self.longestWait)
    }
  }

  /// Reads the book again if a backup has been restored since it was read. Called before a change is decided, so that it is based on what is stored;
  /// `keep` refuses one that a restore has overtaken.
  func followRestore(_ state: inout State) {
    guard let restores = state.restores, restores != store.restoreCount else { return }
    reload(&state)
    publish(state)
  }

  /// Reads the book from the store, after the store could not be read before or a backup was restored.
  func reload(_ state: inout State) {
    let restores = store.restoreCount
    do throws(StoreError) {
      var records = try store.records()
      // Changes that the store rejects now are tried again at the next start.
      try? store.apply(proveWatered(&records) + takeFile(&records, &state), after: restores)
      for sensor in sensors {
        guard let set = records.calibrations[sensor.id], sensor.calibration(set) != set else { continue }
        state.news.append(.uselessCalibration(sensor.id, set))
      }
      state.host.replaceBook(PlantBook(sensors: state.host.book.sensors, records: records, rules: rules))
      if state.restores == nil {
        wentWell(&state)
        state.links = linkSettings.sorted { $0.key < $1.key }.map { id, settings in
          PlantWateringLink(id, settings, record: records.waterings[id])
        }
      }
      state.restores = restores
      state.host.unavailable = nil
    } catch {
      failed(error, &state)
    }
  }

  /// Adds a proof to plants stored by an earlier version, which had none. A plant whose link has already requested water needs no confirmation.
  private func proveWatered(_ records: inout PlantRecords) -> [PlantChange] {
    var changes: [PlantChange] = []
    for place in records.plants.indices {
      let plant = records.plants[place]
      guard plant.proof == nil, records.waterings[plant.id] != nil else { continue }
      records.plants[place].proof = sensors.calibrations(of: plant, in: records)
      changes.append(.plant(records.plants[place]))
    }
    return changes
  }

  /// Removes the calibration that a person has set if the sensor's calibration in the configuration has changed since the last start.
  private func takeFile(_ records: inout PlantRecords, _ state: inout State) -> [PlantChange] {
    var changes: [PlantChange] = []
    for sensor in sensors where records.calibrations[sensor.id] != nil {
      guard let last = records.fileCalibrations?[sensor.id], last != sensor.calibration,
        sensor.calibration != sensor.probe.standardCalibration
      else { continue }
      records.calibrations[sensor.id] = nil
      changes.append(.calibration(sensor.id, nil))
      state.news.append(.fileCalibration(sensor.id))
    }
    let file = Dictionary(uniqueKeysWithValues: sensors.map { ($0.id, $0.calibration) })
    if records.fileCalibrations != file { changes.append(.fileCalibrations(file)) }
    records.fileCalibrations = file
    return changes
  }

  /// Returns the events of one plant, or of all if `plant` is `nil`: newest first, at most `limit`, including those not stored yet.
  func events(of plant: PlantID?, limit: Int) throws(StoreError) -> [PlantLogLine] {
    let waiting = state.withLock { $0.lines }.filter { plant == nil || plant == $0.plant }
    let stored = try store.events(of: plant, limit: limit)
    // Some of the waiting lines may have been stored since they were copied, and must not appear twice.
    let all = waiting.reversed() + stored.filter { !waiting.contains($0) }
    return Array(all.prefix(limit))
  }

  private static let mostRows = 2_000

  /// Returns the rows of one sensor, oldest first, reduced to at most `points`: stored rows together with the open ones.
  public func history(
    of sensor: PlantSensorID, from: PlantInstant, until: PlantInstant, points: Int?
  ) throws(StoreError) -> [PlantHistoryRow] {
    let (tier, gathered) = state.withLock { state in
      // The rows are read at the finest resolution that fits one query, and merged for display.
      let tier = state.history.tier(from: from, to: wall(), points: points.map { max($0, Self.mostRows) } ?? .max)
      let open = state.rows + state.history.openRows
      return (tier, open.filter { $0.sensor == sensor && $0.spanSeconds == tier.spanSeconds })
    }
    var rows = try store.readings(of: sensor, spanSeconds: tier.spanSeconds, from: from, until: until, limit: 100_000)
    for row in gathered where from <= row.start && row.start < until {
      if let place = rows.lastIndex(where: { $0.start == row.start }) { rows[place].add(row) } else { rows.append(row) }
    }
    rows.sort { $0.start < $1.start }
    return points.map { PlantHistory.downSampled(rows, to: $0) } ?? rows
  }
}
