/// The origins whose web pages may show the service's page in a frame, as Home Assistant does in a panel. In a frame a click may not be
/// what it seems, so nobody may unless they are listed.
public struct FrameAncestors: Sendable {
  /// The header field of the page: `Content-Security-Policy` with the listed origins, or `nil` for none. A browser that gets it
  /// ignores `X-Frame-Options`, which knows no list.
  let policy: String?

  /// Makes the rule from the configured list.
  ///
  /// - Parameter entries: origins: `http://homeassistant.local:8123`.
  /// - Throws: `HostRulesError.ancestor` for an entry that is no origin, so no entry can add a directive of its own.
  public init(_ entries: [String]) throws(HostRulesError) {
    for entry in entries where Origin(entry) == nil { throw .ancestor(entry) }
    policy = entries.isEmpty ? nil : "frame-ancestors " + entries.joined(separator: " ")
  }

  /// Makes the rule that nobody may.
  public static let none = FrameAncestors()

  private init() { policy = nil }
}
