import BluetoothBlueZ
import Buses
import Devices
import Plants
import TactusDaemon

/// An item of `plants.sensors` in the configuration.
struct PlantSensorWiring: Settings, Equatable {
  enum Chip: String, Word {
    case seesaw
    case ads1115
    case mcp3008
    case ble
  }

  var givenName: String?
  var chip = Chip.seesaw
  var givenAddress: UInt8?
  var givenChannel: Int?
  var radioAddress: String?
  var dry: Double?
  var wet: Double?

  @DeclarationBuilder<Key<Self>> static var keys: [Key<Self>] {
    Key(
      "name", \.givenName,
      "What clients call it: 1…32 of a–z 0–9 . _ -. Unless given: its address, as 0x36; with the input, as 0x48.0 or spi.0; "
        + "of a ble sensor with dashes, as c4-7c-8d-6a-11-22."
    )
    Key(
      "chip", \.chip,
      "seesaw (STEMMA soil sensor, I2C), a probe on an input of an ads1115 (I2C) or of the mcp3008 (SPI), or ble: a "
        + "sensor that advertises by Bluetooth what it measures, as a MiFlora or one of BTHome does.")
    Key(
      "i2c_address", \.givenAddress, in: 0x08...0x77,
      "The chip's I2C address. Unless given: 0x36 for a seesaw, 0x48 for an ads1115."
    ).found(
      by: .i2cChip("seesaw soil sensor", at: 0x36...0x39, bus: "plants.i2c_bus"),
      .i2cChip("ADS1115 converter", at: 0x48...0x4B, bus: "plants.i2c_bus"))
    Key(
      "channel", \.givenChannel, in: 0...7,
      "The converter's input: 0…3 of an ads1115, 0…7 of an mcp3008. Unless given: 0.")
    Key(
      "ble_address", \.radioAddress,
      "The Bluetooth address of a ble sensor, as C4:7C:8D:6A:11:22. Nothing connects to it."
    ).found(
      by: .bluetooth(service: SoilAdvertisement.Format.miBeacon.uuid, what: "soil sensor (MiBeacon)", prefix: ""),
      .bluetooth(service: SoilAdvertisement.Format.btHome.uuid, what: "sensor (BTHome)", prefix: ""))
    Key(
      "dry", \.dry, in: -10_000...70_000,
      "What the probe says in dry soil: counts, millivolts on an ads1115, or per cent of a ble sensor. A calibration by the API counts until this is "
        + "changed here. Unless given, with wet: usual values of such a probe.")
    Key(
      "wet", \.wet, in: -10_000...70_000,
      "What it says in wet soil: at least 100 mV or counts away from dry, 31 on an mcp3008, 10 % of a ble sensor; more, on a seesaw."
    )
  }

  func check(_ report: (PartialKeyPath<Self>, String) -> Void) {
    if PlantSensorID(name) == nil { report(\.givenName, "expected 1…32 of a–z 0–9 . _ - and no --, got '\(name)'") }
    switch chip {
    case .seesaw:
      if givenChannel != nil { report(\.givenChannel, "expected none: a seesaw probe has one input") }
    case .ads1115:
      if !(0x48...0x4B).contains(address!) {
        report(\.givenAddress, "expected 0x48…0x4b for an ads1115, got 0x\(String(address!, radix: 16))")
      }
      if channel! > 3 { report(\.givenChannel, "expected an input 0…3 of an ads1115, got \(channel!)") }
    case .mcp3008:
      if givenAddress != nil { report(\.givenAddress, "expected none: an mcp3008 is at plants.spi_device") }
    case .ble:
      if givenAddress != nil { report(\.givenAddress, "expected none: a ble sensor is on no bus") }
      if givenChannel != nil { report(\.givenChannel, "expected none: a ble sensor has one probe") }
    }
    if chip == .ble, radio == nil {
      report(
        \.radioAddress, "expected an address as C4:7C:8D:6A:11:22, got \(radioAddress.map { "'\($0)'" } ?? "nothing")")
      return
    }
    if chip != .ble, radioAddress != nil { report(\.radioAddress, "expected none: a \(chip.rawValue) is wired") }
    switch (dry, wet) {
    case (nil, nil): break
    case (let dry?, let wet?):
      do throws(PlantRefusal) {
        _ = try probe.calibration(dry: dry, wet: wet)
      } catch {
        report(\.wet, error.message)
      }
    case (nil, _?): report(\.dry, "expected dry beside wet, got nothing")
    case (_?, nil): report(\.wet, "expected wet beside dry, got nothing")
    }
  }
}

extension PlantSensorWiring {
  /// The given or the generated name, which may not be a valid sensor name.
  var name: String {
    if let givenName { return givenName }
    switch chip {
    case .seesaw: return "0x" + String(address!, radix: 16)
    case .ads1115: return "0x" + String(address!, radix: 16) + ".\(channel!)"
    case .mcp3008: return "spi.\(channel!)"
    case .ble: return radio?.text.replacing(":", with: "-").lowercased() ?? "ble"
    }
  }

  /// The address of a sensor on the radio, or `nil` if the file gives none that is one.
  var radio: RadioAddress? { radioAddress.flatMap { RadioAddress($0) } }

  /// The chip's I2C address, or `nil` if the chip is on SPI or on the radio.
  var address: UInt8? {
    switch chip {
    case .seesaw: givenAddress ?? 0x36
    case .ads1115: givenAddress ?? 0x48
    case .mcp3008, .ble: nil
    }
  }

  /// The chip's input, or `nil` if the chip has one input only.
  var channel: Int? { chip == .seesaw || chip == .ble ? nil : givenChannel ?? 0 }

  /// The sensor's identifier. Valid only after the names have been checked.
  var id: PlantSensorID { PlantSensorID(name)! }

  var probe: PlantProbe {
    switch chip {
    case .seesaw: .seesaw(SeesawSoil(address: I2CAddress(address!)!))
    case .ads1115: .ads1115(ADS1115(address: I2CAddress(address!)!), channel: channel!)
    case .mcp3008: .mcp3008(channel: channel!)
    case .ble: .radio(radio!)
    }
  }

  var monitored: PlantMonitor.Sensor {
    let calibration = dry.flatMap { dry in wet.flatMap { try? PlantCalibration(dry: dry, wet: $0) } }
    return PlantMonitor.Sensor(id, probe, calibration: calibration)
  }
}

extension SoilAdvertisement.Format {
  /// The UUID of the service.
  var uuid: BluetoothUUID { BluetoothUUID(service)! }
}
