import HTTPTypes
import NIOCore
import Synchronization

/// A handler's response, and the answer that is written to its client.
struct MadeAnswer: Sendable {
  /// The response without its body.
  let response: APIResponse
  var answer: APIAnswer
  /// The body in gzip, or `nil` if the answer is sent as it is to every client.
  private var gzip: ByteBuffer?

  /// Makes the answer of a handler's response.
  ///
  /// - Parameters:
  ///   - varies: whether a client that accepts gzip gets the answer in gzip, so that caches have to tell clients apart.
  ///   - compresses: whether the answer in gzip is made. This takes the calling thread some milliseconds for each 100 kB.
  init(_ response: APIResponse, varies: Bool = false, compresses: Bool = false) {
    answer = APIAnswer(response)
    if varies, response.isWorthCompressing {
      answer.head.headerFields[.vary] = "accept-encoding"
      gzip = compresses ? PreparedFile.gzip(response.body) : nil
    }
    var rest = response
    rest.body = []
    self.response = rest
  }

  /// The answer for a client that accepts gzip.
  var short: APIAnswer {
    guard let gzip else { return answer }
    var short = answer
    short.body = gzip
    short.head.headerFields[.contentEncoding] = "gzip"
    short.head.headerFields[.contentLength] = String(gzip.readableBytes)
    return short
  }
}

extension APIResponse {
  /// The least length in bytes of a body that is compressed: a shorter one fits into one packet of the network.
  static let leastCompressed = 1400

  /// Whether the body is a long text that is sent whole. Streams, files and pictures are not compressed.
  fileprivate var isWorthCompressing: Bool {
    status == .ok && pieces == nil && body.count > Self.leastCompressed
      && (contentType.hasPrefix("application/json") || contentType.hasPrefix("text/"))
  }
}

/// An answer that is the same for everyone, made once for all requests that wait for it. It may be used from any thread.
///
/// No request gets an answer whose making began before the request. It waits for the next one, together with all others that arrive meanwhile.
final class CommonAnswer: Sendable {
  private struct State {
    var isMaking = false
    var waiting: [CheckedContinuation<MadeAnswer, any Error>] = []
  }

  private let state = Mutex(State())

  /// The number of requests that wait for the next answer.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Waits for an answer that is made from now on.
  ///
  /// - Parameter make: makes the answer, unless the function of another request makes it for both.
  func answer(_ make: @escaping @Sendable () async throws -> MadeAnswer) async throws -> MadeAnswer {
    try await withCheckedThrowingContinuation { continuation in
      let begins = state.withLock { state in
        state.waiting.append(continuation)
        defer { state.isMaking = true }
        return !state.isMaking
      }
      if begins { Task(executorPreference: LookThreads.shared) { await self.makeAnswers(make) } }
    }
  }

  private func makeAnswers(_ make: @Sendable () async throws -> MadeAnswer) async {
    while true {
      let asked = state.withLock { state in
        defer { state.waiting = [] }
        state.isMaking = !state.waiting.isEmpty
        return state.waiting
      }
      if asked.isEmpty { return }
      let result: Result<MadeAnswer, any Error>
      do {
        var made = try await make()
        made.answer.isShared = true
        result = .success(made)
      } catch {
        result = .failure(error)
      }
      for one in asked { one.resume(with: result) }
    }
  }
}
