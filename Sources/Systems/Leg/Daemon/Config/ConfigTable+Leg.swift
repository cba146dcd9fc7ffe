import TactusDaemon

/// Keys of the servo legs.
extension ConfigTable {
  static let everyLeg: [ConfigKey] = legPort + leg + legs + runtimeLeg

  private static let legPort: [ConfigKey] = [
    ConfigKey(
      "network.leg_udp_port", .integer(0...65535), .integer(5010),
      "UDP port of the first leg's frames; the second leg's is one higher, and so on. 0 takes any free ones.")
  ]

  private static let leg: [ConfigKey] = [
    ConfigKey(
      "leg.backend", .choice(["pca9685", "sim"]), .text("pca9685"),
      "The servos' chip: pca9685 (I2C), or sim (no hardware)."),
    ConfigKey("leg.i2c_bus", .integer(0...255), .integer(1), "Number N of /dev/i2c-N."),
    ConfigKey("leg.i2c_address", .integer(0x40...0x77), nil, "The chip's I2C address. Unless given: 0x40."),
    ConfigKey(
      "leg.oscillator_hz", .integer(20_000_000...50_000_000), .integer(25_000_000),
      "What the chip's oscillator really does, in hertz: 25 MHz by the datasheet, 23…27 MHz in real ones. Measure a pulse "
        + "to calibrate it."),
    ConfigKey(
      "leg.frequency_hz", .integer(24...333), .integer(50), "Pulses per second; servos want 50 unless they are digital."
    ),
    ConfigKey(
      "leg.deadman_ms", .integer(50...10_000), .integer(200),
      "Milliseconds without a command after which a leg's pulse ends. LegCtrl says 200.", mayChange: true),
    ConfigKey(
      "leg.output_enable", .line, nil,
      "The line that is wired to the chip's output-enable pin, which is active low: GPIO22, 22 (the same), another line's "
        + "name, or CHIP:22. It ends every pulse without the bus. Unless given: the pin is tied low."),
    ConfigKey(
      "leg.battery.sensor", .choice(["none", "ads1115"]), .text("none"),
      "What measures the battery: none, or ads1115, a converter on the chip's bus, its input behind a divider."),
    ConfigKey("leg.battery.i2c_address", .integer(0x48...0x4B), .integer(0x48), "The converter's I2C address."),
    ConfigKey("leg.battery.channel", .integer(0...3), .integer(0), "Its input, against ground."),
    ConfigKey(
      "leg.battery.divider", .number(1...100), .number(3),
      "The battery's voltage divided by that at the input: 3 for 20 kΩ over 10 kΩ. The input must stay below the converter's "
        + "supply, 3.3 V on a Raspberry Pi."),
    ConfigKey(
      "leg.battery.warn_mv", .integer(0...65_535), nil,
      "Millivolts below which telemetry warns. Unless given: that of fault_mv. Suggested for two lithium cells: 6800.",
      mayChange: true),
    ConfigKey(
      "leg.battery.fault_mv", .integer(0...65_535), nil,
      "Millivolts below which an armed leg is in fault and none can be armed. Unless given: never. Suggested for two lithium "
        + "cells: 6400.", mayChange: true),
    ConfigKey(
      "leg.compat_stub", .boolean, .boolean(false),
      "Report a battery of 7400 mV as the original firmware does, instead of 0 for no sensor.", mayChange: true),
    ConfigKey(
      "leg.bluetooth", .boolean, .boolean(false),
      "Offer leg 0 over Bluetooth as LegCtrl, to one central at a time. Whoever is near may connect."),
    ConfigKey(
      "leg.bluetooth_adapter", .text, nil, "hci0, or an adapter's address. Unless given: the first that there is."),
    ConfigKey(
      "leg.serial", .text, nil,
      "A serial line that leg 0 is operated by besides: /dev/ttyUSB0. Frames are as on a microcontroller's line."),
    ConfigKey("leg.serial_baud", .integer(1200...4_000_000), .integer(115_200), "Bits per second on leg.serial."),
  ]

  private static let legs: [ConfigKey] = [
    ConfigKey("legs[].name", .text, nil, "What logs and the API call it. Unless given: leg 0, leg 1 and so on."),
    ConfigKey(
      "legs[].channel", .integer(0...15), nil, "The chip's output. Unless given: its place in this list, from 0."),
    ConfigKey(
      "legs[].min_us", .integer(500...2500), .integer(500),
      "Shortest pulse in microseconds: a shorter one is made this long and reported. Recommended: 1000."),
    ConfigKey(
      "legs[].centre_us", .integer(500...2500), nil,
      "The middle that an inverted servo is mirrored at, in microseconds. Unless given: 1500, or the nearest of its travel."
    ),
    ConfigKey(
      "legs[].max_us", .integer(500...2500), .integer(2500), "Longest pulse in microseconds. Recommended: 2000."),
    ConfigKey("legs[].invert", .boolean, .boolean(false), "The servo is mounted the other way round."),
    ConfigKey(
      "legs[].slew_us_per_s", .integer(1...1_000_000), nil,
      "How fast the pulse may change, in microseconds per second. Unless given: at once.", mayChange: true),
    ConfigKey(
      "legs[].release_after_s", .number(0.1...3600), nil,
      "Seconds of standing still after which the servo gets no pulse until it is sent elsewhere. Unless given: it is held.",
      mayChange: true),
  ]

  private static let runtimeLeg: [ConfigKey] =
    [
      ConfigKey(
        "runtime.leg.rate_hz", .integer(50...200), .integer(50),
        "Ticks per second of the legs' loop, in hertz. Commands and deadmen do not wait for a tick.")
    ]
    + lane(
      "runtime.leg", "the legs' lane", priority: 80,
      safeStateAfter: (3, "every leg is in fault, without a pulse, until disarmed"))
}
