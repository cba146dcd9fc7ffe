import Buses
import Tactus
import TestSupport
import Testing

/// A link without a radio: the test is the driver.
@Suite("Message link", .ownThread)
struct MessageLinkTests {
  static func deliver(_ driver: inout LinkDriver, _ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { driver.deliver($0) }
  }

  @Test("up, messages, down: in that order; what was not read before the end is not read")
  func order() throws {
    let link = try MessageLink()
    let end = LinkEnd(link)
    var driver = link.driver()
    #expect(end.control.takeEvent() == nil)
    driver.up()
    #expect(Self.deliver(&driver, [1, 2, 3]))
    #expect(end.event() == .up)
    #expect(end.message() == [1, 2, 3])
    #expect(Self.deliver(&driver, [4]))
    driver.down()
    #expect(end.event() == .down)
    driver.up()
    #expect(Self.deliver(&driver, [5]))
    #expect(end.event() == .up)
    #expect(end.message() == [5])
  }

  @Test("messages of a connection whose beginning was not taken wait for it, and the bell keeps ringing")
  func held() throws {
    let link = try MessageLink()
    var port = link.port()
    let bell = port.descriptor!
    var control = link.control()
    var batch = DatagramBatch(capacity: 4, size: 8)
    var driver = link.driver()
    driver.up()
    #expect(Self.deliver(&driver, [9]))
    for _ in 0..<3 {
      _ = port.receive(into: &batch)
      #expect(batch.count == 0)
    }
    #expect(LinkEnd.isReadable(bell))
    #expect(control.takeEvent() == .up)
    _ = port.receive(into: &batch)
    #expect(batch.count == 1 && batch.length(0) == 1 && batch.source(0) == MessageLink.peer)
    #expect(!LinkEnd.isReadable(bell))
  }

  @Test("a connection replaced by another between two looks: down, up; one that came and went: nothing")
  func replaced() throws {
    let link = try MessageLink()
    var control = link.control()
    var driver = link.driver()
    driver.up()
    driver.down()
    #expect(control.takeEvent() == nil)
    driver.up()
    #expect(control.takeEvent() == .up)
    driver.down()
    driver.up()
    #expect(control.takeEvent() == .down)
    #expect(control.takeEvent() == .up)
    #expect(control.takeEvent() == nil)
  }

  @Test("a loop without control just gets messages")
  func plain() throws {
    let link = try MessageLink()
    var port = link.port()
    var batch = DatagramBatch(capacity: 4, size: 2)
    var driver = link.driver()
    driver.up()
    #expect(Self.deliver(&driver, [1, 2, 3]))
    driver.down()
    driver.up()
    #expect(Self.deliver(&driver, [4]))
    _ = port.receive(into: &batch)
    // Of the connection before nothing; a message longer than the batch's size shows its length.
    #expect(batch.count == 1 && batch.bytes(0).map(Array.init) == [4])
    #expect(Self.deliver(&driver, [1, 2, 3]))
    _ = port.receive(into: &batch)
    #expect(batch.count == 1 && batch.bytes(0) == nil && batch.length(0) == 3)
  }

  @Test("what the loop sends goes to the connection it knows: none, too long, full and an old one are refused")
  func sending() throws {
    let link = try MessageLink(capacity: 2)
    let end = LinkEnd(link)
    var driver = link.driver()
    #expect(!end.send([1]))
    driver.up()
    #expect(!end.send([1]))  // not taken yet
    #expect(end.event() == .up)
    #expect(!end.send([UInt8](repeating: 0, count: 513)))
    #expect(end.send([UInt8](repeating: 7, count: 512)))
    #expect(driver.takeMessage() == [UInt8](repeating: 7, count: 512))
    #expect(end.send([1]) && end.send([2]) && !end.send([3]))
    driver.down()
    #expect(!end.send([4]))
    driver.up()
    #expect(driver.takeMessage() == nil)
    #expect(!end.send([5]))
  }

  @Test("orders: the last one counts, and each is told once")
  func orders() throws {
    let link = try MessageLink()
    var control = link.control()
    var driver = link.driver()
    #expect(driver.takeOrder() == nil)
    control.connect()
    #expect(driver.takeOrder() == .connect)
    #expect(driver.takeOrder() == nil)
    control.connect()
    control.disconnect()
    #expect(driver.takeOrder() == .disconnect)
    control.connect()
    control.connect()
    #expect(driver.takeOrder() == .connect)
    #expect(driver.takeOrder() == nil)
  }

  @Test("more messages than a batch holds: the bell rings until all are taken")
  func many() throws {
    let link = try MessageLink(capacity: 16)
    var port = link.port()
    let bell = port.descriptor!
    var batch = DatagramBatch(capacity: 4, size: 8)
    var driver = link.driver()
    driver.up()
    for number in 0..<16 { #expect(Self.deliver(&driver, [UInt8(number)])) }
    #expect(!Self.deliver(&driver, [16]))
    var taken: [UInt8] = []
    while LinkEnd.isReadable(bell) {
      _ = port.receive(into: &batch)
      for index in 0..<batch.count { taken.append(batch.bytes(index)![0]) }
    }
    #expect(taken == Array(0..<16))
  }
}
