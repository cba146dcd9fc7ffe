import DaemonSupport
import Foundation
import Logging
import TestSupport
import Testing

@testable import TactusDaemon

@Suite("log lines", .ownThread)
struct LogTests {
  private func json(_ message: String, _ metadata: Logger.Metadata) throws -> [String: Any] {
    let line = LogFormat.json.line(
      level: .warning, label: "tactus", message: message, metadata: metadata, timestamp: "2026-02-03T04:05:06.123456Z")
    #expect(!line.contains("\n"))
    return try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
  }

  @Test("json: ts, level, label, msg, then the metadata as members with their types")
  func members() throws {
    let object = try json(
      "hello",
      [
        "port": .stringConvertible(5005), "ratio": .stringConvertible(0.5), "on": .stringConvertible(true),
        "reasons": ["a", "b"], "who": ["name": "x"],
      ])
    #expect(object["ts"] as? String == "2026-02-03T04:05:06.123456Z")
    #expect(object["level"] as? String == "warning" && object["label"] as? String == "tactus")
    #expect(object["msg"] as? String == "hello")
    #expect(object["port"] as? Int == 5005 && object["ratio"] as? Double == 0.5 && object["on"] as? Bool == true)
    #expect(object["reasons"] as? [String] == ["a", "b"])
    #expect(object["who"] as? [String: String] == ["name": "x"])
  }

  @Test(
    "json: whatever is in a message, one line that reads back",
    arguments: [
      "\"quoted\"", "back\\slash", "two\nlines\r\n", "tab\tand \u{1B}[31mred", "\u{0}\u{7F}\u{85}", "Grüße 🤖",
      "a\u{202E}b\u{2028}\u{FEFF}\u{E0041}",
    ])
  func escaping(message: String) throws {
    let object = try json(message, ["value": .string(message)])
    #expect(object["msg"] as? String == message && object["value"] as? String == message)
  }

  @Test("json: metadata cannot stand in for a line's own members")
  func collision() throws {
    let object = try json("m", ["msg": "forged", "level": "trace"])
    #expect(object["msg"] as? String == "m" && object["level"] as? String == "warning")
    #expect(object["msg_"] as? String == "forged")
  }

  @Test("text: one line, control characters shown and not obeyed")
  func text() {
    let line = LogFormat.text.line(
      level: .info, label: "tactus", message: "a\nb\u{1B}[2J", metadata: ["k": "v\nw"],
      timestamp: "2026-02-03T04:05:06.123456Z")
    let time = LogTime("2026-02-03T04:05:06.123456Z")
    #expect(line == #"\#(time.clock).123 \#(time.zone) INFO     tactus: a\nb\u001b[2J k=v\nw"#)
  }

  @Test("in one line: control characters escaped; a text without any stays as it is")
  func inOneLine() {
    #expect(JSONLine.inOneLine("a\r\nb\t\u{1B}[2J\u{7F}\u{9B}") == #"a\r\nb\t\u001b[2J\u007f\u009b"#)
    #expect(JSONLine.inOneLine("a \"b\" \\\n") == #"a "b" \\\n"#)
    #expect(JSONLine.inOneLine(#"a "b" \n Grüße"#) == #"a "b" \n Grüße"#)
  }

  private static let hidden: [ClosedRange<UInt32>] = [
    0x7F...0x9F, 0x61C...0x61C, 0x200B...0x200B, 0x200E...0x200F, 0x2028...0x202E, 0x2060...0x2060, 0x2066...0x2069,
    0xFEFF...0xFEFF, 0xFFF9...0xFFFB,
  ]

  @Test(
    "in one line: what turns text round, ends lines or is not seen is escaped, in a JSON line as well",
    arguments: hidden)
  func unseen(numbers: ClosedRange<UInt32>) throws {
    for number in numbers {
      let scalar = try #require(Unicode.Scalar(number))
      let digits = String(number, radix: 16)
      let escape = "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      #expect(JSONLine.inOneLine("a\(scalar)b") == "a\(escape)b")
      #expect(JSONLine.quoted("a\(scalar)b") == "\"a\(escape)b\"")
    }
  }

  @Test("in one line: letters from right to left, marks, joiners and emoji stay; a scalar of two units is two escapes")
  func seen() {
    for text in ["שלום", "می‌خواهم", "e\u{301}", "👩‍🌾", "❤️"] { #expect(JSONLine.inOneLine(text) == text) }
    #expect(JSONLine.inOneLine("a\u{E0041}b") == #"a\udb40\udc41b"#)
  }

  @Test("the log file: gets the lines too, and a new one after SIGHUP")
  func file() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let config = try folder.write(
      """
      network: { motor_udp_port: 0, http_port: 0 }
      motors: { backend: sim }
      logging: { file: '${LOG_FOLDER}/a.log', level: warning }
      """, to: "config.yaml")
    let program = try TactusProcess(
      ["run", "--config", config],
      environment: ["LOG_FOLDER": folder.url.path(percentEncoded: false)])
    #expect(program.waitFor("Ctrl-C stops"))
    #expect(!program.said.contains(#""msg":"started""#), "info is below warning")
    try FileManager.default.moveItem(atPath: folder.path("a.log"), toPath: folder.path("b.log"))
    kill(program.identifier, SIGHUP)
    kill(program.identifier, SIGTERM)
    #expect(program.finish() == 0)
    #expect(FileManager.default.fileExists(atPath: folder.path("a.log")))
  }
}
