import Foundation

@testable import TactusDaemon

/// What a daemon with two loops says, with numbers to choose.
enum TopDocuments {
  struct LoopNumbers {
    var name = "robot.motors"
    var hertz = 200
    var ran = 0
    var skipped = 0
    var overruns = 0
    var misses = 0
    var gap: Int?
    /// When the tick began that runs, and how many releases are past their deadline.
    var running: (since: Int, overdue: Int)?
    /// `[largest value, how many]`, nanoseconds.
    var latency: [[Int]] = []
    var execution: [[Int]] = []
    var ages: [Age] = []
  }

  struct Age {
    var name = "command"
    var path = ["robot.motors"]
    var arrival: String? = "releasesLoop"
    /// p50, p99, the most and the last; `nil` while nothing has been used.
    var nanoseconds: (p50: Int, p99: Int, most: Int, last: Int)?
    var bound: Int?

    var text: String {
      func orNull(_ number: Int?) -> String { number.map { "\($0)" } ?? "null" }
      let (p50, p99) = (orNull(nanoseconds?.p50), orNull(nanoseconds?.p99))
      return """
        {"name":"\(name)","path":\(path),"arrival":\(arrival.map { "\"\($0)\"" } ?? "null"),
        "ageNs":{"p50":\(p50),"p90":\(p99),"p99":\(p99),"p999":\(p99),"min":\(p50),"max":\(orNull(nanoseconds?.most))},
        "lastNs":\(orNull(nanoseconds?.last)),"nowNs":\(orNull(nanoseconds?.last)),"unsampled":0,
        "boundNs":\(orNull(bound)),"isBoundMeasured":false}
        """
    }
  }

  static let stopped = status(
    #"{"state":"stopped","reason":"stopped: commanded","wayOut":null,"emergencyStopped":false,"fault":null}"#)
  static let emergency = status(
    #"{"state":"emergencyStopped","reason":"emergency stop by local client 1","wayOut":"release every stick","#
      + #""emergencyStopped":true,"fault":null}"#)
  static let fault = status(
    #"{"state":"fault","reason":"fault: the bus is stuck","wayOut":null,"emergencyStopped":false,"fault":"stuck"}"#)

  private static func status(_ robot: String) -> String {
    #"{"ok":true,"version":"1.2.3","systems":{"robot":\#(robot)}}"#
  }

  /// `seconds`: since the runtime's start.
  static func runtime(
    seconds: Double, epoch: Int = 5_000_000_000, loops: [LoopNumbers], effective: String = "fifo 80"
  ) -> String {
    func distribution(_ buckets: [[Int]]) -> String {
      let most = buckets.last.map { "\($0[0])" } ?? "null"
      return #"{"p50":null,"p90":null,"p99":null,"p999":null,"min":null,"max":\#(most),"buckets":\#(buckets)}"#
    }
    let texts = loops.map { loop in
      """
      {"name":"\(loop.name)","lane":"robot","rateHz":\(loop.hertz),"periodNs":\(1_000_000_000 / loop.hertz),"phaseNs":0,
      "released":\(loop.ran + loop.skipped),"ran":\(loop.ran),"skipped":\(loop.skipped),"pending":0,
      "overdue":\(loop.running?.overdue ?? 0),
      "running":\(loop.running.map { #"{"sinceNs":\#($0.since),"isSafeState":false}"# } ?? "null"),
      "longestGap":\(loop.gap.map { #"{"lengthNs":\#($0),"sinceNs":1}"# } ?? "null"),"byDeadline":0,
      "byInput":0,"overruns":\(loop.overruns),"oversleeps":0,"deadlineMisses":\(loop.misses),"safeStates":0,
      "latencyNs":\(distribution(loop.latency)),"executionNs":\(distribution(loop.execution)),"ages":[\(loop.ages.map(\.text).joined(separator: ","))]}
      """
    }
    return """
      {"ok":true,"version":"1.2.3","epochNs":\(epoch),"monotonicNs":\(epoch + Int(seconds * 1e9)),
      "memoryLock":{"state":"locked","errno":null},
      "wakeUpLatency":{"state":"held","requestedNs":0,"effectiveNs":0},"findings":[],
      "lanes":[{"name":"robot","requested":"fifo 80","effective":"\(effective)","requestedCPU":3,
      "effectiveCPU":3,"requestedCPUs":"3","effectiveCPUs":"3","budgetsUsedUp":null,
      "isAsRequested":\(effective == "fifo 80"),"findings":[]}],
      "loops":[\(texts.joined(separator: ","))],"planner":[]}
      """
  }

  static func sample(_ runtime: String, _ status: String = stopped) -> TopSample? {
    TopSample(runtime: Array(runtime.utf8), status: Array(status.utf8))
  }

  /// Two answers, a second apart, of a daemon that has run for two hours.
  static let first = runtime(
    seconds: 7_980,
    loops: [
      LoopNumbers(ran: 1_596_000, latency: [[12_287, 1_596_000]], execution: [[98_303, 1_596_000]]),
      LoopNumbers(
        name: "supervisor", hertz: 10, ran: 79_800, latency: [[57_343, 79_800]], execution: [[2_047, 79_800]]),
    ])
  static let second = runtime(
    seconds: 7_981,
    loops: [
      LoopNumbers(
        ran: 1_596_198, skipped: 2, overruns: 1, misses: 3, gap: 15_210_000,
        latency: [[12_287, 1_596_150], [49_151, 45], [1_245_183, 3]], execution: [[98_303, 1_596_198]]),
      LoopNumbers(
        name: "supervisor", hertz: 10, ran: 79_810, gap: 100_200_000, latency: [[57_343, 79_810]],
        execution: [[2_047, 79_810]]),
    ])
}
