import BusesLinux
import Foundation
import Tactus
import TestSupport
import Testing

@testable import TactusGuard

@Suite("safe-state writer", .ownThread)
struct SafeStateWriterTests {
  @Test("one write fails: told with its reason, and all others are made")
  func failure() throws {
    let terminal = try LinuxPTY()
    let writer = SafeStateWriter([
      .serial(path: "/dev/tactus-none", baud: 9600, bytes: [1]),
      .program(["/bin/tactus-none"]),
      .serial(path: terminal.path, baud: 9600, bytes: [0x55, 0xAA]),
    ])
    #expect(writer.open().count == 2)
    #expect(writer.unconfirmed == ["/dev/tactus-none", terminal.path])
    let failures = writer.write()
    #expect(failures.count == 2)
    #expect(failures.contains { $0.hasPrefix("/dev/tactus-none: expected a serial line, found no such device") })
    #expect(readWhenReady(terminal.descriptor) == [0x55, 0xAA])
  }

  @Test("what was sent on a serial line nothing confirms, and the report says so; all else was put into its safe state")
  func unconfirmed() {
    #expect(SafeStateWriter([.pwm(path: "/p"), .program(["/off"])]).unconfirmed == [])
    var report = GuardReport(subject: .madeSafe(.death), failures: [])
    #expect(report.message() == "the program is gone: every output was put into its safe state")
    report.unconfirmed = ["/dev/ttyUSB0"]
    #expect(
      report.message(program: "the daemon", output: "actuator")
        == "the daemon is gone: every actuator was sent its safe state; nothing confirms it on /dev/ttyUSB0")
  }

  @Test("a device that goes and comes back: opened anew at the next write")
  func comesBack() throws {
    let path = FileManager.default.temporaryDirectory.appending(path: "tactus-line-\(UUID())").path
    defer { unlink(path) }
    var terminal: LinuxPTY? = try LinuxPTY()
    symlink(try #require(terminal).path, path)
    let writer = SafeStateWriter([.serial(path: path, baud: 9600, bytes: [0x55])])
    #expect(writer.open().isEmpty && writer.write().isEmpty)
    // Another test may be given the terminal's number as soon as it is free.
    unlink(path)
    terminal = nil
    // A child that another test is starting holds the terminal until it runs its own program.
    var failures = writer.write()
    for _ in 0..<patience / 10 where failures.isEmpty {
      poll(nil, 0, 10)
      failures = writer.write()
    }
    #expect(failures.count == 1)
    let another = try LinuxPTY()
    symlink(another.path, path)
    #expect(writer.write().isEmpty)
    #expect(readWhenReady(another.descriptor) == [0x55])
  }

  @Test("a program: confirmed by exit status 0, otherwise told and started again; it is never waited for")
  func program() throws {
    let good = try ProgramOutput(["/bin/true"])
    #expect(try result(of: good) == nil)
    #expect(try result(of: try ProgramOutput(["/bin/sh", "-c", "exit 3"])) == "exit status 3")
    #expect(try result(of: try ProgramOutput(["/bin/sh", "-c", "kill -9 $$"])) == "ended by signal 9")
    #expect(throws: GuardError.self) { try ProgramOutput(["/dev/null"]) }
    let path = FileManager.default.temporaryDirectory.appending(path: "tactus-end-\(UUID())").path
    mkfifo(path, 0o600)
    defer { unlink(path) }
    let long = try ProgramOutput(["/bin/cat", path])
    #expect(long.makeSafe() == "it has not ended yet")
    // Ends it, and takes it off the kernel: the testing library's own children wait behind one that nobody takes.
    close(open(path, O_WRONLY))
    #expect(try result(of: long) == nil)
  }

  private func result(of program: ProgramOutput) throws -> String? {
    let bell = try Doorbell()
    while true {
      let result = program.makeSafe()
      guard result == "it has not ended yet" else { return result }
      // Nobody rings it: it is the program that is waited for.
      bell.wait(limit: .milliseconds(5))
    }
  }

  @Test("an output of the embedder's own: opened only when the program is not in control, and given back to it")
  func custom() throws {
    final class Radio: GuardOutput {
      var tries = 0
      func makeSafe() -> String? {
        tries += 1
        return tries < 3 ? "on its way" : nil
      }
    }
    var made: [String] = []
    let writer = SafeStateWriter(
      [.custom(name: "radio", text: "a:b")],
      custom: [
        "radio": { text in
          made.append(text)
          return Radio()
        }
      ])
    #expect(writer.open().isEmpty && made.isEmpty)
    #expect(writer.write() == ["radio:a:b: on its way"])
    #expect(writer.write().count == 1)
    #expect(writer.write().isEmpty && made == ["a:b"])
    writer.release()
    #expect(writer.write().count == 1 && made.count == 2)
  }

  @Test(
    "a write that cannot be: refused with what was expected",
    arguments: [
      (
        SafeStateWrite.i2cByte(path: "/dev/i2c-1", address: 0x78, register: 0, byte: 0),
        "an I2C address is 0x08…0x77, got 120"
      ),
      (.i2cBlock(path: "/dev/i2c-1", address: 0x40, register: 0, bytes: []), "a write has 1…32 bytes, got 0"),
      (.i2cPlain(path: "i2c-1", address: 0x40, bytes: [0]), "a path is absolute, got \"i2c-1\""),
      (.serial(path: "/dev/x", baud: 12, bytes: [0]), "12 bit/s is no rate of a serial line"),
      (.gpio(path: "/dev/gpiochip0", lines: [], descriptor: nil), "1…64 lines are written together, got 0"),
      (.program([]), "a path is absolute, got \"\""),
      (.custom(name: "a:b", text: ""), "a name has lower-case letters only"),
    ])
  func flaws(write: SafeStateWrite, flaw: String) {
    #expect(write.flaw == flaw)
    #expect(throws: GuardError.invalid("\(write): \(flaw)")) { try Guard([write]) }
  }

  @Test(
    "a time-out out of range, nothing to write: refused; a device that is not there: refused with what to do, no guard is left"
  )
  func refusals() throws {
    #expect(throws: GuardError.invalid("there is nothing to write")) { try Guard([]) }
    #expect(throws: GuardError.self) { try Guard([.pwm(path: "/x")], timeout: .milliseconds(19)) }
    let error = #expect(throws: GuardError.self) { try Guard([.pwm(path: "/sys/class/pwm/pwmchip99/pwm0")]) }
    guard case .cannotOpen(let failures) = try #require(error) else {
      Issue.record("\(error!)")
      return
    }
    #expect(failures.count == 1 && failures[0].contains("expected a PWM unit's output"), "\(failures)")
  }
}
