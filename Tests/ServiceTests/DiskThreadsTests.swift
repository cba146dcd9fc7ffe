import Dispatch
import Synchronization
import Tactus
import Testing

@testable import Service

@Suite("threads that wait for a disk") struct DiskThreadsTests {
  private final class Notes: Sendable {
    private let words = Mutex<[String]>([])
    func add(_ word: String) { words.withLock { $0.append(word) } }
    var all: [String] { words.withLock { $0 } }
  }

  /// Work that has a thread until somebody lets it go.
  private final class Held: Sendable {
    private let end = DispatchSemaphore(value: 0)
    private let tasks = Mutex<[Task<Void, Never>]>([])

    /// Gives work to an executor; returns once all of it has begun.
    func hold(_ count: Int, _ threads: DiskThreads) async {
      let (begun, tell) = AsyncStream<Void>.makeStream()
      let wait: @Sendable () -> Void = { [end] in
        tell.yield()
        end.wait()
      }
      for _ in 0..<count {
        let task = Task<Void, Never>(executorPreference: threads) { wait() }
        tasks.withLock { $0.append(task) }
      }
      for await _ in begun.prefix(count) {}
    }

    /// Lets so many go.
    func release(_ count: Int) { for _ in 0..<count { end.signal() } }

    func finish() async { for task in tasks.withLock({ $0 }) { await task.value } }
  }

  @Test("however many look, a command finds a thread; what looks has two of four")
  func looks() async {
    let (commands, looks) = DiskThreads.make(count: 4)
    let (held, notes) = (Held(), Notes())
    await held.hold(2, looks)
    let third = Task<Void, Never>(executorPreference: looks) { notes.add("look") }
    // Each of them would find the third look before it, had that a thread.
    for _ in 0..<3 { await Task<Void, Never>(executorPreference: commands) { notes.add("command") }.value }
    #expect(notes.all == ["command", "command", "command"])
    held.release(2)
    await third.value
    await held.finish()
    #expect(notes.all.last == "look")
  }

  @Test("of all that waits, what changes something begins first, each in its order")
  func order() async {
    let (commands, looks) = DiskThreads.make(count: 3)
    let (held, notes) = (Held(), Notes())
    await held.hold(3, commands)
    let waiting = [
      Task<Void, Never>(executorPreference: looks) { notes.add("look 1") },
      Task<Void, Never>(executorPreference: looks) { notes.add("look 2") },
      Task<Void, Never>(executorPreference: commands) { notes.add("command 1") },
      Task<Void, Never>(executorPreference: commands) { notes.add("command 2") },
    ]
    // One thread, which takes them one after the other.
    held.release(1)
    for task in waiting { await task.value }
    #expect(notes.all == ["command 1", "command 2", "look 1", "look 2"])
    held.release(2)
    await held.finish()
  }

  private static func limit(that ends: Nanoseconds) -> DiskThreads.After {
    { time, act in
      if time == ends { act() }
      return {}
    }
  }

  @Test("no thread in time: 503, and what was asked for is not done afterwards either")
  func notBegun() async {
    let (commands, _) = DiskThreads.make(count: 3)
    let (held, notes) = (Held(), Notes())
    await held.hold(3, commands)
    do {
      try await commands.run(patience: .seconds(10), longest: .seconds(20), after: Self.limit(that: .seconds(10))) {
        notes.add("done")
      }
      Issue.record("done, without a thread")
    } catch {
      let refusal = error as? APIError
      #expect(refusal?.status == .serviceUnavailable && refusal?.code == "DISK_BUSY")
      #expect(refusal?.message.contains("nothing was done, nor will it be") == true)
    }
    held.release(3)
    await held.finish()
    // It was before this in the queue.
    await Task<Void, Never>(executorPreference: commands) { notes.add("next") }.value
    #expect(notes.all == ["next"])
  }

  @Test("work that takes too long is not waited for, and ends by itself")
  func begun() async {
    let (commands, _) = DiskThreads.make(count: 3)
    let notes = Notes()
    let (ended, tell) = AsyncStream<Void>.makeStream()
    do {
      try await commands.run(patience: .seconds(10), longest: .seconds(20), after: Self.limit(that: .seconds(20))) {
        notes.add("done")
        tell.finish()
      }
      Issue.record("waited for")
    } catch {
      let refusal = error as? APIError
      #expect(refusal?.code == "DISK_BUSY" && refusal?.message.contains("has begun") == true)
    }
    for await _ in ended {}
    #expect(notes.all == ["done"])
  }

  @Test("in time: the result, or the work's own error, once")
  func inTime() async throws {
    let (commands, looks) = DiskThreads.make(count: 3)
    let never = Self.limit(that: .seconds(-1))
    let three = try await looks.run(patience: .seconds(10), longest: .seconds(20), after: never) { 3 }
    #expect(three == 3)
    await #expect(throws: APIError.notFound("x")) {
      _ = try await commands.run(patience: .seconds(10), longest: .seconds(20), after: never) {
        () async throws -> Int in
        throw APIError.notFound("x")
      }
    }
  }
}
