import Tactus
import TestSupport
import Testing

@testable import Service

@Suite("Prometheus' text format", .ownThread)
struct MetricsWriterTests {
  @Test("families: HELP and TYPE once, samples and labels in the order given, whole numbers without a point")
  func families() {
    var writer = MetricsWriter()
    writer.counter("b_total", "Second letter.", [.init(3, ["z": "1", "a": "2"]), .init(4, ["z": "2", "a": "1"])])
    writer.gauge("a_seconds", "First letter.", [.init(Nanoseconds.microseconds(1500))])
    writer.gauge("yes", "Truth.", [.init(true)])
    #expect(
      writer.text == """
        # HELP b_total Second letter.
        # TYPE b_total counter
        b_total{z="1",a="2"} 3
        b_total{z="2",a="1"} 4
        # HELP a_seconds First letter.
        # TYPE a_seconds gauge
        a_seconds 0.0015
        # HELP yes Truth.
        # TYPE yes gauge
        yes 1

        """)
  }

  @Test("escaping: backslash and line feed everywhere, quotes in label values only")
  func escaping() {
    var writer = MetricsWriter()
    writer.gauge("a", "say \"hi\" \\ and\ngo", [.init(1, ["l": "say \"hi\" \\ and\ngo, ü"])])
    #expect(
      writer.text == #"""
        # HELP a say "hi" \\ and\ngo
        # TYPE a gauge
        a{l="say \"hi\" \\ and\ngo, ü"} 1

        """#)
  }

  @Test(
    "numbers: shortest text that reads back, the format's words for the rest",
    arguments: [
      (0, "0"), (-0.5, "-0.5"), (1e9, "1000000000"), (1e300, "1e+300"), (0.000001023, "1.023e-06"), (.nan, "NaN"),
      (.infinity, "+Inf"), (-.infinity, "-Inf"),
    ] as [(Double, String)])
  func numbers(value: Double, text: String) {
    var writer = MetricsWriter()
    writer.gauge("a", "A.", [.init(value)])
    #expect(writer.text.hasSuffix("\na \(text)\n"))
  }

  @Test("a family without samples: absent")
  func empty() {
    var writer = MetricsWriter()
    writer.gauge("a", "A.", [])
    writer.counter("a_total", "A.", [])
    writer.histogram("a_seconds", "A.", [])
    #expect(writer.text == "")
  }

  @Test("a counter without _total, a gauge with it, bad names, a family twice: trap")
  func traps() async {
    await #expect(processExitsWith: .failure) {
      var writer = MetricsWriter()
      writer.counter("a", "A.", [.init(1)])
    }
    await #expect(processExitsWith: .failure) {
      var writer = MetricsWriter()
      writer.gauge("a_total", "A.", [.init(1)])
    }
    await #expect(processExitsWith: .failure) {
      var writer = MetricsWriter()
      writer.gauge("1a", "A.", [.init(1)])
    }
    await #expect(processExitsWith: .failure) {
      var writer = MetricsWriter()
      writer.gauge("a", "A.", [.init(1, ["b:c": ""])])
    }
    await #expect(processExitsWith: .failure) {
      var writer = MetricsWriter()
      writer.gauge("a", "A.", [.init(1, ["le": "1"])])
    }
    await #expect(processExitsWith: .failure) {
      var writer = MetricsWriter()
      writer.gauge("a", "A.", [.init(1)])
      writer.gauge("a", "A.", [.init(1)])
    }
  }
}
