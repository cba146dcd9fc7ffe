import DaemonSupport
import Foundation
import TestSupport
import Testing

@testable import TactusDaemon

private func set(_ key: String, _ value: String, _ text: String) throws -> String {
  try ConfigEdit.setting(key, to: value, in: text)
}

@Suite("a value put into a configuration file", .ownThread)
struct ConfigEditTests {
  @Test(
    "the place of the key: comments, order and spelling of the rest stay",
    arguments: [
      // A value, with a comment behind it.
      ("leg.serial", "leg:\n  serial: /dev/a  # mine\n  x: 1\n", "leg:\n  serial: /dev/b  # mine\n  x: 1\n"),
      // In quotation marks of either kind, with an escaped one inside.
      ("leg.serial", "leg: # l\n  serial: 'a''b' # c\n", "leg: # l\n  serial: /dev/b # c\n"),
      ("leg.serial", "leg:\n  serial: \"a\\\"b\" # c\n", "leg:\n  serial: /dev/b # c\n"),
      // No value yet.
      ("leg.serial", "leg:\n  serial:\n  x: 1\n", "leg:\n  serial: /dev/b\n  x: 1\n"),
      ("leg.serial", "leg:\n  serial: null # none\n", "leg:\n  serial: /dev/b # none\n"),
      // No key yet: above the first key's comment, in the depth of its neighbours.
      ("leg.serial", "leg:\n    # one\n    x: 1\n", "leg:\n    serial: /dev/b\n    # one\n    x: 1\n"),
      // No section yet, and an empty one.
      ("leg.serial", "# top\nmqtt:\n  port: 1\n\n", "# top\nmqtt:\n  port: 1\n\nleg:\n  serial: /dev/b\n"),
      ("leg.serial", "leg:\nmqtt:\n  port: 1\n", "leg:\n  serial: /dev/b\nmqtt:\n  port: 1\n"),
      ("leg.serial", "", "leg:\n  serial: /dev/b\n"),
      // Braces.
      ("leg.serial", "leg: { x: 1 }\n", "leg: { serial: /dev/b, x: 1 }\n"),
      ("leg.serial", "leg: {}\n", "leg: { serial: /dev/b }\n"),
      ("leg.serial", "leg: { serial: a, x: 1 }\n", "leg: { serial: /dev/b, x: 1 }\n"),
      // A part, and an item of a list.
      ("pump.adc.x", "pump:\n  y: 1\n", "pump:\n  adc:\n    x: /dev/b\n  y: 1\n"),
      ("a.b[1].c", "a:\n  b:\n  - c: 1\n  - c: 2 # two\n", "a:\n  b:\n  - c: 1\n  - c: /dev/b # two\n"),
      ("a.b[0].c", "a:\n  b:\n    - d: 1\n", "a:\n  b:\n    - d: 1\n      c: /dev/b\n"),
      // Line ends of another system, characters of several bytes.
      ("leg.serial", "leg:\r\n  x: 1\r\n", "leg:\r\n  serial: /dev/b\r\n  x: 1\r\n"),
      ("leg.serial", "leg: { x: 'ä😀', serial: a } # é\n", "leg: { x: 'ä😀', serial: /dev/b } # é\n"),
    ])
  func places(_ key: String, _ old: String, _ new: String) throws {
    #expect(try set(key, "/dev/b", old) == new)
  }

  @Test("a value that YAML would read as another is put into quotation marks")
  func quoted() throws {
    #expect(try set("pump.device", "ble:AA:BB", "pump:\n") == "pump:\n  device: 'ble:AA:BB'\n")
    #expect(try set("leg.i2c_address", "0x40", "leg:\n") == "leg:\n  i2c_address: 0x40\n")
  }

  @Test(
    "what has no safe place is refused, and says so",
    arguments: [
      ("leg.serial", "leg:\n  serial: a\n    b\n"), ("leg.serial", "leg:\n  serial: |\n    a\n"),
      ("leg.serial", "leg:\n  serial: [a]\n"), ("leg.serial", "leg: 5\n"), ("leg.serial", "leg: [\n"),
      ("leg.serial", "{ mqtt: { port: 1 } }\n"), ("a.b[1].c", "a:\n  b:\n    - c: 1\n"), ("leg[0]", "leg:\n  - a\n"),
      ("leg.serial", "x: &l { serial: a }\nleg: *l\n"),
    ])
  func refused(_ key: String, _ text: String) {
    #expect(throws: ConfigEdit.Refusal.self) { try set(key, "/dev/b", text) }
  }

  @Test("a value with a reference to the environment or a control character is refused")
  func values() {
    for value in ["${TACTUS_TOKEN}", "a\nb", "a\u{1B}"] {
      #expect(throws: ConfigEdit.Refusal.self) { try set("leg.serial", value, "leg:\n") }
    }
  }

  @Test("the command writes what passes the check, keeps mode and link, and refuses what would not pass")
  func command() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tactus-scan-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "a.yaml")
    let link = folder.appending(path: "link.yaml")
    let text = "# mine\nleg:\n  backend: sim # for now\n"
    try text.write(to: file, atomically: true, encoding: .utf8)
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file.path)
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)

    let unasked = try TactusProcess(["scan", "-c", link.path, "--write", "leg.serial=/dev/ttyUSB7"])
    #expect(unasked.finish() == 1)
    #expect(unasked.said.contains("+  serial: /dev/ttyUSB7"))
    #expect(try String(contentsOf: file, encoding: .utf8) == text)

    let written = try TactusProcess(["scan", "-c", link.path, "--write", "leg.serial=/dev/ttyUSB7", "--yes"])
    #expect(written.finish() == 0)
    #expect(
      try String(contentsOf: file, encoding: .utf8)
        == "# mine\nleg:\n  serial: /dev/ttyUSB7\n  backend: sim # for now\n")
    let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
    #expect(mode == 0o640)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == file.path)

    // Without hardware in place of sim the chip and the battery's converter would have one address.
    try "leg:\n  backend: pca9685\n  i2c_address: 0x40\n  battery: { sensor: ads1115 }\n".write(
      to: file, atomically: true, encoding: .utf8)
    let bad = try TactusProcess(["scan", "-c", file.path, "--write", "leg.i2c_address=0x48", "--yes"])
    #expect(bad.finish() == 78)
    #expect(
      bad.said.contains("expected one owner of address 0x48 on I2C bus 1") && bad.said.contains("nothing was written"))
    #expect(try String(contentsOf: file, encoding: .utf8).contains("0x40"))
  }
}
