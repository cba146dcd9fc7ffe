/// Topics of one device on a broker that many share: `PREFIX/DEVICE/SYSTEM[/ITEM]/state`, `…/command`, `…/reply`,
/// `PREFIX/DEVICE/SYSTEM/event` and `PREFIX/DEVICE/status`.
public struct DeviceTopics: Sendable, Hashable {
  /// 1…64 of `A–Z a–z 0–9 . _ -`.
  public let device: String
  /// `tactus`, `farm/east`
  public let prefix: String

  /// Nil when one is no such name: a device holds neither a separator nor a wildcard, a prefix no wildcard and no empty level.
  public init?(device: String, prefix: String = "tactus") {
    let levels = prefix.split(separator: "/", omittingEmptySubsequences: false)
    guard Self.isName(device), levels.allSatisfy({ Self.isName(String($0)) }) else { return nil }
    (self.device, self.prefix) = (device, prefix)
  }

  /// One word for the device on its broker, the same name under another prefix being another one: `tactus-garden`,
  /// `farm-east-garden`.
  public var identity: String { String(prefix.map { $0 == "/" ? "-" : $0 }) + "-" + device }

  /// `tactus/garden`: every topic of the device is below.
  public var base: String { "\(prefix)/\(device)" }

  /// `online` or `offline`, retained; the will of the connection.
  public var availability: String { "\(base)/status" }
  public static let online = "online"
  public static let offline = "offline"

  /// Retained. `item`: one of several things of a system, such as a plant, or `nil` for the system.
  public func state(_ system: String, _ item: String? = nil) -> String { path(system, item) + "/state" }

  /// Changes, not retained.
  public func event(_ system: String) -> String { path(system, nil) + "/event" }

  public func command(_ system: String, _ item: String? = nil) -> String { path(system, item) + "/command" }

  /// For every system.
  public var commandForAll: String { "\(base)/command" }

  /// What to subscribe to for the commands of a system and of its items.
  public func commandFilters(_ system: String) -> [String] { [command(system), command(system, "+")] }

  /// What to subscribe to for every command, of all systems, systems and their items: a `#` would bring our own states back.
  public var everyCommandFilter: [String] {
    (0...3).map { ([base] + Array(repeating: "+", count: $0) + ["command"]).joined(separator: "/") }
  }

  /// What a command's topic names: `["sprinkler", "zone", "1"]`, empty for every system, or `nil` if it is no command's.
  public func commandPath(_ topic: String) -> [String]? {
    guard topic.utf8.count <= 1_024, topic.hasPrefix(base + "/") else { return nil }
    let levels = topic.dropFirst(base.count + 1).split(separator: "/", omittingEmptySubsequences: false)
    guard levels.last == "command" else { return nil }
    return levels.dropLast().map { String($0) }
  }

  /// Where a command to this path is answered.
  public func reply(_ commandPath: [String]) -> String { ([base] + commandPath + ["reply"]).joined(separator: "/") }

  /// Returns whether commands of this device are answered on the topic.
  public func isReply(_ topic: String) -> Bool { topic.hasPrefix(base + "/") && topic.hasSuffix("/reply") }

  /// The item of a command to `system`: `.some(nil)` for the system itself, or `nil` if the topic is none of its commands.
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
