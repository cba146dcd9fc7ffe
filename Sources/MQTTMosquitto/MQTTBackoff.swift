import Tactus

/// The pauses between attempts to connect, which double until a connection counts as lasting.
///
/// The backoff is a value, for use on a client's thread or in simulated time. A connection has lasted when it is older than twice
/// the longest pause: then no other client that waits such pauses can have taken it over and over again.
package struct MQTTBackoff: Sendable {
  private let shortest: Nanoseconds
  private let longest: Nanoseconds
  private var pause: Nanoseconds
  /// The number of connections in a row that the broker accepted and that were lost before they counted as lasting.
  package private(set) var lostSoon: Int64 = 0

  package init(shortest: Nanoseconds, longest: Nanoseconds) {
    (self.shortest, self.longest, pause) = (shortest, longest, shortest)
  }

  /// Returns whether a connection of this age counts as lasting: it is older than twice the longest pause.
  package func hasLasted(_ age: Nanoseconds) -> Bool { longest * 2 < age }

  /// Notes that the present connection counts as lasting, so that the next pause is the shortest again.
  package mutating func lasted() { (pause, lostSoon) = (shortest, 0) }

  /// Notes the end of an attempt or of a connection, and returns the pause before the next attempt.
  ///
  /// - Parameter age: the age of the connection, or `nil` if the broker did not accept one.
  package mutating func ended(after age: Nanoseconds?) -> Nanoseconds {
    if let age {
      if hasLasted(age) { lasted() } else { lostSoon += 1 }
    }
    defer { pause = min(pause * 2, longest) }
    return pause
  }
}
