import MQTTMosquitto
import Plants
import Service
import TactusDaemon
import Wire

/// The Plant-Tracker app on the broker: its pair of topics, one for all clients and hosts each way. Nothing there is retained.
final class PlantAppParticipant: BrokerParticipant {
  private let desk: PlantDesk

  init(_ desk: PlantDesk) { self.desk = desk }

  var filters: [String] { [PlantTopics.toHost] }

  func take(_ message: MQTTMessage, on broker: BrokerLine) {
    desk.take(message.payload, isOld: message.isRetained) { replies in
      for reply in replies { broker.publish(MQTTMessage(topic: PlantTopics.fromHost, text: reply.encoded)) }
    }
  }
}
