/// Why a loop may refuse an order, as a word. Its upper-case form is the code of the answer: `STALLED`.
public protocol RefusalWord: Word {
  /// What is so, and how to leave it.
  var sentence: String { get }
}

/// A system whose loop refuses nothing.
public enum NoRefusal: String, RefusalWord {
  /// Is never answered.
  case never
  public var sentence: String { "" }
}

/// Something worth a log line, an event and a message: one change, never a repetition.
public protocol NoticeWord: Word {
  /// Whether somebody has to do something.
  var isTrouble: Bool { get }
  /// What has happened, and how to leave it.
  var sentence: String { get }
}
