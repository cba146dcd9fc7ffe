/// A topic with wildcards, as a subscription names it (MQTT 3.1.1 §4.7).
struct TopicFilter: Equatable, Sendable {
  private let levels: [Substring]

  init(_ text: String) { levels = text.split(separator: "/", omittingEmptySubsequences: false) }

  func matches(_ topic: String) -> Bool {
    let names = topic.split(separator: "/", omittingEmptySubsequences: false)
    // Topics of the broker's own are not for wildcards.
    if topic.hasPrefix("$"), levels.first == "+" || levels.first == "#" { return false }
    for (index, level) in levels.enumerated() {
      if level == "#" { return true }
      guard index < names.count, level == "+" || level == names[index] else { return false }
    }
    return names.count == levels.count
  }
}
