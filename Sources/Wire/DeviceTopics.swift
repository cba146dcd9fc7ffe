/// The topics of one device on a shared broker: `PREFIX/DEVICE/SYSTEM[/ITEM]/state`, `…/command`, `…/reply`,
/// `PREFIX/DEVICE/SYSTEM/event` and `PREFIX/DEVICE/status`.
public struct DeviceTopics: Sendable, Hashable {
  /// The name of the device: 1…64 characters of `A–Z a–z 0–9 . _ -`.
  public let device: String
  /// The prefix of all topics, such as `tactus` or `farm/east`.
  public let prefix: String

  /// Creates the topics of a device. The result is `nil` if a name is invalid: a device contains no separator and no wildcard, a
  /// prefix no wildcard and no empty level.
  public init?(device: String, prefix: String = "tactus") {
    let levels = prefix.split(separator: "/", omittingEmptySubsequences: false)
    guard Self.isName(device), levels.allSatisfy({ Self.isName(String($0)) }) else { return nil }
    (self.device, self.prefix) = (device, prefix)
  }

  /// A unique word for the device on its broker, such as `tactus-garden` or `farm-east-garden`. The same device name under another
  /// prefix gives another word.
  public var identity: String { String(prefix.map { $0 == "/" ? "-" : $0 }) + "-" + device }

  /// The common beginning of all topics of the device, such as `tactus/garden`.
  public var base: String { "\(prefix)/\(device)" }

  /// The retained topic of the device's availability, `online` or `offline`, which is also the topic of the connection's will.
  public var availability: String { "\(base)/status" }
  public static let online = "online"
  public static let offline = "offline"

  /// Returns the retained topic of a state. `item` is one of several items of a system, such as a plant, or `nil` for the system.
  public func state(_ system: String, _ item: String? = nil) -> String { path(system, item) + "/state" }

  /// Returns the topic of a system's events, which are not retained.
  public func event(_ system: String) -> String { path(system, nil) + "/event" }

  public func command(_ system: String, _ item: String? = nil) -> String { path(system, item) + "/command" }

  /// The topic of commands to all systems.
  public var commandForAll: String { "\(base)/command" }

  /// Returns the filters with which to subscribe to the commands of a system and of its items.
  public func commandFilters(_ system: String) -> [String] { [command(system), command(system, "+")] }

  /// The filters with which all commands are subscribed to: those to all systems, to each system and to its items. A `#` would also deliver the
  /// device's own states.
  public var everyCommandFilter: [String] {
    (0...3).map { ([base] + Array(repeating: "+", count: $0) + ["command"]).joined(separator: "/") }
  }

  /// Returns the path in a command's topic, such as `["sprinkler", "zone", "1"]`, which is empty for commands to all systems, or
  /// `nil` if it is not the topic of a command.
  public func commandPath(_ topic: String) -> [String]? {
    guard topic.utf8.count <= 1_024, topic.hasPrefix(base + "/") else { return nil }
    let levels = topic.dropFirst(base.count + 1).split(separator: "/", omittingEmptySubsequences: false)
    guard levels.last == "command" else { return nil }
    return levels.dropLast().map { String($0) }
  }

  /// Returns the topic on which a command to this path is answered.
  public func reply(_ commandPath: [String]) -> String { ([base] + commandPath + ["reply"]).joined(separator: "/") }

  /// Returns whether commands of this device are answered on the topic.
  public func isReply(_ topic: String) -> Bool { topic.hasPrefix(base + "/") && topic.hasSuffix("/reply") }

  /// Returns the item of a command to `system`, which is `.some(nil)` for the system itself, or `nil` if the topic is not that of a command to it.
  public func commandItem(_ topic: String, of system: String) -> String?? {
    guard let path = commandPath(topic), path.first == system else { return nil }
    if path.count == 1 { return .some(nil) }
    // Not a conditional expression: its `nil` would be the item's.
    guard path.count == 2, Self.isName(path[1]) else { return nil }
    return .some(path[1])
  }

  private func path(_ system: String, _ item: String?) -> String {
    "\(base)/\(system)" + (item.map { "/\($0)" } ?? "")
  }

  private static func isName(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }
}
