import Service

/// The state that the desk's thread shares with the threads of the receivers and of requests.
struct NoticeDeskState: Sendable {
  /// A recent message with the outcome of its last attempt, which is `nil` while the message waits for its first.
  struct Record: Sendable, Encodable {
    let id: String
    let receiver: String
    let stage: NoticeStage
    let system: String
    let severity: NoticeSeverity
    let title: String
    let timeISO: String?
    var outcome: String?
    var answer: String?
    var attempts = 0

    init(_ message: NoticeMessage) {
      (id, receiver, stage, title) = (message.id, message.receiver, message.stage, message.title)
      (system, severity, timeISO) = (message.condition.system, message.condition.severity, message.timeISO)
    }
  }

  /// The last outcome of a receiver.
  struct Answer: Sendable {
    var isSent: Bool
    var words: String
  }

  static let mostRecent = 100

  var machine: NoticeMachine
  var outbox: NoticeOutbox
  var contents: NoticeFile.Contents
  var fileFailure: String?
  /// Whether the file must be written even if nothing has changed: at the start, and after a failure.
  var mustSave = true
  private(set) var recent: [Record] = []
  private(set) var answers: [String: Answer] = [:]
  var isStopping = false
  var nextNumber = 0

  init(machine: NoticeMachine, outbox: NoticeOutbox, contents: NoticeFile.Contents, fileFailure: String?) {
    (self.machine, self.outbox, self.contents, self.fileFailure) = (machine, outbox, contents, fileFailure)
    for waiting in outbox.kept.waiting { note(waiting.message) }
  }

  mutating func note(_ message: NoticeMessage) {
    recent.append(Record(message))
    if recent.count > Self.mostRecent { recent.removeFirst(recent.count - Self.mostRecent) }
  }

  /// Stores the outcome of an attempt. Returns whether it is to be logged: the first failure of a receiver, and the
  /// first success after one.
  mutating func took(_ message: NoticeMessage, _ outcome: NoticeOutcome) -> Bool {
    let word =
      switch outcome {
      case .sent: "sent"
      case .failed: "failed"
      case .refused: "refused"
      }
    if let index = recent.lastIndex(where: { $0.id == message.id && $0.receiver == message.receiver }) {
      recent[index].outcome = word
      recent[index].answer = outcome.words
      recent[index].attempts += 1
    }
    let isSent = word == "sent"
    let before = answers[message.receiver]?.isSent ?? true
    answers[message.receiver] = Answer(isSent: isSent, words: outcome.words)
    return isSent != before
  }

  /// Returns the contents that the file should have, or `nil` if the file has them already.
  mutating func unsaved(isRunning: Bool) -> NoticeFile.Contents? {
    var new = NoticeFile.Contents(isRunning: isRunning, machine: machine.kept, outbox: outbox.kept)
    (new.boot, new.savedAt) = (contents.boot, contents.savedAt)
    guard mustSave || new != contents else { return nil }
    (contents, mustSave) = (new, false)
    return new
  }
}
