/// Adopted by a system whose desk uses an offer of another system, such as water for plants. Neither system names the
/// other: both know only the type of the offer.
///
/// ```swift
/// static func desk(_ made: DeskMaterial<Plants>) throws -> PlantDesk { PlantDesk(made, water: made.need(WaterSupply.self)) }
/// ```
public protocol Needs: Serves {
  /// Reports keys of the file that require an offer which no other system of the file provides.
  ///
  /// - Parameter others: the names of the other systems in the file, and `mqtt` if the file has that section.
  static func check(_ wiring: Wiring, _ rules: Rules, among others: Set<String>, _ report: Contradictions<Self>)
}

extension Needs {
  /// Reports nothing: the system also runs without the offer.
  public static func check(
    _ wiring: Wiring, _ rules: Rules, among others: Set<String>, _ report: Contradictions<Self>
  ) {}

  /// Returns the unmet requirements of values of this system that are passed without their types.
  static func unmet(
    _ wiring: any Settings, _ rules: any Settings, at place: SystemPlace, among others: Set<String>,
    _ places: ConfigPlaces
  ) -> [Contradiction] {
    guard let wiring = wiring as? Wiring, let rules = rules as? Rules else {
      preconditionFailure("\(self): values of another system")
    }
    let report = Contradictions<Self>(place, places)
    check(wiring, rules, among: others, report)
    return report.found
  }
}

/// An offer that another system may provide. Safe to use from any thread.
public struct Needed<Offer: Sendable>: Sendable {
  private let offers: SystemSurroundings.Offers

  init(_ offers: SystemSurroundings.Offers) { self.offers = offers }

  /// The offer, or `nil` if no system of the file provides it. Systems are opened one after the other, so `nil` is
  /// final only after all of them are open.
  public var offer: Offer? { offers.take(Offer.self) }
}

extension DeskMaterial where System: Needs {
  /// Returns access to the offer of another system, identified by a type that both systems know.
  public func need<Offer: Sendable>(_: Offer.Type) -> Needed<Offer> { Needed(offers) }
}
