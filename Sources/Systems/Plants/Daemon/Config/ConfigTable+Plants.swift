import TactusDaemon

/// Keys of the plants.
extension ConfigTable {
  static let plants: [ConfigKey] = plantsReading + plantsKeeping + plantsApp + plantsLists

  private static let plantsReading: [ConfigKey] = [
    ConfigKey(
      "plants.backend", .choice(["hardware", "sim"]), .text("hardware"),
      "The soil probes: on this machine's buses (hardware), or simulated ones that dry out slowly (sim)."),
    ConfigKey("plants.i2c_bus", .integer(0...255), .integer(1), "Number N of /dev/i2c-N, for probes on I2C."),
    ConfigKey(
      "plants.spi_device", .text, .text("/dev/spidev0.0"), "SPI bus and chip select of the MCP3008, if there is one."),
    ConfigKey("plants.read_period_s", .integer(1...3600), .integer(10), "Seconds from reading to reading of a probe."),
    ConfigKey(
      "plants.samples", .choice(["1", "3", "5", "7", "9"]), .text("5"),
      "Samples of a reading, of which the median counts."),
    ConfigKey("plants.retries", .integer(0...10), .integer(3), "Further attempts at a sample that fails."),
    ConfigKey(
      "plants.stale_after_s", .integer(2...86_400), .integer(120),
      "Seconds without a reading after which a probe is silent and its last one counts no more: at least two read "
        + "periods. A reading that does not change is none the worse for it."),
    ConfigKey(
      "plants.watered_rise_percent", .number(1...100), .number(10),
      "Percentage points by which moisture rises within plants.watered_within_min when somebody has watered."),
    ConfigKey("plants.watered_within_min", .integer(1...1440), .integer(30), "Minutes of that rise."),
  ]

  private static let plantsKeeping: [ConfigKey] = [
    ConfigKey(
      "plants.plants_per_user", .integer(1...64), .integer(7), "Plants of one user; the Plant-Tracker app shows seven."),
    ConfigKey(
      "plants.users", .integer(1...256), .integer(256),
      "Users with plants. Nothing but the broker's own password keeps somebody from being another one."),
    ConfigKey(
      "plants.dry_percent", .number(0...100), .number(20),
      "Moisture below which a new plant is dry. Each plant's limits can be changed later."),
    ConfigKey(
      "plants.wet_percent", .number(0...100), nil, "Moisture above which a new plant is wet. Unless given: no limit."),
    ConfigKey(
      "plants.cold_celsius", .number(-40...85), nil, "Degrees below which a new plant is cold. Unless given: no limit."),
    ConfigKey(
      "plants.hot_celsius", .number(-40...85), nil, "Degrees above which a new plant is hot. Unless given: no limit."),
    ConfigKey(
      "plants.history.minutes_days", .integer(1...366), .integer(2), "Days that readings are kept by the minute."),
    ConfigKey(
      "plants.history.quarters_days", .integer(1...3_660), .integer(31),
      "Days that they are kept by the quarter of an hour."
    ),
    ConfigKey(
      "plants.history.six_hours_days", .integer(1...36_600), .integer(1_098),
      "Days that they are kept by six hours; alerts and waterings, too."),
  ]

  private static let plantsApp: [ConfigKey] = [
    ConfigKey(
      "plants.app.enabled", .boolean, .boolean(true),
      "Answer the Plant-Tracker app on rpi/torpi and rpi/fromrpi of the broker in mqtt. Whoever may publish there may add "
        + "and delete plants."),
    ConfigKey(
      "plants.app.host_name", .text, .text("Host-RPI3B+"),
      "The name that the app sends to. The unmodified app knows no other."),
    ConfigKey(
      "plants.app.quiet", .boolean, .boolean(false),
      "Do not acknowledge what was added, deleted or edited, as the original host did not.", mayChange: true),
    ConfigKey(
      "plants.app.spam_limit", .integer(0...100_000), .integer(15),
      "Messages of one sender in plants.app.spam_window_s; 0: as many as they like.", mayChange: true),
    ConfigKey(
      "plants.app.spam_window_s", .integer(1...3_600), .integer(15), "Seconds of that window.", mayChange: true),
  ]

  private static let plantsLists: [ConfigKey] = [
    ConfigKey(
      "plants.sensors[].name", .text, nil,
      "What clients call it: 1…32 of a–z 0–9 . _ -. Unless given: its address, as 0x36; with the input, as 0x48.0 or spi.0."
    ),
    ConfigKey(
      "plants.sensors[].chip", .choice(["seesaw", "ads1115", "mcp3008"]), .text("seesaw"),
      "seesaw (STEMMA soil sensor, I2C), or a probe on an input of an ads1115 (I2C) or of the mcp3008 (SPI)."),
    ConfigKey(
      "plants.sensors[].i2c_address", .integer(0x08...0x77), nil,
      "The chip's I2C address. Unless given: 0x36 for a seesaw, 0x48 for an ads1115."),
    ConfigKey(
      "plants.sensors[].channel", .integer(0...7), nil,
      "The converter's input: 0…3 of an ads1115, 0…7 of an mcp3008. Unless given: 0."),
    ConfigKey(
      "plants.sensors[].dry", .number(-10_000...70_000), nil,
      "What the probe says in dry soil: counts, or millivolts on an ads1115. The API's calibration goes before it. Unless "
        + "given, with wet: usual values of such a probe."),
    ConfigKey("plants.sensors[].wet", .number(-10_000...70_000), nil, "What it says in wet soil."),
    ConfigKey(
      "plants.watering[].plant", .integer(1...2_147_483_647), nil,
      "The number of a plant, as GET /api/plants shows it, that may ask for water while it is dry. Unless there is such an "
        + "entry no plant ever does; one without plant and zone is none."),
    ConfigKey(
      "plants.watering[].zone", .integer(1...64), nil,
      "The sprinkler zone that waters it, by the sprinkler's own rules: queue, rain delay, limits of the zone."),
    ConfigKey(
      "plants.watering[].seconds", .integer(1...3_600), .integer(60), "Seconds of water each time.", mayChange: true),
    ConfigKey(
      "plants.watering[].max_per_day", .integer(1...24), .integer(2), "Requests in one local day, at most.",
      mayChange: true),
    ConfigKey(
      "plants.watering[].min_gap_min", .integer(1...10_080), .integer(360), "Minutes between two requests, at least.",
      mayChange: true),
  ]
}
