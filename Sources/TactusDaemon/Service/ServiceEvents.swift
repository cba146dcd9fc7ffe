import CDaemon
import Glibc
import Tactus

/// The events for which the main thread waits: signals and the loops' doorbell. The thread blocks in poll(2) and nowhere else.
public struct ServiceEvents: ~Copyable {
  /// One event that has woken the main thread.
  public enum Event: Equatable, Sendable {
    /// The program has received SIGTERM or SIGINT, given by its number.
    case stop(signal: Int32)
    /// The program has received SIGHUP.
    case reopenLog
    /// The program has received SIGCHLD.
    case childEnded
    /// A loop has rung the doorbell.
    case doorbell
    /// The descriptor given to `wait` is readable or at its end.
    case input
  }

  /// The doorbell that loops ring.
  public let doorbell: Doorbell
  private let signals: Int32

  /// Blocks the signals in this thread and in all threads that it starts. The function is to be called before any other thread exists.
  public init() throws {
    let signals = daemon_signal_descriptor()
    guard signals >= 0 else { throw ServiceError(call: "signalfd", errno: -signals) }
    do {
      doorbell = try Doorbell()
    } catch {
      close(signals)
      throw error
    }
    self.signals = signals
  }

  deinit { close(signals) }

  /// Waits for the next events and returns them, at least one. `input` is a further descriptor to watch, or `nil` if there is none.
  public func wait(input: Int32? = nil) -> [Event] {
    var descriptors = [signals, doorbell.descriptor, input ?? -1].map {
      pollfd(fd: $0, events: Int16(truncatingIfNeeded: POLLIN), revents: 0)
    }
    while true {
      guard poll(&descriptors, nfds_t(clamping: descriptors.count), -1) > 0 else { continue }
      var events: [Event] = []
      while case let number = daemon_next_signal(signals), number > 0 {
        switch number {
        case SIGTERM, SIGINT: events.append(.stop(signal: number))
        case SIGHUP: events.append(.reopenLog)
        case SIGCHLD: events.append(.childEnded)
        default: break
        }
      }
      if descriptors[1].revents != 0 {
        doorbell.clear()
        events.append(.doorbell)
      }
      if descriptors[2].revents != 0 { events.append(.input) }
      if !events.isEmpty { return events }
    }
  }
}

/// The failure of a system call that must not fail.
public struct ServiceError: Error, CustomStringConvertible {
  var call: String
  var errno: Int32

  /// Makes the error of a failed call.
  ///
  /// - Parameters:
  ///   - call: the name of the system call, with which the message begins: `signalfd`.
  ///   - errno: the error number, more than 0.
  public init(call: String, errno: Int32) {
    self.call = call
    self.errno = errno
  }

  public var description: String { "\(call): \(String(cString: strerror(errno)))" }
}
