// Check zero of scripts/rig: what the leaves over kernel drivers really do, on a machine that has the drivers. Prints one
// line a check, "RIG passed: …" or "RIG failed: …". Arguments: the I2C adapter of i2c-stub, the addresses of two chips
// there, of one that a kernel driver holds and of none; a serial line; the kernel's console. The checks of GPIO are in
// gpio.swift, the measurement of release latency is in release.swift, the kernel's sensors are in sensors.swift.
import Buses
import BusesLinux
import Glibc
import Tactus

let arguments = CommandLine.arguments
if arguments.count == 5, arguments[1] == "--gpio" {
  checkGPIO(path: arguments[2], label: arguments[3], pins: arguments[4])
  exit(0)
}
if arguments.count == 4, arguments[1] == "--sensor" { exit(printSensor(arguments[2], arguments[3])) }
if arguments.count > 3, arguments[1] == "--hold" { holdGPIO(label: arguments[2], command: Array(arguments[3...])) }
if arguments.count == 5, arguments[1] == "--release", let rate = Double(arguments[2]), let count = Int(arguments[3]),
  let priority = Int(arguments[4])
{
  try printReleaseLatencies(rate: rate, count: count, priority: priority)
  exit(0)
}
guard arguments.count == 8, let present = chip(arguments[2]), let second = chip(arguments[3]),
  let claimed = chip(arguments[4]), let absent = chip(arguments[5])
else {
  print("usage: rig-probe ADAPTER PRESENT SECOND CLAIMED ABSENT SERIAL CONSOLE (addresses as 0x16)")
  exit(64)
}
let (adapter, serial, console) = (arguments[1], arguments[6], arguments[7])

check("I2C: a block written is the block read, 1 to 32 bytes") {
  let owner = try LinuxI2CBus(path: adapter)
  try owner.claim(present)
  var bus = owner.port()
  for count in 1...I2CBytes.capacity {
    let block = pattern(count, from: UInt8(count))
    try bus.writeBlock(block, to: present, register: 0x40)
    try expect(array(try bus.readBlock(count, from: present, register: 0x40)), array(block))
  }
}

check("I2C: a byte written lands in its register and nowhere else") {
  let owner = try LinuxI2CBus(path: adapter)
  var bus = owner.port()
  try bus.writeBlock(pattern(3, from: 10), to: present, register: 0x20)
  try bus.writeByte(99, to: present, register: 0x21)
  try expect(array(try bus.readBlock(3, from: present, register: 0x20)), [10, 99, 12])
}

check("I2C: two chips in turn, each keeps its own registers") {
  let owner = try LinuxI2CBus(path: adapter)
  var bus = owner.port()
  for round in UInt8(0)..<4 {
    try bus.writeByte(round, to: present, register: 0x30)
    try bus.writeByte(100 + round, to: second, register: 0x30)
    try expect(array(try bus.readBlock(1, from: present, register: 0x30)), [round])
    try expect(array(try bus.readBlock(1, from: second, register: 0x30)), [100 + round])
  }
}

check("I2C: two owners of one adapter both write, as daemon and guard do") {
  let daemon = try LinuxI2CBus(path: adapter)
  let watcher = try LinuxI2CBus(path: adapter)
  var daemonBus = daemon.port()
  var watcherBus = watcher.port()
  try daemonBus.writeByte(1, to: present, register: 0x31)
  try watcherBus.writeByte(2, to: present, register: 0x31)
  try expect(array(try daemonBus.readBlock(1, from: present, register: 0x31)), [2])
}

check("I2C: no chip at the address gives no acknowledge with address and register, after every attempt") {
  let owner = try LinuxI2CBus(path: adapter)
  var bus = owner.port(attempts: 3)
  try expectError(I2CError.noAcknowledge(address: absent, register: 0x02)) {
    try bus.writeByte(0, to: absent, register: 0x02)
  }
  try bus.writeByte(7, to: present, register: 0x32)
  try expect(array(try bus.readBlock(1, from: present, register: 0x32)), [7])
}

check("I2C: plain transfers on an SMBus-only adapter are refused at opening, by name, and at run time") {
  try expectError(BusOpenError.adapterLacks(path: adapter, operations: ["plain I2C (I2C_RDWR)"])) {
    _ = try LinuxI2CBus(path: adapter, operations: [.writeByte, .plainWrite, .plainRead])
  }
  let owner = try LinuxI2CBus(path: adapter)
  var bus = owner.port()
  try expectError(I2CError.system(errno: 95, address: present, register: 0)) {
    try bus.plainWrite(pattern(2, from: 1), to: present)
  }
}

check("I2C: an address that a kernel driver holds is refused when claimed, and writes to it fail") {
  let owner = try LinuxI2CBus(path: adapter)
  try expectError(BusOpenError.addressClaimedByKernel(path: adapter, address: claimed)) { try owner.claim(claimed) }
  var bus = owner.port()
  try expectError(I2CError.system(errno: 16, address: claimed, register: 1)) {
    try bus.writeByte(0, to: claimed, register: 1)
  }
}

check("I2C: a chip that another owner has claimed is refused by name, and free once that is gone; others are free") {
  do {
    let owner = try LinuxI2CBus(path: adapter)
    try owner.claim(present)
    let other = try LinuxI2CBus(path: adapter)
    try other.claim(second)
    try expectError(BusOpenError.addressInUse(path: adapter, address: present)) { try other.claim(present) }
    withExtendedLifetime((owner, other)) {}
  }
  try LinuxI2CBus(path: adapter).claim(present)
}

check("serial: a UART opens at every common rate and takes a frame") {
  for rate in [9600, 115_200] {
    let line = try LinuxSerialPort(path: serial, baudRate: rate)
    var port = line.port()
    let frame: [UInt8] = [0x55, 0x00, 0x09, 0x01, 0x30, 0x7F, 0x46, 0x00, 0xAA]
    try frame.withUnsafeBytes { try port.write($0) }
  }
}

check("serial: the kernel's console is refused and named") {
  try expectError(BusOpenError.lineBusy(path: console, holder: .kernelConsole)) {
    _ = try LinuxSerialPort(path: console, baudRate: 115_200)
  }
}

struct Unexpected: Error { var text: String }

func check(_ title: String, _ body: () throws -> Void) {
  do {
    try body()
    print("RIG passed: \(title)")
  } catch let error as Unexpected {
    print("RIG failed: \(title): \(error.text)")
  } catch {
    print("RIG failed: \(title): \(error)")
  }
}

func expect<Value: Equatable>(_ got: Value, _ expected: Value) throws {
  guard got == expected else { throw Unexpected(text: "expected \(expected), got \(got)") }
}

func expectError<Failure: Error & Equatable>(_ expected: Failure, _ body: () throws -> Void) throws {
  do {
    try body()
  } catch {
    guard let failure = error as? Failure, failure == expected else {
      throw Unexpected(text: "expected \"\(expected)\", got \"\(error)\"")
    }
    return
  }
  throw Unexpected(text: "expected \"\(expected)\", got no error")
}

func chip(_ text: String) -> I2CAddress? { UInt8(text.dropFirst(2), radix: 16).flatMap { I2CAddress($0) } }

func pattern(_ count: Int, from start: UInt8) -> I2CBytes {
  var bytes = I2CBytes()
  for offset in 0..<count { bytes.append(start &+ UInt8(offset)) }
  return bytes
}

func array(_ bytes: I2CBytes) -> [UInt8] { (0..<bytes.count).map { bytes[$0] } }
