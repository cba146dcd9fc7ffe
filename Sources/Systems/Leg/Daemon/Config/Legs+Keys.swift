import Buses
import Tactus
import TactusDaemon
import Wire

// The keys of the configuration file: the chip and its battery, the links of leg 0, the legs.

extension Legs {
  enum Backend: String, Word { case pca9685, sim }
  enum BatterySensor: String, Word { case none, ads1115 }

  /// The settings that are fixed while the program runs.
  struct Wiring: Settings {
    /// The UDP port of the first leg; 0 selects any free ports.
    var port: UInt16 = 5010
    var backend = Backend.pca9685
    var i2cBus = 1
    var givenI2CAddress: UInt8?
    var oscillatorHertz = 25_000_000
    var frequencyHertz = 50
    /// The line at the output-enable pins of all chips, or `nil` if none is wired to them all.
    var outputEnable: GPIOLineName?
    /// The chips, 1…8, or none for one chip at `givenI2CAddress`.
    var chips: [Chip] = []
    var batterySensor = BatterySensor.none
    /// The settings of the converter, which have no meaning without the battery's sensor.
    var converter = Converter()
    var hasBluetooth = false
    /// The name of the Bluetooth adapter, or `nil` to use the first one available.
    var bluetoothAdapter: String?
    var serialPath: String?
    var serialBaudRate = 115_200
    var rateHertz = 50
    /// The legs, 1…32.
    var legs = [One()]

    static var keys: [Key<Wiring>] {
      Key(
        "network.leg_udp_port", \.port, in: 0...65535,
        "UDP port of the first leg's frames; the second leg's is one higher, and so on. 0 takes any free ones.")
      ofChip
      ofBattery
      ofLinks
      Key(
        "runtime.leg.rate_hz", \.rateHertz, in: 50...200,
        "Ticks per second of the legs' loop, in hertz. Commands and deadmen do not wait for a tick.")
      Key("legs", \.legs, upTo: 32, "The legs, each on a channel of its own.")
    }

    @DeclarationBuilder<Key<Self>> private static var ofChip: [Key<Self>] {
      Key("backend", \.backend, "The servos' chip: pca9685 (I2C), or sim (no hardware).")
      Key("i2c_bus", \.i2cBus, in: 0...255, "Number N of /dev/i2c-N.")
      Key("i2c_address", \.givenI2CAddress, in: 0x40...0x77, "The chip's I2C address. Unless given: 0x40.")
        .found(by: .i2cChip("PCA9685 servo driver", at: 0x40...0x77, bus: "leg.i2c_bus"))
      Key(
        "oscillator_hz", \.oscillatorHertz, in: 20_000_000...50_000_000,
        "What the chip's oscillator really does, in hertz: 25 MHz by the datasheet, 23…27 MHz in real ones. Measure a pulse "
          + "to calibrate it.")
      Key(
        "frequency_hz", \.frequencyHertz, in: 24...333,
        "Pulses per second; servos want 50 unless they are digital.")
      Key(
        "output_enable", \.outputEnable,
        "The line that is wired to the chip's output-enable pin, which is active low: GPIO22, 22 (the same), another line's "
          + "name, or CHIP:22. It ends every pulse without the bus. Of several chips: the line that all of them share. Unless "
          + "given: the pin is tied low.")
      Key(
        "leg.chips", \.chips, upTo: 8,
        "Several chips on the bus, 1…8: legs' channels 0…15 are the first one's, 16…31 the second one's and so on. They are one "
          + "unit: what one of them fails is a fault of every leg. Unless given: one chip.")
    }

    @DeclarationBuilder<Key<Self>> private static var ofBattery: [Key<Self>] {
      Key(
        "leg.battery.sensor", \.batterySensor,
        "What measures the battery: none, or ads1115, a converter on the chip's bus, its input behind a divider.")
      Key("leg.battery.i2c_address", \.converter.i2cAddress, in: 0x48...0x4B, "The converter's I2C address.")
        .found(by: .i2cChip("ADS1115 converter", at: 0x48...0x4B, bus: "leg.i2c_bus"))
      Key("leg.battery.channel", \.converter.channel, in: 0...3, "Its input, against ground.")
      Key(
        "leg.battery.divider", \.converter.divider, in: 1...100,
        "The battery's voltage divided by that at the input: 3 for 20 kΩ over 10 kΩ. The input must stay below the converter's "
          + "supply, 3.3 V on a Raspberry Pi.")
    }

    @DeclarationBuilder<Key<Self>> private static var ofLinks: [Key<Self>] {
      Key(
        "bluetooth", \.hasBluetooth,
        "Offer leg 0 over Bluetooth as LegCtrl, to one central at a time. Whoever is near may connect.")
      Key(
        "bluetooth_adapter", \.bluetoothAdapter,
        "hci0, or an adapter's address. Unless given: the first that there is.")
      Key(
        "serial", \.serialPath,
        "A serial line that leg 0 is operated by besides: /dev/ttyUSB0. Frames are as on a microcontroller's line."
      ).found(by: .serialLine)
      Key("serial_baud", \.serialBaudRate, in: 1200...4_000_000, "Bits per second on leg.serial.")
    }
  }

  /// The input of an ADS1115 on the chip's bus, to which the battery is connected.
  struct Converter: Sendable {
    var i2cAddress: UInt8 = 0x48
    var channel = 0
    var divider = 3.0
  }

  /// One of several chips.
  struct Chip: Settings {
    var givenI2CAddress: UInt8?
    var outputEnable: GPIOLineName?

    static var keys: [Key<Chip>] {
      Key(
        "i2c_address", \.givenI2CAddress, in: 0x40...0x77,
        "Its I2C address. Unless given: 0x40 for the first chip, 0x41 for the second and so on.")
      Key(
        "output_enable", \.outputEnable,
        "The line that is wired to this chip's output-enable pin alone. Unless given: leg.output_enable, or the pin is tied low."
      )
    }
  }

  /// The settings of one item of `legs` that are fixed while the program runs.
  struct One: Settings {
    var givenName: String?
    var givenChannel: Int?
    var group: String?
    var minMicroseconds: UInt16 = 500
    var givenCentre: UInt16?
    var maxMicroseconds: UInt16 = 2500
    var isInverted = false

    static var keys: [Key<One>] {
      Key("name", \.givenName, "What logs and the API call it. Unless given: leg 0, leg 1 and so on.").checked {
        $0.givenName.flatMap { GivenName.flaw(in: $0, 1...64) }.map { "expected \(GivenName.rule(1...64)), got \($0)" }
      }
      Key(
        "channel", \.givenChannel, in: 0...127,
        "The chip's output, 0…15; of several chips 16 is the second one's first, 32 the third one's. Unless given: its place in "
          + "this list, from 0.")
      Key(
        "group", \.group,
        "Legs of one group have one arm, one disarm and one deadman: what comes to one of them is for all. Each keeps its own pulse "
          + "and port. Unless given: the leg is on its own.")
      Key(
        "min_us", \.minMicroseconds, in: 500...2500,
        "Shortest pulse in microseconds: a shorter one is made this long and reported. Recommended: 1000.")
      Key(
        "centre_us", \.givenCentre, in: 500...2500,
        "The middle that an inverted servo is mirrored at, in microseconds. Unless given: 1500, or the nearest of its travel."
      )
      Key("max_us", \.maxMicroseconds, in: 500...2500, "Longest pulse in microseconds. Recommended: 2000.")
      Key("invert", \.isInverted, "The servo is mounted the other way round.")
    }

    var centreMicroseconds: UInt16 { givenCentre ?? min(max(1500, minMicroseconds), maxMicroseconds) }
  }

  /// The settings that a reload may change. A longer deadman, a faster slew, a later release and lower voltages wait until no leg has a
  /// pulse.
  struct Rules: Settings {
    var deadmanMilliseconds = 200
    var warningMillivolts: Int?
    var faultMillivolts: Int?
    var reportsStubBattery = false
    var legs = [OneRules()]

    static var keys: [Key<Rules>] {
      Key(
        "deadman_ms", \.deadmanMilliseconds, in: 50...10_000, limit: .upper,
        "Milliseconds without a command after which a leg's pulse ends. LegCtrl says 200.")
      Key(
        "leg.battery.warn_mv", \.warningMillivolts, in: 0...65_535, limit: .lower,
        "Millivolts below which telemetry warns. Unless given: that of fault_mv. Suggested for two lithium cells: 6800."
      )
      Key(
        "leg.battery.fault_mv", \.faultMillivolts, in: 0...65_535, limit: .lower,
        "Millivolts below which an armed leg is in fault and none can be armed. Unless given: never. Suggested for two lithium "
          + "cells: 6400.")
      Key(
        "compat_stub", \.reportsStubBattery,
        "Report a battery of 7400 mV as the original firmware does, instead of 0 for no sensor.")
      Key("legs", \.legs, upTo: 32, "The legs, each on a channel of its own.")
    }
  }

  /// The settings of one item of `legs` that a reload may change.
  struct OneRules: Settings {
    var slewMicrosecondsPerSecond: Int?
    var releaseAfterSeconds: Double?

    static var keys: [Key<OneRules>] {
      Key(
        "slew_us_per_s", \.slewMicrosecondsPerSecond, in: 1...1_000_000, limit: .upper,
        "How fast the pulse may change, in microseconds per second. Unless given: at once.")
      Key(
        "release_after_s", \.releaseAfterSeconds, in: 0.1...3600, limit: .upper,
        "Seconds of standing still after which the servo gets no pulse until it is sent elsewhere. Unless given: it is held."
      )
    }
  }

  static let sections = [
    ConfigSection(
      name: "leg",
      doc:
        "What all servo legs share. They run when this section or legs is present; this one alone: one leg on channel 0."
    ),
    ConfigSection(
      name: "legs",
      doc: "The legs, 1…32, each on a channel of its own. Their order is that of their UDP ports and of the API."),
  ]
  static let lane = LaneKeys(
    "runtime.leg", "the legs' lane", priority: 80,
    safeStateAfter: (3, "every leg is in fault, without a pulse, until disarmed"))
}
