import TestSupport
import Testing
import Video

@Suite("viewer's backlog", .ownThread)
struct ViewerBacklogTests {
  private let head: [UInt8] = [0xAA]

  @Test("a viewer who joins: the initialisation, then nothing before a key frame")
  func joins() {
    var backlog = ViewerBacklog(limitBytes: 100)
    backlog.begin(head)
    backlog.add([1], isKey: false)
    #expect(backlog.take() == nil)
    backlog.add([2], isKey: true)
    backlog.add([3], isKey: false)
    #expect(backlog.take() == [0xAA, 2, 3])
    backlog.add([4], isKey: false)
    #expect(backlog.take() == [4])
    #expect(backlog.dropped == 1)
  }

  @Test("a viewer who does not read: never more than the limit waits, and it goes on with a key frame")
  func slow() {
    var backlog = ViewerBacklog(limitBytes: 10)
    backlog.begin(head)
    for number in 0..<10 { backlog.add([UInt8(number)], isKey: number == 0) }
    backlog.add([10], isKey: false)
    // The ten before, and the one that found no room.
    #expect(backlog.dropped == 11)
    #expect(backlog.take() == nil)
    backlog.add([11], isKey: false)
    backlog.add([12], isKey: true)
    #expect(backlog.take() == [0xAA, 12])
  }

  @Test("a key frame that finds no room: what was before it goes, and it stays")
  func keyFindsNoRoom() {
    var backlog = ViewerBacklog(limitBytes: 4)
    backlog.begin(head)
    backlog.add([1, 1, 1], isKey: true)
    backlog.add([2, 2, 2], isKey: true)
    #expect(backlog.take() == [0xAA, 2, 2, 2])
    #expect(backlog.dropped == 1)
    backlog.add([3, 3, 3, 3, 3], isKey: true)
    #expect(backlog.take() == nil)
  }

  @Test("another format: what waits of the one before is gone")
  func changes() {
    var backlog = ViewerBacklog(limitBytes: 100)
    backlog.begin(head)
    backlog.add([1], isKey: true)
    backlog.begin([0xBB])
    backlog.add([2], isKey: false)
    backlog.add([3], isKey: true)
    #expect(backlog.take() == [0xBB, 3])
  }

  @Test("as much as the limit: it waits, whole or in parts, and again when it has been taken")
  func full() {
    var backlog = ViewerBacklog(limitBytes: 4)
    backlog.begin(head)
    backlog.add([1, 1, 1, 1], isKey: true)
    #expect(backlog.take() == [0xAA, 1, 1, 1, 1])
    backlog.add([2, 2], isKey: false)
    backlog.add([3, 3], isKey: false)
    #expect(backlog.take() == [2, 2, 3, 3])
    #expect(backlog.dropped == 0)
  }

  @Test("another format while much waits: the new one has the whole limit")
  func changesWhileFull() {
    var backlog = ViewerBacklog(limitBytes: 4)
    backlog.begin(head)
    backlog.add([1, 1, 1], isKey: true)
    backlog.begin([0xBB])
    backlog.add([2, 2, 2], isKey: true)
    backlog.add([3], isKey: false)
    #expect(backlog.take() == [0xBB, 2, 2, 2, 3])
    #expect(backlog.dropped == 1)
  }
}
