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
}
