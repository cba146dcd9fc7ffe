import Service
import TactusDaemon

extension PlantDesk {
  /// What a broker has of the plants: the system with its topics, and the app's pair of topics.
  ///
  /// - Parameter hostName: by which the app knows the host, or `nil` if the app is not served.
  public func onBroker(hostName: String?) -> (system: any ServedSystem, app: any BrokerParticipant) {
    (PlantDoor(self, hostName: hostName), PlantAppParticipant(self))
  }

  /// What subscribers are to be told since the last call.
  public func takeEvents() -> [Event] {
    let door = PlantDoor(self, hostName: nil)
    return takeNews().compactMap { door.edge($0) }
  }
}
