import Dispatch
import Glibc
import Synchronization
import Tactus

/// Writes log lines to one descriptor on its own thread, so that logging never waits for a pipe that is not read.
///
/// Lines wait in a bounded queue; a line that does not fit is dropped and counted, and the count is logged once there
/// is room. A line that cannot be written, for example because the disk is full, is lost and counted, and the count is
/// logged before the next line that can be written.
final class LogOutlet: Sendable {
  /// The failure of the log's outlet to write lines.
  struct Failure: Equatable {
    /// The text of strerror(3) for the last line that could not be written.
    var reason: String
    /// The number of lines lost since the last one that could be written.
    var lost: Int
    /// Whether the last bytes written are the beginning of a line only.
    fileprivate var isTorn: Bool
  }

  /// The texts that an outlet writes about its own failures, and the function that it calls when one begins.
  struct Words {
    /// Returns the line that reports the given number of dropped lines.
    var dropped: @Sendable (Int) -> String
    /// Returns the line that reports the given number of lines lost for a reason.
    var lost: @Sendable (Int, _ reason: String) -> String
    /// Called with the reason when a line cannot be written although the previous one could. Called on the writer's
    /// thread.
    var failed: @Sendable (_ reason: String) -> Void = { _ in }
  }

  private struct State {
    var descriptor: Int32
    var waiting: [[UInt8]] = []
    var waitingBytes = 0
    var dropped = 0
    /// The number of all lines that were dropped or lost.
    var missing = 0
    var failure: Failure?
    /// Whether the writer is running or about to run.
    var isWriting = false
    /// The doorbells to ring when all lines have been written.
    var flushed: [Doorbell] = []
  }

  private let state: Mutex<State>
  private let writer = DispatchQueue(label: "tactus.log")
  private let capacityBytes: Int
  private let words: Words

  /// Makes an outlet for an open descriptor.
  ///
  /// - Parameter capacityBytes: the greatest number of bytes that may wait.
  init(_ descriptor: Int32, capacityBytes: Int = 1 << 20, _ words: Words) {
    state = Mutex(State(descriptor: descriptor))
    self.capacityBytes = capacityBytes
    self.words = words
  }

  /// The failure to write lines, or `nil` if the last line was written.
  var failure: Failure? { state.withLock { $0.failure } }

  /// The number of lines that were dropped or lost since the start.
  var missing: Int { state.withLock { $0.missing } }

  /// Queues a line, or drops it if it does not fit. Blocks for no longer than a copy.
  func put(_ line: [UInt8]) {
    state.withLock { state in
      guard state.waitingBytes + line.count <= capacityBytes else {
        state.dropped += 1
        state.missing += 1
        return
      }
      state.waiting.append(line)
      state.waitingBytes += line.count
      start(&state)
    }
  }

  /// Writes later lines to `descriptor`, and closes the previous one when no more lines are written to it.
  func replace(_ descriptor: Int32) {
    let before = state.withLock { state in
      defer { state.descriptor = descriptor }
      state.failure?.isTorn = false
      return state.descriptor
    }
    writer.async { close(before) }
  }

  /// Waits until all lines so far have been written, or until `limit` has passed.
  func flush(limit: Nanoseconds) {
    // Waiting needs a free descriptor.
    guard let bell = try? Doorbell() else { return }
    let isWaiting = state.withLock { state in
      guard state.isWriting else { return false }
      state.flushed.append(bell)
      return true
    }
    if isWaiting { bell.wait(limit: limit) }
  }

  private func start(_ state: inout State) {
    guard !state.isWriting else { return }
    state.isWriting = true
    writer.async { self.drain() }
  }

  private func drain() {
    while let (lines, descriptor) = next() {
      for line in lines { write(line, to: descriptor) }
    }
  }

  private func write(_ line: [UInt8], to descriptor: Int32) {
    var bytes = line
    if let failure {
      bytes = Array(((failure.isTorn ? "\n" : "") + words.lost(failure.lost, failure.reason) + "\n").utf8) + line
    }
    let written = writeAll(bytes, to: descriptor)
    guard let reason = written.failure else { return state.withLock { $0.failure = nil } }
    let isFirst = state.withLock { state in
      defer {
        state.failure = Failure(
          reason: reason, lost: (state.failure?.lost ?? 0) + 1,
          isTorn: written.count > 0 || state.failure?.isTorn ?? false)
        state.missing += 1
      }
      return state.failure == nil
    }
    if isFirst { words.failed(reason) }
  }

  /// Returns the waiting lines and the descriptor to write them to. If no line is waiting, stops the writer and returns `nil`.
  private func next() -> ([[UInt8]], Int32)? {
    state.withLock { state in
      guard !state.waiting.isEmpty || state.dropped > 0 else {
        state.isWriting = false
        for bell in state.flushed { bell.button.ring() }
        state.flushed = []
        return nil
      }
      var lines = state.waiting
      if state.dropped > 0 { lines.append(Array((words.dropped(state.dropped) + "\n").utf8)) }
      (state.waiting, state.waitingBytes, state.dropped) = ([], 0, 0)
      return (lines, state.descriptor)
    }
  }
}

/// Writes all bytes to a descriptor. Blocks until they are written or writing fails. Returns how many are written, and why no more are.
@discardableResult
func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> (count: Int, failure: String?) {
  var done = 0
  while done < bytes.count {
    let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + done, bytes.count - done) }
    if count < 0 && errno == EINTR { continue }
    guard count > 0 else { return (done, String(cString: strerror(errno))) }
    done += count
  }
  return (done, nil)
}
