import Tactus
import Testing

@testable import TactusGuard

@Suite("guard arguments")
struct GuardArgumentsTests {
  @Test(
    "a safe-state write: reads back as written",
    arguments: [
      SafeStateWrite.i2cByte(path: "/dev/i2c-1", address: 0x16, register: 0x02, byte: 0),
      .i2cBlock(path: "/dev/i2c-11", address: 0x2B, register: 0x01, bytes: [3, 0, 255]),
      .serial(path: "/dev/serial/by-path/pci-0000:01:00.0", baud: 115200, bytes: [0x55, 0, 0xAA]),
      .gpio(
        path: "/dev/gpiochip0", lines: [.init(offset: 17, isActiveLow: false), .init(offset: 27, isActiveLow: true)],
        descriptor: 4),
      .gpio(path: "/dev/gpiochip4", lines: [.init(offset: 0, isActiveLow: true)], descriptor: nil),
      .gpio(path: "/dev/gpiochip4", lines: [.init(offset: 7, isActiveLow: true, isActive: true)], descriptor: nil),
      .i2cPlain(path: "/dev/i2c-1", address: 0x20, bytes: [0, 255]), .pwm(path: "/sys/class/pwm/pwmchip0/pwm0"),
      .program(["/usr/bin/off", "--all", "a b\\c", ""]), .custom(name: "pump", text: "HMSoft@hci0"),
    ])
  func roundTrip(write: SafeStateWrite) {
    #expect(SafeStateWrite(write.description, custom: ["pump"]) == write)
    #expect(write.flaw == nil)
  }

  @Test(
    "anything else: refused",
    arguments: [
      "", "i2c-byte", "i2c-byte:16:02:00", "i2c-byte:16:02:0000:/dev/i2c-1", "i2c-byte:05:02:00:/dev/i2c-1",
      "i2c-block:16:01::/dev/i2c-1", "i2c-byte:16:02:0:/dev/i2c-1", "serial:fast:55:/dev/x", "serial:9600:5:/dev/x",
      "serial:9600:55:", "gpio:4:17:", "gpio:4::/dev/x", "gpio::17:/dev/x", "gpio:-4:17:/dev/x", "gpio:4:17,:/dev/x",
      "gpio:4:!:/dev/x", "gpio:4:+1:/dev/x", "gpio:4:1,1:/dev/x", "gpio:4:1=0:/dev/x", "pwm:pwm0", "program:",
      "program:off", "program:/x\\",
      "pump:x", "i2c-plain:16:00", "i2c-plain:16::/dev/i2c-1", "serial:1234:55:/dev/x", "gpio:4:-1:/dev/x",
      "gpio:4:1024:/dev/x", "spi:1:2:3:4",
      "i2c-block:16:01:\(String(repeating: "00", count: 33)):/dev/i2c-1",
    ])
  func refused(text: String) {
    #expect(SafeStateWrite(text) == nil)
  }

  @Test("the guard's command line: read as the program writes it")
  func commandLine() throws {
    let arguments = try #require(
      GuardArguments([
        "--descriptor", "3", "--timeout-ms", "1000", "--log-format", "json", "i2c-byte:16:02:00:/dev/i2c-1",
      ]))
    #expect(arguments.descriptor == 3 && arguments.options == ["log-format": "json"])
    #expect(arguments.window == HeartbeatWindow(shortest: .milliseconds(50), longest: .seconds(1)))
    #expect(arguments.writes == [.i2cByte(path: "/dev/i2c-1", address: 0x16, register: 2, byte: 0)])
    let fast = GuardArguments(["--descriptor", "3", "--timeout-ms", "20", "--heartbeat-ms", "4", "pwm:/x"])
    #expect(fast?.window == HeartbeatWindow(shortest: .milliseconds(2), longest: .milliseconds(20)))
    #expect(GuardArguments(["--once", "--config", "x"]) == nil)
    #expect(GuardArguments(["--descriptor", "3", "--timeout-ms", "1000", "nonsense"]) == nil)
    #expect(GuardArguments(["--descriptor", "3", "--timeout-ms", "0", "pwm:/x"]) == nil)
    #expect(GuardArguments(["--descriptor", "3", "--timeout-ms", "50", "--heartbeat-ms", "51", "pwm:/x"]) == nil)
  }

  @Test("another program: how it is watched, and for how long it may start; other words are refused")
  func otherProgram() throws {
    func read(_ words: String...) -> GuardArguments? {
      GuardArguments(["--descriptor", "3", "--timeout-ms", "500", "--heartbeat-ms", "60"] + words + ["pwm:/x"])
    }
    let killed = try #require(read("--other-program", "kill", "--first-ms", "30000"))
    #expect(killed.other?.isKilled == true && killed.first == .seconds(30))
    #expect(killed.window.longest == .milliseconds(500))
    let kept = try #require(read("--other-program", "keep"))
    #expect(kept.other?.isKilled == false && kept.other?.expectsHeartbeats == true)
    #expect(kept.first == .milliseconds(500))
    let silent = try #require(read("--other-program", "exit-only"))
    #expect(silent.other?.expectsHeartbeats == false && silent.window == .unlimited)
    #expect(read()?.other == nil)
    #expect(read("--other-program", "spare") == nil && read("--other-program", "kill", "--first-ms", "0") == nil)
  }
}
