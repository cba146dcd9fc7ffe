import Buses
import Glibc
import Tactus
import TestSupport
import Testing

@testable import BusesLinux

// Transfers are tested in the rig (scripts/rig), against the kernel's i2c-stub.
@Suite(.ownThread) struct LinuxI2CBusTests {
  @Test("no adapter: the error names the path and what to do")
  func missing() throws {
    let error = try #require(throws: BusOpenError.self) { try LinuxI2CBus(number: 250) }
    #expect(error == .noSuchDevice(.i2cAdapter, path: "/dev/i2c-250"))
    #expect(error.description.hasPrefix("/dev/i2c-250: expected an I2C adapter"))
    #expect(error.description.contains("raspi-config"))
  }

  @Test("not an adapter: refused", arguments: ["/dev/null", "/dev"])
  func wrongDevice(path: String) {
    #expect(throws: BusOpenError.wrongDevice(.i2cAdapter, path: path)) { try LinuxI2CBus(path: path) }
  }

  @Test("adapter lacks operations: each is named once")
  func lacking() {
    let every: [I2CTransfer.Operation] = [.writeByte, .writeBlock, .readBlock, .plainWrite, .plainRead]
    #expect(LinuxI2CBus.missing(every, functions: 15) == [])
    #expect(LinuxI2CBus.missing(every, functions: 7) == ["plain I2C (I2C_RDWR)"])
    #expect(
      LinuxI2CBus.missing(every, functions: 0) == [
        "SMBus write byte data", "SMBus I2C block write", "SMBus I2C block read", "plain I2C (I2C_RDWR)",
      ])
    #expect(LinuxI2CBus.missing([.writeByte], functions: 1) == [])
  }

  @Test(
    "adapter of this machine: opens or says why not",
    .enabled(if: access("/dev/i2c-1", F_OK) == 0, "no /dev/i2c-1 on this machine"))
  func realAdapter() {
    do throws(BusOpenError) {
      let bus = try LinuxI2CBus(number: 1, operations: [.writeByte])
      #expect(bus.path == "/dev/i2c-1")
    } catch {
      switch error {
      case .noPermission(.i2cAdapter, _), .adapterLacks: break
      default: Issue.record("unexpected: \(error)")
      }
    }
  }
}
