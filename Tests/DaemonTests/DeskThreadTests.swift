import Dispatch
import Service
import Synchronization
import TestSupport
import Testing

@testable import TactusDaemon

@Suite("A desk's thread", .ownThread)
struct DeskThreadTests {
  private final class Notes: Sendable {
    private let words = Mutex<[String]>([])
    func add(_ word: String) { words.withLock { $0.append(word) } }
    var all: [String] { words.withLock { $0 } }
  }

  @Test("its work waits for a disk: who gives it more goes on; then all is done in order, of the beats that waited one")
  func waiting() {
    let (thread, notes) = (DeskThread("test"), Notes())
    let (begun, disk) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    #expect(thread.isIdle)
    thread.run {
      begun.signal()
      disk.wait()
      notes.add("first")
      return []
    }
    begun.wait()
    for _ in 0..<3 {
      thread.beat {
        notes.add("beat")
        return []
      }
    }
    thread.run {
      notes.add("last")
      return []
    }
    #expect(!thread.isIdle && notes.all == [])
    disk.signal()
    thread.finish { notes.add("end") }
    #expect(thread.isIdle && notes.all == ["first", "beat", "last", "end"])
    // The one that waited has begun: the next may wait.
    thread.beat {
      notes.add("another")
      return []
    }
    thread.finish {}
    #expect(notes.all.last == "another")
  }

  @Test("what subscribers are to be told of its work: in order, once")
  func events() {
    let thread = DeskThread("test")
    for number in 1...3 {
      thread.run { [Event(.edge, type: "number.\(number)", system: "test", at: .zero, json: number)] }
    }
    thread.finish {}
    #expect(thread.takeEvents().map(\.type) == ["number.1", "number.2", "number.3"])
    #expect(thread.takeEvents().isEmpty)
  }
}
