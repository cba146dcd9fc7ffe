import TestSupport
import Testing

@testable import Service

@Suite("a command over a messaging link, read", .ownThread)
struct RemoteCommandTests {
  private func read(_ text: String) throws(APIError) -> RemoteCommand { try RemoteCommand(Array(text.utf8)) }

  @Test("a word alone, with space around it; an object with command, id and what the route is given")
  func shapes() throws {
    #expect(try read(" e-stop\n").word == "e-stop")
    #expect(try read("on").body.isEmpty)
    let drive = try read(#"{"left":30,"command":"drive","id":7,"right":-2.5e1}"#)
    #expect(drive.word == "drive" && drive.id == .number("7"))
    #expect(String(decoding: drive.body, as: UTF8.self) == #"{"left":30,"right":-2.5e1}"#)
    #expect(try read(#"{"command":"on","id":"a\"b"}"#).id == .text("a\"b"))
    #expect(try read(#"{"command":"run-once","zones":[{"zoneId":1,"minutes":2}]}"#).body.count > 20)
  }

  @Test(
    "anything else: refused with its code",
    arguments: [
      ("", "BAD_JSON"), ("E-STOP", "BAD_JSON"), ("on off", "BAD_JSON"), ("{", "BAD_JSON"), ("7", "VALIDATION"),
      ("[]", "VALIDATION"), ("{}", "VALIDATION"), (#"{"command":7}"#, "VALIDATION"),
      (#"{"command":"../e-stop"}"#, "VALIDATION"), (#"{"command":""}"#, "VALIDATION"),
      (#"{"command":"on","id":[]}"#, "VALIDATION"), (#"{"command":"on","id":null}"#, "VALIDATION"),
      (#"{"command":"on","command":"off"}"#, "BAD_JSON"),
    ])
  func refused(text: String, code: String) {
    let error = #expect(throws: APIError.self) { try read(text) }
    #expect(error?.code == code)
  }

  @Test("20,000 mutations of a command: read or refused, nothing else")
  func total() {
    var random = SystemRandomNumberGenerator()
    let seed = random.next()
    var noise = Noise(state: seed)
    let original = Array(#"{"command":"drive","id":"é","left":30,"right":-30,"timestamp":1.5e3}"#.utf8)
    var read = 0
    for _ in 0..<20_000 {
      var bytes = original
      for _ in 0..<Int(noise.next() % 4 + 1) {
        let place = Int(noise.next() % UInt64(bytes.count))
        switch noise.next() % 3 {
        case 0: bytes[place] = UInt8(truncatingIfNeeded: noise.next())
        case 1: bytes.remove(at: place)
        default: bytes.insert(UInt8(truncatingIfNeeded: noise.next()), at: place)
        }
      }
      if let command = try? RemoteCommand(bytes) {
        read += 1
        #expect((1...RemoteCommand.longestWord).contains(command.word.utf8.count), "seed \(seed)")
      }
    }
    #expect((1..<20_000).contains(read), "seed \(seed)")
  }

  private struct Noise {
    var state: UInt64
    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return state >> 33
    }
  }
}
