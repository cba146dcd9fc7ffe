import ArgumentParser
import Tactus

/// A command with which a person or a script operates something until an exit status is known. Signals wake it, its input does, such as the keys
/// of a terminal, and a doorbell, such as that of a `BellLoop`.
public protocol OperatorCommand: ~Copyable {
  /// Ends the operation because of a signal, or because the input has ended. Returns the exit status, or `nil` if `refresh` returns it later.
  mutating func interrupt() -> Int32?

  /// Reads and applies the waiting input. Returns whether more input may follow, which is `false` at its end.
  mutating func readInput() -> Bool

  /// Follows the operation; called at every ring of the doorbell. Returns the exit status at the end, else `nil`.
  mutating func refresh() -> Int32?
}

extension OperatorCommand where Self: ~Copyable {
  /// Reads nothing, for a command without an input.
  public mutating func readInput() -> Bool { false }

  /// Runs until the end. Throws the exit status as `ExitCode` if it is not 0.
  ///
  /// - Parameter input: the descriptor of the input, or `nil` for a command without one.
  public mutating func operate(events: borrowing ServiceEvents, input: Int32? = nil) throws {
    var input = input
    while true {
      for event in events.wait(input: input) {
        var status: Int32?
        switch event {
        case .stop, .reopenLog: status = interrupt()
        case .childEnded: break
        case .input where readInput(): break
        case .input:
          input = nil
          status = interrupt()
        case .doorbell: status = refresh()
        }
        if let status {
          if status != 0 { throw ExitCode(status) }
          return
        }
      }
    }
  }
}

/// A loop that rings a bell at every tick, by which the main thread is paced.
public struct BellLoop: ControlLoop, NoOutput {
  let bell: DoorbellButton

  /// Makes a loop that rings `bell` at every tick. The bell must outlive the loop.
  public init(bell: DoorbellButton) { self.bell = bell }

  @_noLocks @_noAllocation
  public mutating func tick(_ tick: Tick) { bell.ring() }
}
