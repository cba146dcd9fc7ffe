import TestSupport
import Testing

@testable import MQTTMosquitto

@Suite("MQTT outbox", .ownThread)
struct MQTTOutboxTests {
  private func state(_ topic: String, _ text: String) -> MQTTMessage {
    MQTTMessage(topic: topic, payload: Array(text.utf8), isRetained: true)
  }

  @Test("a topic that is to be forgotten is told to every new connection: the last may have been lost with it")
  func forgets() {
    var outbox = MQTTOutbox(messageLimit: 4, retainedLimit: 4)
    #expect(
      outbox.add(state("a", "1"), isConnected: true) == nil && outbox.add(state("b", "1"), isConnected: true) == nil)
    #expect(outbox.take(9).count == 2)
    #expect(outbox.add(state("a", ""), isConnected: true) == nil)
    #expect(outbox.take(9) == [state("a", "")] && outbox.isEmpty)
    outbox.disconnected()
    outbox.connected(except: nil)
    #expect(outbox.take(9) == [state("a", ""), state("b", "1")])
  }

  @Test("a client that leaves in order says what waits, and the will last; nobody else would say it")
  func goodbye() {
    var outbox = MQTTOutbox(messageLimit: 4, retainedLimit: 4)
    let will = state("status", "offline")
    #expect(outbox.add(state("status", "online"), isConnected: true) == nil)
    #expect(outbox.takeLast(9, will: will) == [state("status", "online"), will] && outbox.isEmpty)
    #expect(outbox.takeLast(9, will: nil) == [])
    #expect(outbox.add(state("a", "1"), isConnected: true) == nil)
    // A broker that takes nothing more hears the will all the same.
    #expect(outbox.takeLast(0, will: will) == [will] && !outbox.isEmpty)
  }

  @Test("the will's topic on a new connection: its state waits until it is said again, and keeps its place")
  func exceptWill() {
    var outbox = MQTTOutbox(messageLimit: 4, retainedLimit: 2)
    for topic in ["status", "a"] { #expect(outbox.add(state(topic, "1"), isConnected: false) == nil) }
    // What was said before there was a connection is told to the first one.
    outbox.connected(except: "status")
    #expect(outbox.take(9) == [state("a", "1"), state("status", "1")])
    outbox.disconnected()
    outbox.connected(except: "status")
    #expect(outbox.take(9) == [state("a", "1")])
    #expect(outbox.add(state("b", "1"), isConnected: true) == .tooManyRetained)
    #expect(outbox.add(state("status", "1"), isConnected: true) == nil)
    #expect(outbox.take(9) == [state("status", "1")])
  }

  @Test("forgotten topics make room for others, once they have been told")
  func makesRoom() {
    var outbox = MQTTOutbox(messageLimit: 4, retainedLimit: 2)
    for (topic, text) in [("a", "1"), ("b", "1"), ("a", "")] {
      #expect(outbox.add(state(topic, text), isConnected: true) == nil)
    }
    #expect(outbox.add(state("c", "1"), isConnected: true) == .tooManyRetained)
    _ = outbox.take(9)
    #expect(outbox.add(state("c", "1"), isConnected: true) == nil)
    #expect(outbox.add(state("d", "1"), isConnected: true) == .tooManyRetained)
    outbox.connected(except: nil)
    #expect(outbox.take(9) == [state("b", "1"), state("c", "1")])
  }
}
