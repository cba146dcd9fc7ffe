import Buses
import BusesLinux
import Foundation
import Tactus
import Testing

/// A folder with files like those of sysfs, removed at its end.
private final class Sysfs {
  let root: String

  init(_ files: [String: String], links: [String: String] = [:]) throws {
    root = NSTemporaryDirectory() + "tactus-sensor-\(UUID().uuidString)"
    for (path, text) in files { try write(text, to: path) }
    for (path, target) in links {
      try FileManager.default.createDirectory(
        atPath: (root + path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
      try FileManager.default.createDirectory(
        atPath: ((root + path as NSString).deletingLastPathComponent + "/" + target), withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(atPath: root + path, withDestinationPath: target)
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: root) }

  func write(_ text: String, to path: String) throws {
    let folder = (root + path as NSString).deletingLastPathComponent
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try text.write(toFile: root + path, atomically: false, encoding: .utf8)
  }

  func move(_ path: String, to other: String) throws {
    try FileManager.default.moveItem(atPath: root + path, toPath: root + other)
  }

  func sensor(_ name: String, _ quantity: KernelQuantity = .celsius) throws -> LinuxSensor {
    LinuxSensor(try #require(KernelSensorName(name)), measures: quantity, root: root)
  }
}

private let hwmon = "/sys/class/hwmon"
private let iio = "/sys/bus/iio/devices"
private let w1 = "/sys/bus/w1/devices/28-0316a2795bff"
private let probe = "w1:28-0316a2795bff"

@Suite("sensors of the kernel")
struct LinuxSensorTests {
  @Test(
    "names: three kinds, with and without the device's address; what is none",
    arguments: [
      ("hwmon:lm75/temp1", true), ("hwmon:lm75@1-0048/temp1", true), ("hwmon:coretemp/Core 0", true),
      ("iio:mpu6050/accel_x", true), (probe, true), ("hwmon:lm75", false), ("hwmon:/temp1", false),
      ("hwmon:lm75/", false), ("hwmon:../temp1", false), ("hwmon:lm75/..", false), ("hwmon:a/b/c", false),
      ("w1:28-0316a2795bfg", false), ("w1:28-0316a2795BFF", false), ("w1:\(probe)/x", false), ("spi:a/b", false),
      ("hwmon:\(String(repeating: "a", count: 65))/temp1", false), ("hwmon:lm75@/temp1", false), ("", false),
    ] as [(String, Bool)])
  func names(text: String, isName: Bool) {
    let name = KernelSensorName(text)
    #expect((name != nil) == isName)
    if let name { #expect(name.description == text) }
  }

  @Test(
    "numbers of sysfs; everything else is none",
    arguments: [
      ("23125\n", 23_125), ("-0.5\n", -0.5), ("0.000598205", 0.000_598_205), ("0\n", 0), ("", nil), ("\n", nil),
      ("1e5", nil), ("nan", nil), ("inf", nil), ("0x10", nil), ("1 2", nil), ("--1", nil), (".", nil), ("1.", nil),
      (String(repeating: "9", count: 41), nil), ("1.2.3", nil), ("+1", nil),
    ] as [(String, Double?)])
  func numbers(text: String, is number: Double?) { #expect(KernelSensorText.number(text.utf8) == number) }

  @Test("an hwmon input by its number and by its label, in our unit, whatever the device's number is")
  func labels() throws {
    let files = try Sysfs([
      "\(hwmon)/hwmon0/name": "acpitz\n", "\(hwmon)/hwmon0/temp1_input": "1000\n", "\(hwmon)/hwmon5/name": "board\n",
      "\(hwmon)/hwmon5/temp2_input": "23125\n", "\(hwmon)/hwmon5/temp2_label": "Core 0\n",
      "\(hwmon)/hwmon5/in1_input": "3300\n", "\(hwmon)/hwmon5/power1_input": "2500000\n",
    ])
    #expect(try files.sensor("hwmon:board/temp2").read(at: .zero).value == 23.125)
    #expect(try files.sensor("hwmon:board/Core 0").read(at: .zero).value == 23.125)
    #expect(abs(try files.sensor("hwmon:board/in1", .volts).read(at: .zero).value - 3.3) < 1e-9)
    #expect(try files.sensor("hwmon:board/power1", .watts).read(at: .zero).value == 2.5)
  }

  @Test("an IIO channel: raw, offset and scale of the channel or of its type; a processed value before a raw one")
  func channels() throws {
    let device = "\(iio)/iio:device3"
    let files = try Sysfs([
      "\(device)/name": "imu\n", "\(device)/in_accel_x_raw": "-16384\n", "\(device)/in_accel_scale": "0.000598205\n",
      "\(device)/in_temp_raw": "100\n", "\(device)/in_temp_offset": "12420\n", "\(device)/in_temp_scale": "2.941176\n",
      "\(device)/in_pressure_input": "101.325\n", "\(device)/in_pressure_raw": "7\n",
      "\(device)/in_voltage0_raw": "2048\n", "\(device)/in_voltage0_scale": "0.5\n",
      "\(device)/in_voltage_scale": "9\n",
    ])
    #expect(
      try files.sensor("iio:imu/accel_x", .metresPerSecondSquared).read(at: .zero).value == -16384 * 0.000_598_205)
    let temperature = try files.sensor("iio:imu/temp").read(at: .zero).value
    #expect(abs(temperature - 12_520 * 2.941_176 / 1_000) < 1e-9)
    #expect(abs(try files.sensor("iio:imu/pressure", .hectopascals).read(at: .zero).value - 1_013.25) < 1e-9)
    #expect(abs(try files.sensor("iio:imu/voltage0", .volts).read(at: .zero).value - 1.024) < 1e-9)
  }

  @Test("two devices of one name: which ones there are; with its address each is found")
  func twins() throws {
    let files = try Sysfs(
      [:],
      links: [
        "\(hwmon)/hwmon0": "../../devices/i2c-1/1-0048/hwmon/hwmon0",
        "\(hwmon)/hwmon1": "../../devices/i2c-1/1-0049/hwmon/hwmon1",
      ])
    for number in 0...1 {
      try files.write("lm75\n", to: "\(hwmon)/hwmon\(number)/name")
      try files.write("\(number + 1)000\n", to: "\(hwmon)/hwmon\(number)/temp1_input")
    }
    let sensor = try files.sensor("hwmon:lm75/temp1")
    #expect(sensor.read(at: .zero).error == .missing)
    #expect(sensor.trouble?.contains("2 devices are called lm75; say which: hwmon:lm75@1-0048/temp1") == true)
    #expect(try files.sensor("hwmon:lm75@1-0049/temp1").read(at: .zero).value == 2)
    let all = KernelSensorTree.below(files.root).all().map(\.name.description)
    #expect(all == ["hwmon:lm75@1-0048/temp1", "hwmon:lm75@1-0049/temp1"])
  }

  @Test("what is not there or measures something else: the folder, and what there is instead")
  func absent() throws {
    let files = try Sysfs(["\(hwmon)/hwmon0/name": "lm75\n", "\(hwmon)/hwmon0/temp1_input": "1000\n"])
    for (name, quantity, words) in [
      ("hwmon:tmp102/temp1", .celsius, "\(hwmon): no device is called tmp102; there are lm75"),
      ("hwmon:lm75/temp2", .celsius, "\(hwmon)/hwmon0: no channel temp2; there are temp1"),
      ("hwmon:lm75/temp1", .volts, "\(hwmon)/hwmon0/temp1_input: expected a sensor of volts, found one of celsius"),
      (probe, .celsius, "\(w1): no such thermometer"),
    ] as [(String, KernelQuantity, String)] {
      let sensor = try files.sensor(name, quantity)
      #expect(sensor.read(at: .zero).error == .missing)
      #expect(sensor.trouble == words)
    }
  }

  @Test("unplugged and plugged in again under another number: gone, and read again by itself")
  func unplugged() throws {
    let files = try Sysfs(["\(hwmon)/hwmon0/name": "lm75\n", "\(hwmon)/hwmon0/temp1_input": "1000\n"])
    let sensor = try files.sensor("hwmon:lm75/temp1")
    #expect(sensor.read(at: .zero).value == 1)
    try files.move("\(hwmon)/hwmon0", to: "\(hwmon)/gone")
    #expect(sensor.read(at: .zero).error == .unreadable(errno: 2))
    #expect(sensor.trouble?.hasPrefix("\(hwmon)/hwmon0/temp1_input: ") == true)
    #expect(sensor.read(at: .zero).error == .missing)
    try files.move("\(hwmon)/gone", to: "\(hwmon)/hwmon7")
    #expect(sensor.read(at: .zero).value == 1)
    #expect(sensor.trouble == nil)
  }

  @Test(
    "a 1-Wire thermometer: its value; 85 °C at power-on, −127 °C and a text that is none are faults",
    arguments: [
      ("23125\n", 23.125, nil), ("-10125\n", -10.125, nil), ("85000\n", nil, .implausible),
      ("-127000\n", nil, .implausible), ("\n", nil, .unintelligible), ("", nil, .unintelligible),
    ] as [(String, Double?, SensorError?)])
  func oneWire(text: String, value: Double?, error: SensorError?) throws {
    let files = try Sysfs(["\(w1)/temperature": text])
    let reading = try withExtendedLifetime(files) { try files.sensor(probe).read(at: .zero) }
    #expect(reading.error == error)
    if let value { #expect(reading.value == value) }
  }

  @Test(
    "an older kernel's w1_slave: the checksum counts",
    arguments: [
      ("YES", "t=23125", 23.125, nil), ("NO", "t=23125", nil, .implausible), ("YES", "t=85000", nil, .implausible),
      ("YES", "23125", nil, .unintelligible),
    ] as [(String, String, Double?, SensorError?)])
  func oneWireSlave(checksum: String, last: String, value: Double?, error: SensorError?) throws {
    let bytes = "72 01 4b 46 7f ff 0e 10 57"
    let text = "\(bytes) : crc=57 \(checksum)\n\(bytes) \(last)\n"
    let files = try Sysfs(["\(w1)/w1_slave": text])
    let reading = try withExtendedLifetime(files) { try files.sensor(probe).read(at: .zero) }
    #expect(reading.error == error)
    if let value { #expect(reading.value == value) }
  }

  @Test("a tick sees the newest value and its age; past the limit it is stale, at the limit not")
  func stale() throws {
    let sensor = SimulatedSensor()
    var driver = sensor.driver()
    var input = sensor.port(staleAfter: .seconds(3))
    #expect(throws: SensorError.notYet) { () throws(SensorError) in try input.read() }
    driver.set(21.5, at: .zero + .seconds(1))
    input.now = .zero + .seconds(4)
    #expect(try input.readWithAge() == (21.5, .seconds(3)))
    input.now = .zero + .seconds(4) + Nanoseconds(1)
    #expect(throws: SensorError.stale(age: .seconds(3) + Nanoseconds(1))) { () throws(SensorError) in try input.read() }
    // A value that is newer than the tick.
    input.now = .zero
    #expect(try input.readWithAge() == (21.5, .zero))
    sensor.inject(.gone)
    driver.set(22, at: .zero + .seconds(4))
    #expect(throws: SensorError.unreadable(errno: 6)) { () throws(SensorError) in try input.read() }
  }

  @Test("mounting: a chip on its side says what the body feels, and back; two axes on one line are no mounting")
  func mounting() throws {
    let side = try #require(Mounting(forward: .y, up: .minusX))
    // The chip's y points forwards, its −x up, and so its −z to the left.
    #expect(side.body(SIMD3(-9.8, 1, 2)) == SIMD3(1, -2, 9.8))
    #expect(Mounting.upright.body(SIMD3(1, 2, 3)) == SIMD3(1, 2, 3))
    for forward in ChipAxis.allCases {
      for up in ChipAxis.allCases {
        let mounting = Mounting(forward: forward, up: up)
        #expect((mounting == nil) == (forward.rawValue.last == up.rawValue.last))
        guard let mounting else { continue }
        #expect(mounting.body(mounting.chip(SIMD3(1, 2, 3))) == SIMD3(1, 2, 3))
        // A rotation and no mirror: forward, left and up stay right-handed.
        let (f, l) = (mounting.chip(SIMD3(1, 0, 0)), mounting.chip(SIMD3(0, 1, 0)))
        let up = SIMD3(f.y * l.z - f.z * l.y, f.z * l.x - f.x * l.z, f.x * l.y - f.y * l.x)
        #expect(mounting.chip(SIMD3(0, 0, 1)) == up, "\(forward), \(mounting)")
      }
    }
  }

  @Test("axes: three sensors as one, in the body's axes; one of them that fails or is old is an error of all")
  func axes() throws {
    let sensors = (0..<3).map { _ in SimulatedSensor() }
    let limit = Nanoseconds.milliseconds(100)
    let side = try #require(Mounting(forward: .y, up: .minusX))
    var input = AxesInput(
      x: sensors[0].port(staleAfter: limit), y: sensors[1].port(staleAfter: limit),
      z: sensors[2].port(staleAfter: limit),
      mounted: side)
    var driver = SimulatedAxesDriver(
      x: sensors[0].driver(), y: sensors[1].driver(), z: sensors[2].driver(), mounted: side)
    #expect(throws: SensorError.notYet) { try input.read() }
    let start = TickInstant(nanoseconds: 1_000)
    driver.set(SIMD3(1, -2, 9.8), at: start)
    input.now = start
    #expect(try input.read() == SIMD3(1, -2, 9.8))
    sensors[2].inject(.silence)
    driver.set(SIMD3(2, -2, 9.8), at: start + .milliseconds(101))
    input.now = start + .milliseconds(101)
    #expect(throws: SensorError.stale(age: .milliseconds(101))) { try input.read() }
    sensors[2].inject(.gone)
    driver.set(SIMD3(2, -2, 9.8), at: input.now)
    #expect(throws: SensorError.unreadable(errno: 6)) { try input.read() }
    sensors[2].inject(.none)
    driver.set(SIMD3(2, -2, 9.8), at: input.now)
    #expect(try input.read() == SIMD3(2, -2, 9.8))
  }
}
