import Testing

@testable import TactusProgram

@Suite("guard machine")
struct GuardMachineTests {
  private static func machine(after events: [GuardMachine.Event]) -> GuardMachine {
    var machine = GuardMachine(timeoutMilliseconds: 1000)
    for event in events { _ = machine.step(event) }
    return machine
  }

  @Test("watching: a heartbeat restarts the wait")
  func heartbeat() {
    var machine = Self.machine(after: [])
    #expect(machine.step(.heartbeat) == .wait(milliseconds: 1000))
    #expect(machine.state == .watching)
  }

  @Test("watching: a goodbye ends it without a write")
  func goodbye() {
    var machine = Self.machine(after: [.heartbeat])
    #expect(machine.step(.goodbye) == .finish(status: 0))
    #expect(machine.state == .finished)
  }

  @Test("watching: the socket closes without a goodbye, the safe state is written, then it ends")
  func death() {
    var machine = Self.machine(after: [.heartbeat])
    #expect(machine.step(.closed) == .write)
    #expect(machine.step(.confirmed) == .finish(status: 0))
  }

  @Test("watching: silence writes the safe state and goes on holding")
  func lapse() {
    var machine = Self.machine(after: [.heartbeat])
    #expect(machine.step(.silence) == .write)
    #expect(machine.step(.confirmed) == .wait(milliseconds: 1000))
    #expect(machine.state == .holding)
  }

  @Test("holding: further silence writes again, a heartbeat returns to watching, a death is written")
  func holding() {
    let held: [GuardMachine.Event] = [.silence, .confirmed]
    var machine = Self.machine(after: held)
    #expect(machine.step(.silence) == .write)
    machine = Self.machine(after: held)
    #expect(machine.step(.heartbeat) == .wait(milliseconds: 1000))
    #expect(machine.state == .watching)
    machine = Self.machine(after: held)
    #expect(machine.step(.closed) == .write)
    #expect(machine.state == .writing(.death, attempt: 1))
  }

  @Test("a write that fails: repeated every 20 ms until it is confirmed")
  func retries() {
    var machine = Self.machine(after: [.closed])
    for attempt in 1...10 {
      #expect(machine.state == .writing(.death, attempt: attempt))
      #expect(machine.step(.failed) == .wait(milliseconds: 20))
      #expect(machine.step(.silence) == .write)
    }
    #expect(machine.step(.confirmed) == .finish(status: 0))
  }

  @Test("retrying after a lapse: a heartbeat returns to watching, a death keeps writing")
  func retryingAfterLapse() {
    var machine = Self.machine(after: [.silence, .failed])
    #expect(machine.step(.heartbeat) == .wait(milliseconds: 1000))
    #expect(machine.state == .watching)
    machine = Self.machine(after: [.silence, .failed])
    #expect(machine.step(.closed) == .write)
    #expect(machine.state == .writing(.death, attempt: 1))
  }

  @Test("after a death a bus that never answers: given up after about a minute, with status 1")
  func givesUp() {
    var machine = Self.machine(after: [.closed])
    var waited = 0
    var action = machine.step(.failed)
    while case .wait(let milliseconds) = action {
      waited += milliseconds
      #expect(machine.step(.silence) == .write)
      action = machine.step(.failed)
    }
    #expect(action == .finish(status: 1))
    #expect((55_000...65_000).contains(waited))
  }

  @Test("after a lapse a bus that never answers: never given up while the daemon lives")
  func neverGivesUpOnLapse() {
    var machine = Self.machine(after: [.silence])
    for _ in 0..<10_000 {
      guard case .wait = machine.step(.failed) else {
        Issue.record("stopped waiting in \(machine.state)")
        return
      }
      #expect(machine.step(.silence) == .write)
    }
  }
}

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
    ])
  func roundTrip(write: SafeStateWrite) {
    #expect(SafeStateWrite(write.description) == write)
  }

  @Test(
    "anything else: refused",
    arguments: [
      "", "i2c-byte", "i2c-byte:16:02:00", "i2c-byte:16:02:0000:/dev/i2c-1", "i2c-byte:05:02:00:/dev/i2c-1",
      "i2c-block:16:01::/dev/i2c-1", "i2c-byte:16:02:0:/dev/i2c-1", "serial:fast:55:/dev/x", "serial:9600:5:/dev/x",
      "serial:9600:55:", "gpio:4:17:", "gpio:4::/dev/x", "gpio::17:/dev/x", "gpio:-4:17:/dev/x", "gpio:4:17,:/dev/x",
      "gpio:4:!:/dev/x", "gpio:4:+1:/dev/x", "gpio:4:-1:/dev/x", "gpio:4:1024:/dev/x", "spi:1:2:3:4",
      "i2c-block:16:01:\(String(repeating: "00", count: 33)):/dev/i2c-1",
    ])
  func refused(text: String) {
    #expect(SafeStateWrite(text) == nil)
  }

  @Test("the guard's command line: read as the daemon writes it")
  func commandLine() throws {
    let arguments = try #require(
      GuardArguments([
        "--descriptor", "3", "--timeout-ms", "1000", "--log-format", "json", "i2c-byte:16:02:00:/dev/i2c-1",
      ]))
    #expect(arguments.descriptor == 3 && arguments.timeoutMilliseconds == 1000)
    #expect(arguments.writes == [.i2cByte(path: "/dev/i2c-1", address: 0x16, register: 2, byte: 0)])
    #expect(GuardArguments(["--once", "--config", "x"]) == nil)
    #expect(GuardArguments(["--descriptor", "3", "--timeout-ms", "1000", "--log-format", "json", "nonsense"]) == nil)
  }
}
