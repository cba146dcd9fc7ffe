import Synchronization
import Tactus

/// Hands sequences from other threads to the loop. Only the newest is kept, so a request to play another one is refused.
public final class LegSequenceBook: Sendable {
  private struct State: ~Copyable {
    var writer: LatestWriter<LegSequence>
    var number: UInt64 = 0
  }

  private let latest: Latest<LegSequence>
  private let state: Mutex<State>

  /// Creates a book without a sequence.
  public init() {
    let latest = Latest(LegSequence.none)
    self.latest = latest
    state = Mutex(State(writer: latest.writer()))
  }

  /// Keeps a sequence for the loop. Returns the number by which `LegRequest.Order.play` names it.
  public func put(_ sequence: LegSequence) -> UInt64 {
    state.withLock { state in
      state.number += 1
      var sequence = sequence
      sequence.number = state.number
      state.writer.write(sequence)
      return state.number
    }
  }

  /// Returns the loop's end.
  public func reader() -> LatestReader<LegSequence> { latest.reader() }
}
