import Robot
import TestSupport
import Testing
import WireSupport

@Suite(.ownThread) struct RobotMessageTests {
  struct Accepted: Sendable, CustomTestStringConvertible {
    let text: String
    let message: RobotMessage
    init(_ text: String, _ message: RobotMessage) {
      self.text = text
      self.message = message
    }
    var testDescription: String { text }
  }

  struct Rejected: Sendable, CustomTestStringConvertible {
    let text: String
    let error: DatagramError
    init(_ text: String, _ error: DatagramError) {
      self.text = text
      self.error = error
    }
    var testDescription: String { text }
  }

  @Test(
    "JSON: left and right, with or without a timestamp, drive",
    arguments: [
      Accepted(#"{"left":30,"right":-20.5}"#, .drive(30, -20.5)),
      Accepted(#"{"left":30,"right":30,"timestamp":1763702470.123456}"#, .drive(30, 30, timestamp: 1763702470.123456)),
      Accepted(#"{"left":30,"right":30,"timestamp":1234567890}"#, .drive(30, 30, timestamp: 1_234_567_890)),
      Accepted(#"{"left":30,"right":30,"timestamp":null,"echo":null}"#, .drive(30, 30)),
      Accepted(#"{"left":30,"timestamp":7.5,"timestamp":null}"#, .drive(30, 0)),
      Accepted(" \t\r\n{ \"left\" : 1e1 , \"right\" : -0.5E+1 }\r\n", .drive(10, -5)),
      Accepted(#"{"right":7}"#, .drive(0, 7)),
      Accepted(#"{"left":7}"#, .drive(7, 0)),
      Accepted(#"{"left":0,"right":0}"#, .drive(0, 0)),
      Accepted(#"{"left":100.1,"right":-1e300}"#, .drive(100, -100)),
      Accepted(#"{"left":1,"right":2,"left":3}"#, .drive(3, 2)),
      Accepted(#"{"left":true,"right":2,"left":3}"#, .drive(3, 2)),
      Accepted(#"{"\u006ceft":5,"r\u0069ght":6}"#, .drive(5, 6)),
      Accepted(#"{"left":1,"x":[{},[],{"a":null,"b":[true,false,1e999,"\ud800 \" é𝄞"]}],"y":""}"#, .drive(1, 0)),
      Accepted(#"{"left":1,"Left":2,"left ":3,"leftt":4,"lef":5}"#, .drive(1, 0)),
      Accepted(#"{"left":0.1000000000000000055511151231257827}"#, .drive(0.1, 0)),
    ])
  func json(_ accepted: Accepted) {
    #expect(decode(accepted.text) == .success(accepted.message))
  }

  @Test(
    "JSON with command: the command decides, speeds mix and scale together",
    arguments: [
      Accepted(#"{"command":"move","speed":50,"direction":10}"#, .drive(60, 40)),
      Accepted(#"{"command":"move","speed":100,"direction":100}"#, .drive(100, 0)),
      Accepted(#"{"command":"move","speed":100,"direction":25}"#, .drive(100, 60)),
      Accepted(#"{"command":"move","speed":-500,"direction":-100}"#, .drive(-100, 0)),
      Accepted(#"{"command":"move","direction":-30}"#, .drive(-30, 30)),
      Accepted(#"{"command":"move"}"#, .drive(0, 0)),
      Accepted(#"{"left":9,"right":9,"command":"stop"}"#, RobotMessage(.stop)),
      Accepted(
        #"{"command":"estop","timestamp":5}"#, RobotMessage(.emergencyStop, timestamp: SenderTimestamp(wireValue: 5))),
      Accepted(#"{"command":"e-stop"}"#, RobotMessage(.emergencyStop)),
      Accepted(#"{"command":"emergency_stop"}"#, RobotMessage(.emergencyStop)),
      Accepted(#"{"command":"e\u0073top"}"#, RobotMessage(.emergencyStop)),
      Accepted(#"{"command":"reset"}"#, RobotMessage(.reset)),
      Accepted(#"{"command":"query"}"#, RobotMessage(.query)),
    ])
  func command(_ accepted: Accepted) {
    #expect(decode(accepted.text) == .success(accepted.message))
  }

  @Test(
    "JSON in SI units: linear and angular are a motion of the robot, one absent is 0, a command decides over them",
    arguments: [
      Accepted(#"{"linear":0.25,"angular":-0.5}"#, .twist(0.25, -0.5)),
      Accepted(#"{"linear":0.25,"timestamp":5.5,"echo":7}"#, .twist(0.25, 0, timestamp: 5.5, echo: 7)),
      Accepted(#"{"angular":-100}"#, .twist(0, -100)),
      Accepted(#"{"linear":0,"angular":0}"#, .twist(0, 0)),
      Accepted(#"{"linear":1,"angular":1,"left":0,"right":0,"command":"stop"}"#, RobotMessage(.stop)),
      Accepted(#"{"linear":1e400,"angular":1,"linear":2}"#, .twist(2, 1)),
    ])
  func twist(_ accepted: Accepted) {
    #expect(decode(accepted.text) == .success(accepted.message))
  }

  @Test(
    "JSON in SI units: too large, of a wrong type, or beside percent, is rejected with its name",
    arguments: [
      Rejected(#"{"linear":100.0001,"angular":0}"#, .outOfRange(at: 10)),
      Rejected(#"{"linear":0,"angular":-1e300}"#, .outOfRange(at: 22)),
      Rejected(#"{"linear":1e400}"#, .notFinite(at: 10)),
      Rejected(#"{"linear":"1"}"#, .wrongType(at: 10)),
      Rejected(#"{"linear":null,"angular":1}"#, .wrongType(at: 10)),
      Rejected(#"{"linear":1,"left":0}"#, .twoUnits),
      Rejected(#"{"angular":0,"left":30,"right":30}"#, .twoUnits),
      Rejected(#"{"command":"stop","linear":101}"#, .outOfRange(at: 27)),
    ])
  func rejectedTwist(_ rejected: Rejected) {
    #expect(decode(rejected.text) == .failure(rejected.error))
  }

  @Test(
    "JSON echo: a whole number 0…2^53 is carried, alone it is a query",
    arguments: [
      Accepted(#"{"echo":0}"#, RobotMessage(.query, echo: 0)),
      Accepted(#"{"echo":9007199254740992}"#, RobotMessage(.query, echo: 9_007_199_254_740_992)),
      Accepted(#"{"echo":5.0}"#, RobotMessage(.query, echo: 5)),
      Accepted(#"{"echo":12e2,"left":1}"#, .drive(1, 0, echo: 1200)),
    ])
  func echo(_ accepted: Accepted) {
    #expect(decode(accepted.text) == .success(accepted.message))
  }

  @Test(
    "JSON: what is not strict RFC 8259, or has a wrong type or range, is rejected with its name",
    arguments: [
      Rejected("", .empty),
      Rejected(" \r\n\t", .empty),
      Rejected("{", .malformed(at: 1)),
      Rejected("{}", .missing),
      Rejected(#"{"timestamp":1}"#, .missing),
      Rejected(#"{"left":1"#, .malformed(at: 9)),
      Rejected(#"{"left":1,}"#, .malformed(at: 10)),
      Rejected(#"{,"left":1}"#, .malformed(at: 1)),
      Rejected(#"{"left":01}"#, .malformed(at: 9)),
      Rejected(#"{"left":+1}"#, .malformed(at: 8)),
      Rejected(#"{"left":.5}"#, .malformed(at: 8)),
      Rejected(#"{"left":5.}"#, .malformed(at: 10)),
      Rejected(#"{"left":1e}"#, .malformed(at: 10)),
      Rejected(#"{"left":-}"#, .malformed(at: 9)),
      Rejected(#"{"left":0x1}"#, .malformed(at: 9)),
      Rejected(#"{"left":NaN}"#, .malformed(at: 8)),
      Rejected(#"{"left":Infinity}"#, .malformed(at: 8)),
      Rejected(#"{'left':1}"#, .malformed(at: 1)),
      Rejected(#"{"left" 1}"#, .malformed(at: 8)),
      Rejected(#"{"left":1 "right":1}"#, .malformed(at: 10)),
      Rejected(#"{"left":1,"a":tru}"#, .malformed(at: 17)),
      Rejected(#"{"left":1,"a":"\x"}"#, .malformed(at: 16)),
      Rejected(#"{"left":1,"a":"\u12g4"}"#, .malformed(at: 19)),
      Rejected("{\"left\":1,\"a\":\"\n\"}", .malformed(at: 15)),
      Rejected("{\"left\":1,\"a\":\"\u{0}\"}", .malformed(at: 15)),
      Rejected(#"{"left":1,"a":[1,]}"#, .malformed(at: 17)),
      Rejected(#"{"left":1,"a":{"b":1]}"#, .malformed(at: 20)),
      Rejected(#"{"left":1}}"#, .trailing(at: 10)),
      Rejected("{\"left\":1}\u{0}", .trailing(at: 10)),
      Rejected(#"{"left":true}"#, .wrongType(at: 8)),
      Rejected(#"{"left":"1"}"#, .wrongType(at: 8)),
      Rejected(#"{"left":null,"right":1}"#, .wrongType(at: 8)),
      Rejected(#"{"left":1,"speed":null}"#, .wrongType(at: 18)),
      Rejected(#"{"timestamp":null}"#, .missing),
      Rejected(#"{"echo":null}"#, .missing),
      Rejected(#"{"left":1,"right":[1]}"#, .wrongType(at: 18)),
      Rejected(#"{"left":1,"timestamp":"now"}"#, .wrongType(at: 22)),
      Rejected(#"{"left":1,"speed":"fast"}"#, .wrongType(at: 18)),
      Rejected(#"{"left":1,"command":null}"#, .wrongType(at: 20)),
      Rejected(#"{"left":1,"command":1}"#, .wrongType(at: 20)),
      Rejected(#"{"left":1e999}"#, .notFinite(at: 8)),
      Rejected(#"{"left":1,"timestamp":-1e400}"#, .notFinite(at: 22)),
      Rejected(#"{"echo":-1}"#, .outOfRange(at: 8)),
      Rejected(#"{"echo":1.5}"#, .outOfRange(at: 8)),
      Rejected(#"{"echo":9007199254740993}"#, .outOfRange(at: 8)),
      Rejected(#"{"echo":18446744073709551616}"#, .outOfRange(at: 8)),
      Rejected(#"{"echo":true}"#, .wrongType(at: 8)),
      Rejected(#"{"command":"dance"}"#, .unknownCommand(at: 11)),
      Rejected(#"{"command":"Stop"}"#, .unknownCommand(at: 11)),
      Rejected(#"{"command":"stöp"}"#, .unknownCommand(at: 11)),
      Rejected(#"{"command":""}"#, .unknownCommand(at: 11)),
    ])
  func rejectedJSON(_ rejected: Rejected) {
    #expect(decode(rejected.text) == .failure(rejected.error))
  }

  @Test(
    "JSON: a string that is not UTF-8 is rejected at its first bad sequence",
    arguments: [
      [0x80], [0xC0, 0xAF], [0xC3], [0xE0, 0x9F, 0xBF], [0xED, 0xA0, 0x80], [0xF0, 0x8F, 0xBF, 0xBF],
      [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF],
    ] as [[UInt8]])
  func notUTF8(_ sequence: [UInt8]) {
    let bytes = Array(#"{"left":1,"a":""#.utf8) + sequence + Array(#""}"#.utf8)
    #expect(decode(bytes) == .failure(.notUTF8(at: 15)))
  }

  @Test("JSON: 16 levels are accepted, the 17th is too deep")
  func depth() {
    func nested(_ levels: Int, _ open: String, _ close: String) -> String {
      #"{"left":1,"a":"# + String(repeating: open, count: levels) + "0" + String(repeating: close, count: levels) + "}"
    }
    #expect(decode(nested(15, "[", "]")) == .success(.drive(1, 0)))
    #expect(decode(nested(16, "[", "]")) == .failure(.tooDeep(at: 29)))
    #expect(decode(nested(15, #"{"b":"#, "}")) == .success(.drive(1, 0)))
    #expect(decode(nested(16, #"{"b":"#, "}")) == .failure(.tooDeep(at: 14 + 15 * 5)))
  }

  @Test("length: 1024 bytes are accepted, 1025 are too long; numbers have no length of their own")
  func length() {
    let number = "1." + String(repeating: "0", count: 1024 - 13) + "1"
    let text = #"{"left":"# + number + "}"
    #expect(text.utf8.count == 1023)
    #expect(decode(text) == .success(.drive(1, 0)))
    #expect(decode(text + " ") == .success(.drive(1, 0)))
    #expect(decode(text + "  ") == .failure(.tooLong(count: 1025)))
    #expect(decode(#"{"left":"# + String(repeating: "9", count: 400) + "}") == .failure(.notFinite(at: 8)))
  }

  @Test(
    "CSV: two or three fields drive; equal speeds with a direction pivot",
    arguments: [
      Accepted("30,30", .drive(30, 30)),
      Accepted(" 30 ,\t-20.5 \r\n", .drive(30, -20.5)),
      Accepted("+30,-030.50,0", .drive(30, -30.5)),
      Accepted("150,-150,0", .drive(100, -100)),
      Accepted("30,30,1", .drive(-30, 30)),
      Accepted("-30,-30,1", .drive(-30, 30)),
      Accepted("30,30,2", .drive(30, -30)),
      Accepted("0,0,2", .drive(0, 0)),
      Accepted("300,300,2\n", .drive(100, -100)),
      Accepted("20,40,1", .drive(20, 40)),
      Accepted("40,20,2", .drive(40, 20)),
      Accepted("40,20,1", .drive(40, 20, mismatch: true)),
      Accepted("20,40 , 2 ", .drive(20, 40, mismatch: true)),
      Accepted("150,120,1", .drive(100, 100, mismatch: true)),
    ])
  func csv(_ accepted: Accepted) {
    #expect(decode(accepted.text) == .success(accepted.message))
  }

  @Test(
    "CSV: anything else is rejected",
    arguments: [
      Rejected("stop", .malformed(at: 0)),
      Rejected("estop", .malformed(at: 0)),
      Rejected("30", .malformed(at: 2)),
      Rejected("30,", .malformed(at: 3)),
      Rejected(",30", .malformed(at: 0)),
      Rejected("30,30,", .malformed(at: 6)),
      Rejected("30,30,0,0", .malformed(at: 7)),
      Rejected("30,30,3", .unknownDirection(at: 6)),
      Rejected("30,30,10", .unknownDirection(at: 6)),
      Rejected("30,30,-1", .unknownDirection(at: 6)),
      Rejected("30,30,left", .unknownDirection(at: 6)),
      Rejected("1e1,30", .malformed(at: 1)),
      Rejected("5.,30", .malformed(at: 2)),
      Rejected(".5,30", .malformed(at: 0)),
      Rejected("--5,30", .malformed(at: 1)),
      Rejected("5 5,30", .malformed(at: 2)),
      Rejected("nan,30", .malformed(at: 0)),
      Rejected("30;30", .malformed(at: 2)),
      Rejected("30,30\u{0}", .malformed(at: 5)),
      Rejected("[30,30]", .malformed(at: 0)),
      Rejected(#""left""#, .malformed(at: 0)),
      Rejected("\u{FEFF}{\"left\":1}", .malformed(at: 0)),
      Rejected(String(repeating: "9", count: 400) + ",1", .notFinite(at: 0)),
    ])
  func rejectedCSV(_ rejected: Rejected) {
    #expect(decode(rejected.text) == .failure(rejected.error))
  }

  @Test("errors: every case has its own stable name")
  func names() {
    let errors: [DatagramError] = [
      .empty, .tooLong(count: 1), .malformed(at: 1), .notUTF8(at: 1), .tooDeep(at: 1), .trailing(at: 1),
      .wrongType(at: 1), .notFinite(at: 1), .outOfRange(at: 1), .unknownCommand(at: 1), .unknownDirection(at: 1),
      .unknownState(at: 1), .missing, .twoUnits,
    ]
    #expect(
      errors.map(\.name) == [
        "empty", "too-long", "malformed", "not-utf8", "too-deep", "trailing", "wrong-type", "not-finite",
        "out-of-range", "unknown-command", "unknown-direction", "unknown-state", "missing", "two-units",
      ])
  }
}
