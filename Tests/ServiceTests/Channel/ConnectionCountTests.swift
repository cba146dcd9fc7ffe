import Testing

@testable import Service

@Suite("Who has how many connections")
struct ConnectionCountTests {
  private let count: ConnectionCount

  init() {
    var limits = ConnectionLimits(connections: 5)
    limits.connectionsOfOneAddress = 2
    count = ConnectionCount(limits)
  }

  private func enters(_ address: String) -> Bool {
    if case .welcome = count.enter(address) { true } else { false }
  }

  @Test("one address beyond its share: refused, while others come in; room again when one of its own leaves")
  func oneAddress() {
    #expect((0..<3).map { _ in enters("192.0.2.7") } == [true, true, false])
    #expect(enters("192.0.2.8"))
    count.leave("192.0.2.8", .welcome)
    #expect(!enters("192.0.2.7"))
    count.leave("192.0.2.7", .welcome)
    #expect(enters("192.0.2.7"))
  }

  @Test("loopback: as many as all together may have, and no more", arguments: ["127.0.0.1", "::1"])
  func loopback(address: String) {
    #expect((0..<6).map { _ in enters(address) } == [true, true, true, true, true, false])
    #expect(!enters("192.0.2.7"))
  }

  @Test("more than 64 that are being refused: closed without a word")
  func flood() {
    for _ in 0..<5 { _ = count.enter("::1") }
    let refused = (0..<65).map { _ in count.enter("192.0.2.7") }
    #expect(refused == Array(repeating: .full, count: 64) + [.flooded])
    count.leave("192.0.2.7", .flooded)
    count.leave("192.0.2.7", .full)
    #expect(count.enter("192.0.2.7") == .full)
  }
}
