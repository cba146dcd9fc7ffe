import Buses
import BusesLinux
@_spi(FromOutside) import Conversions
import Devices
import Leg
import Tactus
import TactusDaemon
import Wire

// The rules that concern several keys, and the parts of the loop, which the keys' ranges and `check` guarantee to be valid.

extension Legs {
  static func check(_ wiring: Wiring, _ rules: Rules, _ report: Contradictions<Legs>) {
    do throws(PCA9685TimingError) {
      _ = try wiring.timing()
    } catch {
      report(\.frequencyHertz, "\(error)")
    }
    checkChips(wiring, report)
    if wiring.port > 0, Int(wiring.port) + wiring.legs.count - 1 > 65535 {
      let count = wiring.legs.count
      report(\.port, "expected at most \(65536 - count) for \(count) legs, got \(wiring.port)")
    }
    checkLinks(wiring, report)
    if wiring.batterySensor != .none, let warning = rules.warningMillivolts, let fault = rules.faultMillivolts,
      warning < fault
    {
      report(
        \.warningMillivolts, "expected at least \(report.setting(\.faultMillivolts, fault)), got \(warning)")
    }
    for index in wiring.legs.indices { checkTravel(wiring, index, report) }
  }

  private static func checkChips(_ wiring: Wiring, _ report: Contradictions<Legs>) {
    let allCall = "expected another than 0x70, at which every such chip answers when it is switched on"
    if wiring.chips.isEmpty {
      if wiring.i2cAddress == 0x70 { report(\.givenI2CAddress, allCall) }
    } else if let address = wiring.givenI2CAddress {
      report(\.givenI2CAddress, "expected none beside leg.chips, whose items have addresses, got 0x\(hex(address))")
    }
    for (index, chip) in wiring.chips.enumerated() {
      if wiring.i2cAddress(ofChip: index) == 0x70 { report(\.chips, index, \.givenI2CAddress, allCall) }
      if let line = chip.outputEnable, wiring.outputEnable != nil {
        report(
          \.chips, index, \.outputEnable,
          "expected none beside leg.output_enable, the line that all chips share, got \(line)")
      }
    }
    let channels = wiring.chipCount * PCA9685.channelCount
    for index in wiring.legs.indices where wiring.channel(index) >= channels {
      let chips = wiring.chipCount == 1 ? "one chip has" : "\(wiring.chipCount) chips have"
      report(
        \.legs, index, \.givenChannel,
        "expected 0…\(channels - 1), the channels that \(chips) (leg.chips), got \(wiring.channel(index))")
    }
  }

  private static func checkLinks(_ wiring: Wiring, _ report: Contradictions<Legs>) {
    #if !Bluetooth
      if wiring.hasBluetooth { report(\.hasBluetooth, "expected false: this program was built without Bluetooth") }
    #endif
    if wiring.serialPath != nil, !LinuxSerialPort.baudRates.contains(wiring.serialBaudRate) {
      let known = LinuxSerialPort.baudRates.map(String.init).joined(separator: ", ")
      report(\.serialBaudRate, "expected one of \(known), got \(wiring.serialBaudRate)")
    }
  }

  private static func checkTravel(_ wiring: Wiring, _ index: Int, _ report: Contradictions<Legs>) {
    let leg = wiring.legs[index]
    let (lowest, highest) = (leg.minMicroseconds, leg.maxMicroseconds)
    // The step of the chip is 5 µs, and a servo does not move within two steps.
    if Int(highest) - Int(lowest) < 10 {
      let (least, most) = (
        report.setting(\.legs, index, \.minMicroseconds, lowest),
        report.setting(\.legs, index, \.maxMicroseconds, highest)
      )
      report(
        \.legs, index, \.maxMicroseconds, "expected at least 10 more than \(least), got \(highest)",
        or: \.minMicroseconds, "expected at least 10 less than \(most), got \(lowest)")
    } else if !(lowest...highest).contains(leg.centreMicroseconds) {
      report(
        \.legs, index, \.givenCentre,
        "expected \(lowest)…\(highest), min_us to max_us, got \(leg.centreMicroseconds)")
    }
  }

  static func loopRules(_ wiring: Wiring, _ rules: Rules) -> LegRules {
    LegRules(
      zip(wiring.legs, rules.legs).map { leg, its in
        do {
          return try LegSettings(
            deadmanTimeout: .milliseconds(Int64(rules.deadmanMilliseconds)),
            lowest: PulseWidth(microseconds: leg.minMicroseconds),
            highest: PulseWidth(microseconds: leg.maxMicroseconds),
            slewMicrosecondsPerSecond: its.slewMicrosecondsPerSecond.map { Int64($0) },
            releaseAfter: its.releaseAfterSeconds.map { .seconds($0) },
            battery: wiring.battery == nil ? nil : rules.batteryLimits, reportsStubBattery: rules.reportsStubBattery)
        } catch {
          preconditionFailure("the configuration accepted invalid settings of a leg: \(error)")
        }
      })
  }
}

extension Legs.Rules {
  /// The voltage limits of the battery, or `nil` if neither a warning nor a fault voltage is configured.
  fileprivate var batteryLimits: LegBatteryLimits? {
    guard warningMillivolts != nil || faultMillivolts != nil else { return nil }
    let fault = faultMillivolts ?? 0
    return LegBatteryLimits(
      warning: Millivolts(UInt16(clamping: warningMillivolts ?? fault)), fault: Millivolts(UInt16(clamping: fault)))
  }
}

extension Legs.Wiring {
  var i2cAddress: UInt8 { givenI2CAddress ?? 0x40 }

  var chipCount: Int { max(1, chips.count) }
  func i2cAddress(ofChip index: Int) -> UInt8 {
    guard chips.indices.contains(index) else { return i2cAddress }
    return chips[index].givenI2CAddress ?? 0x40 + UInt8(clamping: index)
  }

  func name(_ index: Int) -> String { legs[index].givenName ?? "leg \(index)" }
  func channel(_ index: Int) -> Int { legs[index].givenChannel ?? index }

  fileprivate func timing() throws(PCA9685TimingError) -> PCA9685Timing {
    try PCA9685Timing(rate: .hertz(Int64(frequencyHertz)), oscillator: .hertz(Int64(oscillatorHertz)))
  }

  /// The chips, in the order of the file.
  var drivers: [PCA9685] {
    (0..<chipCount).map { index in
      guard let address = I2CAddress(i2cAddress(ofChip: index)), let timing = try? timing() else {
        preconditionFailure("the configuration accepted an invalid chip")
      }
      return PCA9685(address: address, timing: timing)
    }
  }

  /// The output-enable lines with their keys, and for each chip the number of its line, or `nil` if its pin is tied low.
  var enableLines: (lines: [(line: GPIOLine, key: String)], ofChips: [Int?]) {
    func line(_ name: GPIOLineName) -> GPIOLine { GPIOLine(name, isActiveLow: true) }
    if let outputEnable { return ([(line(outputEnable), "leg.output_enable")], Array(repeating: 0, count: chipCount)) }
    var lines: [(line: GPIOLine, key: String)] = []
    var ofChips: [Int?] = Array(repeating: nil, count: chipCount)
    for (index, chip) in chips.enumerated() {
      guard let name = chip.outputEnable else { continue }
      ofChips[index] = lines.count
      lines.append((line(name), "leg.chips[\(index)].output_enable"))
    }
    return (lines, ofChips)
  }

  /// The battery's sensor, or `nil` if none is configured.
  var battery: LegBattery? {
    guard batterySensor == .ads1115 else { return nil }
    return LegBattery(
      ADS1115(address: I2CAddress(converter.i2cAddress)!), channel: converter.channel,
      dividerPerMille: Int64(saturating: (converter.divider * 1000).rounded()))
  }

  /// The legs' servos, in the order of the legs.
  var servos: [LegServo] {
    // Groups are numbered by their first leg.
    let groups = legs.map(\.group)
    return legs.enumerated().map { index, leg in
      let place = channel(index)
      do {
        let channel = try ServoChannel(
          place % PCA9685.channelCount, lowest: PulseWidth(microseconds: leg.minMicroseconds),
          centre: PulseWidth(microseconds: leg.centreMicroseconds),
          highest: PulseWidth(microseconds: leg.maxMicroseconds), isInverted: leg.isInverted)
        return LegServo(
          channel, chip: place / PCA9685.channelCount, group: leg.group.flatMap { groups.firstIndex(of: $0) })
      } catch {
        preconditionFailure("the configuration accepted an invalid servo: \(error)")
      }
    }
  }
}
