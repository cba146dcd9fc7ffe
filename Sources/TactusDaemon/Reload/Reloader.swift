import Logging
import Service
import Synchronization
import Tactus

/// `POST /api/reload`: takes the configuration file as it is now, or says why not. One change at a time.
///
/// The file is read on the thread of a request that may wait for a disk; the loops are asked and told at the main thread's beats.
final class Reloader: Sendable {
  /// What the main thread is to begin.
  struct Job: Sendable {
    /// The file it comes from; nil: a setting that was put.
    var file: TakenFile?
    /// Of the systems that run.
    var changes: @Sendable ([any DaemonSystem]) -> [any RulesChange]
    var complete: ReloadRun.Completion
  }

  private struct State {
    var taken: TakenFile
    var job: Job?
    var isBusy = false
  }

  private let path: String
  private let environment: [String: String]
  private let state: Mutex<State>
  /// Keys that may change while the program runs, by their paths.
  private let changeable: Set<String>
  let threshold: LogThreshold

  /// - Parameters:
  ///   - taken: what the program runs with.
  ///   - systems: those that run.
  init(_ taken: TakenFile, environment: [String: String], systems: [any DaemonSystem], threshold: LogThreshold) {
    path = taken.configuration.file
    self.environment = environment
    state = Mutex(State(taken: taken))
    changeable = Set(systems.flatMap(\.changeableKeys) + [Self.logLevel])
    self.threshold = threshold
  }

  private static let logLevel = "logging.level"

  var route: Route {
    var route = Route(.post, "/api/reload", scope: .admin, action: "daemon.reload") { [self] _ in try await reload() }
    route.waitsForDisk = true
    return route
  }

  private func reload() async throws -> APIResponse {
    let new: TakenFile
    do throws(ConfigErrors) {
      new = try TakenFile.read(path, environment: environment)
    } catch {
      throw ReloadRefusal(error).error
    }
    let errors = state.withLock { $0.taken }.refusals(of: new) { changeable.contains($0) }
    guard errors.isEmpty else { throw ReloadRefusal(needsRestart: ConfigErrors(errors: errors)).error }
    return try await submit(file: new) { systems in systems.compactMap { $0.change(to: new.configuration) } }
  }

  /// Hands a change to the main thread, and waits for what comes of it.
  func submit(
    file: TakenFile?, _ changes: @escaping @Sendable ([any DaemonSystem]) -> [any RulesChange]
  ) async throws -> APIResponse {
    let done = try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<ReloadRun.Done, any Error>) in
      let job = Job(file: file, changes: changes) { continuation.resume(with: $0.mapError { $0 }) }
      let isTaken = state.withLock { state in
        guard !state.isBusy else { return false }
        (state.isBusy, state.job) = (true, job)
        return true
      }
      if !isTaken {
        continuation.resume(throwing: APIError.conflict("BUSY", "another change of settings is on its way; try again"))
      }
    }
    return Self.answer(done)
  }

  private static func answer(_ done: ReloadRun.Done) -> APIResponse {
    let changed = done.keys.map { change -> JSONValue in
      .object([
        "key": .text(change.key), "from": change.from.map { .text($0) } ?? .null,
        "to": change.to.map { .text($0) } ?? .null,
      ])
    }
    let document: JSONValue = .object([
      "ok": .boolean(true), "changed": .list(changed), "waiting": .list(done.waiting.map { .text($0) }),
    ])
    let words = done.keys.map { "\($0.key)=\($0.to ?? "nothing")" }.joined(separator: " ")
    return APIResponse(
      contentType: "application/json", body: document.bytes, logValue: words.isEmpty ? "nothing changed" : words)
  }

  // MARK: the main thread's

  /// The change that is to begin; nil: none.
  func begin(_ systems: [any DaemonSystem], at now: TickInstant) -> ReloadRun? {
    guard let job = state.withLock({ state in state.job.take() }) else { return nil }
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
      state.withLock { $0.taken = file }
    } complete: { [self] result in
      state.withLock { $0.isBusy = false }
      job.complete(result)
    }
  }

  /// Nothing more begins: the daemon stops.
  func stop() {
    let job = state.withLock { state in state.job.take() }
    job?.complete(.failure(APIError(.serviceUnavailable, "STOPPING", "the daemon is stopping")))
  }
}
