/// A topic with wildcards, as a subscription names it (MQTT 3.1.1 §4.7).
package struct TopicFilter: Equatable, Sendable {
  private let levels: [Substring]

  /// Reads a filter; `+` stands for one level and `#` for the rest.
  package init(_ text: String) { levels = text.split(separator: "/", omittingEmptySubsequences: false) }

  /// Returns whether a topic matches the filter.
  package func matches(_ topic: String) -> Bool {
    // Topics of the broker's own are not for wildcards.
    if topic.utf8.first == UInt8(ascii: "$"), levels.first == "+" || levels.first == "#" { return false }
    // What is left of the topic, or `nil` if its last level has been compared.
    var rest: Substring.UTF8View? = topic[...].utf8
    for level in levels {
      if level == "#" { return true }
      guard let names = rest else { return false }
      let end = names.firstIndex(of: UInt8(ascii: "/"))
      guard level == "+" || level.utf8.elementsEqual(names[..<(end ?? names.endIndex)]) else { return false }
      rest = end.map { names[names.index(after: $0)...] }
    }
    return rest == nil
  }
}
