@_spi(FromOutside) import Conversions
import Tactus

/// The actions on the daemon in the order of time, of one seed, complete or shortened. Its text is a file for `--history`.
struct SwarmHistory: Hashable {
  /// The seed of the random values inside the simulated hardware.
  var seed: UInt64
  /// The instant at which the history ends.
  var end: TickInstant
  /// The actions by time; actions of the same instant keep their order.
  var actions: [SwarmAction]

  init(seed: UInt64, end: TickInstant, actions: [SwarmAction]) {
    (self.seed, self.end, self.actions) = (seed, end, actions)
  }

  /// Reads the text of a file; lines that begin with `#` are comments.
  ///
  /// - Throws: `SwarmHistoryError` with the line that is malformed.
  init(text: String) throws(SwarmHistoryError) {
    var (seed, end, actions): (UInt64?, TickInstant?, [SwarmAction]) = (nil, nil, [])
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let words = line.split(separator: " ")
      guard let first = words.first, !first.hasPrefix("#") else { continue }
      if first == "seed", words.count == 2, let number = UInt64(words[1]) {
        seed = number
      } else if first == "end", words.count == 2, let action = SwarmAction(line: "\(words[1]) daemon ends") {
        end = action.at
      } else if let action = SwarmAction(line: String(line)), action.at >= actions.last?.at ?? .zero {
        actions.append(action)
      } else {
        throw .line(index + 1, String(line))
      }
    }
    guard let seed, let end else { throw .incomplete }
    self.init(seed: seed, end: end, actions: actions)
  }
}

extension SwarmHistory: CustomStringConvertible {
  var description: String {
    (["seed \(seed)", "end \(SwarmAction.text(end))"] + actions.map(\.description)).joined(separator: "\n")
  }
}

/// The reason why a text is not a history.
enum SwarmHistoryError: Error, Equatable, CustomStringConvertible {
  /// The line with this number, counted from 1, is malformed or is earlier than the line before.
  case line(Int, String)
  /// The line `seed` or the line `end` is missing.
  case incomplete

  var description: String {
    switch self {
    case .line(let number, let text):
      "line \(number): expected SECONDS PART VERB NUMBER…, not earlier than the line before, got \(text)"
    case .incomplete: "expected the lines `seed` and `end`, which a history begins with"
    }
  }
}
