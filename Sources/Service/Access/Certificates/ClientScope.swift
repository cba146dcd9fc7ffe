/// A rule that gives clients with a certificate their scope by their names.
public struct ClientScope: Sendable, Equatable {
  /// The names: `*` stands for any characters, also none; everything else for itself.
  public let pattern: String
  /// The scope, or `nil` if these clients are refused.
  public let scope: Scope?

  /// Makes a rule.
  public init(pattern: String, scope: Scope?) { (self.pattern, self.scope) = (pattern, scope) }

  /// Returns whether the rule is for this name.
  func fits(_ name: String) -> Bool {
    let parts = pattern.split(separator: "*", omittingEmptySubsequences: false)
    guard parts.count > 1, let first = parts.first, let last = parts.last else { return pattern == name }
    guard name.count >= first.count + last.count, name.hasPrefix(first), name.hasSuffix(last) else { return false }
    var rest = name.dropFirst(first.count).dropLast(last.count)
    for part in parts.dropFirst().dropLast() where !part.isEmpty {
      guard let range = rest.firstRange(of: part) else { return false }
      rest = rest[range.upperBound...]
    }
    return true
  }
}
