import Wire

/// The members of an object, read by name with errors that name the member.
struct RosbridgeMembers {
  private let list: [JSONValue.Member]
  /// The place of the object within its message, such as `linear.`, or empty.
  private let place: String

  init(_ list: [JSONValue.Member], place: String = "") { (self.list, self.place) = (list, place) }

  subscript(_ name: String) -> JSONValue? { list.first { $0.name == name }?.value }

  func name(_ member: String) throws(RosbridgeError) -> String {
    guard let name = try optionalName(member) else {
      throw RosbridgeError("\(place)\(member): expected text, got nothing")
    }
    return name
  }

  /// Returns the text of a member, 1…200 bytes, or `nil` if the member is missing or null.
  func optionalName(_ member: String) throws(RosbridgeError) -> String? {
    switch self[member] {
    case nil, .null?: return nil
    case .text(let text)? where (1...RosbridgeMessage.longestName).contains(text.utf8.count): return text
    case let other?:
      throw RosbridgeError(
        "\(place)\(member): expected text of 1…\(RosbridgeMessage.longestName) bytes, got \(other.summary)")
    }
  }

  /// Returns the integer of a member, or `nil` if the member is missing or null.
  func optionalInteger(_ member: String, in range: ClosedRange<Int>) throws(RosbridgeError) -> Int? {
    guard let value = self[member], value != .null else { return nil }
    if let whole = value.wholeNumber, range.contains(whole) { return whole }
    throw RosbridgeError(
      "\(place)\(member): expected an integer \(range.lowerBound)…\(range.upperBound), got \(value.summary)")
  }

  /// Returns the number of a member, or 0 if the member is missing, as ROS does.
  func number(_ member: String, in range: ClosedRange<Double>) throws(RosbridgeError) -> Double {
    guard let value = self[member] else { return 0 }
    // A NaN is inside no range.
    if case .number(let digits) = value, let number = Double(digits), range.contains(number) { return number }
    throw RosbridgeError(
      "\(place)\(member): expected a number \(range.lowerBound)…\(range.upperBound), got \(value.summary)")
  }

  /// Returns the members of a nested object, or none if the object is missing. A member that is not in `names` is an
  /// error.
  func object(_ member: String, of names: [String]) throws(RosbridgeError) -> RosbridgeMembers {
    guard let value = self[member] else { return RosbridgeMembers([], place: "\(place)\(member).") }
    return try Self.object(value, at: "\(place)\(member)", of: names)
  }

  /// Returns the members of `value`, which must be an object with no others than `names`.
  static func object(
    _ value: JSONValue, at place: String, of names: [String]
  ) throws(RosbridgeError) -> RosbridgeMembers {
    guard case .object(let list) = value else {
      throw RosbridgeError("\(place): expected an object, got \(value.summary)")
    }
    for member in list where !names.contains(member.name) {
      throw RosbridgeError(
        "\(place).\(JSONValue.shortened(member.name)): expected \(names.joined(separator: ", ")), got another member")
    }
    return RosbridgeMembers(list, place: "\(place).")
  }
}
