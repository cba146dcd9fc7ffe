import Buses
import BusesLinux
import Glibc
import Tactus
import TestSupport
import Testing

@Suite(.ownThread) struct LinuxSerialPortTests {
  @Test("pseudo-terminal: every byte value passes unchanged both ways")
  func roundTrip() throws {
    let terminal = try LinuxPTY()
    let line = try LinuxSerialPort(path: terminal.path, baudRate: 115_200)
    var device = terminal.port()
    var program = line.port()
    let bytes = [UInt8](0...255)
    try bytes.withUnsafeBytes { try program.write($0) }
    #expect(try collect(256, from: &device, terminal.descriptor) == bytes)
    try bytes.withUnsafeBytes { try device.write($0) }
    #expect(try collect(256, from: &program, line.descriptor) == bytes)
    withExtendedLifetime((terminal, line)) {}
  }

  @Test("nothing has arrived: a read returns 0 at once")
  func empty() throws {
    let terminal = try LinuxPTY()
    let line = try LinuxSerialPort(path: terminal.path, baudRate: 9600)
    var program = line.port()
    var buffer = [UInt8](repeating: 0, count: 16)
    #expect(try buffer.withUnsafeMutableBytes { try program.read(into: $0) } == 0)
    withExtendedLifetime((terminal, line)) {}
  }

  @Test("nobody reads: writes end with .full and say how much was taken")
  func full() throws {
    let terminal = try LinuxPTY()
    let line = try LinuxSerialPort(path: terminal.path, baudRate: 115_200)
    var program = line.port()
    let chunk = [UInt8](repeating: 0x55, count: 1000)
    var taken = 0
    var error: SerialError?
    for _ in 0..<1000 where error == nil {
      do throws(SerialError) {
        try write(chunk, to: &program)
        taken += chunk.count
      } catch let caught {
        error = caught
      }
    }
    guard case .full(let written, let count) = error else {
      Issue.record("expected .full, got \(String(describing: error))")
      return
    }
    #expect(count == 1000)
    #expect((0..<1000).contains(written))
    var device = terminal.port()
    #expect(try collect(taken + written, from: &device, terminal.descriptor).allSatisfy { $0 == 0x55 })
    withExtendedLifetime((terminal, line)) {}
  }

  @Test("device unplugged: reads and writes say .gone")
  func gone() throws {
    var terminal: LinuxPTY? = try LinuxPTY()
    let line = try LinuxSerialPort(path: terminal!.path, baudRate: 115_200)
    var program = line.port()
    terminal = nil
    #expect(throws: SerialError.gone) { try write([1], to: &program) }
    var buffer = [UInt8](repeating: 0, count: 16)
    #expect(throws: SerialError.gone) { try buffer.withUnsafeMutableBytes { try program.read(into: $0) } }
    withExtendedLifetime(line) {}
  }

  @Test("line claimed: a second owner is told that another process holds it; free again once the first is gone")
  func busy() throws {
    let terminal = try LinuxPTY()
    let path = terminal.path
    do {
      let first = try LinuxSerialPort(path: path, baudRate: 115_200)
      #expect(throws: BusOpenError.lineBusy(path: path, holder: .anotherProcess)) {
        try LinuxSerialPort(path: path, baudRate: 115_200)
      }
      withExtendedLifetime(first) {}
    }
    _ = try LinuxSerialPort(path: path, baudRate: 115_200)
  }

  @Test("guard opens first and not exclusively: the daemon can still claim the line, and both can write")
  func sharedWithGuard() throws {
    let terminal = try LinuxPTY()
    let guardLine = try LinuxSerialPort(path: terminal.path, baudRate: 115_200, exclusive: false)
    let daemonLine = try LinuxSerialPort(path: terminal.path, baudRate: 115_200)
    var device = terminal.port()
    var guardPort = guardLine.port()
    var daemonPort = daemonLine.port()
    try write([1], to: &daemonPort)
    try write([2], to: &guardPort)
    #expect(try collect(2, from: &device, terminal.descriptor) == [1, 2])
    withExtendedLifetime((terminal, guardLine, daemonLine)) {}
  }

  @Test("unsupported rate: the error lists the supported ones")
  func rate() throws {
    let error = try #require(throws: BusOpenError.self) { try LinuxSerialPort(path: "/dev/null", baudRate: 31_250) }
    #expect(
      error == .unsupportedBaudRate(path: "/dev/null", asked: 31_250, supported: LinuxSerialPort.baudRates))
    #expect(error.description.contains("9600, 19200"))
    #expect(error.description.contains("115200"))
  }

  @Test("line left cooked, 7E2: opened at the rate asked for, raw, 8N1")
  func settings() throws {
    let terminal = try LinuxPTY()
    var settings = termios()
    #expect(tcgetattr(terminal.descriptor, &settings) == 0)
    settings.c_lflag = tcflag_t(ICANON | ECHO | ISIG)
    settings.c_iflag = tcflag_t(IXON | ICRNL)
    settings.c_cflag = tcflag_t(CS7 | PARENB | CSTOPB)
    #expect(tcsetattr(terminal.descriptor, TCSANOW, &settings) == 0)
    let line = try LinuxSerialPort(path: terminal.path, baudRate: 9600)
    #expect(tcgetattr(line.descriptor, &settings) == 0)
    #expect(cfgetospeed(&settings) == speed_t(B9600))
    #expect(settings.c_lflag & tcflag_t(ICANON | ECHO | ISIG) == 0)
    #expect(settings.c_iflag & tcflag_t(IXON | ICRNL) == 0)
    #expect(settings.c_cflag & tcflag_t(CSIZE) == tcflag_t(CS8))
    #expect(settings.c_cflag & tcflag_t(PARENB | CSTOPB) == 0)
    withExtendedLifetime((terminal, line)) {}
  }

  @Test("no device, or not a serial line: the error says which")
  func wrongPaths() {
    #expect(throws: BusOpenError.noSuchDevice(.serialLine, path: "/dev/ttyNothing9")) {
      try LinuxSerialPort(path: "/dev/ttyNothing9", baudRate: 9600)
    }
    #expect(throws: BusOpenError.wrongDevice(.serialLine, path: "/dev/null")) {
      try LinuxSerialPort(path: "/dev/null", baudRate: 9600)
    }
  }
}

private func write(_ bytes: [UInt8], to port: inout SerialPort) throws(SerialError) {
  var failure: SerialError?
  bytes.withUnsafeBytes { buffer in
    do throws(SerialError) { try port.write(buffer) } catch { failure = error }
  }
  if let failure { throw failure }
}

/// Exactly `count` bytes, or what had come when the line stayed silent for five seconds.
private func collect(_ count: Int, from port: inout SerialPort, _ descriptor: Int32) throws -> [UInt8] {
  var collected: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 4096)
  while collected.count < count, becomesReadable(descriptor) {
    let got = try buffer.withUnsafeMutableBytes { try port.read(into: $0) }
    collected += buffer[..<got]
  }
  return collected
}
