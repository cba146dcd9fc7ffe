import Tactus
import Video
import Wire

/// What the daemon decides of its video process and tells of it: when one is started and killed, and what its bytes mean. Knows no process
/// and no clock; `VideoChild` has both.
public struct VideoSupervision {
  private(set) var machine: SupervisionMachine
  private var messages = VideoMessages()
  /// Why the last one that was told of ended.
  private var cause: String?

  /// At first no process runs, and one is started at once.
  public init(at now: TickInstant) { machine = SupervisionMachine(at: now) }

  /// Whether nothing is started any more, and nothing is waited for.
  public var isStopped: Bool { machine.state == .stopped }

  /// When `time` is due, or `nil` if only the process's end is waited for.
  public var nextDeadline: TickInstant? { machine.nextDeadline }

  /// Takes an event.
  ///
  /// - Returns: what is to be done with the process.
  public mutating func step(_ event: SupervisionMachine.Event, at now: TickInstant) -> SupervisionMachine.Action {
    let action = machine.step(event, at: now)
    // A program that is started has said nothing yet.
    if action == .spawn { messages = VideoMessages() }
    return action
  }

  /// The process has said something.
  ///
  /// - Parameter take: is handed each whole report.
  /// - Returns: what follows from bytes that make no sense, or `nil` if they do.
  public mutating func hear(
    _ bytes: [UInt8], at now: TickInstant, _ take: (VideoReport) -> Void
  ) -> SupervisionMachine.Event? {
    _ = machine.step(.heard, at: now)
    messages.append(bytes)
    do throws(VideoMessageError) {
      while let report = try messages.nextReport() { take(report) }
      return nil
    } catch {
      return .nonsense("\(error)")
    }
  }

  /// The process has ended, or could not be started.
  ///
  /// - Returns: why, if people are to be told: not of one that was replaced, and not the same again and again.
  public mutating func ended(_ cause: String, at now: TickInstant) -> String? {
    let isReplaced = if case .replacing = machine.state { true } else { false }
    _ = machine.step(.ended(cause), at: now)
    guard case .waiting(_, let reason) = machine.state, !isReplaced, reason != self.cause else { return nil }
    self.cause = reason
    return reason ?? cause
  }

  /// For the door.
  ///
  /// - Parameter process: its number, or `nil` if none runs.
  public func report(process: Int32?) -> VideoProcessReport {
    var report = VideoProcessReport()
    (report.process, report.starts, report.ends, report.cause) = (process, machine.starts, machine.ends, cause)
    switch machine.state {
    case .waiting(let until, let cause):
      report.nextStart = until
      report.cause = cause ?? report.cause
    case .killing(_, let cause):
      // One in a driver that hangs ends when the driver lets it: until then it shows nothing either.
      (report.process, report.cause) = (nil, cause)
    case .replacing(_, isLate: true):
      (report.process, report.cause) = (
        nil, "it was killed, since another is to run with other settings, and has not ended"
      )
    case .stopping, .stopped: (report.process, report.cause) = (nil, "the daemon stops")
    case .running, .replacing: break
    }
    return report
  }
}
