import Plants
import Service
import Store
import Tactus
import Water

// Dry plants and the sprinkler.
extension PlantDesk {
  /// The soil of the plants for other systems.
  var soil: SoilMoisture {
    SoilMoisture { [self] number in
      let view = view
      guard let plant = view.records.plants.first(where: { Int(clamping: $0.id.number) == number }),
        let percent = view.conditions[plant.id]?.moisturePercent,
        let at = plant.sensors.compactMap({ view.readings[$0]?.at }).max()
      else { return nil }
      return SoilReading(percent: percent, ageSeconds: max(0, (MonotonicClock.now - at).inSeconds))
    }
  }

  /// Pours the water of 100 ms on each simulated plant whose linked zone is open: ten percentage points a minute.
  func rain(on garden: SimulatedGarden, isOpen: (_ zone: Int) -> Bool) {
    for (plant, link) in linkSettings where isOpen(link.zone) {
      for sensor in view.records.plants.first(where: { $0.id == plant })?.sensors ?? [] {
        garden[sensor]?.pour(10.0 / 600)
      }
    }
  }

  /// Returns the present requests of dry plants. Each is stored on the disk first, so that a crash does not repeat it.
  func thirst(_ state: inout State, at now: TickInstant) -> [PlantWateringRequest] {
    guard let water, state.restores != nil, !state.links.isEmpty, !water.isStopped() else { return [] }
    let (isRainDelayed, reading) = (water.isRainDelayed(), clock.now)
    var requests: [PlantWateringRequest] = []
    for index in state.links.indices {
      var link = state.links[index]
      guard let plant = state.host.book[link.plant], let condition = state.monitor.conditions[link.plant] else {
        continue
      }
      let outcome = link.step(
        condition, isRainDelayed: isRainDelayed, at: now, reading: reading,
        day: water.day(reading.secondsSince1970))
      guard case .request(let request) = outcome, let record = link.record else {
        keepGap(of: &link, plant.id, at: reading, &state)
        state.links[index] = link
        let waits = outcome == .none(.needsConfirmation)
        if waits, state.waiting.insert(plant.id).inserted { note([.waits(plant, zone: link.settings.zone)], &state) }
        if !waits { state.waiting.remove(plant.id) }
        continue
      }
      var book = state.host.book
      let changes = book.keep(record, of: plant.id)
      guard (try? keep(changes, &state)) != nil else { continue }
      state.host.replaceBook(book)
      state.links[index] = link
      note([.asked(plant, request)], &state)
      requests.append(request)
    }
    if !requests.isEmpty { publish(state) }
    return requests
  }

  private func keepGap(
    of link: inout PlantWateringLink, _ plant: PlantID, at reading: WallReading, _ state: inout State
  ) {
    guard let record = link.noteGap(at: reading) else { return }
    var book = state.host.book
    let changes = book.keep(record, of: plant)
    guard (try? keep(changes, &state)) != nil else { return }
    state.host.replaceBook(book)
  }

  func ask(_ request: PlantWateringRequest) {
    guard let water else { return }
    Task(executorPreference: DiskThreads.shared) { [self] in
      do {
        try await water.ask(
          WaterRequest(zone: request.zone, seconds: request.seconds, system: "plants", part: "plant-\(request.plant)"))
      } catch {
        refused(request, reason: (error as? APIError)?.message ?? "\(error)")
      }
    }
  }

  /// Notes that the sprinkler has refused a request.
  public func refused(_ request: PlantWateringRequest, reason: String) {
    state.withLock { state in
      guard let plant = state.host.book[request.plant] else { return }
      note([.refused(plant, request, reason: reason)], &state)
    }
  }
}
