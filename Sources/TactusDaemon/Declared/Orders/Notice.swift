import Logging
import Service
import Tactus
import Wire

/// A reason for which a loop may refuse an order, as a word.
public protocol RefusalWord: Word {
  /// The error code in the answer, which stays the same across releases. By default it is the word in upper case, such
  /// as `NOT_FULL` for `notFull`.
  var code: String { get }
  /// A sentence that states the condition and how to clear it.
  var sentence: String { get }
}

extension RefusalWord {
  public var code: String { Unit.wordList(of: rawValue).map { $0.uppercased() }.joined(separator: "_") }
}

/// The refusals of a system whose loop never refuses an order.
public enum NoRefusal: String, RefusalWord {
  /// A placeholder, because an enumeration needs a case. No loop returns it.
  case never
  public var sentence: String { "" }
}

/// A protocol for a system whose refusals are explained with its state: the state that it is in, and how to leave that
/// state.
public protocol Explains: DeviceSystem {
  /// Returns the sentence that explains a refusal.
  ///
  /// - Parameter state: the state that the loop published in the tick that refused the order, or in a later tick.
  static func explain(_ refusal: Refusal, _ state: State) -> String
}

extension DeviceSystem {
  /// Returns the sentence that explains a refusal in a state.
  static func sentence(of refusal: Refusal, _ state: State) -> String {
    (self as? any Explains.Type).map { $0.explained(refusal, state) } ?? refusal.sentence
  }
}

extension Explains {
  fileprivate static func explained(_ refusal: Any, _ state: Any) -> String {
    // The values are this system's, passed without their types.
    explain(refusal as! Refusal, state as! State)
  }
}

/// A change that deserves a log line, an event and a message; repetitions are not notices. An enumeration of words is a
/// notice if it adopts `NoticeWord`. A notice with values is a struct with a `kind`, which is the word.
///
/// ```swift
/// struct Notice: DeviceNotice {
///   enum Kind: String, NoticeWord { case dosed, dry … }
///   let kind: Kind
///   let millilitres: Double
///   let head: Int
///   var message: String { kind == .dosed ? "dosed \(millilitres) ml by head \(head)" : kind.sentence }
///   var details: [NoticeDetail] { [NoticeDetail("doseMl", millilitres), NoticeDetail("head", head)] }
/// }
/// ```
///
/// The loop sends the values alone: `ends.report(Notice(kind: .dosed, millilitres: 3.5, head: 2))` allocates nothing.
/// Texts are made of them on the main thread.
public protocol DeviceNotice: BitwiseCopyable, Sendable {
  /// The kinds of notices.
  associatedtype Kind: NoticeWord
  /// The kind of this notice.
  var kind: Kind { get }
  /// The sentence of this notice with its values, for people: in the log, in events, on the page, in messages. By default it is the sentence of the
  /// kind.
  var message: String { get }
  /// The values that belong to this notice, for programs.
  var details: [NoticeDetail] { get }
}

extension DeviceNotice {
  public var message: String { kind.sentence }
  public var details: [NoticeDetail] { [] }
}

/// A kind of notice, as a word.
public protocol NoticeWord: Word, DeviceNotice where Kind == Self {
  /// Whether the notice reports a problem that needs attention.
  var isTrouble: Bool { get }
  /// A sentence that states what has happened and, for a problem, how to resolve it.
  var sentence: String { get }
}

extension NoticeWord {
  /// The kind of the notice, which is the word itself.
  public var kind: Self { self }
}

/// The notices of a system that sends none.
public enum NoNotice: String, NoticeWord {
  /// A placeholder, because an enumeration needs a case. No loop sends it.
  case never
  public static var allCases: [NoNotice] { [] }
  public var isTrouble: Bool { false }
  public var sentence: String { "" }
}

/// A value that belongs to a notice: a member of its event and a part of its log line.
public struct NoticeDetail: Sendable {
  let name: String
  let value: ConfigValue?

  /// Creates a detail.
  ///
  /// - Parameter name: the name in camel case.
  public init(_ name: String, _ value: some Plain) { (self.name, self.value) = (name, value.plain) }
}

/// A protocol for a system whose notices have events or log lines of a special form.
public protocol TellsInFull: DeviceSystem {
  /// Returns the log line and the event of a notice. Called on the main thread.
  static func inFull(_ told: Told<Notice>, _ look: Look<Self>) -> ToldInFull
}

/// The log line and the event of a notice.
public struct ToldInFull: Sendable {
  /// The level of the log line.
  let level: Logger.Level
  let message: String
  let metadata: Logger.Metadata
  /// The type of the event, or `nil` if subscribers receive no event.
  let type: String?
  let body: [UInt8]

  /// Creates the log line and the event.
  ///
  /// - Parameters:
  ///   - level: the level of the log line.
  ///   - message: the message of the log line.
  ///   - metadata: the metadata of the log line besides `system`.
  ///   - type: the type of the event, such as `robot.motors`, or `nil` if subscribers receive no event.
  ///   - body: the body of the event, a JSON object.
  public init(level: Logger.Level, _ message: String, metadata: Logger.Metadata = [:], type: String?, body: [UInt8]) {
    (self.level, self.message, self.metadata, self.type, self.body) = (level, message, metadata, type, body)
  }
}

extension DeviceSystem {
  /// Returns the log line and the event as the system defines them, or as made from the notice if the system does not
  /// adopt `TellsInFull`.
  static func inFull(_ told: Told<Notice>, _ look: Look<Self>) -> ToldInFull {
    if let telling = self as? any TellsInFull.Type { return telling.told(told, look) }
    let (kind, message, details) = (told.notice.kind, told.notice.message, told.notice.details)
    var metadata: Logger.Metadata = ["notice": .string(kind.rawValue)]
    for detail in details { metadata[detail.name] = .string(detail.value.shown) }
    let body: JSONValue = .object(
      [
        .init(name: "notice", value: .text(kind.rawValue)), .init(name: "trouble", value: .boolean(kind.isTrouble)),
        .init(name: "message", value: .text(message)),
      ] + details.map { .init(name: $0.name, value: $0.value.json) })
    return ToldInFull(
      level: kind.isTrouble ? .warning : .notice, message, metadata: metadata, type: "\(look.name).notice",
      body: body.bytes)
  }
}

extension TellsInFull {
  fileprivate static func told(_ told: Any, _ look: Any) -> ToldInFull {
    // The values are this system's, passed without their types.
    inFull(told as! Told<Notice>, look as! Look<Self>)
  }
}
