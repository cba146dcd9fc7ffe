import Tactus
import TestSupport
import Testing

@testable import Video

extension TickInstant {
  fileprivate static func seconds(_ count: Int64) -> TickInstant { .zero + .seconds(count) }
}

@Suite struct ViewerPlacesTests {
  private typealias Places = ViewerPlaces<String>

  @Test("full of sessions that only wait: whoever plays gets a place, and of those that wait the oldest leave")
  func waiting() {
    var places = Places(limit: 3)
    for number in 1..<10 { places.open("w\(number)", by: 1, of: "a", at: .seconds(Int64(number))) }
    places.open("v", by: 2, of: "b", at: .seconds(9))
    #expect(places.isCrowded && !places.isFull)
    #expect(places.takeLeavers(at: .seconds(10)).sessions.sorted() == (1..<8).map { "w\($0)" })
    #expect(!places.isCrowded)
    #expect(places.play("v", at: .seconds(10)) == .welcome(isFirst: true))
    #expect(places.play("w1", at: .seconds(10)) == .gone)
  }

  @Test("a session that does not play: it ends 10 s after its SETUP; one that plays stays, and one that is paused")
  func patience() {
    var places = Places(limit: 3)
    places.open("waits", by: 1, of: "a", at: .seconds(1))
    places.open("plays", by: 2, of: "a", at: .seconds(1))
    places.open("paused", by: 3, of: "a", at: .seconds(1))
    for session in ["plays", "paused"] { #expect(places.play(session, at: .seconds(2)) == .welcome(isFirst: true)) }
    places.pause("paused", at: .seconds(3))
    #expect(places.takeLeavers(at: .seconds(11) - .nanoseconds(1)) == Places.Leavers())
    #expect(places.takeLeavers(at: .seconds(11)).sessions == ["waits"])
    #expect(places.takeLeavers(at: .seconds(1_000)) == Places.Leavers())
    #expect(places.play("paused", at: .seconds(1_000)) == .welcome(isFirst: false))
    #expect(places.playing == 2)
  }

  @Test("all places taken by sessions that play: the next is refused, none must leave; one ends, and it plays")
  func full() {
    var places = Places(limit: 2)
    for (number, session) in ["a", "b", "c"].enumerated() {
      places.open(session, by: UInt(number), of: "peer", at: .seconds(0))
    }
    #expect(places.play("a", at: .seconds(1)) == .welcome(isFirst: true))
    #expect(places.play("a", at: .seconds(1)) == .welcome(isFirst: false))
    #expect(places.play("b", at: .seconds(1)) == .welcome(isFirst: true))
    #expect(places.play("c", at: .seconds(1)) == .full)
    #expect(places.takeLeavers(at: .seconds(1)) == Places.Leavers())
    #expect(places.disconnect(1) == ["b"])
    #expect(places.play("c", at: .seconds(2)) == .welcome(isFirst: true))
    places.end("a")
    #expect(places.playing == 1)
  }

  @Test("too many connections without a session: the peer that has most loses its oldest; viewers stay")
  func connections() {
    var places = Places(limit: 2)
    places.connect(1, of: "crowd", at: .seconds(0))
    places.open("v", by: 1, of: "crowd", at: .seconds(0))
    #expect(places.play("v", at: .seconds(0)) == .welcome(isFirst: true))
    places.connect(2, of: "other", at: .seconds(0))
    for number in UInt(3)..<70 { places.connect(number, of: "crowd", at: .seconds(Int64(number))) }
    #expect(places.isCrowded)
    #expect(places.takeLeavers(at: .seconds(100)).connections == [3, 4, 5])
    #expect(!places.isCrowded)
  }

  @Test("a connection without a session: closed 10 s after its last whole request; one with a session stays")
  func silent() {
    var places = Places(limit: 2)
    for number in 1...4 as ClosedRange<UInt> { places.connect(number, of: "peer", at: .seconds(0)) }
    places.open("v", by: 1, of: "peer", at: .seconds(0))
    #expect(places.play("v", at: .seconds(0)) == .welcome(isFirst: true))
    places.hear(2, at: .seconds(9))
    #expect(places.takeSilent(at: .seconds(10) - .nanoseconds(1)).isEmpty)
    #expect(places.takeSilent(at: .seconds(10)).sorted() == [3, 4])
    #expect(places.takeSilent(at: .seconds(18)).isEmpty)
    #expect(places.takeSilent(at: .seconds(19)) == [2])
    places.end("v")
    #expect(places.takeSilent(at: .seconds(1_000)) == [1])
    places.hear(1, at: .seconds(1_000))
    #expect(places.takeSilent(at: .seconds(2_000)).isEmpty)
  }

  @Test("random histories, seeded: never more play than may, and nobody who plays must leave")
  func random() {
    let seed: UInt64 = 31
    var random = SplitMix64(seed: seed)
    var places = Places(limit: 4)
    var playing: Set<String> = []
    var opened: [String: TickInstant] = [:]
    for step in 0..<20_000 {
      let now = TickInstant.zero + .milliseconds(Int64(step) * 50)
      let name = "s\(random.below(30 as UInt64))"
      let connection = UInt(random.below(5 as UInt64))
      switch random.below(6 as UInt64) {
      case 0 where !playing.contains(name):
        places.open(name, by: connection, of: "\(connection % 3)", at: now)
        opened[name] = now
      case 1: if case .welcome = places.play(name, at: now) { playing.insert(name) }
      case 2:
        places.pause(name, at: now)
        playing.remove(name)
      case 3:
        for session in places.disconnect(connection) { playing.remove(session) }
      case 4:
        let leavers = places.takeLeavers(at: now).sessions
        #expect(playing.isDisjoint(with: leavers), "seed \(seed), step \(step)")
        #expect(!places.isCrowded, "seed \(seed), step \(step)")
      default:
        places.end(name)
        playing.remove(name)
      }
      #expect(places.playing == playing.count && playing.count <= 4, "seed \(seed), step \(step)")
    }
    #expect(opened.count == 30)
  }
}
