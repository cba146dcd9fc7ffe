import MQTTMosquitto
import Service
import Tactus
import Wire

/// A protocol for a system that uses additional topics on the MQTT broker, besides the state and the commands that
/// every system has there.
///
/// ```swift
/// enum Plants: DeviceSystem, Serves, OnBroker {
///   static func filters(_ wiring: Wiring) -> [String] { wiring.hasApp ? ["rpi/torpi"] : [] }
///   static func receive(_ message: MQTTMessage, _ desk: PlantDesk, on broker: BrokerLine) { … }
/// }
/// ```
///
/// The desk is called from the broker's thread and from the desk's thread, so it must be `Sendable`.
public protocol OnBroker: Serves where Desk: Sendable {
  /// Returns the topics, with or without wildcards, from which the system receives messages; empty if the file disables
  /// this.
  static func filters(_ wiring: Wiring) -> [String]
  /// Handles a message on one of `filters`. Called on the broker's thread in the order of arrival, so the work must be
  /// short and must not block. Messages published here are sent immediately.
  static func receive(_ message: MQTTMessage, _ desk: Desk, on broker: BrokerLine)
  /// Returns lines for `check` about the use of the broker, without indentation.
  ///
  /// - Parameter hasBroker: whether the file names a broker.
  static func summary(_ wiring: Wiring, hasBroker: Bool) -> [String]
  /// Does periodic work. Called ten times a second on the main thread.
  static func beat(_ desk: Desk, at now: TickInstant, on broker: BrokerLine)
}

extension OnBroker {
  /// Does nothing: the system publishes no messages periodically.
  public static func beat(_ desk: Desk, at now: TickInstant, on broker: BrokerLine) {}

  /// Returns no lines, for a system that adds none to `check`.
  public static func summary(_ wiring: Wiring, hasBroker: Bool) -> [String] { [] }

  static func summaryLines(_ wiring: any Settings, hasBroker: Bool) -> [String] {
    (wiring as? Wiring).map { summary($0, hasBroker: hasBroker) } ?? []
  }

  /// Returns the receiver of the system's messages, or `nil` if the system has no filters. The arguments are this
  /// system's wiring and desk, passed without their types.
  static func participant(_ wiring: any Settings, _ desk: any SystemDesk) -> (any BrokerParticipant)? {
    guard let wiring = wiring as? Wiring, let desk = desk as? Desk else {
      preconditionFailure("\(self): values of another system")
    }
    let filters = filters(wiring)
    return filters.isEmpty ? nil : DeskOnBroker<Self>(desk, filters: filters)
  }
}

/// The desk of a declared system as a participant on the broker.
final class DeskOnBroker<System: OnBroker>: BrokerParticipant {
  let filters: [String]
  private let desk: System.Desk

  init(_ desk: System.Desk, filters: [String]) { (self.desk, self.filters) = (desk, filters) }

  func receive(_ message: MQTTMessage, on broker: BrokerLine) { System.receive(message, desk, on: broker) }
  func beat(at now: TickInstant, on broker: BrokerLine) { System.beat(desk, at: now, on: broker) }
}

/// A protocol for a system whose entities in Home Assistant differ from those that its fields would make.
public protocol ShowsEntities: DeviceSystem {
  /// Returns the entities that Home Assistant shows for the system.
  static func entities(_ look: Look<Self>, on topics: DeviceTopics, takesCommands: Bool) -> [HomeAssistantEntity]
  /// The names of document members, at any depth, whose values change continuously. Their changes alone are published
  /// to the broker only occasionally.
  static var movingMembers: Set<String> { get }
}

extension ShowsEntities {
  static func shown(_ look: Any, on topics: DeviceTopics, takesCommands: Bool) -> [HomeAssistantEntity] {
    // The values are this system's, passed without their types.
    entities(look as! Look<Self>, on: topics, takesCommands: takesCommands)
  }
}

/// A protocol for a system with metrics that fields cannot express, such as histograms.
public protocol MeasuresMore: DeviceSystem {
  /// Writes these metrics, after those of the fields, for the state that the loop has last published. The function may be called from any thread.
  static func write(_ published: Published<State>, _ look: Look<Self>, into writer: inout MetricsWriter)
}

extension MeasuresMore {
  static func written(_ published: Any, _ look: Any, into writer: inout MetricsWriter) {
    // The values are this system's, passed without their types.
    write(published as! Published<State>, look as! Look<Self>, into: &writer)
  }
}

/// A protocol for a system whose desk uses an offer of another system, such as water for plants. Neither system names
/// the other: both know only the type of the offer.
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
  public var offer: Offer? { offers.find(Offer.self) }
}

extension DeskMaterial where System: Needs {
  /// Returns access to the offer of another system, identified by a type that both systems know.
  public func need<Offer: Sendable>(_: Offer.Type) -> Needed<Offer> { Needed(offers) }
}

/// A protocol for a system whose desk makes an offer to other systems, such as water for plants. Neither system names
/// the other: both know only the type of the offer.
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
