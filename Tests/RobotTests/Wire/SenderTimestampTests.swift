import Robot
import TestSupport
import Testing
import WireSupport

@Suite(.ownThread) struct SenderTimestampTests {
  private func order(_ value: Double, after last: Double) -> SenderTimestamp.Order {
    SenderTimestamp(wireValue: value).order(after: SenderTimestamp(wireValue: last))
  }

  @Test("order: larger is newer, smaller is older")
  func differs() {
    #expect(order(5, after: 4.5) == .newer)
    #expect(order(4.5, after: 5) == .older)
    #expect(order(1763702470.123457, after: 1763702470.123456) == .newer)
  }

  @Test("order: equal whole seconds are newer in arrival order, equal fractions a duplicate")
  func equal() {
    #expect(order(1_234_567_890, after: 1_234_567_890) == .newer)
    #expect(order(0, after: -0.0) == .newer)
    #expect(order(1e300, after: 1e300) == .newer)
    #expect(order(1234567890.5, after: 1234567890.5) == .duplicate)
  }

  @Test("units: above 10^12 is milliseconds")
  func milliseconds() {
    #expect(SenderTimestamp(wireValue: 1_763_702_470_123).seconds == 1763702470.123)
    #expect(SenderTimestamp(wireValue: 1e12).seconds == 1e12)
    #expect(order(1_763_702_470_123, after: 1763702470.123) == .duplicate)
    #expect(SenderTimestamp(wireValue: 1_763_702_470_000).isWhole)
    #expect(!SenderTimestamp(wireValue: 1_763_702_470_001).isWhole)
  }
}
