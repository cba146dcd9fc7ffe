import Service
import Store
import Wire

/// The `kept` rules that clients have set, as two texts in the store: the values that were set, and the values that the
/// file had for the same keys.
struct KeptRules<System: DeviceSystem>: Sendable {
  private static var set: String { "settings.set" }
  private static var given: String { "settings.file" }
  private static var keys: [Key<System.Rules>] { System.Rules.keys.filter(\.isKept) }
  /// Whether the system has such keys.
  static var isNeeded: Bool { !keys.isEmpty }

  /// Returns the values to store for these rules while the file has those in `file`.
  static func values(_ wanted: System.Rules, file: System.Rules) -> [String: StoredValue] {
    let changed = keys.filter { $0.read(wanted) != $0.read(file) }
    return isNeeded ? [set: .text(text(changed, of: wanted)), given: .text(text(changed, of: file))] : [:]
  }

  private static func text(_ keys: [Key<System.Rules>], of rules: System.Rules) -> String {
    let members = keys.map { JSONValue.Member(name: $0.name, value: $0.read(rules).json) }
    return String(decoding: JSONValue.object(members).bytes, as: UTF8.self)
  }

  /// Returns the rules at the start: those of the file, with each value that a client set while the file had the same
  /// value for that key as now. If any kept value is no longer valid for its key or contradicts others, all kept values
  /// are ignored.
  static func resumed(_ kept: [String: StoredValue], over file: System.Rules, isWhole: (System.Rules) -> Bool)
    -> System.Rules
  {
    guard case .text(let set)? = kept[set], case .text(let given)? = kept[given],
      let values = JSONValue(json: Array(set.utf8)), let before = JSONValue(json: Array(given.utf8))
    else { return file }
    let members = keys.compactMap { key -> JSONValue.Member? in
      guard let value = values[key.name], before[key.name] == key.read(file).json else { return nil }
      return JSONValue.Member(name: key.name, value: value)
    }
    let body = APIRequest(
      caller: Caller(scope: .admin, tokenID: nil, address: "", client: 0), body: JSONValue.object(members).bytes)
    let rules = try? body.decode { (body) throws(APIError) in try System.Rules(&body, over: file) }
    return rules.flatMap { isWhole($0) ? $0 : nil } ?? file
  }
}
