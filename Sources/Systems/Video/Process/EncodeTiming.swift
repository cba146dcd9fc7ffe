#if Video
  import Synchronization
  import Tactus

  /// Measures how long frames are in the encoder. Called on GStreamer's threads.
  final class EncodeTiming: Sendable {
    private struct State {
      /// The frames in the encoder, by their timestamps. A frame that never comes out is pushed out by later ones.
      var inside: [(stamp: UInt64, at: TickInstant)] = []
      /// The offset that the encoder adds to every timestamp, or `nil` before its first frame.
      var offset: UInt64?
      var sum: Int64 = 0
      var worst: Int64 = 0
      var count: Int64 = 0
    }
    private let state = Mutex(State())

    func enters(_ stamp: UInt64) {
      let now = MonotonicClock.now
      state.withLock { state in
        if state.inside.count >= 16 { state.inside.removeFirst() }
        state.inside.append((stamp, now))
      }
    }

    /// Starts the measurement again for another encoder.
    func begin() { state.withLock { ($0.inside, $0.offset) = ([], nil) } }

    func leaves(_ stamp: UInt64) {
      let now = MonotonicClock.now
      state.withLock { state in
        guard let first = state.inside.first else { return }
        let offset = state.offset ?? (stamp &- first.stamp)
        state.offset = offset
        guard let index = state.inside.firstIndex(where: { $0.stamp &+ offset == stamp }) else { return }
        let time = (now - state.inside[index].at).count
        state.inside.removeFirst(index + 1)
        state.sum += time
        state.worst = max(state.worst, time)
        state.count += 1
      }
    }

    /// Returns the mean and the longest time since the last call, in nanoseconds; zeros if there was no frame.
    func take() -> (mean: UInt64, worst: UInt64) {
      state.withLock { state in
        defer { (state.sum, state.worst, state.count) = (0, 0, 0) }
        return (state.count == 0 ? 0 : UInt64(clamping: state.sum / state.count), UInt64(clamping: state.worst))
      }
    }
  }
#endif
