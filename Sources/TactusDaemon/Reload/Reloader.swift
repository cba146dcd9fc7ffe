import Logging
import Service
import Synchronization
import Tactus
import Wire

/// Handles `POST /api/reload` and `/api/settings`: applies the present configuration file, or one with another value, or refuses it with the reasons. Only one
/// change is in progress at a time.
///
/// The file is read on the thread of a request that may wait for a disk; the loops are asked and given their rules at the beats of the main thread.
final class Reloader: Sendable {
  /// Returns the changes of a newer file that concern no system, or throws why the file is refused.
  typealias Beside = @Sendable (_ old: TakenFile, _ new: TakenFile) throws(APIError) -> [any RulesChange]

  /// A change that the main thread is to start.
  struct Job: Sendable {
    /// The file from which the change comes, or `nil` for a setting changed by `PUT`.
    var file: TakenFile?
    /// The values of `file` that replace those on the disk, by key.
    var set: [String: String] = [:]
    /// Returns the changes of the systems that run.
    var changes: @Sendable ([any DaemonSystem]) -> [any RulesChange]
    var complete: ReloadRun.Completion
  }

  private enum Progress {
    case idle
    /// A change is waiting for the main thread's next beat.
    case submitted(Job)
    /// The main thread has started a change.
    case running
    /// The daemon is stopping, and no further change is started.
    case stopping
  }

  private struct State {
    var taken: TakenFile
    /// The values that `PUT /api/settings` has set instead of those on the disk, by key.
    var set: [String: String] = [:]
    /// The number of files taken since the start.
    var number = 0
    var progress = Progress.idle
  }

  private let path: String
  private let environment: [String: String]
  /// Returns the changes of a file that concern no system, such as the rules of messages to people.
  private let beside: Beside
  private let state: Mutex<State>
  let threshold: LogThreshold

  /// Makes a reloader.
  ///
  /// - Parameters:
  ///   - taken: the configuration file with which the program was started.
  ///   - beside: returns the changes of a file that concern no system.
  init(
    _ taken: TakenFile, environment: [String: String], threshold: LogThreshold,
    beside: @escaping Beside = { _, _ in [] }
  ) {
    self.beside = beside
    path = taken.configuration.file
    self.environment = environment
    state = Mutex(State(taken: taken))
    self.threshold = threshold
  }

  private static let logLevel = "logging.level"

  /// The configuration file in effect, with the values that `PUT /api/settings` has put in its place.
  var taken: TakenFile { state.withLock { $0.taken } }

  var route: Route {
    Route(.post, "/api/reload", scope: .admin, action: "daemon.reload") { [self] _ in try await reload() }
      .waitingForDisk()
  }

  /// The route that lists the settings that a reload may change.
  var settings: Route {
    Route(.get, "/api/settings", scope: .admin) { [self] _ in
      let (taken, set) = state.withLock { ($0.taken, Set($0.set.keys)) }
      return APIResponse(contentType: "application/json", body: taken.settings(set: set).bytes)
    }
  }

  /// The route that changes one setting until the next reload or start.
  var setting: Route {
    Route(.put, "/api/settings", scope: .admin, action: "daemon.settings") { [self] in
      try await set(try $0.decode(SettingChange.self))
    }.waitingForDisk()
  }

  private func set(_ change: SettingChange) async throws -> APIResponse {
    let (taken, before, number) = state.withLock { ($0.taken, $0.set, $0.number) }
    try change.requireChangeable(among: taken.changeableKeys)
    let values = before.merging([change.key: change.value]) { $1 }
    let new: TakenFile
    do throws(ConfigErrors) {
      new = try TakenFile.read(path, setting: values, environment: environment)
    } catch {
      throw ReloadRefusal(error).error
    }
    let errors = taken.refusals(of: new) { $0 == change.key }
    guard errors.isEmpty else {
      throw APIError.conflict(
        "FILE_CHANGED",
        "\(ConfigErrors(errors: errors))\nThe file has changed since it was taken; reload it first. Nothing was changed"
      )
    }
    if change.isPreview {
      return Self.answer(ReloadRun.Done(keys: taken.changes(in: new), waiting: [], late: []), isPreview: true)
    }
    let others = try beside(taken, new)
    return try await submit(file: new, set: values, since: number) { systems in
      systems.compactMap { $0.change(to: new.configuration) } + others
    }
  }

  private func reload() async throws -> APIResponse {
    let new: TakenFile
    do throws(ConfigErrors) {
      new = try TakenFile.read(path, environment: environment)
    } catch {
      throw ReloadRefusal(error).error
    }
    let taken = state.withLock { $0.taken }
    let errors = taken.refusals(of: new) { ConfigTable.key($0)?.mayChange ?? false }
    guard errors.isEmpty else {
      throw ReloadRefusal(needsRestart: ConfigErrors(errors: errors), startsNothing: !new.configuration.hasSystem).error
    }
    let others = try beside(taken, new)
    return try await submit(file: new) { systems in systems.compactMap { $0.change(to: new.configuration) } + others }
  }

  private static var busy: APIError {
    .conflict("BUSY", "another change of settings is on its way; try again")
  }

  /// Passes a change to the main thread, waits for its outcome, and returns the response.
  ///
  /// - Parameter number: the number of files taken when the change was made from the one in effect, or `nil` if it was not.
  /// - Throws: 409 `BUSY` while another change is in progress or if another file was taken since `number`, 503 `STOPPING` if the daemon stops before this change is
  ///   applied, 503 `NOT_TAKEN` if a loop does not answer.
  func submit(
    file: TakenFile?, set: [String: String] = [:], since number: Int? = nil,
    _ changes: @escaping @Sendable ([any DaemonSystem]) -> [any RulesChange]
  ) async throws -> APIResponse {
    let done = try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<ReloadRun.Done, any Error>) in
      let job = Job(file: file, set: set, changes: changes) { continuation.resume(with: $0.mapError { $0 }) }
      let refusal: APIError? = state.withLock { state in
        switch state.progress {
        case .idle:
          guard number == nil || number == state.number else { return Self.busy }
          state.progress = .submitted(job)
          return nil
        case .submitted, .running: return Self.busy
        case .stopping: return .stopping("nothing was changed")
        }
      }
      if let refusal { continuation.resume(throwing: refusal) }
    }
    return Self.answer(done)
  }

  private static func answer(_ done: ReloadRun.Done, isPreview: Bool = false) -> APIResponse {
    let changed = done.keys.map { change -> JSONValue in
      .object([
        "key": .text(change.key), "from": change.from.map { .text($0) } ?? .null,
        "to": change.to.map { .text($0) } ?? .null,
      ])
    }
    let document: JSONValue = .object([
      "ok": .boolean(true), "changed": .list(changed), "waiting": .list(done.waiting.map { .text($0) }),
      "late": .list(done.late.map { .text($0) }),
    ])
    let words = done.keys.map { "\($0.key)=\($0.to ?? "nothing")" }.joined(separator: " ")
    return APIResponse(
      contentType: "application/json", body: document.bytes,
      logValue: (isPreview ? "preview: " : "") + (words.isEmpty ? "nothing changed" : words))
  }

  // MARK: the main thread's

  /// Starts the submitted change and returns it, or returns `nil` if none was submitted.
  func begin(_ systems: [any DaemonSystem], at now: TickInstant) -> ReloadRun? {
    let submitted: Job? = state.withLock { state in
      guard case .submitted(let job) = state.progress else { return nil }
      state.progress = .running
      return job
    }
    guard let job = submitted else { return nil }
    var others: [KeyChange] = []
    if let file = job.file {
      let (old, new) = (threshold.level, Logger.Level(rawValue: file.configuration.logLevel.lowercased()) ?? .info)
      if old != new {
        others.append(KeyChange(Self.logLevel, from: .text(old.rawValue), to: .text(new.rawValue)))
      }
    }
    return ReloadRun(job.changes(systems), others: others, at: now) { [self] in
      guard let file = job.file else { return }
      threshold.level = Logger.Level(rawValue: file.configuration.logLevel.lowercased()) ?? .info
      state.withLock { state in
        (state.taken, state.set) = (file, job.set)
        state.number += 1
      }
    } complete: { [self] result in
      state.withLock { state in
        if case .running = state.progress { state.progress = .idle }
      }
      job.complete(result)
    }
  }

  /// Refuses the change that is waiting and all later ones, because the daemon is stopping. A change in progress is ended by `ReloadRun.stop`.
  func stop() {
    let job: Job? = state.withLock { state in
      defer { state.progress = .stopping }
      if case .submitted(let job) = state.progress { return job }
      return nil
    }
    job?.complete(.failure(.stopping("nothing was changed")))
  }
}
