import MQTTMosquitto
import Service
import Tactus
import Wire

/// Adopted by a system that uses additional topics on the MQTT broker, besides the state and the commands that
/// every system has there.
///
/// ```swift
/// enum Plants: DeviceSystem, Serves, OnBroker {
///   static func filters(_ wiring: Wiring) -> [String] { wiring.hasApp ? ["rpi/torpi"] : [] }
///   static func take(_ message: MQTTMessage, _ desk: PlantDesk, on broker: BrokerLine) { … }
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
  static func take(_ message: MQTTMessage, _ desk: Desk, on broker: BrokerLine)
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

  /// Returns no lines.
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

  func take(_ message: MQTTMessage, on broker: BrokerLine) { System.take(message, desk, on: broker) }
  func beat(at now: TickInstant, on broker: BrokerLine) { System.beat(desk, at: now, on: broker) }
}
