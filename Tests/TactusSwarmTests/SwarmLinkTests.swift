import Tactus
import Testing

@testable import TactusSwarm

/// The link between an operator and its system.
@Suite struct SwarmLinkTests {
  @Test("a link: perfect at first, then as its history says; a seed gives one list of deliveries")
  func link() {
    func deliveries(_ seed: UInt64) -> [TickInstant] {
      var link = SwarmLink(seed: seed)
      let isOfLink = link.apply(SwarmAction(.zero, "robot", "link", 300, 10, 50, 100))
      #expect(isOfLink)
      for index in 0..<100 { link.send([1], .there, at: .zero + .milliseconds(Int64(index))) }
      let back = link.arrived(.back, by: .zero + .seconds(1))
      #expect(back.isEmpty)
      return link.arrived(.there, by: .zero + .seconds(1)).map(\.arrives)
    }
    let first = deliveries(1)
    #expect(first == deliveries(1) && first != deliveries(2))
    #expect(first == first.sorted() && (50..<100).contains(first.count))
    var link = SwarmLink(seed: 1)
    link.send([7], .back, at: .zero)
    #expect(link.nextArrival(.back) == .zero && link.nextArrival(.there) == .distantFuture)
    let bytes = link.arrived(.back, by: .zero).map(\.bytes)
    #expect(bytes == [[7]])
    let (isDeath, isStall) = (
      link.apply(SwarmAction(.zero, "robot", "link-dead", 0, 1)), link.apply(SwarmAction(.zero, "robot", "stall", 1))
    )
    #expect(isDeath && !isStall)
    link.send([8], .back, at: .zero)
    link.send([9], .there, at: .zero)
    let (back, there) = (link.arrived(.back, by: .zero).map(\.bytes), link.arrived(.there, by: .zero).map(\.bytes))
    #expect(back.isEmpty && there == [[9]])
  }
}
