/// Topics of one device on a broker that many share: `tactus/DEVICE/SYSTEM[/ITEM]/state`, `…/command`, and `tactus/DEVICE/availability`.
public struct DeviceTopics: Sendable, Hashable {
  /// 1…64 of `A–Z a–z 0–9 . _ -`.
  public let device: String

  /// Nil when it is no such name: it must hold neither a separator nor a wildcard.
  public init?(device: String) {
    guard Self.isName(device) else { return nil }
    self.device = device
  }

  /// `online` or `offline`, retained; the will of the connection.
  public var availability: String { "tactus/\(device)/availability" }
  public static let online = "online"
  public static let offline = "offline"

  /// Retained. `item`: one of several things of a system, such as a plant; nil: the system.
  public func state(_ system: String, _ item: String? = nil) -> String { path(system, item) + "/state" }

  public func command(_ system: String, _ item: String? = nil) -> String { path(system, item) + "/command" }

  /// What to subscribe to for the commands of a system and of its items.
  public func commandFilters(_ system: String) -> [String] { [command(system), command(system, "+")] }

  /// The item of a command to `system`: `.some(nil)` for the system itself; nil: the topic is none of its commands.
  public func commandItem(_ topic: String, of system: String) -> String?? {
    if topic == command(system) { return .some(nil) }
    let parts = topic.split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 5, topic == command(system, String(parts[3])), Self.isName(String(parts[3])) else {
      return nil
    }
    return String(parts[3])
  }

  private func path(_ system: String, _ item: String?) -> String {
    "tactus/\(device)/\(system)" + (item.map { "/\($0)" } ?? "")
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
