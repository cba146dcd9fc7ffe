import TactusDaemon

/// Keys of the cooling pump.
extension ConfigTable {
  static let pump: [ConfigKey] = pumpBoth + pumpOperator + pumpDevice

  private static let pumpBoth: [ConfigKey] = [
    ConfigKey(
      "pump.role", .choice(["operator", "device"]), .text("operator"),
      "What this program is: the operator of a pump, in place of its app; or the device itself, in place of its "
        + "microcontroller, with motor, button and sensors on this machine."),
    ConfigKey(
      "pump.backend", .choice(["hardware", "sim"]), .text("hardware"),
      "The pump: a real one (hardware), or simulated with its water and skin (sim)."),
    ConfigKey(
      "pump.device", .text, nil,
      "As operator the way to the pump: a serial line (/dev/ttyUSB0, /dev/serial0, /dev/rfcomm0, or what `tactus sim pump "
        + "--pty` prints), or a serial module such as the HM-10 by its name or address: ble:HMSoft, "
        + "ble:AA:BB:CC:DD:EE:FF, ble:HMSoft@hci1. Unless given: /dev/ttyUSB0. As device the serial line that its apps talk "
        + "to, or at which its radio module is; unless given: none."),
    ConfigKey(
      "pump.baud", .choice(["1200", "2400", "4800", "9600", "19200", "38400", "57600", "115200"]), .text("9600"),
      "Bits a second of a serial line."),
    ConfigKey(
      "pump.run_limit_min", .integer(1...1440), .integer(30),
      "Minutes of pumping, over however many ONs, after which the pump is turned off until it has rested or is reset.",
      mayChange: true),
    ConfigKey(
      "pump.rest_min", .integer(0...1440), .integer(5), "Minutes without pumping after which it has rested.",
      mayChange: true),
    ConfigKey(
      "pump.on_overheat", .choice(["stop", "keep"]), .text("stop"),
      "What skin above 40 °C means: the pump is turned off, as the original does, although it is what cools (stop), or "
        + "goes on (keep).", mayChange: true),
    ConfigKey("pump.log_days", .integer(1...36_500), .integer(1095), "Days that the sessions go back."),
  ]

  private static let pumpOperator: [ConfigKey] = [
    ConfigKey(
      "pump.on_link_loss", .choice(["keep", "stop"]), .text("keep"),
      "As operator: what a lost connection means for a pump that runs. It runs on until its own limit (keep), or is turned "
        + "off as soon as it can be reached (stop).", mayChange: true)
  ]

  private static let pumpDevice: [ConfigKey] = [
    ConfigKey(
      "pump.silence_limit_s", .integer(1...3600), nil,
      "As device: seconds without a command after which a pump that runs stops. Unless given: it runs on until its limit, as "
        + "the original.", mayChange: true),
    ConfigKey(
      "pump.dialect", .choice(["firmware", "legacy"]), .text("firmware"),
      "As device: the lines it speaks: with water and skin (firmware), or with one temperature, the skin's (legacy)."),
    ConfigKey(
      "pump.bluetooth", .boolean, .boolean(false),
      "As device: offer the lines over Bluetooth as an HM-10 does (FFE0/FFE1), to one central at a time. Whoever is near may "
        + "connect."),
    ConfigKey("pump.bluetooth_name", .text, .text("Testicool"), "The name under which it is found, at most 20 bytes."),
    ConfigKey(
      "pump.bluetooth_adapter", .text, nil, "hci0, or an adapter's address. Unless given: the first that there is."),
    ConfigKey(
      "pump.pwm.chip", .text, .text("/sys/class/pwm/pwmchip0"),
      "As device: the PWM unit that drives the motor. On a Raspberry Pi `dtoverlay=pwm` brings it to GPIO18."),
    ConfigKey("pump.pwm.channel", .integer(0...63), .integer(0), "The unit's output."),
    ConfigKey("pump.pwm.frequency_hz", .integer(10...50_000), .integer(1_000), "Periods a second."),
    ConfigKey(
      "pump.button", .line, nil, "As device: the line of the button that turns the pump on and off. Unless given: none."
    ),
    ConfigKey(
      "pump.button_active_low", .boolean, .boolean(true),
      "The button connects its line to ground, and the chip's own resistor pulls it up; otherwise the other way round."),
    ConfigKey(
      "pump.adc.i2c_bus", .integer(0...255), .integer(1),
      "As device: number N of /dev/i2c-N with the ADS1115 of the sensors."
    ),
    ConfigKey("pump.adc.i2c_address", .integer(0x48...0x4B), .integer(0x48), "The converter's address."),
    ConfigKey(
      "pump.adc.water_channel", .integer(0...3), nil,
      "Its input with the water's thermistor: 10 kΩ, B 3950, to the supply, and 10 kΩ to ground. Unless given: there is none."
    ),
    ConfigKey("pump.adc.skin_channel", .integer(0...3), nil, "Its input with the skin's thermistor, wired the same."),
    ConfigKey(
      "pump.adc.pot_channel", .integer(0...3), nil,
      "Its input with a potentiometer from ground to the supply, which sets the speed when it is turned."),
    ConfigKey(
      "pump.adc.supply_mv", .integer(1_000...6_000), .integer(3_300), "The thermistors' supply in millivolts."),
  ]
}
