import NIOCore
import Peers
import Testing

@testable import Service

@Suite("Who has a place at the door")
struct PlaceTableTests {
  private let loopback = PeerNetwork("127.0.0.1")
  private let limits: ConnectionLimits
  private var table: PlaceTable<Int>

  init() {
    // 8 places of the known, one of them for stopping; 8 of strangers in each pool, 4 of them safe; 4 for one network.
    limits = ConnectionLimits(connections: 8)
    table = PlaceTable(limits)
  }

  @Test(
    "places for stopping: an eighth, one at least, and none of a single connection",
    arguments: [(1, 0), (2, 1), (7, 1), (64, 8), (2048, 64)])
  func stopping(connections: Int, places: Int) {
    #expect(ConnectionLimits(connections: connections).placesForStopping == places)
  }

  private func at(_ milliseconds: Int64) -> NIODeadline { .uptimeNanoseconds(0) + .milliseconds(milliseconds) }

  private mutating func enter(
    _ id: Int, _ network: PeerNetwork? = nil, isScarce: Bool = false, at milliseconds: Int64
  ) -> PlaceTable<Int>.Entry {
    table.enter(id, from: network ?? loopback, isScarce: isScarce, at: at(milliseconds))
  }

  /// A connection with a token, through all the ways there are.
  private mutating func admit(
    _ id: Int, of owner: String = "one", mayStop: Bool = true, stops: Bool = false, from network: PeerNetwork? = nil,
    at now: Int64 = 0
  ) -> PlaceTable<Int>.Recognition {
    guard enter(id, network, at: now) != .full else { return .full }
    table.headArrived(id, at: at(now))
    return table.recognise(id, of: owner, mayStop: mayStop, stops: stops, at: at(now))
  }

  private let welcome = PlaceTable<Int>.Recognition.welcome(closing: nil)

  @Test("strangers' places are taken: the one silent for the longest is closed, none within 2 s that was promised them")
  mutating func oldest() {
    for id in 0..<8 { #expect(enter(id, at: Int64(id)) == .welcome(closing: [])) }
    // 0…3 are safe until 2,000…2,003 ms; 4…7 take turns.
    for (id, closed) in [(8, 4), (9, 5), (10, 6), (11, 7), (12, 8)] {
      #expect(enter(id, at: Int64(100 + id)) == .welcome(closing: [closed]))
    }
    #expect(enter(20, at: 1_999) == .welcome(closing: [9]))
    #expect(enter(21, at: 2_003) == .welcome(closing: [10]))
    // What was promised is kept: now the safe ones are the longest silent, but for those that took a turn before them.
    for (id, closed) in [(22, 11), (23, 12), (24, 20), (25, 0), (26, 1)] {
      #expect(enter(id, at: 2_100) == .welcome(closing: [closed]))
    }
  }

  @Test("a head that has come keeps a stranger from being closed until it is answered, 2 s at most")
  mutating func asking() {
    for id in 0..<8 { _ = enter(id, at: Int64(id)) }
    table.headArrived(4, at: at(10))
    #expect(enter(8, at: 20) == .welcome(closing: [5]))
    table.answered(4, at: at(21))
    // Answered, it is the next after those that came before its answer.
    for (id, closed) in [(9, 6), (10, 7), (11, 8), (12, 4)] {
      #expect(enter(id, at: Int64(20 + id)) == .welcome(closing: [closed]))
    }
  }

  @Test("a head that comes before its connection has been closed for another: the connection stays")
  mutating func calledOff() {
    for id in 0..<8 { _ = enter(id, at: Int64(id)) }
    #expect(enter(8, at: 20) == .welcome(closing: [4]) && table.isLeaving(4))
    table.headArrived(4, at: at(20))
    #expect(
      !table.isLeaving(4) && table.recognise(4, of: "one", mayStop: true, at: at(0)) == welcome && table.isKnown(4))
    // Nobody else profits: one more comes for one that goes.
    #expect(enter(9, at: 21) == .welcome(closing: [5]) && table.isLeaving(5))
    table.leave(5)
    #expect(!table.isLeaving(5))
  }

  @Test("every stranger is being answered: no place for one more, until 2 s are over")
  mutating func full() {
    for id in 0..<8 {
      _ = enter(id, at: 0)
      table.headArrived(id, at: at(0))
    }
    #expect(enter(8, at: 1_999) == .full)
    #expect(enter(8, at: 2_000) != .full)
  }

  @Test("however many strangers: whoever shows a token that may stop gets in", arguments: [false, true])
  mutating func flood(isScarce: Bool) {
    var next = 1000
    for round in 0..<67 {
      for _ in 0..<100 {
        #expect(enter(next, isScarce: isScarce, at: Int64(round)) != .full)
        next += 1
      }
      #expect(admit(round, at: Int64(round)) == welcome)
      table.leave(round)
    }
  }

  @Test("the network's flood: this machine keeps its places, and the promise of them; and the other way round")
  mutating func pools() {
    for id in 0..<1000 { _ = enter(id, PeerNetwork("192.0.2.\(id % 200)"), at: 0) }
    #expect((2000..<2004).map { enter($0, at: 0) } == Array(repeating: .welcome(closing: []), count: 4))
    for id in 3000..<4000 { _ = enter(id, at: 0) }
    // The 2,000s were promised 2 s.
    for id in 2000..<2004 {
      #expect(!table.isKnown(id))
      table.headArrived(id, at: at(1_000))
      #expect(table.recognise(id, of: "one", mayStop: true, at: at(1_000)) == welcome && table.isKnown(id))
    }
  }

  @Test(
    "one address or /64 beyond its four strangers closes its own, and takes no other network's",
    arguments: [
      ["192.0.2.7", "192.0.2.7", "::ffff:192.0.2.7"], ["2001:db8::1", "2001:db8::2", "2001:db8:0:0:ffff::3%eth0"],
    ])
  mutating func oneNetwork(addresses: [String]) {
    _ = enter(0, PeerNetwork("198.51.100.1"), at: 0)
    for id in 1...4 { #expect(enter(id, PeerNetwork(addresses[id % 3]), at: Int64(id)) == .welcome(closing: [])) }
    // Two of its four are safe.
    for (id, closed) in [(5, 3), (6, 4), (7, 5)] {
      #expect(enter(id, PeerNetwork(addresses[id % 3]), at: Int64(id)) == .welcome(closing: [closed]))
    }
    #expect(enter(8, PeerNetwork("2001:db8:0:1::1"), at: 8) == .welcome(closing: []))
  }

  @Test("places of the known: readers leave one for who may stop; nobody beyond that, and room again when one leaves")
  mutating func known() {
    #expect((0..<9).map { admit($0, mayStop: false) } == Array(repeating: welcome, count: 7) + [.full, .full])
    #expect(admit(10) == welcome)
    #expect(admit(11) == .full)
    #expect(admit(12, mayStop: false) == .full)
    table.leave(3)
    #expect(admit(13) == welcome)
  }

  @Test("every place of the known is taken: a stop takes that of who has the most connections, silent for the longest")
  mutating func shares() {
    for id in 0..<6 { #expect(admit(id, of: "many", at: Int64(id)) == welcome) }
    #expect(admit(6, of: "few", at: 6) == welcome && admit(7, of: "few", at: 7) == welcome)
    // It is asked of, and is the last to go.
    #expect(table.recognise(0, of: "many", mayStop: true, at: at(20)) == welcome)
    #expect(admit(8, of: "owner", stops: true, at: 21) == .welcome(closing: 1))
    #expect(!table.isKnown(1) && table.isKnown(8))
    #expect(admit(9, of: "few", stops: true, at: 22) == .welcome(closing: 2))
    #expect(admit(10, of: "many", stops: true, at: 23) == .welcome(closing: 3), "of its own")
    #expect(admit(11, of: "owner", at: 24) == .full, "what stops nothing closes nobody")
  }

  @Test("as many of each: nobody's connection is closed for another's, but an owner's own for the owner's stop")
  mutating func equalShares() {
    for id in 0..<8 { #expect(admit(id, of: "owner \(id % 4)", at: Int64(id)) == welcome) }
    #expect(admit(8, of: "owner 1", stops: true, at: 9) == .welcome(closing: 1))
    #expect(admit(9, of: "owner 5", stops: true, at: 9) == .welcome(closing: 3), "who has none takes one of two")
  }

  @Test("one address beyond its share of the known: refused, others not; this machine has no share")
  mutating func oneAddressKnown() {
    var limits = limits
    limits.connectionsOfOneNetwork = 2
    table = PlaceTable(limits)
    let one = PeerNetwork("192.0.2.7")
    #expect((0..<3).map { admit($0, from: one, at: Int64($0)) } == [welcome, welcome, .full])
    #expect(
      admit(9, of: "two", stops: true, from: one, at: 3) == .welcome(closing: 0),
      "a stop takes a place of the same address")
    #expect(admit(3, from: PeerNetwork("192.0.2.8")) == welcome)
    #expect((4..<8).map { admit($0) } == [welcome, welcome, welcome, welcome])
  }

  @Test("a refused token makes a stranger of the known, who is the next to be closed")
  mutating func forgotten() {
    #expect(admit(0) == welcome)
    table.forget(0, at: at(0))
    #expect(!table.isKnown(0))
    for id in 1..<8 { _ = enter(id, at: 1) }
    #expect(enter(8, at: 2) == .welcome(closing: [0]))
  }

  @Test("descriptors run out: four strangers more, in turn, and of the known only who may stop")
  mutating func scarcity() {
    for id in 0..<4 { #expect(enter(id, isScarce: true, at: Int64(id)) == .welcome(closing: [])) }
    #expect(enter(4, isScarce: true, at: 4) == .welcome(closing: [0]))
    table.headArrived(4, at: at(5))
    let mayRead = table.recognise(4, of: "one", mayStop: false, at: at(5))
    let mayStop = table.recognise(4, of: "one", mayStop: true, at: at(5))
    #expect(mayRead == .full && mayStop == welcome)
  }
}
