import Glibc
import Logging
import Testing

@testable import TactusDaemon

@Suite("log lines as Python's logging writes them", .serialized)
struct LogPatternTests {
  private func line(_ pattern: String, message: String = "hello") throws -> String {
    try #require(LogPattern(pattern)).line(
      level: .warning, label: "robot", message: message, timestamp: "2026-02-03T04:05:06.123456Z")
  }

  @Test("the original robot's format: each field in its place")
  func original() throws {
    let text = try line("%(asctime)s - %(name)s - %(levelname)s - %(message)s")
    #expect(text.hasSuffix(",123 - robot - WARNING - hello"))
    #expect(text.prefix { $0 != "," }.count == "2026-02-03 04:05:06".count)
  }

  @Test(
    "width, filling, precision, a doubled percent sign: as Python's % operator has them",
    arguments: [
      ("[%(levelname)-9s]%(message)s", "[WARNING  ]hello"), ("%(levelname)9s|", "  WARNING|"),
      ("%(message).3s", "hel"), ("%(levelno)d", "30"), ("%(levelno)05d", "00030"), ("%(levelno)s", "30"),
      ("%(msecs)03d", "123"), ("%(msecs).1f", "123.0"), ("%(created).2f", "1770091506.12"),
      ("100%% %(name)s", "100% robot"),
      ("%(process)d", "\(getpid())"), ("%(processName)s", DaemonProgram.current.name),
    ])
  func layout(pattern: String, expected: String) throws {
    #expect(try line(pattern) == expected)
  }

  @Test(
    "a field of a Python program, a wrong conversion, a lone percent sign, no field at all: refused",
    arguments: [
      "%(lineno)d", "%(message)d", "%(message)", "%(levelno)x", "100% %(message)s", "%(message)s%", "hello", "", "%%",
      "%(message)s\n", "%(levelname)1000s", "{message}", "%(asctime)f",
    ])
  func refused(pattern: String) {
    #expect(LogPattern(pattern) == nil)
  }

  @Test("text: metadata within metadata, in the order of their names")
  func nested() {
    let loops: Logger.Metadata = ["b": ["ran": "2", "late": "0"], "a": ["ran": "1"]]
    let line = LogFormat.text.line(
      level: .info, label: "tactus", message: "m", metadata: ["loops": .dictionary(loops)],
      timestamp: "2026-02-03T04:05:06.123456Z")
    #expect(line.hasSuffix("m loops={a={ran=1} b={late=0 ran=2}}"))
  }

  @Test("a message of two lines, and metadata: one line")
  func oneLine() throws {
    let format = LogFormat.pattern(try #require(LogPattern("%(levelname)s %(message)s")))
    let line = format.line(
      level: .info, label: "tactus", message: "a\nb", metadata: ["port": .stringConvertible(5005)],
      timestamp: "2026-02-03T04:05:06.123456Z")
    #expect(line == #"INFO a\nb port=5005"#)
  }
}
