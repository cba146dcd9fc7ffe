@_spi(FromOutside) import Conversions
import Foundation
import Logging
import Pictures
import Plants
import Service
import Store
import Synchronization
import Tactus
import TactusDaemon
import WallTime

/// Takes a picture of the plants once a day, if the file asks for it and one of its systems has a camera, and keeps the picture in the store.
///
/// May be used on any thread that may wait for the disk.
final class PlantPictures: Sendable {
  /// The largest picture that is kept, in bytes.
  static let longestPicture = 1 << 20

  struct Settings: Sendable {
    /// The local hour from which on the day's picture is due, 0…23.
    var hour: Int
    var keptDays: Int
    var mostBytes: Int
  }

  private struct State {
    var times: PlantPictureTimes
    var isTaking = false
    /// The reason why the last attempt failed, or `nil` if it did not.
    var failure: String?
  }

  private let settings: Settings
  let store: PlantStore
  private let camera: @Sendable () -> PictureSource?
  private let clock: WatchedWallClock
  private let logger: Logger
  private let zone: ZoneRules
  private let state: Mutex<State>

  init(
    _ settings: Settings, store: PlantStore, camera: @escaping @Sendable () -> PictureSource?, clock: WatchedWallClock,
    zone: ZoneRules, logger: Logger
  ) {
    (self.settings, self.store, self.camera, self.clock) = (settings, store, camera, clock)
    (self.logger, self.zone) = (logger, zone)
    state = Mutex(State(times: PlantPictureTimes(minute: settings.hour * 60)))
  }

  /// The reason why there is no newer picture, or `nil` if the last attempt succeeded.
  var failure: String? { state.withLock { $0.failure } }

  /// Takes the day's picture if it is due. Returns at once: the camera works on another thread.
  func beat(at now: TickInstant) {
    guard store.isOpen else { return }
    let seconds = clock.now.secondsSince1970
    let due = state.withLock { state -> Int? in
      guard !state.isTaking else { return nil }
      let day = state.times.due(localSeconds: local(seconds), at: now) { (try? store.hasPicture(of: $0)) ?? false }
      state.isTaking = day != nil
      return day
    }
    guard let due else { return }
    Task(executorPreference: DiskThreads.shared) { [self] in
      do {
        try await takePicture(day: due, at: seconds)
        state.withLock { $0.times.took(due, at: MonotonicClock.now) }
      } catch {
        failed("\((error as? APIError)?.message ?? "\(error)")")
      }
      state.withLock { $0.isTaking = false }
    }
  }

  /// Takes a picture now, which replaces the one of the day, and returns the day.
  func takePicture() async throws -> Int {
    let seconds = clock.now.secondsSince1970
    // A clock that has never been set may be before 1970 in the local zone.
    let day = Int(clamping: local(seconds).flooredQuotient(86_400))
    let kept = min(max(day, PlantStore.pictureDays.lowerBound), PlantStore.pictureDays.upperBound)
    try await takePicture(day: kept, at: seconds)
    return kept
  }

  private func takePicture(day: Int, at seconds: Int64) async throws {
    guard let camera = camera() else {
      throw APIError(.serviceUnavailable, "NO_CAMERA", "no system of the file has a camera")
    }
    let picture = try await camera.take()
    guard picture.count <= Self.longestPicture, picture.starts(with: [0xFF, 0xD8]) else {
      throw APIError(
        .serviceUnavailable, "NO_PICTURE",
        "expected a JPEG of at most \(Self.longestPicture) bytes, got \(picture.count) bytes")
    }
    do throws(StoreError) {
      try store.keep(picture, day: day, at: max(0, seconds))
      // Pictures of future days were taken while the clock was wrong.
      if clock.now.mayDelete { try store.prunePictures(after: day + 1) }
      try store.prunePictures(count: settings.keptDays, bytes: settings.mostBytes)
    } catch {
      throw APIError.storeFailed(error)
    }
    let wasFailing = state.withLock { state in
      defer { state.failure = nil }
      return state.failure != nil
    }
    logger.log(
      level: wasFailing ? .notice : .info, "a picture of the plants",
      metadata: ["day": "\(LocalDate(daysSince1970: day))", "bytes": "\(picture.count)"])
  }

  private func failed(_ reason: String) {
    let isNew = state.withLock { state in
      defer { state.failure = reason }
      return state.failure != reason
    }
    if isNew {
      logger.warning(
        "no picture of the plants; it is tried again", metadata: ["reason": "\(reason)"])
    }
  }

  private func local(_ seconds: Int64) -> Int64 {
    seconds.addingSaturated(
      Int64(zone.offsetSeconds(at: WallInstant(secondsSince1970: seconds))))
  }
}
