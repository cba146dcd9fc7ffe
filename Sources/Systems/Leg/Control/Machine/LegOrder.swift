/// An order or a report to a leg from its operator, a link or a client inside the daemon.
public enum LegOrder: Sendable, Hashable, BitwiseCopyable {
  /// A command, which is handled as if it had come in a frame.
  case command(LegCommand)
  /// Reports a frame that could not be decoded, from a link that the loop does not read itself.
  case invalidFrame
  /// Reports that a connection-based link has a new connection.
  case linked
  /// Reports that a connection-based link has lost its connection.
  case unlinked
  /// Reports that the client of the request has disconnected: each leg that the client holds loses its link.
  case clientLeft
  /// Turns the leg off until a reset.
  case emergencyStop
  /// Plays the sequence with this number of the loop's `LegSequenceBook`, whatever the target. Every leg that it moves must be armed; it feeds them
  /// once, as any command does, and the sequence feeds nothing afterwards.
  case play(UInt64)
  /// Ends the sequence that is played, if there is one, whatever the target. Its legs stay where they are.
  case stopSequence
  /// Leaves an emergency stop or a fault. A reset sent to all legs takes effect for each leg that can leave its stop or fault, and a leg with
  /// nothing to leave does not refuse it.
  case reset
  /// Reports the battery's voltage, or `nil` if the sensor is silent.
  case battery(Millivolts?)
  /// Requests an answer and changes nothing.
  case query
}
