import Logging
import Service
import Synchronization
import Tactus
import Wire

/// `POST /api/reload`: takes the configuration file as it is now, or says why not. One change at a time.
///
/// The file is read on the thread of a request that may wait for a disk; the loops are asked and given their rules at the main thread's beats.
final class Reloader: Sendable {
  /// What the main thread is to begin.
  struct Job: Sendable {
    /// The file that the change comes from; `nil` for a setting that was `PUT`.
    var file: TakenFile?
    /// Of the systems that run.
    var changes: @Sendable ([any DaemonSystem]) -> [any RulesChange]
    var complete: ReloadRun.Completion
  }

  private enum Progress {
    case idle
    /// A change waits for the main thread's next beat.
    case submitted(Job)
    /// The main thread has begun a change.
    case running
    /// The daemon stops: no change begins any more.
    case stopping
  }

  private struct State {
    var taken: TakenFile
    var progress = Progress.idle
  }

  private let path: String
  private let environment: [String: String]
  private let state: Mutex<State>
  let threshold: LogThreshold

  /// - Parameters:
  ///   - taken: what the program runs with.
  init(_ taken: TakenFile, environment: [String: String], threshold: LogThreshold) {
    path = taken.configuration.file
    self.environment = environment
    state = Mutex(State(taken: taken))
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
    let errors = state.withLock { $0.taken }.refusals(of: new) { ConfigTable.key($0)?.mayChange ?? false }
    guard errors.isEmpty else { throw ReloadRefusal(needsRestart: ConfigErrors(errors: errors)).error }
    return try await submit(file: new) { systems in systems.compactMap { $0.change(to: new.configuration) } }
  }

  /// Hands a change to the main thread, and waits for what comes of it.
  ///
  /// - Throws: 409 `BUSY` while another change is on its way, 503 `STOPPING` when the daemon stops before this one is taken,
  ///   503 `NOT_TAKEN` when a loop does not answer.
  func submit(
    file: TakenFile?, _ changes: @escaping @Sendable ([any DaemonSystem]) -> [any RulesChange]
  ) async throws -> APIResponse {
    let done = try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<ReloadRun.Done, any Error>) in
      let job = Job(file: file, changes: changes) { continuation.resume(with: $0.mapError { $0 }) }
      let refusal: APIError? = state.withLock { state in
        switch state.progress {
        case .idle:
          state.progress = .submitted(job)
          return nil
        case .submitted, .running: return .conflict("BUSY", "another change of settings is on its way; try again")
        case .stopping: return .stopping("nothing was changed")
        }
      }
      if let refusal { continuation.resume(throwing: refusal) }
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
      "late": .list(done.late.map { .text($0) }),
    ])
    let words = done.keys.map { "\($0.key)=\($0.to ?? "nothing")" }.joined(separator: " ")
    return APIResponse(
      contentType: "application/json", body: document.bytes, logValue: words.isEmpty ? "nothing changed" : words)
  }

  // MARK: the main thread's

  /// Begins the change that was submitted, or `nil` if none was.
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
      state.withLock { $0.taken = file }
    } complete: { [self] result in
      state.withLock { state in
        if case .running = state.progress { state.progress = .idle }
      }
      job.complete(result)
    }
  }

  /// Refuses the change that waits to begin and every later one: the daemon stops. The change that has begun is ended by
  /// `ReloadRun.stop`.
  func stop() {
    let job: Job? = state.withLock { state in
      defer { state.progress = .stopping }
      if case .submitted(let job) = state.progress { return job }
      return nil
    }
    job?.complete(.failure(.stopping("nothing was changed")))
  }
}
