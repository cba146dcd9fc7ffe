#if MQTT
  @testable import MQTTMosquitto
  import MQTTSupport
  import Synchronization
  import Tactus
  import TestSupport
  import Testing

  @Suite("MQTT: what a broker says of a connection", .ownThread)
  struct MQTTReasonTests {
    private func client(_ broker: FakeBroker, _ filters: [String] = []) throws -> MQTTClient {
      let client = try MQTTClient(broker.settings()) { _ in }
      for filter in filters { client.subscribe(filter) }
      client.start()
      return client
    }

    @Test(
      "a broker that knows 3.1.1 only: refuses MQTT 5 in the words of its own version, or ends the connection; connected in 3.1.1",
      arguments: [[0x20, 2, 0, 1], []])
    func olderBroker(refusal: [UInt8]) throws {
      let broker = FakeBroker { packet in
        guard packet.type == 1 else { return .none }
        return packet.version == 5 ? .end(refusal) : .bytes([0x20, 2, 0, 0])
      }
      let client = try client(broker)
      #expect(eventually { client.status.isConnected })
      #expect(client.status.connections == 1)
      client.stop()
    }

    @Test("taken over by another client of our ID: told in words, and counted until one connection lasts")
    func takenOver() throws {
      let broker = FakeBroker { packet in
        switch packet.type {
        case 1: .bytes(FakeBroker.accepted)
        case 8: .end([0xE0, 2, 0x8E, 0])
        default: .none
        }
      }
      let client = try client(broker, ["a"])
      #expect(eventually { client.status.lostSoon >= 3 })
      #expect(
        client.status.lastFailure?.hasSuffix(
          "another client has connected with our client ID tactus, which ended our connection")
          == true, "\(client.status)")
      client.stop()
    }

    @Test("lost soon, again and again, without a reason: what it may be is told with the second")
    func lostSoon() throws {
      let broker = FakeBroker { packet in
        switch packet.type {
        case 1: .bytes(FakeBroker.accepted)
        case 8: .end()
        default: .none
        }
      }
      let client = try client(broker, ["a"])
      #expect(eventually { client.status.lostSoon >= 2 })
      let failure = try #require(client.status.lastFailure)
      #expect(
        failure.contains("another client may have our client ID tactus")
          && failure.contains("too long or not authorised"))
      client.stop()
    }

    @Test("a message beyond the limit that the broker has told: refused and counted, and the connection stays")
    func beyondLimit() throws {
      let broker = FakeBroker { packet in
        switch packet.type {
        // Maximum Packet Size: 2,000.
        case 1: .bytes([0x20, 8, 0, 0, 5, 0x27, 0, 0, 0x07, 0xD0])
        case 8: .bytes(packet.acknowledgement(0))
        default: .none
        }
      }
      let client = try client(broker, ["a"])
      #expect(eventually { client.status.isSubscribed })
      client.publish(MQTTMessage(topic: "long", payload: [UInt8](repeating: 0x78, count: 2_000)))
      client.publish(MQTTMessage(topic: "short", text: "x"))
      #expect(eventually { client.status.sent == 1 && client.status.refused[.tooLong] == 1 })
      #expect(
        client.status.lastFailure?.contains("2000 bytes on long is beyond the broker's limit of 2000 bytes") == true)
      #expect(client.status.isConnected && client.status.connections == 1)
      client.stop()
    }

    @Test("subscriptions: all granted, or one refused and named; one that is not acknowledged yet is not granted")
    func subscriptions() throws {
      let isGranted = Mutex(false)
      let broker = FakeBroker { packet in
        switch packet.type {
        case 1: .bytes(FakeBroker.accepted)
        case 8 where packet.contains("slow"): .none
        case 8: .bytes(packet.acknowledgement(isGranted.withLock { $0 } ? 0 : 0x87))
        default: .none
        }
      }
      let client = try client(broker, ["bed/command"])
      #expect(eventually { client.status.refusing == ["bed/command"] })
      #expect(client.status.isConnected && !client.status.isSubscribed && client.status.refusedFilters == 1)
      #expect(client.status.lastFailure?.hasSuffix("the subscription to bed/command was refused") == true)
      isGranted.withLock { $0 = true }
      client.unsubscribe("bed/command")
      client.subscribe("bed/other")
      #expect(eventually { client.status.isSubscribed && client.status.refusing.isEmpty })
      client.subscribe("slow")
      client.subscribe("quick")
      #expect(!client.status.isSubscribed)
      client.stop()
      #expect(!client.status.isSubscribed && !client.status.isConnected)
    }

    @Test(
      "pauses double over attempts and over connections that are lost soon; they begin anew after one that has lasted")
    func backoff() {
      var backoff = MQTTBackoff(shortest: .seconds(1), longest: .seconds(8))
      #expect(
        backoff.ended(after: nil) == .seconds(1) && backoff.ended(after: nil) == .seconds(2) && backoff.lostSoon == 0)
      #expect(backoff.ended(after: .milliseconds(900)) == .seconds(4))
      #expect(backoff.ended(after: .seconds(16)) == .seconds(8) && backoff.ended(after: .zero) == .seconds(8))
      #expect(backoff.lostSoon == 3)
      #expect(backoff.ended(after: .seconds(17)) == .seconds(1) && backoff.lostSoon == 0)
      #expect(backoff.ended(after: .seconds(1)) == .seconds(2) && backoff.lostSoon == 1)
      backoff.lasted()
      #expect(backoff.lostSoon == 0 && backoff.ended(after: nil) == .seconds(1))
    }
  }
#endif
