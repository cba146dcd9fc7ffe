import Dispatch
import Glibc
import Synchronization
import Tactus

/// Writes log lines to one descriptor on its own thread, so that logging never waits for a pipe that is not read.
///
/// Lines wait in a bounded queue; a line that does not fit is dropped and counted, and the count is logged once there is room.
final class LogOutlet: Sendable {
  private struct State {
    var descriptor: Int32
    var waiting: [[UInt8]] = []
    var waitingBytes = 0
    var dropped = 0
    /// Whether the writer is running or about to run.
    var isWriting = false
    /// The doorbells to ring when all lines have been written.
    var flushed: [Doorbell] = []
  }

  private let state: Mutex<State>
  private let writer = DispatchQueue(label: "tactus.log")
  private let capacityBytes: Int
  private let tellDropped: @Sendable (Int) -> String

  /// Makes an outlet for an open descriptor.
  ///
  /// - Parameters:
  ///   - capacityBytes: the greatest number of bytes that may wait.
  ///   - tellDropped: returns the line that reports the given number of dropped lines.
  init(_ descriptor: Int32, capacityBytes: Int = 1 << 20, tellDropped: @escaping @Sendable (Int) -> String) {
    state = Mutex(State(descriptor: descriptor))
    self.capacityBytes = capacityBytes
    self.tellDropped = tellDropped
  }

  /// Queues a line, or drops it if it does not fit. Blocks for no longer than a copy.
  func put(_ line: [UInt8]) {
    state.withLock { state in
      guard state.waitingBytes + line.count <= capacityBytes else {
        state.dropped += 1
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
      return state.descriptor
    }
    writer.async { close(before) }
  }

  /// Waits until all lines so far have been written, or until `limit` has passed.
  func flush(limit: Nanoseconds) {
    // Without a descriptor left there is no way to wait.
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
      for line in lines { writeAll(line, to: descriptor) }
    }
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
      if state.dropped > 0 { lines.append(Array((tellDropped(state.dropped) + "\n").utf8)) }
      (state.waiting, state.waitingBytes, state.dropped) = ([], 0, 0)
      return (lines, state.descriptor)
    }
  }
}

/// Writes all bytes to a descriptor. Blocks until they are written or writing fails.
func writeAll(_ bytes: [UInt8], to descriptor: Int32) {
  var done = 0
  while done < bytes.count {
    let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress! + done, bytes.count - done) }
    if count < 0 && errno == EINTR { continue }
    // A log that cannot be written is lost: there is no other place to report it.
    guard count > 0 else { return }
    done += count
  }
}
