import TactusDaemon

/// Keys of the sprinkler controller.
extension ConfigTable {
  static let sprinkler: [ConfigKey] = sprinklerLines + sprinklerWatering + sprinklerParts + runtimeSprinkler

  private static let sprinklerLines: [ConfigKey] = [
    ConfigKey(
      "sprinkler.backend", .choice(["gpio", "sim"]), .text("gpio"),
      "What opens the valves: gpio (the kernel's GPIO character device), or sim (no hardware)."),
    ConfigKey(
      "sprinkler.chip", .text, nil,
      "The GPIO chip that pins are offsets of: gpiochip0, /dev/gpiochip0 or a label. Unless given: pin 17 is the line "
        + "named GPIO17, on whatever chip that is, as on every Raspberry Pi."),
    ConfigKey(
      "sprinkler.relay_board", .choice(["active-high", "active-low"]), .text("active-high"),
      "The level that opens a valve. Most relay boards are active-low: they pull in when their input is grounded."),
    ConfigKey(
      "sprinkler.active_low_pins", .integerList(0...1023, most: 64), .integers([]),
      "Pins that are active-low on an active-high board."),
    ConfigKey(
      "sprinkler.pins", .integerList(0...1023, most: 64), nil,
      "The pins that zones may use, all requested and off at the start and held as long as the program runs. Unless "
        + "given: those of sprinkler.zones."),
    ConfigKey(
      "sprinkler.denied_pins", .integerList(0...1023, most: 64), .integers([2, 3, 14, 15]),
      "Pins that are never used: I2C and the serial console on a Raspberry Pi."),
  ]

  private static let sprinklerWatering: [ConfigKey] = [
    ConfigKey(
      "sprinkler.max_open", .integer(1...64), nil,
      "Valves open at a time in all. Unless given: 1, or with sprinkler.groups as many as they allow together."),
    ConfigKey(
      "sprinkler.station_delay_s", .integer(0...3600), .integer(0),
      "Seconds between the end of one run and the next in its group."),
    ConfigKey(
      "sprinkler.time_zone", .text, nil,
      "IANA time zone of schedules: Europe/Berlin. Unless given: this machine's."),
    ConfigKey(
      "sprinkler.latitude", .number(-90...90), nil,
      "Degrees, north positive, for sunrise, sunset and the weather. Unless given there is none of them."),
    ConfigKey("sprinkler.longitude", .number(-180...180), nil, "Degrees, east positive."),
    ConfigKey(
      "sprinkler.catch_up_minutes", .integer(0...1440), .integer(5),
      "A start that was missed (the program did not run, the machine slept) is made up for so many minutes.",
      mayChange: true),
    ConfigKey(
      "sprinkler.after_power_cut", .choice(["resume", "close"]), .text("resume"),
      "Runs that a power cut interrupted, which is another boot of the machine: resume (what is left of them runs) or close (they are logged as ended). After a crash or a restart of the daemon nothing is resumed.",
      mayChange: true),
    ConfigKey(
      "sprinkler.manual_in_rain", .choice(["allow", "warn", "deny"]), .text("warn"),
      "A zone that is turned on by hand during a rain delay: allow, warn (it runs, the answer says so) or deny (423).",
      mayChange: true),
    ConfigKey(
      "sprinkler.running_in_rain", .choice(["stop", "finish"]), .text("stop"),
      "What is running by schedule when a rain delay begins: stop or finish.", mayChange: true),
    ConfigKey(
      "sprinkler.rain_delay_hours", .integer(1...336), .integer(24), "Length of a rain delay that nobody gave one.",
      mayChange: true),
    ConfigKey(
      "sprinkler.seasonal_percent", .integer(0...250), .integer(100),
      "Of every duration that follows the season, while the store is new; afterwards the API sets it."),
    ConfigKey(
      "sprinkler.legacy_routes", .boolean, .boolean(false),
      "Serve the original phone app, unmodified: the routes of its Python backend, those that it calls besides, and in /api/status what it "
        + "reads there."),
    ConfigKey("sprinkler.log_days", .integer(1...36_500), .integer(1095), "Days that the watering log goes back."),
  ]

  private static let sprinklerParts: [ConfigKey] = [
    ConfigKey("sprinkler.master.pin", .integer(0...1023), nil, "The master valve's pin. Unless given there is none."),
    ConfigKey(
      "sprinkler.master.lead_s", .integer(-600...600), .integer(0),
      "Seconds that the master valve opens before a zone; negative: after it."),
    ConfigKey(
      "sprinkler.master.lag_s", .integer(-600...600), .integer(0),
      "Seconds that the master valve closes after a zone; negative: before it."),
    ConfigKey("sprinkler.flow.pin", .integer(0...1023), nil, "The flow sensor's pin. Unless given there is none."),
    ConfigKey(
      "sprinkler.flow.pulses_per_litre", .number(0.01...100_000), .number(450), "Pulses of the sensor for one litre."),
    ConfigKey(
      "sprinkler.flow.pull", .choice(["as-is", "up", "down", "none"]), .text("up"),
      "The chip's own resistor at the sensor's pin; as-is: as it was set at boot."),
    ConfigKey(
      "sprinkler.flow.no_flow_l_per_min", .number(0.001...10_000), nil,
      "Less than so many litres a minute while a valve is open is an alarm. Unless given: not watched."),
    ConfigKey(
      "sprinkler.flow.high_flow_l_per_min", .number(0.001...10_000), nil,
      "More than so many litres a minute while a valve is open is an alarm: a burst pipe. Unless given: not watched."),
    ConfigKey(
      "sprinkler.flow.leak_l_per_min", .number(0.001...10_000), nil,
      "More than so many litres a minute while all is closed is an alarm. Unless given: not watched."),
    ConfigKey(
      "sprinkler.flow.settle_s", .integer(1...3600), .integer(30),
      "Seconds over which flow is measured, and after which it has settled."),
    ConfigKey(
      "sprinkler.flow.on_alarm", .choice(["stop", "notice"]), .text("stop"),
      "What an alarm does: stop (every valve closes, in fault until a reset) or notice (it is logged and shown)."),
    ConfigKey(
      "sprinkler.weather.provider", .choice(["off", "open-meteo"]), .text("off"),
      "Asked for the rain to come, which begins a rain delay: off, or open-meteo (that service, or another with its "
        + "answers)."),
    ConfigKey(
      "sprinkler.weather.url", .text, .text("https://api.open-meteo.com"),
      "The provider's address. A build without TLS needs one that begins with http://."),
    ConfigKey(
      "sprinkler.weather.threshold_mm", .number(0.1...500), .number(5),
      "Millimetres of rain, today and the days after it together, from which on watering is suspended.", mayChange: true
    ),
    ConfigKey(
      "sprinkler.weather.days", .integer(1...7), .integer(1), "Days that are added up, today first.", mayChange: true),
    ConfigKey(
      "sprinkler.weather.delay_hours", .integer(1...336), .integer(24), "Length of the rain delay that follows.",
      mayChange: true),
    ConfigKey(
      "sprinkler.weather.poll_minutes", .integer(15...1440), .integer(180), "Minutes from question to question.",
      mayChange: true),
    ConfigKey(
      "sprinkler.groups[].max_open", .integer(1...64), .integer(1),
      "Valves open at a time in this group. Groups are numbered from 1 in this order."),
    ConfigKey(
      "sprinkler.zones[].name", .text, nil,
      "What people call it, 1…40 characters. Unless given: Zone 1, Zone 2 and so on."
    ),
    ConfigKey(
      "sprinkler.zones[].pin", .integer(0...1023), nil,
      "Its valve's pin. Unless given: by its place 12, 16, 20, 21, 26, 19, 13, 6, 5, 11, 9, 10, 22, 27, 17, 4."),
    ConfigKey("sprinkler.zones[].enabled", .boolean, .boolean(true), "A disabled zone never runs."),
    ConfigKey(
      "sprinkler.zones[].default_minutes", .number(0.1...1440), .number(10),
      "Minutes of a run that nobody gave a length."
    ),
    ConfigKey(
      "sprinkler.zones[].max_minutes", .number(0.1...1440), .number(120), "No run is longer, in minutes."),
    ConfigKey(
      "sprinkler.zones[].max_minutes_per_day", .number(0.1...1440), nil,
      "Most minutes in one local day, all runs together. Unless given there is no limit."),
    ConfigKey(
      "sprinkler.zones[].group", .integer(1...15), nil,
      "Its group's number. Unless given: none; such zones run one at a time, or sprinkler.max_open where there are no groups."
    ),
    ConfigKey(
      "sprinkler.zones[].ignores_rain", .boolean, .boolean(false), "Schedules water it during a rain delay, too."),
    ConfigKey(
      "sprinkler.zones[].uses_master", .boolean, .boolean(true), "The master valve is open while this zone is."),
  ]

  private static let runtimeSprinkler = lane(
    "runtime.sprinkler", "the valves' lane", priority: 60,
    safeStateAfter: (30, "every valve is closed, in fault until a reset"))
}
