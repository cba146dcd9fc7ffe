import TestSupport
import Testing
import Wire

@testable import Pump

/// What a reader makes of a text: the value, or the error.
private func read<Value>(
  _ text: String, _ decode: (UnsafeRawBufferPointer) throws(PumpLineError) -> Value
) -> Result<Value, PumpLineError> {
  Array(text.utf8).withUnsafeBytes { bytes in
    do throws(PumpLineError) { return .success(try decode(bytes)) } catch { return .failure(error) }
  }
}

func pumpCommand(_ text: String, _ rule: PumpCommandRule = .strict) -> Result<PumpCommand, PumpLineError> {
  read(text) { (bytes) throws(PumpLineError) in try PumpCommand.decode(bytes, rule: rule) }
}

func pumpReply(_ text: String) -> Result<PumpReply, PumpLineError> {
  read(text) { (bytes) throws(PumpLineError) in try PumpReply.decode(bytes) }
}

func pumpText(_ reply: PumpReply) -> String {
  var bytes = [UInt8](repeating: 0, count: PumpReply.maximumEncodedLength)
  let count = bytes.withUnsafeMutableBytes { reply.encode(into: $0) }
  return String(decoding: bytes[..<count], as: UTF8.self)
}

func pumpText(_ command: PumpCommand) -> String {
  var bytes = [UInt8](repeating: 0, count: PumpCommand.maximumEncodedLength)
  let count = bytes.withUnsafeMutableBytes { command.encode(into: $0) }
  return String(decoding: bytes[..<count], as: UTF8.self)
}

private func celsius(_ tenths: Int32) -> PumpReading { .value(PumpTemperature(tenths: tenths)) }

@Suite(.ownThread) struct PumpLineTests {
  @Test(
    "commands: any case, blanks around them",
    arguments: [
      ("ON", PumpCommand.on), ("on", .on), (" Off\t", .off), ("SPEED:0", .speed(PumpSpeed(duty: 0))),
      ("speed: 180 ", .speed(PumpSpeed(duty: 180))), ("SPEED:255", .speed(PumpSpeed(duty: 255))),
      ("SPEED:007", .speed(PumpSpeed(duty: 7))), ("STATUS", .status), ("TEMP", .temperature),
    ])
  func commands(_ text: String, _ command: PumpCommand) { #expect(pumpCommand(text) == .success(command)) }

  @Test(
    "no commands: named, with the byte",
    arguments: [
      ("", PumpLineError.empty), ("  ", .empty), ("ONE", .unknownCommand(at: 0)), ("  ON OFF", .unknownCommand(at: 2)),
      ("SPEED", .unknownCommand(at: 0)), ("SPEED:", .malformed(at: 6)), ("SPEED:abc", .malformed(at: 6)),
      ("SPEED:256", .outOfRange(at: 6)), ("SPEED:99999999999999999999", .outOfRange(at: 6)),
      ("SPEED:-1", .malformed(at: 6)), ("SPEED:12x", .trailing(at: 8)), ("ON\u{0}", .unknownCommand(at: 0)),
      (String(repeating: "x", count: 63), .unknownCommand(at: 0)),
      (String(repeating: "x", count: 64), .tooLong(count: 64)),
    ])
  func noCommands(_ text: String, _ error: PumpLineError) { #expect(pumpCommand(text) == .failure(error)) }

  @Test(
    "as the firmware reads numbers: 16 bits that wrap, what is none is 0, what follows is ignored",
    arguments: [
      ("SPEED:abc", 0), ("SPEED:", 0), ("SPEED:12x", 12), ("speed: +12", 12), ("SPEED:\t\u{B}\u{C} 12", 12),
      ("SPEED:-0", 0),
      ("SPEED:- 5", 0), ("SPEED:+-5", 0), ("SPEED:255", 255), ("SPEED:000000255", 255), ("SPEED:1\u{0}2", 1),
      ("SPEED:256", nil),
      ("SPEED:-1", nil), ("SPEED:32767", nil), ("SPEED:32768", nil), ("SPEED:65535", nil), ("SPEED:65536", 0),
      ("SPEED:65791", 255),
      ("SPEED:65792", nil), ("SPEED:-65281", 255), ("SPEED:-65280", nil), ("SPEED:-65536", 0), ("SPEED:-65537", nil),
      ("SPEED:655360255", 255), ("SPEED:99999999999999999999", nil),
    ] as [(String, UInt8?)])
  func firmwareNumbers(_ text: String, _ duty: UInt8?) {
    let expected: Result<PumpCommand, PumpLineError> =
      duty.map { .success(.speed(PumpSpeed(duty: $0))) } ?? .failure(.outOfRange(at: 6))
    #expect(pumpCommand(text, .firmware) == expected)
  }

  @Test(
    "as the firmware reads words: alone, to the first NUL, in any case",
    arguments: [
      ("ON", PumpCommand.on), ("on", .on), ("oFf", .off), ("STATUS", .status), ("Temp", .temperature), ("ON\u{0}", .on),
      ("ON\u{0}OFF", .on), ("OFF\u{0} ", .off), (" ON", nil), ("ON ", nil), ("ON\t", nil), ("\u{0}ON", nil), ("", nil),
      (" ", nil),
      ("ONE", nil), ("O", nil), ("SPEED", nil), (" SPEED:1", nil), ("STATUS:", nil), ("Ö", nil),
    ] as [(String, PumpCommand?)])
  func firmwareWords(_ text: String, _ command: PumpCommand?) {
    let expected: Result<PumpCommand, PumpLineError> =
      command.map { .success($0) } ?? .failure(.unknownCommand(at: 0))
    #expect(pumpCommand(text, .firmware) == expected)
  }

  @Test("status of the firmware: every key, leading spaces, keys in any order")
  func firmwareStatus() {
    let whole = PumpReply.status(
      PumpStatus(
        state: .on, percent: 70, runtimeMinutes: 5, remainingMinutes: 24,
        temperatures: PumpTemperatures(water: celsius(50), skin: celsius(340))))
    #expect(
      pumpReply("STATUS:{State:ON,Speed:70%,Runtime:5m,Remaining:24m,WaterTemp: 5.0C,SkinTemp:34.0C}")
        == .success(whole))
    #expect(
      pumpReply("status:{ SkinTemp:34C , Remaining:24,WaterTemp:+5.04C,Runtime: 5m,Speed:70,State:on }")
        == .success(whole))
    #expect(
      pumpReply("STATUS:{State:OFF,WaterTemp:-0.5C,SkinTemp:?C}")
        == .success(
          .status(PumpStatus(state: .off, temperatures: PumpTemperatures(water: celsius(-5), skin: .unknown)))))
  }

  @Test("status of the legacy dialect: one nameless temperature")
  func legacyStatus() {
    let status = PumpStatus(
      state: .on, percent: 70, runtimeMinutes: 5, remainingMinutes: 25,
      temperatures: PumpTemperatures(single: celsius(345)))
    #expect(
      pumpReply("STATUS:{State:ON,Speed:70%,Runtime:5m,Remaining:25m,Temp:34.5C}") == .success(.status(status)))
    #expect(pumpText(.status(status)) == "STATUS:{State:ON,Speed:70%,Runtime:5m,Remaining:25m,Temp:34.5C}\r\n")
    #expect(pumpReply("TEMP:34.5") == .success(.temperatures(PumpTemperatures(single: celsius(345)))))
    #expect(pumpText(.temperatures(PumpTemperatures(single: celsius(345)))) == "TEMP:34.5\r\n")
  }

  @Test(
    "status: missing keys are absent, unknown keys are ignored, ? is unknown, the last of equal keys counts",
    arguments: [
      ("STATUS:{}", PumpStatus()),
      ("STATUS:{State:?,Speed:?%,Runtime:?m,Temp:nan}", PumpStatus(temperatures: PumpTemperatures(single: .unknown))),
      ("STATUS:{Flow:3.2l:min,State:ERROR,Note:}", PumpStatus(state: .error)),
      ("STATUS:{State:ON,State:OFF}", PumpStatus(state: .off)),
      ("STATUS:{Speed:100%,Remaining:65535m}", PumpStatus(percent: 100, remainingMinutes: 65_535)),
    ])
  func partialStatus(_ text: String, _ status: PumpStatus) { #expect(pumpReply(text) == .success(.status(status))) }

  @Test(
    "other replies",
    arguments: [
      ("OK", PumpReply.ok), ("PUMP:ON", .pump(isOn: true)), ("PUMP:OFF", .pump(isOn: false)),
      ("SPEED:180", .speed(PumpSpeed(duty: 180))), ("MANUAL:ON", .manual(isOn: true)),
      ("MANUAL:OFF", .manual(isOn: false)), ("ERROR:SAFETY_SHUTOFF", .error(.safetyShutoff)),
      ("ERROR:SAFETY_SHUTOFF" + String(repeating: " ", count: 40), .error(.safetyShutoff)),
      ("ERROR:overheat ", .error(.overheat)), ("ERROR:SENSOR_FAULT", .error(.sensorFault)),
      ("ERROR:PUMP_START_FAILED", .error(.startFailed)), ("ERROR:PUMP_NOT_RUNNING", .error(.notRunning)),
      ("ERROR:INVALID_SPEED_VALUE", .error(.invalidSpeed)), ("ERROR:UNKNOWN_COMMAND", .error(.unknownCommand)),
      ("ERROR:CMD_TOO_LONG", .error(.commandTooLong)), ("ERROR:LOW_FLOW", .error(.other(ShortText("LOW_FLOW")))),
      ("Maximum runtime exceeded", .remark(.maximumRuntime)),
      ("Skin temperature too high: 41.5", .remark(.skinTooHot(celsius(415)))),
      ("Skin temperature too high: ?", .remark(.skinTooHot(.unknown))),
      ("TEMP:{Water:12.0C,Skin:34.0C}", .temperatures(PumpTemperatures(water: celsius(120), skin: celsius(340)))),
      ("TEMP:{Skin:352.0C}", .temperatures(PumpTemperatures(skin: celsius(3_520)))),
    ])
  func replies(_ text: String, _ reply: PumpReply) { #expect(pumpReply(text) == .success(reply)) }

  @Test(
    "no replies: named, with the byte",
    arguments: [
      ("", PumpLineError.empty), ("HELLO", .unknownReply(at: 0)), ("OKAY", .trailing(at: 2)),
      ("PUMP:MAYBE", .unknownState(at: 5)), ("STATUS:", .malformed(at: 7)), ("STATUS:{", .unterminated(at: 8)),
      ("STATUS:{State:ON", .unterminated(at: 16)), ("STATUS:{State:ON,}", .malformed(at: 17)),
      ("STATUS:{State:WARM}", .unknownState(at: 14)), ("STATUS:{Speed:101%}", .outOfRange(at: 14)),
      ("STATUS:{Speed:x}", .malformed(at: 14)), ("STATUS:{State:ON}}", .trailing(at: 17)),
      ("STATUS:{State:ON WaterTemp:1}", .malformed(at: 17)), ("STATUS:{:}", .malformed(at: 8)),
      ("STATUS:{Runtime:65536m}", .outOfRange(at: 16)), ("TEMP:1000", .outOfRange(at: 5)),
      ("TEMP:12.", .malformed(at: 8)), ("TEMP:.5", .malformed(at: 5)), ("TEMP:34.5CC", .trailing(at: 10)),
      ("SPEED:300", .outOfRange(at: 6)), ("ERROR:", .malformed(at: 6)), ("ERROR:a\"b", .malformed(at: 7)),
      (String(repeating: "O", count: 513), .tooLong(count: 513)),
    ])
  func noReplies(_ text: String, _ error: PumpLineError) { #expect(pumpReply(text) == .failure(error)) }

  @Test("encoded: the firmware's lines to the byte, dtostrf's leading space included")
  func encoded() {
    let status = PumpStatus(
      state: .on, percent: PumpSpeed.standard.percent, runtimeMinutes: 5, remainingMinutes: 24,
      temperatures: PumpTemperatures(water: celsius(50), skin: celsius(340)))
    #expect(
      pumpText(.status(status))
        == "STATUS:{State:ON,Speed:70%,Runtime:5m,Remaining:24m,WaterTemp: 5.0C,SkinTemp:34.0C}\r\n")
    #expect(
      pumpText(.temperatures(PumpTemperatures(water: celsius(-770), skin: .unknown)))
        == "TEMP:{Water:-77.0C,Skin:?C}\r\n")
    #expect(pumpText(PumpCommand.speed(.standard)) == "SPEED:180\n")
    #expect(pumpText(PumpCommand.off) == "OFF\n")
  }

  @Test("speed: a percentage and the slowest duty that is reported as it")
  func percent() {
    for percent in UInt8(0)...100 {
      let speed = PumpSpeed(percent: percent)
      #expect(speed.percent == percent)
      if speed.duty > 0 { #expect(PumpSpeed(duty: speed.duty - 1).percent < percent) }
    }
    #expect(PumpSpeed(duty: 180).percent == 70)
    #expect(PumpSpeed(percent: 200).duty == 255)
  }

  @Test("temperature: rounded to tenths, half away from zero")
  func rounding() {
    #expect(PumpTemperature(celsius: 34.25).tenths == 343)
    #expect(PumpTemperature(celsius: -34.25).tenths == -343)
    #expect(pumpReply("TEMP:34.449999") == .success(.temperatures(PumpTemperatures(single: celsius(344)))))
    #expect(pumpReply("TEMP:-34.45") == .success(.temperatures(PumpTemperatures(single: celsius(-345)))))
  }
}
