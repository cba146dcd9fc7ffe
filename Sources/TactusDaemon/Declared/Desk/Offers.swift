/// Adopted by a system whose desk makes an offer to other systems, such as water for plants. Neither system names the
/// other: both know only the type of the offer.
///
/// ```swift
/// static func desk(_ made: DeskMaterial<Sprinkler>) throws -> SprinklerDesk {
///   let desk = SprinklerDesk(made)
///   made.offer(WaterSupply(desk))
///   return desk
/// }
/// ```
public protocol Offers: Serves {}

extension DeskMaterial where System: Offers {
  /// Publishes an offer, which other systems find by its type. The offer is used from any thread.
  public func offer(_ offer: some Sendable) { offers.give(offer) }
}
