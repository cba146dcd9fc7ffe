import Synchronization
import Tactus
import Video

/// One HTTP stream: the data that waits for it, and the reader that waits for data.
public final class VideoViewer: Sendable {
  /// The kind of stream: fragments of a film or single pictures.
  public enum Kind: Sendable {
    case fragments
    case pictures
  }

  private struct State {
    var backlog: ViewerBacklog
    var hasBegun = false
    /// The newest picture that has not been read, or `nil` if the newest picture has been read.
    var picture: [UInt8]?
    var reader: CheckedContinuation<[UInt8]?, Never>?
    var isOver = false
    var lastPiece: TickInstant
  }

  let number: Int
  let kind: Kind
  private let state: Mutex<State>

  /// The limit of waiting data, about a second of video at a high bit rate. A reader that falls further behind skips to current pictures.
  private static let limitBytes = 2 << 20

  init(number: Int, _ kind: Kind, at now: TickInstant) {
    (self.number, self.kind) = (number, kind)
    state = Mutex(State(backlog: ViewerBacklog(limitBytes: Self.limitBytes), lastPiece: now))
  }

  /// Returns the next piece when there is one, or `nil` if the stream has ended. Only one reader may wait at a time.
  func next() async -> [UInt8]? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { reader in
        let (piece, isReady) = state.withLock { state -> ([UInt8]?, Bool) in
          if let piece = Self.take(&state) { return (piece, true) }
          if state.isOver || state.reader != nil { return (nil, true) }
          state.reader = reader
          return (nil, false)
        }
        if isReady { reader.resume(returning: piece) }
      }
    } onCancel: {
      finish()
    }
  }

  func finish() {
    let reader = state.withLock { state in
      state.isOver = true
      defer { state.reader = nil }
      return state.reader
    }
    reader?.resume(returning: nil)
  }

  /// Sets the initialisation segment of the stream.
  ///
  /// - Parameter isNew: whether the segment differs from the previous one, so that the stream so far cannot be continued.
  func begin(_ initialisation: [UInt8], isNew: Bool) {
    state.withLock { state in
      guard isNew || !state.hasBegun else { return }
      state.hasBegun = true
      state.backlog.begin(initialisation)
    }
  }

  func add(_ fragment: [UInt8], isKey: Bool, at now: TickInstant) {
    hand(at: now) { state in
      if state.hasBegun { state.backlog.add(fragment, isKey: isKey, at: now) }
    }
  }

  func show(_ picture: [UInt8], at now: TickInstant) { hand(at: now) { $0.picture = picture } }

  /// Returns whether nothing has come for `limit`. The reader may be gone then, which would be noticed only when something is written.
  func isForgotten(at now: TickInstant, after limit: Nanoseconds) -> Bool {
    state.withLock { now - $0.lastPiece >= limit }
  }

  /// Returns the time for which a fragment has waited for the reader, or `nil` if the reader has taken no fragment since the last call.
  func wait(at now: TickInstant) -> Nanoseconds? { state.withLock { $0.backlog.wait(at: now) } }

  var dropped: Int64 { state.withLock { $0.backlog.dropped } }

  private func hand(at now: TickInstant, _ add: (inout State) -> Void) {
    let (reader, piece) = state.withLock { state -> (CheckedContinuation<[UInt8]?, Never>?, [UInt8]?) in
      state.lastPiece = now
      add(&state)
      guard state.reader != nil, let piece = Self.take(&state) else { return (nil, nil) }
      defer { state.reader = nil }
      return (state.reader, piece)
    }
    reader?.resume(returning: piece)
  }

  private static func take(_ state: inout State) -> [UInt8]? {
    if let picture = state.picture {
      state.picture = nil
      return picture
    }
    return state.backlog.take()
  }
}
