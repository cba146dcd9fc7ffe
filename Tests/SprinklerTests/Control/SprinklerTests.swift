import Sprinkler
import Testing

@Suite("Values of the sprinkler")
struct SprinklerValueTests {
  @Test("a zone's number: 1…64 and nothing else")
  func zoneNumbers() {
    #expect(ZoneID(0) == nil)
    #expect(ZoneID(65) == nil)
    #expect((1...64).compactMap(ZoneID.init).map(\.index) == Array(0...63))
  }
}
