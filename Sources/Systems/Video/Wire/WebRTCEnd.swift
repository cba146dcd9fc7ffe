/// The reason why a session of WebRTC has ended, or could not begin.
public struct WebRTCEnd: Sendable, Hashable {
  public enum Kind: UInt8, Sendable, Hashable, CaseIterable {
    /// This machine lacks what WebRTC needs; the reason says how it is installed.
    case unavailable
    /// The offer could not be answered.
    case refused
    /// The viewer has left, never came, or is no longer heard.
    case over
  }

  public var kind: Kind
  public var reason: String

  public init(_ kind: Kind, _ reason: String) { (self.kind, self.reason) = (kind, reason) }

  func write(into fields: inout VideoFieldWriter) {
    fields.add(kind.rawValue)
    fields.add(reason)
  }

  init(_ fields: inout VideoFieldReader) throws(VideoMessageError) {
    kind = try fields.word("kind")
    reason = try fields.text("reason")
  }
}
