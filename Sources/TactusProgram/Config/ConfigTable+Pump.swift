/// Keys of the cooling pump.
extension ConfigTable {
  static let pump: [ConfigKey] = [
    ConfigKey(
      "pump.backend", .choice(["serial", "sim"]), .text("serial"),
      "The pump: on a serial line (serial), or simulated with its water and skin (sim)."),
    ConfigKey(
      "pump.device", .text, .text("/dev/ttyUSB0"),
      "Its line: a USB adapter, /dev/serial0, /dev/rfcomm0, or what `tactus sim pump --pty` prints."),
    ConfigKey(
      "pump.baud", .choice(["1200", "2400", "4800", "9600", "19200", "38400", "57600", "115200"]), .text("9600"),
      "Bits a second."),
    ConfigKey(
      "pump.run_limit_min", .integer(1...1440), .integer(30),
      "Minutes of pumping, over however many ONs, after which the pump is turned off until it has rested or is reset."),
    ConfigKey(
      "pump.rest_min", .integer(0...1440), .integer(5), "Minutes without pumping after which it has rested."),
    ConfigKey(
      "pump.on_link_loss", .choice(["keep", "stop"]), .text("keep"),
      "What a lost connection means for a pump that runs: it runs on until its own limit (keep), or is turned off as soon "
        + "as it can be reached (stop)."),
    ConfigKey(
      "pump.on_overheat", .choice(["stop", "keep"]), .text("stop"),
      "What skin above 40 °C means: the pump is turned off, as the original does, although it is what cools (stop), or "
        + "goes on (keep)."),
  ]
}
