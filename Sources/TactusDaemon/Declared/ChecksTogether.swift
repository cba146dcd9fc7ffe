/// Adopted by a system with rules over keys of `Wiring` and `Rules` together, or over several items of a list.
///
/// A rule over the keys of one group, or of one item, is said in that group's `check`.
public protocol ChecksTogether: DeviceSystem {
  /// Reports what contradicts itself. Nothing is planned or taken of a file, or of a setting, as long as something is reported.
  static func check(_ wiring: Wiring, _ rules: Rules, _ report: Contradictions<Self>)
}

extension ChecksTogether {
  /// Of values of this system, without their types.
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

/// Takes what a system's values contradict: the property that is to blame, and what was expected.
///
///     if wiring.most < wiring.least {
///       report(\.most, "expected at least \(report.words(\.least, wiring.least)), got \(wiring.most)",
///         or: \.least, "expected at most \(report.words(\.most, wiring.most)), got \(wiring.least)")
///     }
public final class Contradictions<System: DeviceSystem> {
  private let place: SystemPlace
  private let places: ConfigPlaces
  private(set) var found: [Contradiction] = []

  init(_ place: SystemPlace, _ places: ConfigPlaces) { (self.place, self.places) = (place, places) }

  /// A property of the wiring is to blame, or another one if the file gives only that.
  ///
  /// - Parameters:
  ///   - message: `expected …, got …`
  ///   - other: what the first contradicts.
  ///   - otherMessage: the same of the other.
  public func callAsFunction(
    _ property: PartialKeyPath<System.Wiring>, _ message: String, or other: PartialKeyPath<System.Wiring>? = nil,
    _ otherMessage: String = ""
  ) {
    add(path(property), message, other.map { (path($0), otherMessage) })
  }

  /// A property of the rules is to blame, or another one if the file gives only that.
  ///
  /// - Parameters:
  ///   - message: `expected …, got …`
  ///   - other: what the first contradicts.
  ///   - otherMessage: the same of the other.
  public func callAsFunction(
    _ property: PartialKeyPath<System.Rules>, _ message: String, or other: PartialKeyPath<System.Rules>? = nil,
    _ otherMessage: String = ""
  ) {
    add(path(property), message, other.map { (path($0), otherMessage) })
  }

  /// A property of an item of a list of the wiring is to blame.
  ///
  /// - Parameters:
  ///   - index: the item's, from 0.
  ///   - message: `expected …, got …`
  public func callAsFunction<Item: Settings>(
    _ list: KeyPath<System.Wiring, [Item]>, _ index: Int, _ property: PartialKeyPath<Item>, _ message: String
  ) {
    add("\(path(list))[\(index)].\(Item.key(of: property).name)", message, nil)
  }

  /// A property of an item of a list of the rules is to blame.
  ///
  /// - Parameters:
  ///   - index: the item's, from 0.
  ///   - message: `expected …, got …`
  public func callAsFunction<Item: Settings>(
    _ list: KeyPath<System.Rules, [Item]>, _ index: Int, _ property: PartialKeyPath<Item>, _ message: String
  ) {
    add("\(path(list))[\(index)].\(Item.key(of: property).name)", message, nil)
  }

  /// `motors.max_duty (50)`, or `motors.max_duty (255 unless given)` if the file does not give it: for messages about another key.
  public func words(_ property: PartialKeyPath<System.Wiring>, _ value: some CustomStringConvertible) -> String {
    places.words(path(property), value)
  }

  /// The same of a property of the rules.
  public func words(_ property: PartialKeyPath<System.Rules>, _ value: some CustomStringConvertible) -> String {
    places.words(path(property), value)
  }

  private func path<Group: Settings>(_ property: PartialKeyPath<Group>) -> String {
    System.path(of: Group.key(of: property), at: place)
  }

  private func add(_ key: String, _ message: String, _ other: (key: String, message: String)?) {
    found.append(Contradiction(blamed: [(key, message)] + [other].compactMap(\.self)))
  }
}
