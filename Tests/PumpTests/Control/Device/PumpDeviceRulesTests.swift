import Tactus
import TestSupport
import Testing

@testable import Pump

/// A machine stepped by hand.
private struct Bench {
  var machine: PumpDeviceMachine

  init(_ settings: PumpDeviceSettings = .standard) {
    machine = PumpDeviceMachine(settings)
    _ = at(0, .offConfirmed)
    _ = at(0, .temperatures(water: .celsius(12), skin: .celsius(34)))
  }

  mutating func at(_ seconds: Double, _ event: PumpDeviceEvent) -> [String] {
    let action = machine.step(event, at: .seconds(seconds))
    return (0..<action.replies.count).map { index in
      var bytes = [UInt8](repeating: 0, count: PumpReply.maximumEncodedLength)
      let count = bytes.withUnsafeMutableBytes { action.replies[index].encode(into: $0) }
      return String(decoding: bytes[..<(count - 2)], as: UTF8.self)
    }
  }
}

@Suite(.ownThread) struct PumpDeviceRulesTests {
  @Test("run limit: 30 min after the first ON, to the nanosecond; ON while on does not prolong it")
  func runLimit() {
    var bench = Bench()
    #expect(bench.at(1, .command(.on)) == ["OK", "PUMP:ON"])
    #expect(bench.at(1_000, .command(.on)) == ["OK", "PUMP:ON"])
    _ = bench.machine.step(.tick, at: .seconds(1_801) - .nanoseconds(1))
    #expect(bench.machine.state == .on(.standard))
    #expect(bench.at(1_801, .tick) == ["ERROR:SAFETY_SHUTOFF", "Maximum runtime exceeded"])
    #expect(bench.machine.state == .error(.runLimit, .pending))
    _ = bench.at(1_801, .offConfirmed)
    #expect(bench.at(1_802, .command(.on)) == ["ERROR:PUMP_START_FAILED"])
    #expect(bench.at(1_803, .command(.off)) == ["OK", "PUMP:OFF"])
    #expect(bench.at(1_804, .command(.on)) == ["OK", "PUMP:ON"])
  }

  @Test("run limit: whatever comes at its end, the pump stops; even an OFF gets its lines")
  func runLimitFirst() {
    for command in [PumpCommand.on, .off, .speed(.standard), .status, .temperature] {
      var bench = Bench()
      _ = bench.at(1, .command(.on))
      let lines = bench.at(1_801, .command(command))
      #expect(lines.starts(with: ["ERROR:SAFETY_SHUTOFF", "Maximum runtime exceeded"]))
      #expect(!bench.machine.state.isOn)
    }
  }

  @Test("the original: ON while on begins the limit anew at the first speed, an open sensor trips nothing")
  func original() throws {
    var bench = Bench(.original)
    _ = bench.at(1, .command(.on))
    _ = bench.at(999, .command(.speed(PumpSpeed(duty: 77))))
    _ = bench.at(1_000, .command(.on))
    #expect(bench.machine.state == .on(.standard))
    _ = bench.at(2_799, .tick)
    #expect(bench.machine.state.isOn)
    _ = bench.at(2_800, .tick)
    #expect(!bench.machine.state.isOn)
    #expect(bench.machine.settings.commands == .firmware)
    bench = Bench(.original)
    _ = bench.at(1, .command(.on))
    _ = bench.at(2, .temperatures(water: .celsius(12), skin: .celsius(-77.4)))
    #expect(bench.machine.state.isOn)
  }

  @Test("off that the output does not take: the limit counts on until it is confirmed, and the rest begins then")
  func unconfirmed() throws {
    var bench = Bench(try PumpDeviceSettings(rest: .seconds(300)))
    _ = bench.at(1, .command(.on))
    _ = bench.at(1_001, .outputFailed)
    #expect(bench.machine.governor.spent(at: .seconds(1_401)) == .seconds(1_400))
    _ = bench.at(1_401, .offConfirmed)
    #expect(bench.machine.governor.spent(at: .seconds(1_700)) == .seconds(1_400))
    #expect(bench.machine.governor.spent(at: .seconds(1_701)) == .zero)
  }

  @Test("rest: with one configured the limit holds over offs, and a start without budget fails")
  func rest() throws {
    var bench = Bench(try PumpDeviceSettings(rest: .seconds(300)))
    _ = bench.at(1, .command(.on))
    _ = bench.at(1_501, .command(.off))
    _ = bench.at(1_501, .offConfirmed)
    _ = bench.at(1_511, .command(.on))
    _ = bench.at(1_811, .tick)
    #expect(bench.machine.state == .error(.runLimit, .pending))
    _ = bench.at(1_811, .offConfirmed)
    _ = bench.at(1_812, .command(.off))
    #expect(bench.at(1_813, .command(.on)) == ["ERROR:PUMP_START_FAILED"])
    #expect(bench.at(2_111, .command(.on)) == ["OK", "PUMP:ON"])
  }

  @Test("status: by itself every 5 s while on, in whole minutes, the speed truncated")
  func status() {
    var bench = Bench()
    _ = bench.at(1, .command(.on))
    #expect(bench.machine.nextDeadline == .seconds(6))
    _ = bench.at(5.9, .tick)
    #expect(
      bench.at(6, .tick) == [
        "STATUS:{State:ON,Speed:70%,Runtime:0m,Remaining:29m,WaterTemp:12.0C,SkinTemp:34.0C}"
      ])
    #expect(bench.machine.nextDeadline == .seconds(11))
    #expect(
      bench.at(331, .command(.status)) == [
        "STATUS:{State:ON,Speed:70%,Runtime:5m,Remaining:24m,WaterTemp:12.0C,SkinTemp:34.0C}"
      ])
    _ = bench.at(332, .command(.off))
    #expect(bench.machine.nextDeadline == nil)
  }

  @Test("legacy dialect: one temperature, the skin's")
  func legacy() throws {
    var bench = Bench(try PumpDeviceSettings(dialect: .legacy))
    #expect(bench.at(1, .command(.status)) == ["STATUS:{State:OFF,Temp:34.0C}"])
    #expect(bench.at(1, .command(.temperature)) == ["TEMP:34.0"])
  }

  @Test("button: 50 ms in its new position count, bouncing does not; a press turns on, or off, or out of an error")
  func button() {
    var bench = Bench()
    for millisecond in 0..<40 {
      #expect(bench.at(1 + Double(millisecond) / 1_000, .button(isPressed: millisecond % 2 == 0)) == [])
    }
    #expect(bench.at(1.1, .button(isPressed: true)) == [])
    #expect(bench.machine.nextDeadline == .seconds(1.15))
    #expect(bench.at(1.149, .button(isPressed: true)) == [])
    #expect(bench.at(1.15, .button(isPressed: true)) == ["MANUAL:ON"])
    #expect(bench.at(3, .button(isPressed: true)) == [])
    func press(_ at: Double) -> [String] {
      _ = bench.at(at, .button(isPressed: false))
      _ = bench.at(at + 0.05, .button(isPressed: false))
      _ = bench.at(at + 0.1, .button(isPressed: true))
      return bench.at(at + 0.15, .button(isPressed: true))
    }
    #expect(press(3.1) == ["MANUAL:OFF"])
    _ = bench.at(4, .outputFailed)
    #expect(press(4.1) == ["MANUAL:OFF"])
  }

  @Test(
    "pot: does not touch what an app has set unless turned; the original's takes over at once; its dead zone is nothing"
  )
  func pot() throws {
    var bench = Bench(try PumpDeviceSettings(pot: .whenMoved))
    _ = bench.at(0.5, .pot(counts: 500))
    _ = bench.at(1, .command(.on))
    _ = bench.at(1.1, .pot(counts: 500))
    #expect(bench.machine.state == .on(.standard))
    _ = bench.at(2, .command(.speed(PumpSpeed(duty: 60))))
    _ = bench.at(2.1, .pot(counts: 515))
    #expect(bench.machine.state == .on(PumpSpeed(duty: 60)))
    _ = bench.at(2.2, .pot(counts: 5))
    #expect(bench.machine.state == .on(PumpSpeed(duty: 60)))
    _ = bench.at(2.3, .pot(counts: 1_023))
    #expect(bench.machine.state == .on(PumpSpeed(duty: 255)))

    bench = Bench(try PumpDeviceSettings(pot: .always))
    _ = bench.at(0.5, .pot(counts: 500))
    _ = bench.at(1, .command(.on))
    _ = bench.at(1.1, .pot(counts: 500))
    #expect(bench.machine.state == .on(PumpSpeed(duty: 127)))
    #expect(PumpPot.speed(counts: 19) == nil)
    #expect(PumpPot.speed(counts: 20) == PumpSpeed(duty: 10))
    #expect(PumpPot.speed(counts: 1_023) == PumpSpeed(duty: 255))
  }

  @Test("overheated: stopped above 40.0 °C and not startable until cooler; or cooled on and told once")
  func overheats() throws {
    var bench = Bench()
    _ = bench.at(1, .command(.on))
    #expect(bench.at(2, .temperatures(water: .celsius(12), skin: .celsius(40))) == [])
    #expect(
      bench.at(4, .temperatures(water: .celsius(12), skin: .celsius(40.1))) == [
        "ERROR:OVERHEAT", "Skin temperature too high: 40.1",
      ])
    _ = bench.at(5, .command(.off))
    #expect(bench.at(5.1, .command(.on)) == ["ERROR:PUMP_START_FAILED"])
    _ = bench.at(6, .temperatures(water: .celsius(12), skin: .celsius(39.9)))
    #expect(bench.at(6.1, .command(.on)) == ["OK", "PUMP:ON"])

    bench = Bench(try PumpDeviceSettings(overheatAction: .keepCooling))
    _ = bench.at(1, .command(.on))
    #expect(bench.at(4, .temperatures(water: .celsius(12), skin: .celsius(40.1))).count == 2)
    #expect(bench.at(6, .temperatures(water: .celsius(12), skin: .celsius(40.5))) == [])
    _ = bench.at(8, .temperatures(water: .celsius(12), skin: .celsius(39)))
    #expect(bench.at(10, .temperatures(water: .celsius(12), skin: .celsius(40.1))).count == 2)
    #expect(bench.machine.state.isOn)
  }

  @Test("sensor: one that cannot be believed, or read, stops the pump, and OFF does not make it startable")
  func sensors() {
    for reading in [PumpReading.celsius(-20.1), .celsius(80.1), .unknown] {
      var bench = Bench()
      _ = bench.at(1, .command(.on))
      #expect(bench.at(2, .temperatures(water: reading, skin: .celsius(34))) == ["ERROR:SENSOR_FAULT"])
      #expect(bench.at(3, .command(.off)) == ["OK", "PUMP:OFF"])
      #expect(bench.at(3.1, .command(.on)) == ["ERROR:PUMP_START_FAILED"])
      _ = bench.at(4, .temperatures(water: .celsius(12), skin: .celsius(34)))
      #expect(bench.at(4.1, .command(.on)) == ["OK", "PUMP:ON"])
    }
  }

  @Test("silence limit: a pump that no command has come to stops, at that nanosecond")
  func silence() throws {
    var bench = Bench(try PumpDeviceSettings(silenceLimit: .seconds(7)))
    _ = bench.at(1, .command(.on))
    _ = bench.at(5, .command(.status))
    _ = bench.at(6, .invalidCommand(.unknownCommand(at: 0)))
    _ = bench.machine.step(.tick, at: .seconds(12) - .nanoseconds(1))
    #expect(bench.machine.state.isOn)
    #expect(bench.at(12, .tick) == ["ERROR:LINK_SILENT"])
    #expect(!bench.machine.state.isOn)
  }

  @Test("thermistor: 25 °C in the middle, open and shorted beyond what is plausible, every count a temperature")
  func thermistor() {
    #expect(abs(PumpThermistor.temperature(counts: 511).tenths - 250) <= 1)
    #expect(PumpThermistor.temperature(counts: 0).tenths == -774)
    #expect(PumpThermistor.temperature(counts: 1_023).tenths == 3_520)
    var last = PumpTemperature(tenths: -10_000)
    for counts in 1...1_022 {
      let temperature = PumpThermistor.temperature(counts: counts)
      #expect(!(temperature < last))
      last = temperature
    }
    for celsius in -20...80 {
      let back = PumpThermistor.temperature(counts: PumpThermistor.counts(of: Double(celsius))).celsius
      #expect(abs(back - Double(celsius)) < 0.7, "\(celsius)")
    }
  }

  @Test("other settings: limits that have been reached by then end the run, at once")
  func changes() throws {
    for settings in [
      try PumpDeviceSettings(runLimit: .seconds(60)), try PumpDeviceSettings(silenceLimit: .seconds(60)),
    ] {
      var machine = PumpDeviceMachine(.standard)
      _ = machine.step(.offConfirmed, at: .zero)
      _ = machine.step(.command(.on), at: .seconds(1))
      #expect(machine.step(.settings(.standard), at: .seconds(60)).output != .off && machine.state.isOn)
      #expect(machine.step(.settings(settings), at: .seconds(61)).output == .off && !machine.state.isOn)
    }
    let limited = try PumpDeviceSettings(runLimit: .seconds(60), silenceLimit: .seconds(5))
    #expect(
      limited.tighter(than: .standard)
        == (try PumpDeviceSettings(runLimit: .seconds(60), rest: .zero, silenceLimit: .seconds(5))))
    #expect(PumpDeviceSettings.standard.tighter(than: limited) == limited)
  }

  @Test("a limit that has been reached is not brought back by a longer one in the same step")
  func notBroughtBack() throws {
    var machine = PumpDeviceMachine(try PumpDeviceSettings(runLimit: .seconds(60)))
    _ = machine.step(.command(.on), at: .seconds(1))
    #expect(machine.step(.settings(.standard), at: .seconds(61)).output == .off && !machine.state.isOn)
  }
}
