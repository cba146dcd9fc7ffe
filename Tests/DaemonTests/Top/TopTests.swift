import Testing

@testable import TactusDaemon

@Suite("top: what it shows")
struct TopTests {
  private func twice() throws -> TopModel {
    var model = TopModel()
    model.add(try #require(TopDocuments.sample(TopDocuments.first)))
    model.add(try #require(TopDocuments.sample(TopDocuments.second)))
    return model
  }

  @Test("two answers: rates and percentiles of the time between them")
  func interval() throws {
    let rows = try twice().rows
    #expect(rows.map(\.name) == ["robot.motors", "supervisor"])
    #expect(rows[0].hertz == 198 && rows[1].hertz == 10)
    #expect(rows[0].latency.percentile(0.5) == 12_287)
    #expect(rows[0].latency.percentile(0.99) == 1_245_183)
    #expect(rows[0].latency.percentile(1) == 1_245_183)
    #expect(rows[0].jitter == [1_245_183] && rows[1].jitter == [57_343])
    #expect(rows[0].skipped == 2 && rows[0].overruns == 1 && rows[0].deadlineMisses == 3)
  }

  @Test("states of systems: a word, none in a word, null, nothing known")
  func states() throws {
    let systems = #"{"kiln":{"state":"off"},"vent":{"on":true},"leg":{"state":null},"pump":{}}"#
    let status = #"{"ok":true,"systems":\#(systems)}"#
    let sample = try #require(TopDocuments.sample(TopDocuments.first, status))
    #expect(
      sample.systems.map { "\($0.name): \($0.state)" } == ["kiln: off", "leg: unknown", "pump: unknown", "vent: runs"])
  }

  @Test("one answer: everything since the start, no jitter yet")
  func since() throws {
    var model = TopModel()
    model.add(try #require(TopDocuments.sample(TopDocuments.first)))
    #expect(model.rows[0].hertz == 200 && model.rows[0].jitter == [])
    #expect(model.rows[0].latency.percentile(0.99) == 12_287)
  }

  @Test("an interval in which nothing ran: no time, a gap in the jitter")
  func nothing() throws {
    var model = TopModel()
    let loops = [TopDocuments.LoopNumbers(ran: 5, latency: [[12_287, 5]])]
    for seconds in [1.0, 2, 3] {
      model.add(try #require(TopDocuments.sample(TopDocuments.runtime(seconds: seconds, loops: loops))))
    }
    #expect(model.rows[0].hertz == 0 && model.rows[0].latency.percentile(1) == nil)
    #expect(model.rows[0].jitter == [nil, nil])
    #expect(Sparkline.text([1_000, nil, 5_000, 5_000_000]) == "▁ ▂█")
  }

  @Test("a tick that hangs: for how long, at every width; one that runs within its deadline is not told")
  func hang() throws {
    var model = try twice()
    let epoch = 5_000_000_000
    let loops = [
      TopDocuments.LoopNumbers(ran: 1_596_198, running: (epoch + 7_981_000_000_000, 640)),
      TopDocuments.LoopNumbers(name: "supervisor", hertz: 10, ran: 79_842, running: (epoch + 7_984_200_000_000, 0)),
    ]
    model.add(try #require(TopDocuments.sample(TopDocuments.runtime(seconds: 7_984.2, loops: loops))))
    for width in [40, 60, 80, 200] {
      let lines = TopTable.lines(model.rows, width: width)
      #expect(lines[1].hasSuffix(" on 3.2s") && !lines[2].contains(" on "), "\(lines)")
      #expect(lines.allSatisfy { $0.count <= width || width < 60 })
    }
  }

  @Test("the daemon starts anew: what it counts is not compared with what it counted before")
  func restart() throws {
    var model = try twice()
    let loops = [TopDocuments.LoopNumbers(ran: 20, latency: [[12_287, 20]])]
    model.add(
      try #require(TopDocuments.sample(TopDocuments.runtime(seconds: 0.1, epoch: 9_000_000_000, loops: loops))))
    #expect(model.rows[0].hertz == 200 && model.rows[0].jitter == [])
    #expect(model.rows[0].latency.percentile(1) == 12_287)
  }

  @Test("thirty intervals are kept, the oldest go")
  func history() throws {
    var model = TopModel()
    for number in 1...40 {
      let buckets = (1...number).map { [$0 * 1_000, 1] }
      let loops = [TopDocuments.LoopNumbers(ran: number, latency: buckets)]
      model.add(
        try #require(TopDocuments.sample(TopDocuments.runtime(seconds: Double(number), loops: loops))))
    }
    #expect(model.rows[0].jitter == (11...40).map { $0 * 1_000 })
    for (width, bars) in [
      (60, "▄▄▄▄▄▄▄▄▄"), (120, String(repeating: "▃", count: 15) + String(repeating: "▄", count: 11)),
    ] {
      let line = TopTable.lines(model.rows, width: width).last ?? ""
      #expect(line.hasSuffix(" " + bars) && line.count <= width, "\(width): \(line)")
    }
  }

  @Test(
    "60, 80 and 120 columns: the columns that fit, the most telling ones first",
    arguments: [
      (
        60,
        """
        LOOP              HZ LATE99 LATEMAX  SKIPS OVERRUN JITTER
        robot.motors   198.0  1.2ms   1.2ms      2       1 ▇
        supervisor      10.0   57µs    57µs      0       0 ▄
        """
      ),
      (
        80,
        """
        LOOP              HZ LATE50 LATE99 LATEMAX EXEC99  SKIPS OVERRUN MISSES JITTER
        robot.motors   198.0   12µs  1.2ms   1.2ms   98µs      2       1      3 ▇
        supervisor      10.0   57µs   57µs    57µs  2.0µs      0       0      0 ▄
        """
      ),
      (
        120,
        """
        LOOP              HZ LATE50 LATE99 LATEMAX EXEC50 EXEC99 EXECMAX  SKIPS OVERRUN MISSES GAPMAX JITTER
        robot.motors   198.0   12µs  1.2ms   1.2ms   98µs   98µs    98µs      2       1      3   15ms ▇
        supervisor      10.0   57µs   57µs    57µs  2.0µs  2.0µs   2.0µs      0       0      0  100ms ▄
        """
      ),
    ])
  func table(width: Int, text: String) throws {
    let lines = TopTable.lines(try twice().rows, width: width)
    #expect(lines.joined(separator: "\n") == text)
    #expect(lines.allSatisfy { $0.count <= width })
  }

  @Test(
    "ages of data: beside the planner's bound, the columns that fit; what is unknown is a dash",
    arguments: [
      (
        40,
        """
        AGE OF DATA            P50    MAX  BOUND
        command: robot.mot…   52µs  1.4ms  1.1ms
        tilt: imu → motors       –      –      –
        """
      ),
      (
        80,
        """
        AGE OF DATA              P50    P99    MAX   LAST  BOUND
        command: robot.motors   52µs  890µs  1.4ms   61µs  1.1ms
        tilt: imu → motors         –      –      –      –      –
        """
      ),
    ])
  func ages(width: Int, text: String) throws {
    let command = TopDocuments.Age(
      nanoseconds: (p50: 52_000, p99: 890_000, most: 1_400_000, last: 61_000), bound: 1_100_000)
    let tilt = TopDocuments.Age(name: "tilt", path: ["imu", "motors"], arrival: nil)
    var model = TopModel()
    let loops = [TopDocuments.LoopNumbers(ages: [command]), TopDocuments.LoopNumbers(name: "motors", ages: [tilt])]
    model.add(try #require(TopDocuments.sample(TopDocuments.runtime(seconds: 5, loops: loops))))
    let lines = TopTable.lines(model.ages, width: width)
    #expect(lines.joined(separator: "\n") == text)
    #expect(lines.allSatisfy { $0.count <= width })
    // Below the loops; nothing where no loop has an age.
    let screen = TopScreen.lines(model, host: "pi", width: width)
    #expect(screen.suffix(3).map(\.text) == lines && screen[screen.count - 3].style == .heading)
    model.add(try #require(TopDocuments.sample(TopDocuments.first)))
    #expect(!TopScreen.lines(model, host: "pi", width: width).contains { $0.text.hasPrefix("AGE") })
  }

  @Test(
    "times: two or three digits in the unit that fits",
    arguments: [
      (0, "0ns"), (999, "999ns"), (1_000, "1.0µs"), (9_940, "9.9µs"), (9_960, "10µs"), (999_499, "999µs"),
      (999_500, "1.0ms"), (12_345_678, "12ms"), (999_999_999, "1.0s"), (61_000_000_000, "61s"),
    ] as [(Int64, String)])
  func times(nanoseconds: Int64, text: String) {
    #expect(TopTable.time(nanoseconds) == text)
  }

  @Test("the head: version, host, time since the start, systems; what is not as requested")
  func head() throws {
    var model = TopModel()
    let loops = [TopDocuments.LoopNumbers()]
    let runtime = TopDocuments.runtime(seconds: 7_981, loops: loops, effective: "normal")
    model.add(try #require(TopDocuments.sample(runtime)))
    #expect(
      TopScreen.lines(model, host: "pi.local:8000", width: 80).prefix(4) == [
        .init(text: "tactus 1.2.3 at pi.local:8000   up 2 h 13 min"), .init(text: "robot: stopped: commanded"),
        .init(text: "lane robot: fifo 80 requested, normal in effect", style: .warning), .init(text: ""),
      ])
  }

  @Test("emergency stop: a banner in red on the second line")
  func emergency() throws {
    var model = TopModel()
    model.add(try #require(TopDocuments.sample(TopDocuments.first, TopDocuments.emergency)))
    let lines = TopScreen.lines(model, host: "pi", width: 80)
    #expect(lines[1] == .init(text: "*** EMERGENCY STOP: robot ***", style: .alarm))
    #expect(lines[2] == .init(text: "robot: emergency stop by local client 1; release every stick", style: .alarm))
    #expect(
      TopScreen.frame(lines, width: 80, height: 24).contains("\u{1B}[1;41;97m*** EMERGENCY STOP: robot ***\u{1B}[0m"))
    #expect(!TopScreen.text(lines).contains("\u{1B}"))
  }

  @Test("a terminal of 40 columns: who has stopped what, and what to do, is there")
  func narrow() throws {
    var model = TopModel()
    model.add(try #require(TopDocuments.sample(TopDocuments.first, TopDocuments.emergency)))
    let lines = TopScreen.lines(model, host: "pi", width: 40)
    #expect(lines.allSatisfy { $0.text.count <= 40 }, "\(lines)")
    let alarm = lines.filter { $0.style == .alarm }.map(\.text).joined(separator: " ").split(separator: " ")
    #expect(alarm.joined(separator: " ").hasSuffix("emergency stop by local client 1; release every stick"))
  }

  @Test("a fault: in red, without the banner")
  func fault() throws {
    var model = TopModel()
    model.add(try #require(TopDocuments.sample(TopDocuments.first, TopDocuments.fault)))
    #expect(
      TopScreen.lines(model, host: "pi", width: 80)[1] == .init(text: "robot: fault: the bus is stuck", style: .alarm))
  }

  @Test("the daemon is gone: nothing old is shown")
  func gone() throws {
    var model = try twice()
    model.lose("Connection refused")
    #expect(
      TopScreen.lines(model, host: "pi:8000", width: 80) == [
        .init(text: "waiting for pi:8000: Connection refused", style: .warning)
      ])
  }

  @Test("two answers are missing for 2 s: what is shown says how old it is, in red; an answer, and it is of now")
  func silence() throws {
    var model = try twice()
    func banner() -> TopScreen.Line { TopScreen.lines(model, host: "pi", width: 80)[1] }
    model.ask(after: .seconds(1))
    #expect(banner().style == .plain)
    model.ask(after: .seconds(1))
    #expect(banner() == .init(text: "*** NO ANSWER for 2 s: all this is that old ***", style: .alarm))
    model.add(try #require(TopDocuments.sample(TopDocuments.second)))
    #expect(banner().style == .plain)
    // One question every five seconds is answered late, at worst.
    model.ask(after: .seconds(5))
    #expect(banner().style == .plain)
  }

  @Test("a frame: lines cut to the width, rows to the height; a name cannot steer the terminal")
  func frame() {
    let lines = [TopScreen.Line(text: "robot\u{1B}[2J: driving"), .init(text: "b"), .init(text: "c")]
    #expect(TopScreen.frame(lines, width: 8, height: 2) == "\u{1B}[Hrobot\\u0\u{1B}[K\r\nb\u{1B}[K\u{1B}[J")
    #expect(TopScreen.text(lines) == "robot\\u001b[2J: driving\nb\nc")
    #expect(TopScreen.text([.init(text: "a\u{202E}b")]) == "a\\u202eb")
  }

  @Test("answers that are not the daemon's: none")
  func strange() {
    #expect(TopDocuments.sample("{}") == nil && TopDocuments.sample("") == nil)
    #expect(TopDocuments.sample(TopDocuments.first, "[]") == nil)
  }
}
