import TestSupport
import Testing

@testable import Service

@Suite("log history", .ownThread)
struct LogHistoryTests {
  private func filled(_ count: Int, capacity: Int = 4096, bytes: Int = 2 << 20) -> LogHistory {
    let history = LogHistory(capacity: capacity, bytes: bytes)
    for number in 0..<count {
      history.append(
        level: number.isMultiple(of: 3) ? .warning : .info, system: number.isMultiple(of: 2) ? "robot" : "tactus",
        text: #"{"n":\#(number)}"#)
    }
    return history
  }

  @Test("since a number: the oldest first, `next` continues without gap or repetition")
  func pages() {
    let history = filled(10)
    var since: Int64 = 0
    var lines: [String] = []
    for _ in 0..<4 {
      let page = history.page(since: since, limit: 3)
      #expect(page.dropped == 0)
      lines += page.lines
      since = page.next
    }
    #expect(lines == (0..<10).map { #"{"seq":\#($0),"n":\#($0)}"# })
    #expect(history.page(since: since, limit: 3) == .init(lines: [], next: 10, dropped: 0))
  }

  @Test("no number: the newest")
  func newest() {
    let page = filled(10).page(since: nil, limit: 2)
    #expect(page.lines == [#"{"seq":8,"n":8}"#, #"{"seq":9,"n":9}"#] && page.next == 10)
  }

  @Test("level and system: only lines that match; `next` passes the others")
  func filters() {
    let page = filled(10).page(since: 1, limit: 100, level: .warning, system: "robot")
    #expect(page.lines == [#"{"seq":6,"n":6}"#] && page.next == 10)
  }

  @Test("more lines than kept: the oldest are gone, and counted")
  func overflow() {
    let page = filled(10, capacity: 4).page(since: 2, limit: 100)
    #expect(page.dropped == 4 && page.lines.count == 4 && page.lines[0] == #"{"seq":6,"n":6}"#)
  }

  @Test("more bytes than kept: the oldest are gone; a line longer than all room still comes in alone")
  func bytes() {
    let history = filled(10, bytes: 16)
    #expect(history.page(since: 0, limit: 100).lines == [#"{"seq":8,"n":8}"#, #"{"seq":9,"n":9}"#])
    history.append(level: .info, system: "x", text: #"{"long":"0123456789012345"}"#)
    #expect(history.page(since: 0, limit: 100).lines.count == 1)
  }

  @Test("a number from before a restart: nothing, and where the lines are now")
  func restarted() {
    #expect(filled(3).page(since: 900, limit: 5) == .init(lines: [], next: 3, dropped: 0))
  }
}
