import DaemonSupport
import Foundation
import Logging
import ServiceSupport
import Testing

@testable import TactusDaemon

@Suite("the note of emergency stops")
struct EmergencyStopNoteTests {
  @Test(
    "written and read: the same names; none in an empty one",
    arguments: [[], ["robot"], ["leg", "robot", "sprinkler"]])
  func same(names: [String]) {
    #expect(EmergencyStopNote.contents(EmergencyStopNote.text(Set(names))) == Set(names))
    #expect(EmergencyStopNote.contents("") == [])
  }

  @Test("cut short anywhere, or a shorter one over a longer one: damaged, which stops everything")
  func damaged() {
    let text = EmergencyStopNote.text(["leg", "robot"])
    for length in 1..<text.utf8.count {
      #expect(EmergencyStopNote.contents(String(text.prefix(length))) == nil, "\(length) bytes")
    }
    for names: Set<String> in [[], ["leg"], ["robot"]] {
      let shorter = EmergencyStopNote.text(names)
      #expect(EmergencyStopNote.contents(shorter + text.dropFirst(shorter.utf8.count)) == nil, "\(names)")
    }
  }

  @Test("restored, and reset before anybody looked; damaged, and the system has no stop: noted no more")
  func resetAtOnce() throws {
    let folder = try TemporaryFolder()
    for text in [EmergencyStopNote.text(["lamp"]), "damaged"] {
      let path = try folder.write(text, to: "plan-stops")
      let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
      let note = try #require(EmergencyStopNote(beside: folder.path("plan"), logger))
      // It never says that it is stopped.
      let lamp = FakeSystem("lamp")
      note.restore([lamp])
      note.update(from: [lamp])
      #expect(try String(contentsOfFile: path, encoding: .utf8) == EmergencyStopNote.text([]))
    }
  }
}
