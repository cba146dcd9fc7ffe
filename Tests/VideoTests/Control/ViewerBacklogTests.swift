import Tactus
import TestSupport
import Testing
import Video

@Suite("viewer's backlog", .ownThread)
struct ViewerBacklogTests {
  private let head: [UInt8] = [0xAA]
  private let now = TickInstant(nanoseconds: 1_000_000_000)

  @Test("a wait is that of the oldest, and of a viewer who reads alone")
  func waits() {
    var backlog = ViewerBacklog(limitBytes: 10)
    backlog.begin(head)
    backlog.add([1], isKey: true, at: now)
    #expect(backlog.wait(at: now + .milliseconds(500)) == nil)
    _ = backlog.take()
    #expect(backlog.wait(at: now + .milliseconds(500)) == .zero)
    _ = backlog.take()
    backlog.add([2], isKey: false, at: now + .milliseconds(500))
    #expect(backlog.take() == [2])
    backlog.add([3], isKey: false, at: now + .milliseconds(600))
    backlog.add([4], isKey: false, at: now + .milliseconds(700))
    #expect(backlog.wait(at: now + .milliseconds(900)) == .milliseconds(300))
    #expect(backlog.wait(at: now + .milliseconds(900)) == nil)
    _ = backlog.take()
    backlog.add([5], isKey: true, at: now + .milliseconds(900))
    backlog.add([6], isKey: true, at: now + .seconds(3))
    _ = backlog.take()
    #expect(backlog.wait(at: now + .seconds(3)) == .seconds(1))
  }

  @Test("what has waited for a second is left out, and so is what waits behind it")
  func late() {
    var backlog = ViewerBacklog(limitBytes: 100)
    backlog.begin(head)
    backlog.add([1], isKey: true, at: now)
    backlog.add([2], isKey: false, at: now + .seconds(1))
    #expect(backlog.dropped == 0)
    backlog.add([3], isKey: false, at: now + .milliseconds(1_001))
    #expect(backlog.dropped == 3)
    #expect(backlog.take() == nil)
    backlog.add([4], isKey: true, at: now + .milliseconds(1_002))
    #expect(backlog.take() == [0xAA, 4])
  }

  @Test("much that waits is taken in pieces")
  func pieces() {
    var backlog = ViewerBacklog(limitBytes: 1 << 20)
    backlog.begin(head)
    let fragment = Array(repeating: 7 as UInt8, count: 3 << 10)
    for number in 0..<5 { backlog.add(fragment, isKey: number == 0, at: now) }
    let counts = (0..<4).map { _ in backlog.take()?.count }
    #expect(counts == [(6 << 10) + 1, 6 << 10, 3 << 10, nil])
    #expect(backlog.dropped == 0)
  }

  @Test("a viewer who joins: the initialisation, then nothing before a key frame")
  func joins() {
    var backlog = ViewerBacklog(limitBytes: 100)
    backlog.begin(head)
    backlog.add([1], isKey: false, at: now)
    #expect(backlog.take() == nil)
    backlog.add([2], isKey: true, at: now)
    backlog.add([3], isKey: false, at: now)
    #expect(backlog.take() == [0xAA, 2, 3])
    backlog.add([4], isKey: false, at: now)
    #expect(backlog.take() == [4])
    #expect(backlog.dropped == 1)
  }

  @Test("a viewer who does not read: never more than the limit waits, and it goes on with a key frame")
  func slow() {
    var backlog = ViewerBacklog(limitBytes: 10)
    backlog.begin(head)
    for number in 0..<10 { backlog.add([UInt8(number)], isKey: number == 0, at: now) }
    backlog.add([10], isKey: false, at: now)
    // The ten before, and the one that found no room.
    #expect(backlog.dropped == 11)
    #expect(backlog.take() == nil)
    backlog.add([11], isKey: false, at: now)
    backlog.add([12], isKey: true, at: now)
    #expect(backlog.take() == [0xAA, 12])
  }

  @Test("a key frame that finds no room: what was before it goes, and it stays")
  func keyFindsNoRoom() {
    var backlog = ViewerBacklog(limitBytes: 4)
    backlog.begin(head)
    backlog.add([1, 1, 1], isKey: true, at: now)
    backlog.add([2, 2, 2], isKey: true, at: now)
    #expect(backlog.take() == [0xAA, 2, 2, 2])
    #expect(backlog.dropped == 1)
    backlog.add([3, 3, 3, 3, 3], isKey: true, at: now)
    #expect(backlog.take() == nil)
  }

  @Test("another format: what waits of the one before is gone")
  func changes() {
    var backlog = ViewerBacklog(limitBytes: 100)
    backlog.begin(head)
    backlog.add([1], isKey: true, at: now)
    backlog.begin([0xBB])
    backlog.add([2], isKey: false, at: now)
    backlog.add([3], isKey: true, at: now)
    #expect(backlog.take() == [0xBB, 3])
  }

  @Test("as much as the limit: it waits, whole or in parts, and again when it has been taken")
  func full() {
    var backlog = ViewerBacklog(limitBytes: 4)
    backlog.begin(head)
    backlog.add([1, 1, 1, 1], isKey: true, at: now)
    #expect(backlog.take() == [0xAA, 1, 1, 1, 1])
    backlog.add([2, 2], isKey: false, at: now)
    backlog.add([3, 3], isKey: false, at: now)
    #expect(backlog.take() == [2, 2, 3, 3])
    #expect(backlog.dropped == 0)
  }

  @Test("another format while much waits: the new one has the whole limit")
  func changesWhileFull() {
    var backlog = ViewerBacklog(limitBytes: 4)
    backlog.begin(head)
    backlog.add([1, 1, 1], isKey: true, at: now)
    backlog.begin([0xBB])
    backlog.add([2, 2, 2], isKey: true, at: now)
    backlog.add([3], isKey: false, at: now)
    #expect(backlog.take() == [0xBB, 2, 2, 2, 3])
    #expect(backlog.dropped == 1)
  }
}
