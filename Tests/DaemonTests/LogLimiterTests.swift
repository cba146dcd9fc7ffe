import Logging
import Tactus
import Testing

@testable import TactusDaemon

@Suite("how many lines the log takes")
struct LogLimiterTests {
  private func at(_ seconds: Int64) -> TickInstant { TickInstant(nanoseconds: seconds * 1_000_000_000) }

  private func kind(_ message: String, _ metadata: Logger.Metadata = [:], _ level: Logger.Level = .info)
    -> LogLimiter.Kind?
  {
    LogLimiter.Kind(label: "service", level: level, message: message, metadata: metadata)
  }

  @Test("37,000 refusals in a minute: 30 are written, the rest is told in one line; then it begins anew")
  func oneKind() throws {
    var limiter = LogLimiter()
    let refusal = try #require(kind("action", ["system": "all", "action": "e-stop", "result": "TOKEN_INVALID"]))
    let written = (0..<37_000).count { limiter.admit(refusal, at: at(Int64($0 / 1_000))) }
    #expect(written == LogLimiter.linesOfAKind)
    let early = limiter.account(at: at(59))
    #expect(early == [])
    let told = limiter.account(at: at(60))
    #expect(told == [.init(kind: refusal, count: 37_000 - written)])
    #expect(told.first?.message == "action: 36970 more in the last minute")
    #expect(told.first?.metadata["result"] == "TOKEN_INVALID")
    let later = (limiter.account(at: at(120)), limiter.admit(refusal, at: at(121)))
    #expect(later.0 == [] && later.1)
  }

  @Test("lines that differ in their particulars are of one kind, those of another action, result or system are not")
  func kinds() {
    let one = kind("action", ["system": "all", "action": "e-stop", "result": "ok", "caller": "192.0.2.1"])
    #expect(one == kind("action", ["system": "all", "action": "e-stop", "result": "ok", "caller": "192.0.2.2"]))
    for (name, value) in [("system", "leg"), ("action", "reset"), ("result", "STALE")] {
      var other: Logger.Metadata = ["system": "all", "action": "e-stop", "result": "ok"]
      other[name] = .string(value)
      #expect(one != kind("action", other))
    }
  }

  @Test("what a token's holder did, and what is critical, is never counted instead of written")
  func unlimited() {
    #expect(kind("action", ["action": "on", "tokenId": "phone"]) == nil)
    #expect(kind("the control loop has not ticked", [:], .critical) == nil)
  }

  @Test("many kinds: all together 300 lines a minute, and what is remembered has a bound")
  func all() throws {
    var limiter = LogLimiter()
    var written = 0
    for number in 0..<10_000 {
      let kind = try #require(self.kind("message \(number % 1000)"))
      if limiter.admit(kind, at: at(0)) { written += 1 }
    }
    #expect(written <= LogLimiter.lines)
    let told = limiter.account(at: at(60))
    #expect(told.count <= LogLimiter.kinds + 1)
    #expect(told.map(\.count).reduce(written, +) == 10_000)
    #expect(told.first?.message.hasPrefix("lines of other kinds: ") == true)
  }

  @Test("the end of the program: what is counted is told at once")
  func end() throws {
    var limiter = LogLimiter()
    let kind = try #require(self.kind("robot"))
    for _ in 0..<31 { _ = limiter.admit(kind, at: at(0)) }
    let told = limiter.account(at: at(1), atOnce: true)
    #expect(told == [.init(kind: kind, count: 1)])
  }
}
