/// A protocol for a system with constraints across keys of `Wiring` and `Rules`, or across several items of a list.
///
/// A constraint on the keys of one group, or of one item, belongs in the `check` of that group.
public protocol ChecksTogether: DeviceSystem {
  /// Reports contradictions between values. A file or a setting for which a contradiction is reported is not used.
  static func check(_ wiring: Wiring, _ rules: Rules, _ report: Contradictions<Self>)
}

extension ChecksTogether {
  /// Returns the contradictions between values of this system that are passed without their types.
  static func contradictionsTogether(
    _ wiring: any Settings, _ rules: any Settings, at place: SystemPlace, _ places: ConfigPlaces
  ) -> [Contradiction] {
    guard let wiring = wiring as? Wiring, let rules = rules as? Rules else {
      preconditionFailure("\(self): values of another system")
    }
    let report = Contradictions<Self>(place, places)
    check(wiring, rules, report)
    return report.found
  }
}

/// Collects the contradictions between a system's values: the property to blame, and the value that was expected.
///
/// ```swift
/// if wiring.most < wiring.least {
///   report(\.most, "expected at least \(report.setting(\.least, wiring.least)), got \(wiring.most)",
///     or: \.least, "expected at most \(report.setting(\.most, wiring.most)), got \(wiring.least)")
/// }
/// ```
public final class Contradictions<System: DeviceSystem> {
  private let place: SystemPlace
  private let places: ConfigPlaces
  private(set) var found: [Contradiction] = []

  init(_ place: SystemPlace, _ places: ConfigPlaces) { (self.place, self.places) = (place, places) }

  /// The number of contradictions reported so far.
  public var count: Int { found.count }

  /// Blames a property of the wiring, or another property if the file gives only that one.
  ///
  /// - Parameters:
  ///   - message: an error message in the form `expected …, got …`.
  ///   - other: the property that the first one contradicts.
  ///   - otherMessage: the error message for the other property.
  public func callAsFunction(
    _ property: PartialKeyPath<System.Wiring>, _ message: String, or other: PartialKeyPath<System.Wiring>? = nil,
    _ otherMessage: String = ""
  ) {
    add(path(property), message, other.map { (path($0), otherMessage) })
  }

  /// Blames a property of the wiring that is wrong regardless of all other values. The error is reported in addition to
  /// other errors of the same section.
  ///
  /// - Parameter message: an error message in the form `expected …, got …`.
  public func alone(_ property: PartialKeyPath<System.Wiring>, _ message: String) {
    found.append(Contradiction(blamed: [(path(property), message)], isAlone: true))
  }

  /// Blames a property of the rules, or another property if the file gives only that one.
  ///
  /// - Parameters:
  ///   - message: an error message in the form `expected …, got …`.
  ///   - other: the property that the first one contradicts.
  ///   - otherMessage: the error message for the other property.
  public func callAsFunction(
    _ property: PartialKeyPath<System.Rules>, _ message: String, or other: PartialKeyPath<System.Rules>? = nil,
    _ otherMessage: String = ""
  ) {
    add(path(property), message, other.map { (path($0), otherMessage) })
  }

  /// Blames a property of an item of a list in the wiring, or another property of that item if the file gives only that
  /// one.
  ///
  /// - Parameters:
  ///   - index: the index of the item, from 0.
  ///   - message: an error message in the form `expected …, got …`.
  ///   - other: the property that the first one contradicts.
  ///   - otherMessage: the error message for the other property.
  public func callAsFunction<Item: Settings>(
    _ list: KeyPath<System.Wiring, [Item]>, _ index: Int, _ property: PartialKeyPath<Item>, _ message: String,
    or other: PartialKeyPath<Item>? = nil, _ otherMessage: String = ""
  ) {
    add(path(list, index, property), message, other.map { (path(list, index, $0), otherMessage) })
  }

  /// Returns whether the file gives a property of an item.
  public func gives<Item: Settings>(
    _ list: KeyPath<System.Wiring, [Item]>, _ index: Int, _ property: PartialKeyPath<Item>
  ) -> Bool {
    places.gives(path(list, index, property))
  }

  /// Returns the key and value of an item's property, in the form of `setting(_:_:)`.
  public func setting<Item: Settings>(
    _ list: KeyPath<System.Wiring, [Item]>, _ index: Int, _ property: PartialKeyPath<Item>,
    _ value: some CustomStringConvertible
  ) -> String {
    places.setting(path(list, index, property), value)
  }

  /// Blames an item of a list in the wiring as a whole, whichever keys the file gives for it.
  ///
  /// - Parameters:
  ///   - index: the index of the item, from 0.
  ///   - message: an error message in the form `expected …, got …`.
  public func callAsFunction<Item: Settings>(
    _ list: KeyPath<System.Wiring, [Item]>, _ index: Int, _ message: String
  ) {
    add("\(path(list))[\(index)]", message, nil)
  }

  /// Blames a property of an item of a list in the rules.
  ///
  /// - Parameters:
  ///   - index: the index of the item, from 0.
  ///   - message: an error message in the form `expected …, got …`.
  public func callAsFunction<Item: Settings>(
    _ list: KeyPath<System.Rules, [Item]>, _ index: Int, _ property: PartialKeyPath<Item>, _ message: String
  ) {
    add(path(list, index, property), message, nil)
  }

  /// Returns a key with its value for use in messages about another key: `motors.max_duty (50)`, or `motors.max_duty
  /// (255 unless given)` if the file does not give the key.
  public func setting(_ property: PartialKeyPath<System.Wiring>, _ value: some CustomStringConvertible) -> String {
    places.setting(path(property), value)
  }

  /// Returns the line and path of an item's key for use in messages about another item: `line 12: legs[0].channel`.
  public func location<Item: Settings>(
    _ list: KeyPath<System.Wiring, [Item]>, _ index: Int, _ property: PartialKeyPath<Item>
  ) -> String {
    places.location(of: path(list, index, property))
  }

  /// Returns a key of the rules with its value, in the same form as for the wiring.
  public func setting(_ property: PartialKeyPath<System.Rules>, _ value: some CustomStringConvertible) -> String {
    places.setting(path(property), value)
  }

  /// Returns the path of an item's key, or that of the item if no key sets the property.
  private func path<Group: Settings, Item: Settings>(
    _ list: PartialKeyPath<Group>, _ index: Int, _ property: PartialKeyPath<Item>
  ) -> String {
    let key = Item.keys.first { $0.path() == property }
    return "\(path(list))[\(index)]" + (key.map { ".\($0.name)" } ?? "")
  }

  /// Returns the path of a key, or that of the section if no key sets the property.
  private func path<Group: Settings>(_ property: PartialKeyPath<Group>) -> String {
    Group.keys.first { $0.path() == property }.map { System.path(of: $0, at: place) } ?? place.section
  }

  private func add(_ key: String, _ message: String, _ other: (key: String, message: String)?) {
    found.append(Contradiction(blamed: [(key, message)] + [other].compactMap(\.self)))
  }
}
