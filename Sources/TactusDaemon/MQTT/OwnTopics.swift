import Foundation
import MQTTMosquitto
import Wire

/// Recognises the retained topics on a broker that only this device can have published.
///
/// A state is recognised by the form of its topic, which messages of another device below the same prefix do not have.
/// A document for Home Assistant is recognised by the status topic that it names. The status topic itself does not
/// count, because it is always published.
struct OwnTopics: Sendable {
  /// The kinds of systems of this program, whether they run or not, because an earlier configuration may have had them.
  private static var kinds: [any SystemKind] { DaemonProgram.current.kinds }

  private let topics: DeviceTopics
  private let discovery: String

  init(_ topics: DeviceTopics, homeAssistantPrefix: String) {
    self.topics = topics
    discovery = homeAssistantPrefix
  }

  /// The filters by which these topics are found.
  var filters: [String] {
    (0...2).map { ([topics.base] + Array(repeating: "+", count: $0 + 1) + ["state"]).joined(separator: "/") }
      + ["\(discovery)/+/\(HomeAssistantEntity.node(of: topics))/+/config"]
  }

  func isOurs(_ message: MQTTMessage) -> Bool {
    if message.payload.isEmpty { return false }
    if message.topic.hasPrefix(topics.base + "/") { return isState(message.topic.dropFirst(topics.base.count + 1)) }
    return TopicFilter(filters[3]).matches(message.topic) && isDocument(message.payload)
  }

  /// Returns whether a path below the device's topic is that of a state: `pump/state`, `leg/0/state`, `sprinkler/zone/1/state`.
  private func isState(_ path: Substring) -> Bool {
    var levels = path.split(separator: "/", omittingEmptySubsequences: false)
    guard levels.popLast() == "state", let system = levels.first,
      let kind = Self.kinds.first(where: { $0.name == system })
    else { return false }
    let part = levels.dropFirst()
    let isOneOfSeveral = DaemonProgram.current.systems.contains { $0.name == kind.name && $0 is any Several.Type }
    if isOneOfSeveral { return part.count == 1 && SystemPlace.complaint(String(part.first!)) == nil }
    let isNumbered = part.last.map { !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } } ?? true
    return isNumbered && (part.count < 2 || part.count == 2 && kind.numberedParts.contains(String(part.first!)))
  }

  private func isDocument(_ payload: [UInt8]) -> Bool {
    let members = try? JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any]
    return members?["availability_topic"] as? String == topics.availability
  }
}
