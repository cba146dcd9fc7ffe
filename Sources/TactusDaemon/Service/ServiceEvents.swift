import CDaemon
import Glibc
import Tactus

/// What wakes the main thread: signals and the loops' doorbell. Blocks in poll and nowhere else.
public struct ServiceEvents: ~Copyable {
  /// One thing that has woken the main thread.
  public enum Event: Equatable, Sendable {
    /// SIGTERM or SIGINT, by its number.
    case stop(signal: Int32)
    /// SIGHUP.
    case reopenLog
    /// SIGCHLD.
    case childEnded
    /// A loop rang.
    case doorbell
    /// The descriptor given to `wait` is readable, or at its end.
    case input
  }

  /// For loops to ring.
  public let doorbell: Doorbell
  private let signals: Int32

  /// Blocks the signals in this thread and in all it starts: call it before any other thread exists.
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

  /// Waits for the next events, at least one. `input`: a descriptor to watch too; nil for none.
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

/// A system call that must not fail has failed.
public struct ServiceError: Error, CustomStringConvertible {
  var call: String
  var errno: Int32

  /// - Parameters:
  ///   - call: what failed, as the message begins: `signalfd`.
  ///   - errno: its error number, more than 0.
  public init(call: String, errno: Int32) {
    self.call = call
    self.errno = errno
  }

  public var description: String { "\(call): \(String(cString: strerror(errno)))" }
}
